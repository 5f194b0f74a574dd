"""From a picture and its points to the picture with another face, against the contract in NumPy and float64."""

from collections.abc import Callable

import numpy as np
import pytest

from mien.models.families import masks
from mien.models.families.alignment import cut_faces, move
from mien.models.families.arcface import ArcFace
from mien.models.families.bisenet import BiSeNet
from mien.models.families.crossface import CrossFace
from mien.models.families.gfpgan import Gfpgan
from mien.models.families.ghost import Ghost
from mien.models.families.hififace import HifiFace
from mien.models.families.hyperswap import HyperSwap
from mien.models.families.identity import Identity
from mien.models.families.inswapper import InSwapper
from mien.models.families.landmark_sets import five_of_68
from mien.models.families.paste import footprint, paste
from mien.models.families.simswap import SimSwap
from mien.models.families.templates import ARCFACE_112_V2
from mien.models.families.xseg import XSeg
from support import contract_networks, reference
from support.contract_networks import emap_weight

RNG = np.random.default_rng(7)
EMAP = RNG.normal(0, 0.05, (512, 512)).astype(np.float32)
TINT = RNG.normal(0, 0.1, (512, 3)).astype(np.float32)
RECOGNISER = RNG.normal(0, 1, (588, 512)).astype(np.float32)
CONVERTER = RNG.normal(0, 0.05, (512, 512)).astype(np.float32)
IMAGENET = np.array([0.485, 0.456, 0.406]), np.array([0.229, 0.224, 0.225])
HALF, NONE, FULL = np.full(3, 0.5), np.zeros(3), np.ones(3)


@pytest.fixture(scope="module")
def picture() -> np.ndarray:
    """Smooth enough that sampling it twice loses less than a level."""
    y, x = np.mgrid[:360, :480] / 60
    waves = [np.sin(x + 0.7 * y), np.cos(0.8 * x - y), np.sin(0.5 * x + y + 1)]
    return np.rint(np.stack([125 + 60 * wave for wave in waves], axis=2)).astype(np.uint8)


def face(x: float, y: float, size: float, angle: float = 0.2) -> np.ndarray:
    """68 points whose five lie somewhat off any template."""
    rng = np.random.default_rng(int(x))
    turn = np.array([[np.cos(angle), -np.sin(angle)], [np.sin(angle), np.cos(angle)]])
    points = rng.uniform(0.2, 0.9, (68, 2))
    five = ARCFACE_112_V2 + rng.normal(0, 0.01, (5, 2))
    points[36:42], points[42:48], points[30], points[48], points[54] = five[0], five[1], five[2], five[3], five[4]
    return (points - 0.5) @ turn.T * size + [x, y]


FACES = [face(150, 140, 130), face(330, 220, 90, -0.4)]


def swapped(picture: np.ndarray, swapper, swap: Callable) -> np.ndarray:
    """What a pipeline does with the adapters: all faces of a picture in one batch, pasted one after the other."""
    frame = picture.astype(np.float32) / 255
    fives = [five_of_68(points) for points in FACES]
    crops, matrices = cut_faces(picture, fives, swapper.template, swapper.side)
    for crop, matrix in zip(swap(crops), matrices, strict=True):
        rect = footprint(matrix, swapper.side, picture.shape[1], picture.shape[0])
        assert rect is not None
        frame[rect.slices] = paste(frame[rect.slices], rect, crop, masks.box(swapper.side), matrix)
    return frame


def close(found: np.ndarray, expected: np.ndarray) -> None:
    """Within a level on nearly all pixels, nowhere far off: OpenCV knows places to 1/32 of a pixel."""
    difference = np.abs(found - expected) * 255
    assert difference.mean() < 0.1
    assert np.quantile(difference, 0.999) < 1
    assert difference.max() < 4


CASES = [
    (InSwapper, 128, (NONE, FULL), (NONE, FULL)),
    (HyperSwap, 256, (HALF, HALF), (HALF, HALF)),
    (SimSwap, 256, IMAGENET, (NONE, FULL)),
    (Ghost, 256, (HALF, HALF), (HALF, HALF)),
    (HifiFace, 256, (HALF, HALF), (HALF, HALF)),
]


