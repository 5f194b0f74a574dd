"""mien with the field's networks against a plain loop with the same networks, and where its time and memory go.

The networks are stand-ins (see _standins.py). Reference and mien swap the same face of the same 720p clip, each in
fresh processes, in turn. Where the face is, mien finds out by itself; the reference, whose detector has random weights,
is told the points that mien found, and runs all its networks all the same. Needs the packages `onnx` and `onnxruntime`.
"""

from __future__ import annotations

import json
import statistics
import time
from collections.abc import Sequence
from importlib import metadata
from itertools import islice
from pathlib import Path
from typing import Any

import av
import cv2
import numpy as np
from numpy.typing import NDArray

from _clips import SOURCE, talking_clip
from _measure import WORK, Run, arguments, machine, run_job, save
from _quantised import quantised
from _reference import ARCFACE_128, CODING, NETWORKS, box_mask, cut, read_pixels
from _standins import MODELS, free_stand_ins, stand_ins
from mien.engine.device import find_device
from mien.engine.onnx_file import OnnxFile
from mien.engine.openvino import OpenVinoSession
from mien.faces.analyser import FaceAnalyser
from mien.faces.track import Tracker
from mien.media.pictures import read_rgb
from mien.media.video import VideoSource
from mien.models.catalogue import find_model
from mien.models.families.landmark_sets import five_of_mesh
from speed import encoder_settings

SIZE = (1280, 720)
SWAPPER = "inswapper_128"
TILES = 16
"""Of a crop of 512 pixels."""
JOBS = 4
REFERENCE = WORK / "neural_reference.mp4"
BUNDLED = ("face_detection_back", "face_mesh_478", "dlib_face_recognition", "face_detection_full_range")
USUAL_CRF = 10
"""Of the field's tool."""
FACE = 0.5
"""Pixels count as the face's from this opacity of the box mask on."""


def output(way: str) -> Path:
    """Where mien's result goes."""
    return WORK / f"neural_{way}.mp4"


def options(frames: int, **more: Any) -> str:
    """What mien is asked for: as the field's tool by default."""
    coding = {"preset": CODING["preset"], "crf": int(CODING["crf"])}
    given = {"swapper": SWAPPER, "models": [str(MODELS)], "end": f"{frames}f", "precision": "bf16", **coding, **more}
    return json.dumps(given)


def write_points(clip: Path, frames: int) -> tuple[Path, NDArray[np.float64]]:
    """Five points of the source and of each frame, as mien finds them: a file for the reference, and the frames'."""
    analyser = FaceAnalyser()
    source = five_of_mesh(analyser.find(read_rgb(SOURCE))[0].landmarks)
    tracker = Tracker(analyser)
    with VideoSource(clip) as video:
        places = np.array(
            [five_of_mesh(tracker.update(frame)[0].face.landmarks) for frame in video.frames(0, frames)], np.float64
        )
    path = WORK / "points.json"
    path.write_text(json.dumps({"source": source.tolist(), "frames": places.tolist()}))
    return path, places


def against_reference(clip: Path, frames: int, reference_frames: int, repeats: int) -> dict[str, Any]:
    """Frames a second, memory, and how alike the faces are: the reference, mien in bf16, and with an INT8 file."""
    stand_ins(*NETWORKS)
    points, places = write_points(clip, reference_frames)
    int8 = quantised(MODELS / f"{SWAPPER}.onnx", samples(clip, places))
    ways = {
        "bf16": options(frames),
        "int8": options(frames, swapper=str(int8), swapper_family="inswapper"),
    }
    theirs: list[Run] = []
    ours: dict[str, list[Run]] = {way: [] for way in ways}
    words = (MODELS, SOURCE, clip, points, REFERENCE, str(reference_frames))
    for _ in range(repeats):
        theirs.append(run_job("reference", *words))
        for way, asked in ways.items():
            ours[way].append(run_job("swap", SOURCE, clip, output(way), asked))
    return {
        "repeats": repeats,
        "frames": {"reference": reference_frames, "mien": frames},
        "reference": figures_of(theirs, reference_frames),
        **{way: beside_reference(theirs, ours[way], frames) for way in ways},
        **{f"{way}_face_psnr_db": face_psnr(REFERENCE, output(way), places) for way in ways},
    }


