"""Each family of the field, from the recipe to the edited patch, against its contract worked out anew."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest

from mien.edit.source import SourceFace, SourcePerson
from mien.edit.steps import at_once, steps_of
from mien.errors import PolicyError, UsageError
from mien.faces.face import TrackedFace
from mien.models.families import templates
from mien.pipeline.effects import make_effects
from mien.pipeline.workshop import Workshop
from mien.recipe import Recipe
from support import contract_networks as networks
from support import field, jobs, people, portrait, reference

TARGET = jobs.rgb(jobs.LUIS)
FACE = people.analyser().find(TARGET)[0]
SOURCE = jobs.rgb(jobs.ASTRONAUT)
RNG = np.random.default_rng(11)
BRIDGE = RNG.normal(0, 0.05, (512, 512)).astype(np.float32)
"""Of the converters."""
COLOURS = RNG.normal(0, 0.3, (3, 3)).astype(np.float32)
"""Of swappers that know the source by a picture."""
MEAN, SPREAD = np.array([0.485, 0.456, 0.406]), np.array([0.229, 0.224, 0.225])


@pytest.fixture(scope="module")
def models(tmp_path_factory: pytest.TempPathFactory) -> Path:
    folder = field.write_networks(tmp_path_factory.mktemp("families") / "models")
    plain = {"hyperswap_1a_256": 256, "hififace_unofficial_256": 256, "simswap_unofficial_512": 512}
    for name, side in plain.items():
        networks.swapper(folder / f"{name}.onnx", side, field.TINT, shift=field.SHIFT)
    networks.swapper(folder / "ghost_1_256.onnx", 256, field.TINT / 10, shift=field.SHIFT)
    networks.swapper(folder / "simswap_256.onnx", 256, field.TINT, factor=SPREAD, shift=MEAN + field.SHIFT)
    networks.swapper(folder / "blendswap_256.onnx", 256, COLOURS, shift=field.SHIFT, picture=112)
    networks.swapper(folder / "uniface_256.onnx", 256, COLOURS, shift=field.SHIFT, picture=256)
    for name in ("simswap", "ghost", "hififace"):
        networks.crossface(folder / f"crossface_{name}.onnx", BRIDGE)
    shown = np.zeros((224, 224), np.float32)
    shown[60:160, 60:160] = 1
    networks.deep_swapper(folder / "somebody.dfm", 224, [shown, np.ones_like(shown)], (0.2, 0.2, 0.2), morphs=True)
    networks.restorer(folder / "codeformer.onnx", 512, field.FACTOR, field.GLOW, weighted=True)
    portrait.write_portrait(folder)
    networks.restorer(folder / "gpen_bfr_256.onnx", 256, field.FACTOR, field.GLOW)
    return folder


@pytest.fixture(scope="module")
def workshop() -> Workshop:
    return Workshop("cpu", "fp32")


@pytest.fixture
def edit(workshop: Workshop, models: Path):
    """The whole target (0..255) after the effects of a recipe."""

    def run(**options: object) -> np.ndarray:
        recipe = Recipe.from_mapping(
            {"target": "t.png", "output": "o.png", "sources": [jobs.ASTRONAUT], "models": [str(models)], **options}
        )
        opened = workshop.networks(recipe)
        effects = make_effects(recipe, workshop.roles(recipe, opened), opened)[0]
        face, target = TrackedFace(FACE, 0, None, None, 1.0, True), (TARGET / 255).astype(np.float32)
        picture = target.copy()
        for effect in effects:
            rect = effect.rect(face, TARGET.shape[1], TARGET.shape[0])
            steps = steps_of(effect, picture[rect.slices].copy(), rect, face, [], target[rect.slices])
            picture[rect.slices] = at_once(steps)
        return picture * 255

    return run


def raw() -> np.ndarray:
    return field.embedding(SOURCE, field.five(SOURCE))


def means(template: np.ndarray, side: int) -> np.ndarray:
    """Of the source's aligned crop, 0..1."""
    matrix = reference.similarity(field.five(SOURCE), template * side)
    return reference.warp(SOURCE, matrix, side, side).mean(axis=(0, 1)) / 255


def tint(source: np.ndarray) -> np.ndarray:
    return source @ field.TINT.astype(float) + field.SHIFT


def psnr(one: np.ndarray, other: np.ndarray) -> float:
    return float(10 * np.log10(255**2 / np.mean((one - other) ** 2)))


def told(name: str) -> np.ndarray:
    """What the tinting network of that name adds to a crop in 0..1."""
    if name.startswith("hyperswap"):
        return tint(reference.unit(raw())) / 2
    if name.startswith("hififace"):
        return tint(reference.unit(raw() @ BRIDGE)) / 2
    if name.startswith("ghost"):
        return (raw() @ BRIDGE @ field.TINT / 10 + field.SHIFT) / 2
    if name.startswith("simswap"):
        return tint(reference.unit(raw() @ BRIDGE))
    if name.startswith("blendswap"):
        return means(templates.ARCFACE_112_V2, 112) @ COLOURS + field.SHIFT
    return (means(templates.FFHQ_512, 256) @ COLOURS + field.SHIFT) / 2


