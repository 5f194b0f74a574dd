"""Whole jobs on clips and animations."""

from __future__ import annotations

import json
from fractions import Fraction
from pathlib import Path

import av
import numpy as np
import pytest
from PIL import Image

from mien.engine.memory import machine_memory
from mien.errors import (
    NoFaceError,
)
from mien.pipeline.api import Runner
from mien.pipeline.checkpoint import checkpoint_folder
from mien.recipe import PersonMap, Recipe
from mien.report import Report
from support import jobs
from support.jobs import ASTRONAUT, HOPPER, LUIS

_INDEX_FIRST = {"movflags": "faststart"}


def test_a_video_gets_the_face_and_keeps_its_frames(swapped: tuple[Path, Report], material: Path) -> None:
    output, report = swapped
    before, after = jobs.video_frames(material / "talking.mp4"), jobs.video_frames(output)
    assert len(after) == len(before) == report.frames == 60
    source, target = jobs.identity(ASTRONAUT), jobs.identity(HOPPER)
    for index in (5, 30, 55):
        result = jobs.identities(after[index])[0]
        assert jobs.distance(result, source) < jobs.distance(result, target)
    assert not checkpoint_folder(output).exists()


def test_sound_is_copied(swapped: tuple[Path, Report], material: Path) -> None:
    sounds = [
        [packet[3] for packet in jobs.packets(path) if packet[0] == 1]
        for path in (material / "talking.mp4", swapped[0])
    ]
    assert sounds[0] == sounds[1] != []


def test_the_report_of_a_video_is_complete(swapped: tuple[Path, Report]) -> None:
    _, report = swapped
    assert (report.frames_with_faces, report.faces, report.tracks, report.people) == (60, 60, 1, 1)
    assert (report.segments, report.segments_reused) == (3, 0)
    assert report.media_seconds == pytest.approx(2.4)
    assert report.frames_per_second == pytest.approx(60 / report.seconds)
    assert 0 < report.first_frame_seconds < report.seconds
    assert report.cpu_seconds > 0
    # Of a process in which other tests ran: in bytes, and no more than there are.
    assert report.peak_memory_bytes > 100e6
    assert (memory := machine_memory()) is None or report.peak_memory_bytes < memory.total_bytes
    assert {"sources", "survey", "decode", "follow", "edit", "measure", "encode", "join"} <= set(report.stages)
    assert all(seconds > 0 for seconds in report.stages.values())
    used = {use.model: use for use in report.models}
    assert used["face_mesh_478"].items >= 60
    assert used["face_mesh_478"].engine == "openvino"
    assert 0 < report.quality.identity_distance < report.quality.target_distance + 0.3  # type: ignore[operator]
    assert report.quality.flicker is not None
    assert json.loads(json.dumps(report.to_mapping()))["frames"] == 60


@pytest.mark.parametrize("pixel_format", ["yuv420p", "yuv420p10le"])
def test_outside_the_face_the_encoder_gets_what_the_decoder_gave(
    runner: Runner, tmp_path: Path, pixel_format: str
) -> None:
    target = jobs.talking_clip(
        tmp_path / "target.mkv", seconds=0.4, codec="ffv1", pixel_format=pixel_format, options={}
    )
    runner.run(jobs.job(target, tmp_path / "out.mkv"))
    boxes = [jobs.faces_in(picture)[0].box for picture in jobs.video_frames(target)]
    count = 0
    for box, before, after in zip(boxes, jobs.planes(target), jobs.planes(tmp_path / "out.mkv"), strict=True):
        for plane, (old, new) in enumerate(zip(before, after, strict=True)):
            scale = 1 if plane == 0 else 2
            inside = np.zeros(old.shape, bool)
            inside[jobs.grown(box / scale, 0.55)] = True
            assert (old != new)[inside].any()
            assert not (old != new)[~inside].any()
        count += 1
    assert count == 10


def test_a_part_of_a_video(runner: Runner, material: Path, tmp_path: Path) -> None:
    report = runner.run(jobs.talking_job(material, tmp_path / "out.mp4", start="0.4", end="30f"))
    assert report.frames == len(jobs.video_frames(tmp_path / "out.mp4")) == 20
    assert report.media_seconds == pytest.approx(0.8)


def test_two_people_who_cross_keep_their_roles(runner: Runner, tmp_path: Path) -> None:
    target = jobs.crossing_clip(tmp_path / "crossing.mp4", 1.6)
    exchange = (PersonMap((LUIS,), HOPPER), PersonMap((HOPPER,), LUIS))
    report = runner.run(Recipe(target=str(target), output=str(tmp_path / "out.mp4"), map=exchange))
    hopper, luis = jobs.identity(HOPPER), jobs.identity(LUIS)
    frames = jobs.video_frames(tmp_path / "out.mp4")
    first, last = jobs.identities(frames[1]), jobs.identities(frames[-2])
    # In the clip Hopper starts on the left and ends on the right; in the result it is Luis who does.
    for face, wanted, other in ((first[0], luis, hopper), (first[1], hopper, luis)):
        assert jobs.distance(face, wanted) < jobs.distance(face, other)
    for face, wanted, other in ((last[0], hopper, luis), (last[1], luis, hopper)):
        assert jobs.distance(face, wanted) < jobs.distance(face, other)
    assert report.people == 2


