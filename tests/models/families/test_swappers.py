import numpy as np
import pytest

from mien.errors import ModelError, UsageError
from mien.models.families.blendswap import BlendSwap
from mien.models.families.ghost import Ghost
from mien.models.families.hififace import HifiFace
from mien.models.families.hyperswap import HyperSwap
from mien.models.families.identity import Identity
from mien.models.families.inswapper import InSwapper
from mien.models.families.simswap import SimSwap, SimSwapUnofficial
from mien.models.families.uniface import UniFace
from support import contract_networks, reference
from support.contract_networks import emap_weight

RNG = np.random.default_rng(0)
EMAP = RNG.normal(0, 0.05, (512, 512)).astype(np.float32)
TINT = RNG.normal(0, 0.1, (512, 3)).astype(np.float32)
PERSON = Identity.average(RNG.normal(0, 1, (2, 512)) + 0.3)
TARGETS = RNG.normal(0, 1, (3, 512)).astype(np.float32)
HALF, NONE, FULL = (0.5,) * 3, (0.0,) * 3, (1.0,) * 3
IMAGENET = (0.485, 0.456, 0.406), (0.229, 0.224, 0.225)

# Family; side; mean and spread of its input; those of its output; does it want unit vectors.
EMBEDDING_SWAPPERS = [
    (InSwapper, 128, (NONE, FULL), (NONE, FULL), True),
    (HyperSwap, 256, (HALF, HALF), (HALF, HALF), True),
    (SimSwap, 256, IMAGENET, (NONE, FULL), True),
    (SimSwapUnofficial, 512, (NONE, FULL), (NONE, FULL), True),
    (Ghost, 256, (HALF, HALF), (HALF, HALF), False),
    (HifiFace, 256, (HALF, HALF), (HALF, HALF), True),
]
SWAPPERS = pytest.mark.parametrize(
    ("family", "side", "given", "taken", "unit"), EMBEDDING_SWAPPERS, ids=lambda value: getattr(value, "name", None)
)


def write(path, family, side, **options):
    """A file of the family whose output, as a picture, is its input tinted by the source."""
    if family is SimSwap:
        mean, spread = IMAGENET
        options |= {"factor": spread, "shift": mean}
    weights = [emap_weight(EMAP)] if family is InSwapper else []
    return contract_networks.swapper(path, side, options.pop("tint", TINT), weights=weights, **options)


def told(family, person: Identity, unit: bool) -> np.ndarray:
    """The source vector of the contract."""
    if family is InSwapper:
        return reference.inswapper_source(person.raw, EMAP)
    return (person.unit if unit else person.raw).astype(np.float64)


def expected(crops: np.ndarray, sources: np.ndarray, taken) -> np.ndarray:
    """Crops (n, h, w, 3) tinted by sources (n, 512)."""
    mean, spread = taken
    values = reference.planes(crops, mean, spread) + (sources @ TINT.astype(np.float64))[:, :, None, None]
    return reference.pictures(values, mean, spread)


@SWAPPERS
def test_the_crop_is_tinted_by_the_person(open_adapter, path, crops, family, side, given, taken, unit):
    swapper, session = open_adapter(family, write(path, family, side))
    faces, source = crops(2, side), told(family, PERSON, unit)
    swapped = swapper.swap(faces, swapper.source(PERSON))
    assert len(session.calls) == 1
    inputs = session.calls[0]
    np.testing.assert_allclose(inputs["target"], reference.planes(faces, *given), atol=1e-5)
    np.testing.assert_allclose(inputs["source"], np.stack([source, source]), atol=1e-5)
    np.testing.assert_allclose(swapped, expected(faces, np.stack([source, source]), taken), atol=1e-4)
    assert swapped.dtype == np.float32


@SWAPPERS
@pytest.mark.parametrize("strength", [0.0, 0.35, 1.0])
def test_strength_uses_the_targets_embeddings(open_adapter, path, crops, family, side, given, taken, unit, strength):
    swapper, session = open_adapter(family, write(path, family, side))
    faces, source = crops(3, side), told(family, PERSON, unit)
    swapped = swapper.swap(faces, swapper.source(PERSON), targets=TARGETS, strength=strength)
    owns = [reference.unit(target) if unit else target for target in TARGETS]
    sources = np.stack([reference.weighted(source, own, strength) for own in owns])
    np.testing.assert_allclose(session.calls[0]["target"], reference.planes(faces, *given), atol=1e-5)
    np.testing.assert_allclose(session.calls[0]["source"], sources, atol=1e-5)
    np.testing.assert_allclose(swapped, expected(faces, sources, taken), atol=2e-4)


