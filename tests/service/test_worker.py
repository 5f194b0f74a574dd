"""Workers as processes of their own."""

import resource
import signal
import struct
import time
import zlib
from collections.abc import Iterator
from pathlib import Path

import pytest
from PIL import Image

from mien.service.records import Job
from mien.service.rollout import Rollouts
from mien.service.valkey import EmbeddedValkey
from support.jobs import ASTRONAUT, HOPPER
from support.pictures import png_chunk
from support.service import Place, WorkerProcess, working
from support.video import ffmpeg, streams


@pytest.fixture(scope="module")
def shared(tmp_path_factory: pytest.TempPathFactory) -> Iterator[tuple[Place, WorkerProcess]]:
    """A queue with one worker that all tests of this module share: none of them may end it."""
    root = tmp_path_factory.mktemp("service")
    with EmbeddedValkey(root / "queue") as valkey:
        place = Place(root, valkey)
        with working(place, 1, "--slots", "2", "--lease", "20") as (worker,):
            yield place, worker
            assert worker.stop() == 0
            assert place.state.workers() == {}
        place.state.client.close()


@pytest.fixture(scope="module")
def long(talking: Path, tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Twelve seconds."""
    path = tmp_path_factory.mktemp("clips") / "long.mp4"
    ffmpeg("-stream_loop", "3", "-i", talking, "-c", "copy", path)
    return path


def picture(place: Place, **fields: object) -> dict[str, object]:
    """A recipe for a picture."""
    return {"sources": [place.upload(ASTRONAUT)], "target": place.upload(HOPPER), "output": "out.jpg", **fields}


def is_at_work(job: Job) -> bool:
    return job.frames_done > 0


def test_a_picture_and_a_video_come_back(shared: tuple[Place, WorkerProcess], talking: Path, tmp_path: Path) -> None:
    place, _ = shared
    video = {**picture(place), "target": place.upload(talking), "output": "out.mp4", "segment_seconds": 1}
    jobs = place.wait([place.submit(picture(place)), place.submit(video, kind="video")])
    assert [(job.state, job.error, job.frames, job.frames_done) for job in jobs] == [
        ("done", None, 1, 1),
        ("done", None, 75, 75),
    ]
    with Image.open(place.result(jobs[0], tmp_path / "out.jpg")) as result, Image.open(HOPPER) as target:
        assert result.size == target.size
    report = jobs[1].result.report if jobs[1].result else {}
    assert (report["frames"], report["faces"], report["segments"]) == (75, 75, 3)
    assert {"decode", "edit", "encode", "join"} <= set(report["stages"])
    assert report["target"] == video["target"]


def test_a_preview_is_half_as_large_and_says_so(place: Place, talking: Path, tmp_path: Path) -> None:
    video = {**picture(place), "target": place.upload(talking), "output": "out.mp4", "end": "00:00:02"}
    jobs = [
        place.submit(picture(place), tier="preview"),
        place.submit({**video, "segment_seconds": 1}, tier="preview", kind="video"),
    ]
    with working(place, 1, "--tier", "preview"):
        still, clip = place.wait(jobs)
    assert (still.state, clip.state) == ("done", "done"), (still.error, clip.error)
    with Image.open(place.result(still, tmp_path / "out.jpg")) as result, Image.open(HOPPER) as target:
        assert result.size == (target.width // 2, target.height // 2)
    (stream,) = streams(place.result(clip, tmp_path / "out.mp4"), "v")
    assert (stream["width"], stream["height"], stream["nb_frames"]) == (240, 134, "50")
    assert len(streams(tmp_path / "out.mp4", "a")) == 1
    assert [job.result.name for job in (still, clip) if job.result] == ["out-preview.jpg", "out-preview.mp4"]
    assert all(job.result.report["preview"] for job in (still, clip) if job.result)


def test_a_poison_job_ends_among_the_dead_letters_and_the_others_finish(shared: tuple[Place, WorkerProcess]) -> None:
    place, _ = shared
    poison = place.submit(picture(place, swapper="no_such_network"))
    others = [place.submit(picture(place)) for _ in range(3)]
    assert [job.state for job in place.wait(others)] == ["done"] * 3
    (failed,) = place.wait([poison])
    assert failed.state == "failed"
    assert failed.error is not None
    assert (failed.error.kind, failed.attempts) == ("ModelError", failed.max_attempts)
    assert "no_such_network" in failed.error.message
    assert [job.id for job in place.state.dead()] == [poison]
    assert place.state.retry(poison)
    assert place.wait([poison])[0].attempts == 2 * failed.max_attempts
    place.state.delete(poison)


def test_what_no_second_try_mends_is_refused_at_once(shared: tuple[Place, WorkerProcess], tmp_path: Path) -> None:
    place, worker = shared
    header, pixels = struct.pack(">IIBBBBB", 60_000, 20_000, 8, 2, 0, 0, 0), zlib.compress(bytes(10_000_000))
    chunks = [png_chunk(b"IHDR", header), png_chunk(b"IDAT", pixels), png_chunk(b"IEND", b"")]
    (tmp_path / "bomb.png").write_bytes(b"\x89PNG\r\n\x1a\n" + b"".join(chunks))
    bomb = place.submit(picture(place, target=place.upload(tmp_path / "bomb.png"), output="out.png"))
    (tmp_path / "cut.jpg").write_bytes(Path(HOPPER).read_bytes()[:1000])
    cut = place.submit(picture(place, target=place.upload(tmp_path / "cut.jpg")))
    stolen = place.submit(picture(place, target=place.upload(HOPPER, tenant="other")))  # type: ignore[arg-type]
    jobs = place.wait([bomb, cut, stolen])
    assert [(job.state, job.attempts) for job in jobs] == [("failed", 1)] * 3
    assert [job.error.kind for job in jobs if job.error] == ["UnreadableError", "UnreadableError", "UsageError"]
    assert all(str(place.root) not in job.error.message for job in jobs if job.error)
    assert place.state.dead() == []
    assert place.wait([place.submit(picture(place))])[0].state == "done"
    worker.send(signal.SIGCONT)  # It is the same process still.


def test_cancel_stops_a_running_job_soon(shared: tuple[Place, WorkerProcess], long: Path) -> None:
    place, worker = shared
    recipe = {**picture(place), "target": place.upload(long), "output": "out.mp4", "segment_seconds": 60}
    name = place.submit(recipe, kind="video")
    began = time.monotonic()
    (job,) = place.wait([name], is_at_work)
    seconds_left = (job.frames - job.frames_done) * (time.monotonic() - began) / job.frames_done
    folders = [path for path in (place.root / "scratch" / worker.name).glob(f"{name}-*") if path.is_dir()]
    assert len(folders) == 1
    assert place.state.cancel(name)
    began = time.monotonic()
    while folders[0].exists():
        assert time.monotonic() - began < seconds_left / 4, "the job went on"
        time.sleep(0.01)
    assert place.job(name).state == "cancelled"
    assert place.wait([place.submit(picture(place))])[0].state == "done"


def test_a_full_disk_fails_the_job_clearly_and_the_service_goes_on(shared: tuple[Place, WorkerProcess]) -> None:
    """A limit on the size of files stands for the disk."""
    place, worker = shared
    before = resource.prlimit(worker.pid, resource.RLIMIT_FSIZE, (1000, resource.RLIM_INFINITY))
    failed = place.wait([place.submit(picture(place))])[0]
    resource.prlimit(worker.pid, resource.RLIMIT_FSIZE, before)
    assert failed.state == "failed"
    assert failed.error is not None
    assert failed.error.kind == "UnwritableError"
    assert "File too large" in failed.error.message
    assert failed.attempts == 1
    assert [job.id for job in place.state.dead()] == [failed.id]
    assert place.state.retry(failed.id)
    assert place.wait([failed.id])[0].state == "done"


def test_a_canary_that_fails_hurts_five_jobs_and_they_succeed_on_stable(shared: tuple[Place, WorkerProcess]) -> None:
    place, _ = shared
    rollouts = Rollouts(place.state)
    rollouts.set("swapper", stable="geometric", canary="no_such_network", share=1.0)
    jobs = place.wait([place.submit(picture(place)) for _ in range(8)])
    assert [(job.state, job.channel) for job in jobs] == [("done", "stable")] * 8
    hurt = [job for job in jobs if any(event.data.get("channel") == "canary" for event in place.state.events(job.id))]
    assert len(hurt) == 5
    place.valkey.restart()
    rollouts.learn()  # Outcomes wait in the queue's server until somebody takes note of them.
    breaker = rollouts.all()["swapper"].breaker
    assert breaker.state == "open"
    assert "5 failures in a row" in breaker.why
    assert "no_such_network" in breaker.why
    assert place.wait([place.submit(picture(place))])[0].state == "done"
    assert rollouts.roll_back("swapper") == "no_such_network"


def test_a_worker_that_is_told_to_stop_hands_its_work_to_others(place: Place, long: Path) -> None:
    recipe = {**picture(place), "target": place.upload(long), "output": "out.mp4", "end": "00:00:03"}
    with working(place, 1, "--grace", "0.1", "--lease", "2") as (first,):
        job = place.submit(recipe, kind="video")
        place.wait([job], is_at_work)
        assert first.stop() == 0
    (segment,) = place.state.segments(job)
    assert (segment.state, segment.attempts, segment.frames_done) == ("waiting", 0, 0)
    assert list((place.root / "scratch").iterdir()) == []
    with working(place):
        assert place.wait([job])[0].state == "done"
