import cv2
import numpy as np
import pytest

from mien.errors import UsageError
from mien.models.families.deep_swapper import DeepSwapper, match_colour
from support import contract_networks, reference

SIDE = 96
SHIFT = (0.2, 0.0, -0.1)  # blue, green, red


def disc(x: float, y: float, radius: float) -> np.ndarray:
    rows, columns = np.mgrid[:SIDE, :SIDE]
    return ((columns - x) ** 2 + (rows - y) ** 2 < radius**2).astype(np.float32)


MASKS = disc(40, 48, 36), disc(56, 48, 36)


def eroded(mask: np.ndarray) -> np.ndarray:
    """The least of each pixel and its four neighbours: a 3 x 3 ellipse is a cross."""
    padded = np.pad(mask, 1, constant_values=1)
    return np.minimum.reduce(
        [padded[1:-1, 1:-1], padded[:-2, 1:-1], padded[2:, 1:-1], padded[1:-1, :-2], padded[1:-1, 2:]]
    )


@pytest.mark.parametrize("morphs", [True, False])
def test_faces_and_masks_are_those_of_the_contract(open_adapter, path, crops, morphs):
    swapper, session = open_adapter(
        DeepSwapper, contract_networks.deep_swapper(path, SIDE, MASKS, SHIFT, morphs=morphs)
    )
    assert (swapper.side, swapper.morphs) == (SIDE, morphs)
    faces, morph = crops(2, SIDE), 0.75 if morphs else 1.0
    swapped = swapper.swap(faces, morph=morph, match_colours=False)
    # The morph value is one number for the whole batch: one call a face.
    assert len(session.calls) == 2
    for number, face in enumerate(faces):
        sharp = np.clip(1.75 * face / 255 - 0.75 * reference.blur(face / 255, 2), 0, 1)
        np.testing.assert_allclose(session.calls[number]["in_face:0"][0], sharp[:, :, ::-1], atol=1e-4)
        result = np.clip((sharp[:, :, ::-1] + np.array(SHIFT)) * morph, 0, 1)[:, :, ::-1]
        np.testing.assert_allclose(swapped.crops[number], result, atol=1e-4)
    soft = reference.blur(eroded(eroded(np.minimum(*MASKS))), 6.25)
    np.testing.assert_allclose(swapped.masks, np.stack([soft, soft]), atol=1e-4)


def test_morphing_needs_a_network_that_can(open_adapter, path, crops):
    swapper, _ = open_adapter(DeepSwapper, contract_networks.deep_swapper(path, SIDE, MASKS, SHIFT, morphs=False))
    with pytest.raises(UsageError, match=r"no morph input: morph must be 1, got 0\.5"):
        swapper.swap(crops(1, SIDE), morph=0.5)


def test_no_faces_are_no_work(open_adapter, path):
    swapper, session = open_adapter(DeepSwapper, contract_networks.deep_swapper(path, SIDE, MASKS, SHIFT, morphs=True))
    swapped = swapper.swap(np.zeros((0, SIDE, SIDE, 3), np.uint8))
    assert swapped.crops.shape == (0, SIDE, SIDE, 3)
    assert swapped.masks.shape == (0, SIDE, SIDE)
    assert session.calls == []


def test_colours_come_nearer_to_those_of_the_target(portrait):
    face = cv2.resize(portrait[60:220, 150:310], (128, 128)).astype(np.float32) / 255
    tinted = np.clip(face * np.float32([0.95, 0.9, 0.85]), 0, 1)
    matched = match_colour(face, tinted)
    assert np.abs(matched - face).mean() < 0.5 * np.abs(tinted - face).mean()


def test_equal_colours_stay(portrait):
    face = portrait[60:188, 150:278].astype(np.float32) / 255
    np.testing.assert_allclose(match_colour(face, face), face, atol=1e-6)