@SWAPPERS
def test_a_network_that_returns_its_input_returns_the_crop(open_adapter, path, crops, family, side, given, taken, unit):
    del given, taken, unit
    swapper, _ = open_adapter(family, write(path, family, side, tint=np.zeros((512, 3), np.float32)))
    faces = crops(1, side)
    np.testing.assert_allclose(swapper.swap(faces, swapper.source(PERSON)), faces / 255, atol=2e-6)


@pytest.mark.parametrize("times", [2, 3, 4])
def test_pixel_boost_runs_interleaved_pictures_as_one_batch(open_adapter, path, crops, times):
    swapper, session = open_adapter(InSwapper, write(path, InSwapper, 128))
    faces, source = crops(2, 128 * times), told(InSwapper, PERSON, True)
    owns = [reference.unit(target) for target in TARGETS[:2]]
    sources = np.stack([reference.weighted(source, own, 0.8) for own in owns])
    swapped = swapper.swap(faces, swapper.source(PERSON), targets=TARGETS[:2], strength=0.8)
    assert len(session.calls) == 1
    assert session.calls[0]["target"].shape == (2 * times * times, 3, 128, 128)
    for face, one, vector in zip(faces, swapped, sources, strict=True):
        whole = reference.boosted(face, times, lambda part, v=vector: expected(part[None], v[None], (NONE, FULL))[0])
        np.testing.assert_allclose(one, whole, atol=1e-4)


@pytest.mark.parametrize("how", ["raw", "listed", "fp16", "fp16-listed"])
def test_the_matrix_is_the_last_weight_however_it_is_stored(open_adapter, path, how):
    path = contract_networks.swapper(path, 128, TINT, weights=[emap_weight(EMAP, how)])
    swapper, _ = open_adapter(InSwapper, path)
    matrix = EMAP.astype(np.float16) if how.startswith("fp16") else EMAP
    np.testing.assert_allclose(swapper.source(PERSON), reference.inswapper_source(PERSON.raw, matrix), atol=1e-5)


def test_a_file_without_the_matrix_is_refused(open_adapter, path):
    with pytest.raises(ModelError, match=r"last weight is to be a 512x512 matrix, it has shape \(1, 3, 1, 1\)"):
        open_adapter(InSwapper, contract_networks.swapper(path, 128, TINT))


def test_the_side_is_the_file_s(open_adapter, path, crops):
    swapper, _ = open_adapter(HyperSwap, contract_networks.swapper(path, 256, TINT))
    assert swapper.side == 256
    with pytest.raises(UsageError, match="hyperswap takes square crops of a multiple of 256 pixels, got 384x384"):
        swapper.swap(crops(1, 384), swapper.source(PERSON))


def test_strength_without_targets_is_refused(open_adapter, path, crops):
    swapper, _ = open_adapter(HyperSwap, contract_networks.swapper(path, 256, TINT))
    with pytest.raises(UsageError, match=r"a strength of 0\.7 needs the embeddings"):
        swapper.swap(crops(1, 256), swapper.source(PERSON), strength=0.7)


@pytest.mark.parametrize(("family", "picture", "taken"), [(BlendSwap, 112, (NONE, FULL)), (UniFace, 256, (HALF, HALF))])
@pytest.mark.parametrize("times", [1, 2])
def test_the_person_may_be_a_picture(open_adapter, path, crops, family, picture, taken, times):
    tint = np.random.default_rng(5).normal(0, 0.3, (3, 3)).astype(np.float32)
    file = contract_networks.swapper(path, 256, tint, picture=picture)
    swapper, session = open_adapter(family, file)
    faces, source = crops(2, 256 * times), crops(1, picture)[0]
    swapped = swapper.swap(faces, source)
    assert len(session.calls) == 1
    # The source goes in as 0..1, whatever the range of the target.
    np.testing.assert_allclose(session.calls[0]["source"][-1], np.moveaxis(source / 255, 2, 0), atol=1e-6)
    means = (source / 255).mean(axis=(0, 1)) @ tint.astype(np.float64)
    for face, one in zip(faces, swapped, strict=True):
        whole = reference.pictures(reference.planes(face[None], *taken) + means[None, :, None, None], *taken)
        np.testing.assert_allclose(one, whole[0], atol=1e-4)


@pytest.mark.parametrize("family", [family for family, *_ in EMBEDDING_SWAPPERS])
def test_no_faces_are_no_work(open_adapter, path, family):
    side = dict((one, size) for one, size, *_ in EMBEDDING_SWAPPERS)[family]
    swapper, session = open_adapter(family, write(path, family, side))
    assert swapper.swap(np.zeros((0, side, side, 3), np.uint8), swapper.source(PERSON)).shape == (0, side, side, 3)
    assert session.calls == []
