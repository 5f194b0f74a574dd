"""One job in a process of its own, started by _measure.run_job: `_jobs.py BEGAN JOB ARGUMENT...`.

BEGAN is the moment at which the parent started this process (time.monotonic, which all processes share on Linux).
Prints one JSON object: cpu_s, peak_bytes, first_frame_s and what else the job tells.
"""

from __future__ import annotations

import json
import sys
import time
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from typing import Any

Moment = tuple[int, float, float]
"""Frames done, seconds since the process was started, CPU seconds."""


def transcode(began: float, source: str, output: str, encoder: str, pixel_format: str, options: str) -> dict[str, Any]:
    """What any program has to do to the clip: decode, encode, copy the sound."""
    import av

    done: list[Moment] = []
    with av.open(source) as reader, av.open(output, "w") as writer:
        video = reader.streams.video[0]
        video.thread_type = "AUTO"
        encoded = writer.add_stream(encoder, rate=video.average_rate, options=json.loads(options))
        encoded.width, encoded.height, encoded.pix_fmt = video.width, video.height, pixel_format
        encoded.time_base = video.time_base
        sounds = {stream.index: writer.add_stream_from_template(stream) for stream in reader.streams.audio}
        for packet in reader.demux():
            if packet.stream.index in sounds and packet.dts is not None:
                packet.stream = sounds[packet.stream.index]
                writer.mux(packet)
            elif packet.stream is video:
                for frame in packet.decode():
                    writer.mux(encoded.encode(frame))
                    done.append(moment(len(done) + 1, began))
        writer.mux(encoded.encode())
        done[-1] = moment(len(done), began)
    return {"first_frame_s": done[0][1], "done": done}


def swap(began: float, source: str, target: str, output: str, options: str) -> dict[str, Any]:
    """mien, as a program calls it. Also tells the report, and the resident size over the frames done."""
    import mien

    sizes: list[tuple[int, int]] = []
    done: list[Moment] = []
    called_s = time.monotonic() - began

    def note(progress: mien.Progress) -> None:
        sizes.append((progress.done, memory_bytes("VmRSS")))
        if progress.done:
            done.append(moment(progress.done, began))

    report = mien.swap(source, target, output, progress=note, overwrite=True, **json.loads(options))
    return {
        "first_frame_s": called_s + report.first_frame_seconds,
        "frames": report.frames,
        "frames_with_faces": report.frames_with_faces,
        "stages": report.stages,
        "precisions": {use.model: use.precision for use in report.models},
        "seconds": {use.model: use.seconds for use in report.models},
        "calls": {use.model: use.calls for use in report.models},
        "resident_bytes": sizes,
        "done": done,
    }


def worker(began: float, how: str, count: str, source: str, target: str, output: str, options: str) -> dict[str, Any]:
    """Several jobs in one process, `at_once` or one after the other; also tells how long they took together."""
    from mien.pipeline.api import Runner
    from mien.recipe import Recipe

    fields = {"sources": source, "target": target, "overwrite": True, **json.loads(options)}
    recipes = [Recipe.from_mapping({**fields, "output": f"{output}{number}.mp4"}) for number in range(int(count))]
    with Runner() as runner:
        runner.workshop(recipes[0].device, recipes[0].precision)
        called_s = time.monotonic()
        with ThreadPoolExecutor(len(recipes) if how == "at_once" else 1) as pool:
            reports = list(pool.map(runner.run, recipes))
        jobs_s = time.monotonic() - called_s
    return {"first_frame_s": called_s - began + min(report.first_frame_seconds for report in reports), "jobs_s": jobs_s}


def reference(began: float, *words: str) -> dict[str, Any]:
    """The field's way; see _reference.py."""
    from _reference import reference

    return reference(began, *words)


def moment(done: int, began: float) -> Moment:
    """How far a job is, and at what cost."""
    return done, time.monotonic() - began, time.process_time()


def memory_bytes(field: str) -> int:
    """A field of /proc/self/status: VmRSS is the resident size, VmHWM its peak."""
    lines = Path("/proc/self/status").read_text().splitlines()
    return next(int(line.split()[1]) * 1024 for line in lines if line.startswith(f"{field}:"))


if __name__ == "__main__":
    job = {"transcode": transcode, "swap": swap, "worker": worker, "reference": reference}[sys.argv[2]]
    told = job(float(sys.argv[1]), *sys.argv[3:])
    print(json.dumps({"cpu_s": time.process_time(), "peak_bytes": memory_bytes("VmHWM"), **told}))