@pytest.mark.parametrize(("family", "side", "given", "taken"), CASES, ids=lambda value: getattr(value, "name", None))
def test_two_faces_become_a_third(open_adapter, tmp_path, picture, family, side, given, taken):
    options = {"factor": given[1], "shift": given[0]} if family is SimSwap else {}
    weights = [emap_weight(EMAP)] if family is InSwapper else []
    file = contract_networks.swapper(tmp_path / "swapper.onnx", side, TINT, weights=weights, **options)
    swapper, _ = open_adapter(family, file)
    recogniser, _ = open_adapter(ArcFace, contract_networks.arcface(tmp_path / "arcface.onnx", RECOGNISER))
    converter, _ = open_adapter(CrossFace, contract_networks.crossface(tmp_path / "crossface.onnx", CONVERTER))
    pictures = [np.roll(picture, shift, axis=1) for shift in (31, 77)]
    source_faces = [five_of_68(face(200, 150, 150)), five_of_68(face(250, 180, 160))]

    # With the adapters.
    aligned = [
        cut_faces(one, [points], ARCFACE_112_V2, 112)[0] for one, points in zip(pictures, source_faces, strict=True)
    ]
    person = Identity.average(recogniser.embed(np.concatenate(aligned)))
    person = converter.convert(person) if family.converter else person
    targets = recogniser.embed(cut_faces(picture, [five_of_68(points) for points in FACES], ARCFACE_112_V2, 112)[0])
    source = swapper.source(person)
    found = swapped(picture, swapper, lambda crops: swapper.swap(crops, source, targets=targets, strength=0.7))

    # By the contract.
    def embed(image: np.ndarray, five: np.ndarray) -> np.ndarray:
        crop = reference.warp(image, reference.similarity(five, reference.ARCFACE_112), 112, 112)
        values = reference.planes(np.rint(crop)[None], HALF, HALF)
        return values.reshape(3, 14, 8, 14, 8).mean(axis=(2, 4)).ravel() @ RECOGNISER.astype(np.float64)

    raws = np.stack([embed(*pair) for pair in zip(pictures, source_faces, strict=True)])
    raw = raws.mean(axis=0)
    if family.converter:
        raw = raw @ CONVERTER.astype(np.float64)
        source = raw if family is Ghost else reference.unit(raw)
    elif family is InSwapper:
        source = reference.inswapper_source(raw, EMAP)
    else:
        source = np.mean([reference.unit(one) for one in raws], axis=0)
    frame = picture / 255.0
    for points in FACES:
        five = np.array([points[36:42].mean(0), points[42:48].mean(0), points[30], points[48], points[54]])
        own = embed(picture, five)
        vector = reference.weighted(source, own if family is Ghost else reference.unit(own), 0.7)
        matrix = reference.similarity(five, family.template * side)
        crop = np.rint(reference.warp(picture, matrix, side, side))[None]
        values = reference.planes(crop, *taken) + (vector @ TINT.astype(np.float64))[None, :, None, None]
        mask = reference.box_mask(side, 0.3, (0, 0, 0, 0))
        frame = reference.paste(frame, reference.pictures(values, *taken)[0], mask, matrix)
    changed = np.abs(frame - picture / 255.0)
    assert changed.max() > 0.02
    close(found, frame)


@pytest.mark.parametrize(("family", "side", "given", "taken"), CASES, ids=lambda value: getattr(value, "name", None))
def test_a_network_that_returns_its_input_leaves_the_picture_within_a_level(
    open_adapter, path, picture, family, side, given, taken
):
    del taken
    options = {"factor": given[1], "shift": given[0]} if family is SimSwap else {}
    weights = [emap_weight(EMAP)] if family is InSwapper else []
    nothing = np.zeros((512, 3), np.float32)
    swapper, _ = open_adapter(family, contract_networks.swapper(path, side, nothing, weights=weights, **options))
    person = Identity.average(RNG.normal(0, 1, (1, 512)))
    found = swapped(picture, swapper, lambda crops: swapper.swap(crops, swapper.source(person)))
    assert np.abs(np.rint(found * 255) - picture).max() <= 1


