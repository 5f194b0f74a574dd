"""Whole jobs with networks of the field's kinds: what they do to the frame is their contract, worked out anew."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

import numpy as np
import pytest
from PIL import Image

from mien.errors import ModelError, PolicyError, RecipeError, UsageError
from mien.models.families.templates import ARCFACE_128
from mien.pipeline.api import Runner, Swapper
from mien.report import Report
from support import field, jobs, reference
from support.jobs import ASTRONAUT, HOPPER

TARGET = jobs.rgb(HOPPER)


@pytest.fixture(scope="module")
def models(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return field.write_networks(tmp_path_factory.mktemp("field") / "models")


@pytest.fixture(scope="module")
def runner() -> Iterator[Runner]:
    with Runner() as shared:
        yield shared


@pytest.fixture(scope="module")
def target(tmp_path_factory: pytest.TempPathFactory) -> Path:
    path = tmp_path_factory.mktemp("target") / "target.png"
    Image.fromarray(TARGET).save(path)
    return path


@pytest.fixture(scope="module")
def points() -> np.ndarray:
    return field.five(TARGET)


@pytest.fixture(scope="module")
def raw() -> np.ndarray:
    """The source's embedding."""
    pixels = jobs.rgb(ASTRONAUT)
    return field.embedding(pixels, field.five(pixels))


@pytest.fixture
def swap(runner: Runner, models: Path, target: Path, tmp_path: Path):
    """Runs a job in float32; the result and the report."""

    def run(**options: object) -> tuple[np.ndarray, Report]:
        fields = {"precision": "fp32", "models": [str(models)], "overwrite": True, **options}
        report = runner.run(jobs.job(target, tmp_path / "out.png", **fields))
        return jobs.rgb(tmp_path / "out.png"), report

    return run


@pytest.fixture(scope="module")
def tinting(models: Path) -> dict[str, object]:
    """The tinting swapper as a file of the user's own."""
    return {"swapper": str(models / "tinting.onnx"), "swapper_family": "inswapper"}


def psnr(one: np.ndarray, other: np.ndarray) -> float:
    return float(10 * np.log10(255**2 / np.mean((one.astype(float) - other) ** 2)))


def around(points: np.ndarray, template: np.ndarray, size: int) -> np.ndarray:
    """(height, width) True where a crop covers the target."""
    inverse = reference.inverse(reference.similarity(points, template * size))
    height, width = TARGET.shape[:2]
    return reference.warp(np.ones((size, size)), inverse, width, height, outside="zero") > 0


def test_a_swapper_that_returns_its_input_leaves_the_frame_alone(swap) -> None:
    result, report = swap(swapper="inswapper_128", precision="auto")
    assert np.abs(result.astype(int) - TARGET).max() <= 1
    assert report.faces == 1


def test_a_swap_is_the_contract(swap, tinting, points, raw) -> None:
    result, report = swap(**tinting)
    expected = field.swapped(TARGET.astype(float), points, field.tint_of(reference.inswapper_source(raw, field.EMAP)))
    changed = around(points, ARCFACE_128, 128)
    assert np.array_equal(result[~changed], TARGET[~changed])
    assert psnr(expected[changed], TARGET[changed]) < 20, "there is something to see"
    assert psnr(result[changed], expected[changed]) > 45
    used = {use.model: use for use in report.models}
    assert (used["tinting"].engine, used["tinting"].precision, used["tinting"].items) == ("openvino", "fp32", 1)
    assert any("tinting.onnx is used unverified" in warning for warning in report.warnings)


@pytest.mark.parametrize("weight", [0.0, 0.8])
def test_identity_is_weighed_against_the_target(swap, tinting, points, raw, weight) -> None:
    result, report = swap(**tinting, swapper_weight=weight)
    own = reference.unit(field.embedding(TARGET, points))
    source = reference.weighted(reference.inswapper_source(raw, field.EMAP), own, weight)
    expected = field.swapped(TARGET.astype(float), points, field.tint_of(source))
    assert psnr(result, expected) > 45
    plain = field.swapped(TARGET.astype(float), points, field.tint_of(reference.inswapper_source(raw, field.EMAP)))
    assert psnr(result, plain) < 40
    assert "arcface_w600k_r50" in {use.model for use in report.models}


def test_a_boosted_crop_runs_as_one_batch(swap, tinting, points, raw) -> None:
    result, report = swap(**tinting, pixel_boost=512)
    tint = field.tint_of(reference.inswapper_source(raw, field.EMAP))
    assert psnr(result, field.swapped(TARGET.astype(float), points, tint, size=512)) > 45
    (use,) = [use for use in report.models if use.model == "tinting"]
    assert (use.calls, use.items) == (1, 16)