def test_an_animation_keeps_its_timing(runner: Runner, tmp_path: Path) -> None:
    portrait = Image.fromarray(jobs.rgb(HOPPER)).resize((256, 300))
    pictures = [portrait.rotate(angle) for angle in (0, 2, 4)]
    durations = [40, 120, 200]
    pictures[0].save(
        tmp_path / "in.webp", save_all=True, append_images=pictures[1:], duration=durations, loop=3, lossless=True
    )
    report = runner.run(jobs.job(tmp_path / "in.webp", tmp_path / "out.webp"))
    with Image.open(tmp_path / "in.webp") as before, Image.open(tmp_path / "out.webp") as after:
        assert after.n_frames == 3
        assert after.info["loop"] == 3
        for index, duration in enumerate(durations):
            before.seek(index)
            after.seek(index)
            after.load()
            assert after.info["duration"] == duration
            assert np.any(np.asarray(before.convert("RGB")) != np.asarray(after.convert("RGB")))
    assert (report.frames, report.faces) == (3, 3)
    assert report.media_seconds == pytest.approx(float(Fraction(360, 1000)))


def test_no_face_in_a_video(runner: Runner, material: Path, tmp_path: Path) -> None:
    target, output = tmp_path / "empty.mp4", tmp_path / "out.mp4"
    pixels = jobs.rgb(material / "landscape.png")
    with av.open(str(target), "w") as container:
        stream = container.add_stream("libx264", rate=25)
        stream.height, stream.width = pixels.shape[:2]
        stream.pix_fmt = "yuv420p"
        for _ in range(20):
            container.mux(stream.encode(av.VideoFrame.from_ndarray(pixels, format="rgb24")))
        container.mux(stream.encode())
    with pytest.raises(NoFaceError, match=r"empty\.mp4"):
        runner.run(jobs.job(target, output))
    assert not output.exists()
    assert not checkpoint_folder(output).exists()
    runner.run(jobs.job(target, output, allow_no_face=True))
    assert output.read_bytes() == target.read_bytes()
    report = runner.run(jobs.job(target, tmp_path / "part.mp4", allow_no_face=True, start="10f"))
    assert report.frames == len(jobs.video_frames(tmp_path / "part.mp4")) == 10


def test_a_target_that_ends_early_gives_what_there_is_and_a_warning(runner: Runner, tmp_path: Path) -> None:
    whole = jobs.remux(jobs.talking_clip(tmp_path / "clip.mp4", seconds=1.2), tmp_path / "whole.mp4", _INDEX_FIRST)
    content = whole.read_bytes()
    (tmp_path / "cut.mp4").write_bytes(content[: int(0.7 * len(content))])
    report = runner.run(jobs.job(tmp_path / "cut.mp4", tmp_path / "out.mp4"))
    assert 0 < report.frames < 30
    assert len(jobs.video_frames(tmp_path / "out.mp4")) == report.frames
    assert any("ends early" in warning for warning in report.warnings)


def test_a_turned_video_is_edited_upright_and_stays_turned(runner: Runner, tmp_path: Path) -> None:
    target = jobs.turned_clip(tmp_path / "turned.mp4", 0.4)
    report = runner.run(jobs.job(target, tmp_path / "out.mp4"))
    assert report.faces == 10
    with av.open(str(tmp_path / "out.mp4")) as container:
        frame = next(container.decode(video=0))
    assert frame.rotation == 90
    upright = np.rot90(frame.to_ndarray(format="rgb24"), 1)
    result = jobs.identities(np.ascontiguousarray(upright))[0]
    assert jobs.distance(result, jobs.identity(ASTRONAUT)) < jobs.distance(result, jobs.identity(HOPPER))


def test_a_seam_changes_far_less_than_the_next_frame_does(runner: Runner, tmp_path: Path) -> None:
    target = jobs.talking_clip(tmp_path / "target.mkv", seconds=1.6, codec="ffv1", options={})
    results: list[list[np.ndarray]] = []
    for seconds, segments in ((1, 2), (10, 1)):
        output = tmp_path / f"{segments}.mkv"
        assert runner.run(jobs.job(target, output, segment_seconds=seconds)).segments == segments
        results.append([frame.astype(np.int16) for frame in jobs.video_frames(output)])
    seamed, whole = results
    differing = [bool((one != other).any()) for one, other in zip(seamed, whole, strict=True)]
    seam = differing.index(True)
    box = jobs.grown(jobs.faces_in(whole[seam].astype(np.uint8))[0].box, 0.2)
    jump = np.abs(seamed[seam] - whole[seam])[box].mean()
    motion = np.abs(whole[seam] - whole[seam - 1])[box].mean()
    assert jump < 0.25 * motion