def test_boxes_occluders_areas_and_regions_are_what_all_of_them_show(open_adapter, tmp_path):
    """inswapper at twice its side, and all four kinds of masks."""
    # Enough blue for the occluder on the right of the face, enough red for the parser in its lower part.
    y, x = np.mgrid[:360, :480]
    slopes = np.stack([124 + 1.2 * (y - 120), np.full(x.shape, 90), 128 + 1.2 * (x - 130)], axis=2)
    picture = np.clip(np.rint(slopes), 0, 255).astype(np.uint8)
    swapper, _ = open_adapter(
        InSwapper, contract_networks.swapper(tmp_path / "swapper.onnx", 128, TINT, weights=[emap_weight(EMAP)])
    )
    occluder, _ = open_adapter(XSeg, contract_networks.xseg(tmp_path / "xseg.onnx"))
    parser, _ = open_adapter(
        BiSeNet, contract_networks.bisenet(tmp_path / "bisenet.onnx", {1: (1, 0, 0), 0: (0, 0, 0)})
    )
    person = Identity.average(RNG.normal(0, 1, (1, 512)))
    side = 256
    five = five_of_68(FACES[0])
    crops, (matrix,) = cut_faces(picture, [five], swapper.template, side)
    after = swapper.swap(crops, swapper.source(person))
    points = move(FACES[0], matrix)
    found = masks.combine(
        [
            masks.box(side),
            occluder.visible(crops)[0],
            masks.area(points, side, list(masks.AREAS)),
            parser.region(after)[0],
        ]
    )

    crop = np.rint(reference.warp(picture, reference.similarity(five, swapper.template * side), side, side))
    tint = reference.inswapper_source(person.raw, EMAP) @ TINT.astype(np.float64)
    expected_crop = reference.boosted(crop, 2, lambda part: np.clip(part / 255 + tint, 0, 1))
    np.testing.assert_allclose(after[0], expected_crop, atol=2.5 / 255)
    assert np.abs(after[0] - expected_crop).mean() < 0.3 / 255
    seen = reference.soft_edge(crop[:, :, 2] / 255 > 0.5)
    values = reference.planes(reference.resize(expected_crop, 512, 512)[None] * 255, *IMAGENET)[0]
    skin = reference.soft_edge(reference.resize((values[0] > 0).astype(float), side, side))
    hull = reference.inside_hull(points[sorted({*sum(masks.AREAS.values(), ())})].astype(np.int32), side)
    area = reference.soft_edge(hull)
    expected = np.minimum.reduce([reference.box_mask(side, 0.3, (0, 0, 0, 0)), seen, area, skin])
    # A border moves by a pixel where a value is near its threshold, and OpenCV fills the outline of a hull, too.
    assert 0.02 < expected.mean() < 0.9 * area.mean()
    assert np.abs(found - expected).mean() < 0.01
    assert np.quantile(np.abs(found - expected), 0.98) < 0.12


def test_a_restored_face_is_blended_in(open_adapter, path, picture):
    restorer, _ = open_adapter(Gfpgan, contract_networks.restorer(path, 512, 0.8, (0.1, 0, 0)))
    five = five_of_68(FACES[0])
    frame = picture.astype(np.float32) / 255
    crops, (matrix,) = cut_faces(frame, [five], restorer.template, 512)
    restored = restorer.restore(crops)
    rect = footprint(matrix, 512, picture.shape[1], picture.shape[0])
    assert rect is not None
    frame[rect.slices] = paste(frame[rect.slices], rect, restored[0], masks.box(512) * np.float32(0.8), matrix)
    matrix = reference.similarity(five, restorer.template * 512)
    crop = reference.warp(picture / 255.0, matrix, 512, 512)
    made = np.clip(((crop - 0.5) / 0.5 * 0.8 + np.array([0.1, 0, 0])) * 0.5 + 0.5, 0, 1)
    # The field blends the whole frame afterwards, which is the same as a fainter mask.
    pasted = reference.paste(picture / 255.0, made, reference.box_mask(512, 0.3, (0, 0, 0, 0)), matrix)
    close(frame, picture / 255.0 * 0.2 + pasted * 0.8)