def test_masks_take_the_least_of_all(runner: Runner, models: Path, tinting, raw, tmp_path: Path) -> None:
    bright = np.clip(TARGET * 1.4, 0, 255).astype(np.uint8)  # Half of it is bright enough for the occluder.
    Image.fromarray(bright).save(tmp_path / "bright.png")
    masks = {"mask": ["box", "occlusion", "area", "region"], "mask_areas": ["upper-face", "mouth"]}
    masks["mask_padding"] = [0, 45, 0, 0]
    options = {**tinting, **masks, "mask_regions": ["skin"], "precision": "fp32", "models": [str(models)]}
    runner.run(jobs.job(tmp_path / "bright.png", tmp_path / "out.png", **options))

    points, tint = field.five(bright), field.tint_of(reference.inswapper_source(raw, field.EMAP))
    matrix = reference.similarity(points, ARCFACE_128 * 128)
    crop = reference.warp(bright, matrix, 128, 128)
    large = reference.resize(np.clip(crop + tint * 255, 0, 255), 512, 512)[None]
    parsed = reference.planes(large, (0.485, 0.456, 0.406), (0.229, 0.224, 0.225))[0]
    upper = [*range(3), *range(14, 27), *range(31, 36), *range(48, 68)]
    corners = reference.move(field.sixty_eight(bright), matrix)[upper].astype(int)
    rough = [
        reference.resize((reference.resize(crop, 256, 256)[..., 2] > 127.5).astype(float), 128, 128),
        reference.resize((parsed[2] > 1.13 * parsed[0]).astype(float), 128, 128),
        reference.inside_hull(corners, 128),
    ]
    made = [reference.box_mask(128, 0.3, (0, 45, 0, 0)), *(reference.soft_edge(mask) for mask in rough)]
    least = np.minimum.reduce(made)
    for number in range(len(made)):
        others = np.minimum.reduce([mask for place, mask in enumerate(made) if place != number])
        assert (others - least).max() > 0.2, "each of them matters"
    expected = field.swapped(bright.astype(float), points, tint, mask=least)
    result, changed = jobs.rgb(tmp_path / "out.png"), np.abs(expected - bright).max(axis=2) > 0.5
    assert changed.sum() > 2000
    assert psnr(bright[changed], expected[changed]) < 35
    assert psnr(result[changed], expected[changed]) > 42
    assert np.abs(result[~changed].astype(int) - bright[~changed]).mean() < 0.01


def test_effects_are_applied_in_the_order_given(swap, tinting, points, raw) -> None:
    tint = field.tint_of(reference.inswapper_source(raw, field.EMAP))
    for effects in (["swap", "restore"], ["restore", "swap"]):
        result, _ = swap(**tinting, effects=effects, restorer_blend=0.6)
        expected = TARGET.astype(float)
        for effect in effects:
            if effect == "swap":
                expected = field.swapped(expected, points, tint)
            else:
                expected = field.restored(expected, points, 0.6)
        assert psnr(result, expected) > 42
        other = [effect for effect in ("swap", "restore") if effect != effects[-1]]
        assert other == effects[:1]


def test_a_restorer_that_is_named_comes_last(swap, tinting) -> None:
    named, _ = swap(**tinting, restorer="gfpgan_1.4")
    ordered, _ = swap(**tinting, effects=["swap", "restore"])
    assert np.array_equal(named, ordered)


def test_restoring_needs_no_source(runner: Runner, models: Path, target: Path, points, tmp_path: Path) -> None:
    recipe = jobs.job(
        target, tmp_path / "out.png", sources=[], effects=["restore"], models=[str(models)], precision="fp32"
    )
    report = runner.run(recipe)
    expected = field.restored(TARGET.astype(float), points, 0.8)
    assert psnr(jobs.rgb(tmp_path / "out.png"), expected) > 45
    assert report.quality.identity_distance is None


def test_a_person_is_made_once(models: Path, target: Path, tinting, tmp_path: Path) -> None:
    with Runner() as fresh:
        used = []
        for name in ("first.png", "second.png"):
            report = fresh.run(jobs.job(target, tmp_path / name, models=[str(models)], **tinting))
            used.append({use.model for use in report.models})
    assert "arcface_w600k_r50" in used[0]
    assert "arcface_w600k_r50" not in used[1]


def test_a_small_budget_changes_nothing_but_is_refused_if_too_small(swap, models: Path, tinting) -> None:
    largest = max(file.stat().st_size for file in models.iterdir())
    plain, _ = swap(**tinting, restorer="gfpgan_1.4")
    tight, report = swap(**tinting, restorer="gfpgan_1.4", memory_budget=f"{largest * 80}B")
    assert np.array_equal(plain, tight)
    assert not any("take turns" in warning for warning in report.warnings)
    with pytest.raises(UsageError, match=r"too small for arcface_w600k_r50: give 'memory_budget' at least 1\.2MiB"):
        swap(**tinting, memory_budget="1MB")