def samples(clip: Path, places: NDArray[np.float64]) -> list[dict[str, NDArray[np.float32]]]:
    """Two inputs of the swapper, of which the ranges of values are taken."""
    rng = np.random.default_rng(0)
    made: list[dict[str, NDArray[np.float32]]] = []
    for image, points in list(zip(pictures(clip, len(places)), places, strict=True))[:: len(places) - 1]:
        crop, _ = cut(image, points, ARCFACE_128, 128)
        target = crop[None, ..., ::-1].transpose(0, 3, 1, 2).astype(np.float32) / 255
        source = rng.standard_normal((1, 512), np.float32)
        made.append({"target": target, "source": source / np.linalg.norm(source)})
    return made


def beside_reference(theirs: list[Run], ours: list[Run], frames: int) -> dict[str, Any]:
    """mien's figures and their ratios to the reference's, neighbouring runs compared."""
    pairs = list(zip(theirs, ours, strict=True))
    return {
        **figures_of(ours, frames),
        "speed_ratio": median(frames_per_second(b) / frames_per_second(a) for a, b in pairs),
        "cpu_ratio": median(steady_cpu_s(a) / steady_cpu_s(b) for a, b in pairs),
        "peak_ratio": median(b.peak_bytes / a.peak_bytes for a, b in pairs),
        "model_share": median(map(model_share, ours)),
        "precisions": ours[-1].details["precisions"],
        "stages": ours[-1].details["stages"],
    }


def figures_of(runs: Sequence[Run], frames: int) -> dict[str, float]:
    """Medians of the repeats."""
    return {
        "frames_per_second": median(map(frames_per_second, runs)),
        "cpu_s_per_frame": median(run.cpu_s / frames for run in runs),
        "steady_cpu_s_per_frame": median(map(steady_cpu_s, runs)),
        "first_frame_s": median(run.first_frame_s for run in runs),
        "wall_s": median(run.wall_s for run in runs),
        "peak_mb": median(run.peak_bytes / 1e6 for run in runs),
    }


def frames_per_second(run: Run) -> float:
    """From the first frame on: loading is left out."""
    (first, began_s, _), (last, ended_s, _) = run.details["done"][0], run.details["done"][-1]
    return (last - first) / (ended_s - began_s)


def steady_cpu_s(run: Run) -> float:
    """CPU seconds a frame from the first frame on."""
    (first, _, began_s), (last, _, ended_s) = run.details["done"][0], run.details["done"][-1]
    return (ended_s - began_s) / (last - first)


def model_share(run: Run) -> float:
    """Of the wall time in which frames are edited, what the swapper's calls take."""
    networks = run.details["seconds"]
    return next(networks[name] for name in networks if name.startswith(SWAPPER)) / run.details["stages"]["edit"]


def face_psnr(reference: Path, ours: Path, places: NDArray[np.float64]) -> dict[str, float]:
    """Over the frames of the reference, in the face."""
    values = []
    for first, second, points in zip(*(pictures(path, len(places)) for path in (reference, ours)), places, strict=True):
        inside = face_area(first, points)
        error = np.mean((first[inside].astype(np.float64) - second[inside]) ** 2)
        values.append(10 * np.log10(255**2 / error))
    return {"mean": round(float(np.mean(values)), 1), "least": round(float(np.min(values)), 1)}


def face_area(image: NDArray[np.uint8], points: NDArray[np.float64]) -> NDArray[np.bool_]:
    """(height, width) where the box mask shows the swapped face."""
    _, matrix = cut(image, points, ARCFACE_128, 128)
    height, width = image.shape[:2]
    return cv2.warpAffine(box_mask(128), cv2.invertAffineTransform(matrix), (width, height)) > FACE


def pictures(path: Path, count: int | None = None) -> list[NDArray[np.uint8]]:
    """The first frames of a clip."""
    with av.open(str(path)) as container:
        return [read_pixels(frame) for frame in islice(container.decode(video=0), count)]


