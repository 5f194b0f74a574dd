"""Networks that do not fit into the budget together take turns over chunks of frames: the same result, few loads."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator
from pathlib import Path

import numpy as np
import pytest

from mien.errors import UsageError
from mien.models import loading
from mien.models.families.landmark_sets import five_of_mesh
from mien.models.families.templates import FFHQ_512
from mien.pipeline import budget, workshop
from mien.pipeline import networks as job_networks
from mien.pipeline.api import Runner, Swapper, plan
from support import contract_networks as networks
from support import field, jobs, reference

FRAMES = 12
MIB = 1024**2
FLAT = reference.move(
    field.sixty_eight(jobs.rgb(jobs.HOPPER)), reference.similarity(field.five(jobs.rgb(jobs.HOPPER)), FFHQ_512)
).reshape(1, 136)
"""68 points on the field's template in 0..1."""


@pytest.fixture(scope="module")
def models(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Of sizes that tell: restorer and upscaler do not fit beside the swapper."""
    folder = field.write_networks(tmp_path_factory.mktemp("turns") / "models")
    ballast = [networks.ballast(2 * MIB)]
    networks.restorer(folder / "gfpgan_1.4.onnx", 512, field.FACTOR, field.GLOW, weights=ballast)
    networks.upscaler(folder / "real_esrgan_x2.onnx", 2, np.full((3, 3), 1 / 9), weights=ballast)
    networks.fan_68_5(folder / "fan_68_5.onnx", np.concatenate([np.zeros((10, 136)), FLAT]))
    return folder


@pytest.fixture(scope="module")
def clip(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return jobs.talking_clip(tmp_path_factory.mktemp("clip") / "talking.mp4", seconds=FRAMES / 25)


@pytest.fixture
def loads(monkeypatch: pytest.MonkeyPatch) -> Iterator[Counter[str]]:
    """How often each network was loaded. Networks hold what their files have, whatever else the process does."""
    counted: Counter[str] = Counter()
    really = loading.open_session

    def counting(path, model, *arguments, **options):
        counted[model] += 1
        return really(path, model, *arguments, **options)

    monkeypatch.setattr(loading, "open_session", counting)
    monkeypatch.setattr(workshop, "process_meter", lambda: None)
    monkeypatch.setattr(job_networks, "measured", dict)  # Chunks are not as long as this machine is slow.
    return counted


def recipe(models: Path, target: str | Path, output: Path, **options: object):
    fields = {
        "models": [str(models)],
        "swapper": str(models / "tinting.onnx"),
        "swapper_family": "inswapper",
        "landmarker": "fan_68_5",
        "restorer": "gfpgan_1.4",
        "mask": ["box", "occlusion"],
        "precision": "fp32",
        "memory_budget": "1GiB",
    }
    return jobs.job(target, output, **{**fields, **options})


def test_a_tight_budget_gives_the_same_video(models: Path, clip: Path, loads, tmp_path: Path, monkeypatch) -> None:
    monkeypatch.setattr(budget, "FRAMES_BYTES", 5 * budget.waiting_bytes(480 * 270, 2))
    with Runner() as runner:
        wide = recipe(models, clip, tmp_path / "wide.mp4", upscaler="real_esrgan_x2", segment_seconds=1)
        assert not any("take turns" in warning for warning in runner.run(wide).warnings)
        assert set(loads.values()) == {1}
        loads.clear()
        tight = recipe(
            models, clip, tmp_path / "tight.mp4", upscaler="real_esrgan_x2", segment_seconds=1, memory_budget="2.5MiB"
        )
        report = runner.run(tight)
    assert report.faces == FRAMES
    assert jobs.packets(tmp_path / "tight.mp4") == jobs.packets(tmp_path / "wide.mp4")
    assert any("take turns" in warning for warning in report.warnings)
    # Three chunks: of 5, 5 and 2 frames. The upscaler is asked how much it enlarges before the first one.
    assert (loads["tinting"], loads["gfpgan_1.4"], loads["real_esrgan_x2"]) == (3, 3, 4)
    assert loads["xseg_1"] <= 3, "it is small enough to stay"


def test_effects_that_remember_keep_their_order(models: Path, clip: Path, loads, tmp_path: Path) -> None:
    options = {"swapper": "geometric", "swapper_family": None, "upscaler": "real_esrgan_x2", "end": "3f"}
    with Runner() as runner:
        for name, memory in (("wide", "1GiB"), ("tight", "2.5MiB")):
            runner.run(recipe(models, clip, tmp_path / f"{name}.mp4", memory_budget=memory, **options))
            assert (loads["gfpgan_1.4"], loads["real_esrgan_x2"]) == ((1, 1) if name == "wide" else (1, 2))
            loads.clear()
    assert jobs.packets(tmp_path / "tight.mp4") == jobs.packets(tmp_path / "wide.mp4")


def test_a_detector_takes_its_turn(models: Path, clip: Path, loads, tmp_path: Path, monkeypatch) -> None:
    monkeypatch.setattr(budget, "FRAMES_BYTES", 3 * budget.waiting_bytes(480 * 270))
    first = jobs.video_frames(clip)[0]
    face, zoom = jobs.faces_in(first)[0], min(640 / max(first.shape[:2]), 1)
    points = tuple(map(tuple, five_of_mesh(face.landmarks) * zoom))
    planted = networks.Planted(tuple(face.box * zoom), points, 0.9)
    networks.yolo_face(models / "yoloface_8n.onnx", [planted], gain=0)
    with Runner() as runner:
        for name, memory in (("wide", "1GiB"), ("tight", "2.5MiB")):
            job = recipe(models, clip, tmp_path / f"{name}.mp4", memory_budget=memory, detector="yoloface_8n", end="6f")
            assert runner.run(job).faces == 6
    assert loads["yoloface_8n"] > 1
    assert jobs.packets(tmp_path / "tight.mp4") == jobs.packets(tmp_path / "wide.mp4")


def test_a_plan_says_so(models: Path, clip: Path, tmp_path: Path) -> None:
    planned = plan(recipe(models, clip, tmp_path / "out.mp4", memory_budget="2.5MiB"))
    assert [set(group) - {"xseg_1", "fan_68_5"} for group in planned.turns] == [{"tinting"}, {"gfpgan_1.4"}]
    assert planned.chunk_frames > 1
    row = dict(planned.rows())["turns"]
    assert row.startswith("fan_68_5 + tinting")
    assert row.endswith(f", over chunks of {planned.chunk_frames} frames")
    assert plan(recipe(models, clip, tmp_path / "out.mp4")).turns == ()


def test_too_small_for_one_is_refused_before_the_start(models: Path, clip: Path, tmp_path: Path) -> None:
    with Runner() as runner, pytest.raises(UsageError, match=r"too small for gfpgan_1\.4: .* at least 2\.1MiB"):
        runner.run(recipe(models, clip, tmp_path / "out.mp4", memory_budget="1.9MiB"))


def test_a_stream_is_refused(models: Path) -> None:
    options = recipe(models, "-", Path("-"), memory_budget="2.5MiB").to_mapping()
    for name in ("target", "output"):
        del options[name]
    with Swapper(**options) as swapper, pytest.raises(UsageError, match="of a stream at once"):
        swapper.frame(jobs.rgb(jobs.HOPPER))