@pytest.mark.parametrize(
    ("options", "error", "message"),
    [
        ({"swapper": "simswap_256"}, ModelError, r"no simswap_256\.onnx in .*models.*--models"),
        ({"swapper": "inswaper_128"}, ModelError, "did you mean inswapper_128"),
        ({"swapper": "gfpgan_1.4"}, UsageError, "gfpgan_1.4 is no swapper but a restorer"),
        ({"swapper": "inswapper_128", "swapper_family": "ghost"}, UsageError, "named by its id"),
        ({"swapper": "inswapper_128", "sources": []}, RecipeError, "no source picture, which inswapper_128 needs"),
        ({"swapper": "nowhere.onnx"}, UsageError, "one of inswapper, hyperswap"),
        ({"swapper": "nowhere.onnx", "swapper_family": "inswapper"}, ModelError, "no such file"),
        ({"swapper": "inswapper_128", "pixel_boost": 200}, UsageError, "give 128, 256, 384, 512"),
        ({"swapper": "inswapper_128", "licence_profile": "commercial"}, PolicyError, "the licence profile is commerc"),
        ({"swapper": "inswapper_128", "models": ["no/such/folder"]}, UsageError, "is no folder"),
        ({"effects": ["swap", "mark"]}, RecipeError, "unknown effect 'mark': there is swap, restore, expression"),
        ({"mask": ["circle"]}, RecipeError, "unknown mask 'circle': there is box, occlusion, area, region"),
        ({"mask_regions": ["ear"]}, RecipeError, "unknown region of the face 'ear'"),
        ({"upscale": 2, "upscaler": "span_x4"}, UsageError, "span_x4 enlarges 4 times, not 2"),
    ],
)
def test_what_cannot_be_done_is_said_at_once(swap, options, error, message) -> None:
    with pytest.raises(error, match=message):
        swap(**options)


def test_a_file_of_another_family_is_refused(swap, models: Path, tmp_path: Path) -> None:
    wrong = tmp_path / "wrong.onnx"
    wrong.write_bytes((models / "gfpgan_1.4.onnx").read_bytes())
    with pytest.raises(ModelError, match="is no network of the family inswapper"):
        swap(swapper=str(wrong), swapper_family="inswapper")


@pytest.fixture(scope="module")
def clip(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """40 frames with a keyframe every 20."""
    return jobs.talking_clip(tmp_path_factory.mktemp("clip") / "talking.mp4", seconds=1.6)


def test_a_video_runs_each_network_once_a_frame(runner: Runner, models: Path, clip: Path, tinting, tmp_path) -> None:
    job = jobs.job(clip, tmp_path / "out.mp4", models=[str(models)], segment_seconds=1, crf=1, **tinting)
    report = runner.run(job)
    assert (report.segments, report.faces) == (2, 40)
    (use,) = [use for use in report.models if use.model == "tinting"]
    assert use.items == 40, "no frame is swapped to warm up, since networks remember nothing"
    before, after = jobs.video_frames(clip)[15], jobs.video_frames(tmp_path / "out.mp4")[15]
    box = jobs.faces_in(before)[0].box
    middle = tuple(slice(int(low * 0.6 + high * 0.4), int(low * 0.4 + high * 0.6)) for low, high in
                   ((box[1], box[3]), (box[0], box[2])))  # fmt: skip
    moved = after[middle].mean(axis=(0, 1)) - before[middle].mean(axis=(0, 1))
    assert np.abs(moved).max() > 20
    assert np.abs(after[:, :40].astype(int) - before[:, :40]).mean() < 3


def test_a_live_stream_is_swapped_too(models: Path, points, raw, tinting) -> None:
    with Swapper(ASTRONAUT, models=[str(models)], precision="fp32", **tinting) as swapper:
        result = swapper.frame(TARGET)
    tint = field.tint_of(reference.inswapper_source(raw, field.EMAP))
    assert psnr(result, field.swapped(TARGET.astype(float), points, tint)) > 35


def test_a_picture_can_become_larger(runner: Runner, tmp_path: Path) -> None:
    small, plain, out = (tmp_path / name for name in ("small.png", "plain.png", "out.png"))
    Image.fromarray(TARGET).resize((160, 188), Image.Resampling.LANCZOS).save(small)
    runner.run(jobs.job(small, plain))
    report = runner.run(jobs.job(small, out, upscale=2))
    assert "span_x2" in {use.model for use in report.models}
    assert not any("span" in warning for warning in report.warnings), "it comes with mien"
    large = jobs.rgb(out)
    assert large.shape == (376, 320, 3)
    shrunk = np.asarray(Image.fromarray(large).resize((160, 188), Image.Resampling.BOX))
    assert psnr(shrunk, jobs.rgb(plain)) > 30


def test_a_video_can_become_larger(runner: Runner, clip: Path, tmp_path: Path) -> None:
    report = runner.run(jobs.job(clip, tmp_path / "out.mp4", upscale=2, end="1f"))
    assert report.frames == 1
    assert [frame.shape for frame in jobs.video_frames(tmp_path / "out.mp4")] == [(540, 960, 3)]


def test_an_animation_cannot(runner: Runner, tmp_path: Path) -> None:
    frames = [Image.fromarray(TARGET).resize((160, 188))] * 2
    frames[0].save(tmp_path / "a.gif", save_all=True, append_images=[Image.new("RGB", (160, 188))])
    with pytest.raises(UsageError, match="is an animation, which cannot be enlarged"):
        runner.run(jobs.job(tmp_path / "a.gif", tmp_path / "b.gif", upscale=2))