def host_work(clip: Path, short: int, long: int) -> dict[str, Any]:
    """CPU time of a frame when the field's networks cost next to nothing: codec, mien's own networks, and the rest.

    All but the codec's are differences between a long and a short job, which leave out what is done once.
    """
    folder = str(free_stand_ins())
    jobs = [
        run_job("swap", SOURCE, clip, output("free"), options(count, models=[folder], crf=USUAL_CRF))
        for count in (short, long)
    ]
    settings = encoder_settings(clip, CODING["preset"], USUAL_CRF)
    codec_ms = 1000 * steady_cpu_s(run_job("transcode", clip, output("transcode"), *settings))
    cpu_ms = 1000 * (jobs[1].cpu_s - jobs[0].cpu_s) / (long - short)
    calls = {
        name: (jobs[1].details["calls"][name] - jobs[0].details["calls"][name]) / (long - short)
        for name in jobs[1].details["calls"]
    }
    paths = {name: find_model(name).path if name in BUNDLED else Path(folder) / f"{name}.onnx" for name in calls}
    networks = {
        name: calls[name] * call_cpu_ms(path, jobs[1].details["precisions"][name]) for name, path in paths.items()
    }
    return {
        "frames": [short, long],
        "cpu_ms_per_frame": round(cpu_ms, 2),
        "codec_ms": round(codec_ms, 2),
        "networks_ms": {name: round(spent, 2) for name, spent in networks.items()},
        "host_ms": round(cpu_ms - codec_ms - sum(networks.values()), 2),
        "wall_ms_per_frame": round(1000 / frames_per_second(jobs[1]), 2),
    }


def call_cpu_ms(path: Path, precision: str, repeats: int = 40) -> float:
    """CPU milliseconds of one call with one item, the median."""
    session = OpenVinoSession(path, model=path.stem, device=find_device("cpu"), precision=precision)
    inputs = {port.name: np.zeros((1, *port.shape[1:]), np.float32) for port in OnnxFile(path).inputs}
    return 1000 * statistics.median(cpu_seconds(lambda: session.run(inputs)) for _ in range(repeats))


def boost(precision: str) -> dict[str, float]:
    """CPU milliseconds a tile, all in one batch and one by one."""
    path = stand_ins(SWAPPER) / f"{SWAPPER}.onnx"
    threads = machine()["cores"]
    session = OpenVinoSession(
        path, model=SWAPPER, device=find_device("cpu"), precision=precision, threads=threads, max_batch=TILES
    )
    rng = np.random.default_rng(0)
    batch = {
        "target": rng.random((TILES, 3, 128, 128), np.float32),
        "source": rng.standard_normal((TILES, 512), np.float32) / np.float32(np.sqrt(512)),
    }
    tiles = [{name: value[i : i + 1] for name, value in batch.items()} for i in range(TILES)]
    session.run(batch)
    together_s = cpu_seconds(lambda: session.run(batch)) / TILES
    one_by_one_s = cpu_seconds(lambda: [session.run(tile) for tile in tiles]) / TILES
    return {
        "together_cpu_ms_per_tile": round(1000 * together_s, 1),
        "one_by_one_cpu_ms_per_tile": round(1000 * one_by_one_s, 1),
        "gain": round(one_by_one_s / together_s, 2),
    }


def cpu_seconds(call: Any) -> float:
    began = time.process_time()
    call()
    return time.process_time() - began


def jobs_together(clip: Path, frames: int) -> dict[str, Any]:
    """Four jobs in one worker, at once and in turn, and one alone: each way in a fresh process."""
    stand_ins(*NETWORKS)
    runs = {
        how: run_job("worker", how, str(count), SOURCE, clip, WORK / "neural_job", options(frames))
        for how, count in (("alone", 1), ("in_turn", JOBS), ("at_once", JOBS))
    }
    return {
        "frames_each": frames,
        **{f"{how}_s": round(run.details["jobs_s"], 2) for how, run in runs.items()},
        **{f"{how}_peak_mb": round(run.peak_bytes / 1e6) for how, run in runs.items()},
        "throughput_ratio": round(runs["in_turn"].details["jobs_s"] / runs["at_once"].details["jobs_s"], 2),
        "peak_ratio": round(runs["at_once"].peak_bytes / runs["alone"].peak_bytes, 2),
    }


def median(values: Any) -> float:
    return round(statistics.median(values), 3)


def main() -> None:
    full = arguments(__doc__ or "").full
    clip = talking_clip(*SIZE, 6)
    results: dict[str, Any] = {"engines": {name: metadata.version(name) for name in ("openvino", "onnxruntime")}}
    results["host"] = host_work(clip, 30, 150)
    results["end_to_end"] = against_reference(clip, 24 if full else 8, 8 if full else 4, 3 if full else 2)
    results["boost"] = boost("bf16")
    results["jobs"] = jobs_together(clip, 8 if full else 3)
    save("neural", results)


if __name__ == "__main__":
    main()