@pytest.mark.parametrize(
    ("name", "template", "size"),
    [
        ("hyperswap_1a_256", templates.ARCFACE_128, 256),
        ("simswap_256", templates.ARCFACE_112_V1, 256),
        ("simswap_unofficial_512", templates.ARCFACE_112_V1, 512),
        ("ghost_1_256", templates.ARCFACE_112_V1, 256),
        ("hififace_unofficial_256", templates.MTCNN_512, 256),
        ("blendswap_256", templates.FFHQ_512, 256),
        ("uniface_256", templates.FFHQ_512, 256),
    ],
)
def test_a_swapper(edit, name: str, template: np.ndarray, size: int) -> None:
    expected = field.swapped(TARGET.astype(float), field.five(TARGET), told(name), size=size, template=template)
    assert psnr(expected, TARGET.astype(float)) < 30
    assert psnr(edit(swapper=name), expected) > 45


def test_nothing_is_drawn_for_networks(workshop: Workshop, models: Path) -> None:
    options = {"sources": [jobs.HOPPER], "models": [str(models)], "target": "t.png", "output": "o.png"}
    for fields, kind in (({"swapper": "hyperswap_1a_256"}, SourcePerson), ({}, SourceFace)):
        recipe = Recipe.from_mapping({**options, **fields})
        (role,) = workshop.roles(recipe, workshop.networks(recipe))
        assert type(role.face) is kind


def only_one_at_a_time(path: Path) -> Path:
    """An inswapper that adds .3, and that was exported with its one item written into the graph."""
    graph = networks.Graph()
    alone = graph.add("Reshape", "target", np.array([1, 3, 128, 128], np.int64))
    nothing = graph.add("Mul", graph.add("ReduceSum", "source", keepdims=0), np.array(0.0, np.float32))
    graph.add("Add", graph.add("Add", alone, np.array(0.3, np.float32)), nothing, out="output")
    shapes = {"target": (1, 3, 128, 128), "source": (1, 512)}
    weights = [networks.emap_weight(field.EMAP)]
    return graph.write(path, shapes, {"output": (1, 3, 128, 128)}, weights=weights)


def test_a_network_that_bears_no_batches_is_boosted_item_by_item(edit, tmp_path: Path) -> None:
    swapper = str(only_one_at_a_time(tmp_path / "alone.onnx"))
    result = edit(swapper=swapper, swapper_family="inswapper", pixel_boost=256)
    expected = field.swapped(TARGET.astype(float), field.five(TARGET), np.full(3, 0.3), size=256)
    assert psnr(result, expected) > 45


def test_a_network_for_one_person_edits_where_it_says(edit) -> None:
    result = edit(swapper="somebody")
    matrix = reference.similarity(field.five(TARGET), templates.DFL_WHOLE_FACE * 224)
    shown = np.zeros((224, 224))
    shown[40:180, 40:180] = 1  # With its soft edge.
    outside = reference.warp(shown, reference.inverse(matrix), *TARGET.shape[1::-1], outside="zero") == 0
    assert np.abs(result - TARGET)[outside].max() < 0.01
    assert np.abs(result - TARGET).max() > 20
    assert np.array_equal(edit(swapper="somebody", sources=[]), result), "it needs no picture of the person"


@pytest.mark.parametrize(
    ("name", "template", "size", "weight"),
    [("codeformer", templates.FFHQ_512, 512, 0.7), ("gpen_bfr_256", templates.ARCFACE_128, 256, 1.0)],
)
def test_a_restorer(edit, name: str, template: np.ndarray, size: int, weight: float) -> None:
    result = edit(effects=["restore"], restorer=name, restorer_weight=weight, restorer_blend=0.5)
    factor = field.FACTOR * (weight if name == "codeformer" else 1)
    expected = field.restored(
        TARGET.astype(float), field.five(TARGET), 0.5, factor=factor, size=size, template=template
    )
    assert psnr(expected, TARGET.astype(float)) < 35
    assert psnr(result, expected) > 45


@pytest.mark.parametrize("strength", [0.0, 0.9])
def test_the_expression_of_the_target_comes_back(edit, strength: float) -> None:
    options = {"swapper": "hyperswap_1a_256", "effects": ["swap", "expression"], "expression_strength": strength}
    points = field.five(TARGET)
    swapped = field.swapped(TARGET.astype(float), points, told("hyperswap"), size=256)
    matrix = reference.similarity(points, templates.ARCFACE_128 * 512)
    crops = [reference.warp(picture, matrix, 512, 512) for picture in (swapped, TARGET.astype(float))]
    drawn = portrait.expected(*crops, strength) * 255
    expected = reference.paste(swapped, drawn, reference.box_mask(512, 0.3, (0,) * 4), matrix)
    assert psnr(expected, swapped) < 35
    assert psnr(edit(**options), expected) > 42


def test_a_strict_recipe_takes_no_file_that_nobody_vouches_for(edit) -> None:
    with pytest.raises(PolicyError, match="hyperswap_1a_256 is refused, as only verified files"):
        edit(swapper="hyperswap_1a_256", strict=True)


@pytest.mark.parametrize(
    ("options", "message"),
    [
        ({"swapper": "blendswap_256", "swapper_weight": 0.7}, "leave out 'swapper_weight'"),
        ({"swapper": "somebody", "pixel_boost": 448}, "leave out 'pixel_boost'"),
        ({"swapper": "hyperswap_1a_256", "pixel_boost": 384}, "give 256, 512, 768, 1024"),
    ],
)
def test_what_a_network_cannot_do_is_said(edit, options: dict[str, object], message: str) -> None:
    with pytest.raises(UsageError, match=message):
        edit(**options)
