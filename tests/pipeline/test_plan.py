"""A plan tells what would run, and nothing runs."""

from __future__ import annotations

import json
from pathlib import Path

import pytest
from PIL import Image

from mien.errors import RecipeError, UnwritableError, UsageError
from mien.pipeline.plan import make_plan
from mien.recipe import Recipe
from support import field, jobs


@pytest.fixture(scope="module")
def clip(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return jobs.talking_clip(tmp_path_factory.mktemp("plan") / "clip.mp4", seconds=2.4)


def plan_of(target: str | Path, output: Path, **fields: object):
    return make_plan(
        Recipe.from_mapping({"target": str(target), "output": str(output), "sources": ["s.png"], **fields})
    )


def test_a_video_plan(clip: Path, tmp_path: Path) -> None:
    plan = plan_of(clip, tmp_path / "out.mp4", segment_seconds=1, crf=20)
    assert (plan.kind, plan.width, plan.height, plan.frames) == ("video", 480, 270, 60)
    assert plan.media_seconds == pytest.approx(2.4)
    assert plan.segments == 3
    assert plan.stages[0] == "decode"
    assert plan.stages[-1] == "join"
    assert plan.encoding is not None
    assert "libx264" in plan.encoding
    assert "crf 20" in plan.encoding
    assert {"face_detection_back", "face_mesh_478", "dlib_face_recognition"} <= {model.model for model in plan.models}
    assert list(tmp_path.iterdir()) == []


def test_precision_is_what_will_run(clip: Path, tmp_path: Path) -> None:
    plan = plan_of(clip, tmp_path / "out.mp4", precision="fp32")
    assert {model.precision for model in plan.models} == {"fp32"}


def test_more_frames_take_longer(clip: Path, tmp_path: Path) -> None:
    whole = plan_of(clip, tmp_path / "out.mp4")
    part = plan_of(clip, tmp_path / "out.mp4", end="10f")
    assert part.frames == 10
    assert part.estimated_seconds < whole.estimated_seconds


def test_a_picture_and_an_animation(tmp_path: Path) -> None:
    plan = plan_of(jobs.HOPPER, tmp_path / "out.jpg")
    assert (plan.kind, plan.frames, plan.segments, plan.encoding) == ("picture", 1, 0, None)
    frames = [Image.new("RGB", (40, 30), (shade, 0, 0)) for shade in (0, 80, 160)]
    frames[0].save(tmp_path / "in.gif", save_all=True, append_images=frames[1:], duration=100)
    plan = plan_of(tmp_path / "in.gif", tmp_path / "out.gif")
    assert (plan.kind, plan.width, plan.height, plan.frames) == ("animation", 40, 30, 3)
    assert plan.media_seconds == pytest.approx(0.3)


def test_rows_and_json_say_the_same(clip: Path, tmp_path: Path) -> None:
    plan = plan_of(clip, tmp_path / "out.mp4")
    rows = dict(plan.rows())
    assert "480x270" in rows["target"]
    assert f"{plan.estimated_seconds:.0f} s" in rows["time"]
    assert json.loads(json.dumps(plan.to_mapping()))["frames"] == plan.frames


def test_what_would_fail_fails_at_once(clip: Path, tmp_path: Path) -> None:
    (tmp_path / "there.mp4").write_bytes(b"")
    with pytest.raises(UnwritableError, match="already there"):
        plan_of(clip, tmp_path / "there.mp4")
    with pytest.raises(RecipeError, match="glow"):
        plan_of(clip, tmp_path / "out.mp4", effects=["glow"])


def test_networks_of_the_field_are_planned_with_their_memory(clip: Path, tmp_path: Path) -> None:
    models = field.write_networks(tmp_path / "models")
    options = {"swapper": "inswapper_128", "restorer": "gfpgan_1.4", "models": [str(models)], "mask": ["box", "region"]}
    plain, plan = plan_of(clip, tmp_path / "out.mp4"), plan_of(clip, tmp_path / "out.mp4", **options)
    added = {model.model: model for model in plan.models if model not in plain.models}
    assert {name: model.role for name, model in added.items()} == {
        "inswapper_128": "swapper",
        "arcface_w600k_r50": "recogniser",
        "bisenet_resnet_34": "parser",
        "gfpgan_1.4": "restorer",
    }
    sizes = [(models / f"{name}.onnx").stat().st_size for name in added]
    assert [model.expected_bytes for model in added.values()] == sizes
    assert plan.expected_memory_bytes - plain.expected_memory_bytes == sum(sizes)
    assert plan.estimated_seconds > plain.estimated_seconds


def test_a_plan_that_cannot_fit_is_refused(clip: Path, tmp_path: Path) -> None:
    options = {"swapper": "inswapper_128", "models": [str(field.write_networks(tmp_path / "models"))]}
    with pytest.raises(UsageError, match=r"too small for arcface_w600k_r50: .*1\.2MiB"):
        plan_of(clip, tmp_path / "out.mp4", **options, memory_budget="1MiB")
    tight = plan_of(clip, tmp_path / "out.mp4", **options, memory_budget="2MiB")
    assert (tight.turns, tight.warnings) == ((), ()), "the recogniser has left before the first frame"


def test_an_enlarged_plan(clip: Path, tmp_path: Path) -> None:
    plan = plan_of(clip, tmp_path / "out.mp4", upscaler="span_x2")
    assert (plan.width, plan.height) == (480, 270)
    assert ("size", "960x540") in plan.rows()
    assert plan.estimated_seconds > plan_of(clip, tmp_path / "out.mp4").estimated_seconds
    assert plan.models[-1].model == "span_x2"
