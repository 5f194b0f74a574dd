"""Transfer functions and primaries against published values, and exact inverses."""

from __future__ import annotations

import av
import numpy as np
import pytest

from mien.geometry import Rect
from mien.media.colour import (
    Colour,
    ColourTags,
    hlg_decode,
    hlg_encode,
    pq_decode,
    pq_encode,
    primaries_matrix,
    srgb_decode,
    srgb_encode,
    tone_map,
)
from mien.media.orientation import Orientation
from mien.media.planes import PlaneFrame, plane_arrays

PQ, HLG = ColourTags(1, 9, 9, 16), ColourTags(1, 9, 9, 18)


def grey(value: float) -> np.ndarray:
    return np.full((1, 1, 3), value, np.float32)


@pytest.mark.parametrize(
    ("code", "nits"),
    # ITU-R BT.2408, table 1 and BT.2100: 58 % of PQ is 203 cd/m2; 10-bit code words of 100, 1000 and 10000 cd/m2.
    [(0.0, 0.0), (0.5081, 100.0), (0.5807, 203.0), (0.7518, 1000.0), (1.0, 10000.0)],
)
def test_pq_levels(code: float, nits: float) -> None:
    assert pq_decode(grey(code))[0, 0, 0] * 203 == pytest.approx(nits, rel=0.003, abs=0.01)


@pytest.mark.parametrize(("code", "nits"), [(0.0, 0.0), (0.75, 203.0), (1.0, 1000.0), (0.38, 26.0)])
def test_hlg_levels(code: float, nits: float) -> None:
    """BT.2408, table 1: 75 % of HLG is 203 cd/m2 and 38 % is 26 cd/m2 on a display of 1000."""
    assert hlg_decode(grey(code))[0, 0, 0] * 203 == pytest.approx(nits, rel=0.03, abs=0.01)


def test_srgb_levels() -> None:
    """IEC 61966-2-1: middle grey 0.5 is 21.4 % of light."""
    assert srgb_decode(grey(0.5))[0, 0, 0] == pytest.approx(0.2140, abs=1e-4)
    assert srgb_encode(grey(0.0021))[0, 0, 0] == pytest.approx(0.0021 * 12.92, abs=1e-6)


@pytest.mark.parametrize(
    ("encode", "decode", "low"),
    [(srgb_encode, srgb_decode, -0.5), (pq_encode, pq_decode, 0.0), (hlg_encode, hlg_decode, 0.0)],
)
def test_transfer_functions_are_inverses(encode, decode, low: float) -> None:
    codes = np.random.default_rng(1).uniform(low, 1, (40, 40, 3)).astype(np.float32)
    assert np.abs(encode(decode(codes)) - codes).max() < 2e-4


def test_primaries() -> None:
    """BT.2087, annex: the matrix from BT.709 to BT.2020."""
    expected = [[0.6274, 0.3293, 0.0433], [0.0691, 0.9195, 0.0114], [0.0164, 0.0880, 0.8956]]
    assert primaries_matrix(1, 9) == pytest.approx(np.array(expected), abs=2e-4)
    assert primaries_matrix(9, 1) @ primaries_matrix(1, 9) == pytest.approx(np.eye(3), abs=1e-5)


@pytest.mark.parametrize("tags", [PQ, HLG, ColourTags(1, 9, 9, 14), ColourTags(1, 1, 12, 1)])
def test_working_space_and_back(tags: ColourTags) -> None:
    colour = Colour.resolve(tags, 1080)
    assert colour.converts
    coded = np.random.default_rng(2).uniform(0.02, 0.98, (50, 50, 3)).astype(np.float32)
    assert np.abs(colour.from_working(colour.to_working(coded)) - coded).max() < 1e-3


@pytest.mark.parametrize("tags", [ColourTags(), ColourTags(1, 1, 1, 1), ColourTags(2, 6, 6, 6)])
def test_ordinary_video_is_worked_on_as_it_is(tags: ColourTags) -> None:
    colour = Colour.resolve(tags, 1080)
    coded = grey(0.3)
    assert not colour.converts
    assert colour.to_working(coded) is coded


@pytest.mark.parametrize(("tags", "code"), [(PQ, 0.5807), (HLG, 0.75)])
def test_reference_white_is_one(tags: ColourTags, code: float) -> None:
    assert Colour.resolve(tags, 1080).to_working(grey(code))[0, 0] == pytest.approx(1.0, abs=0.01)
    assert Colour.resolve(tags, 1080).to_working(grey(0.95))[0, 0].min() > 1


def test_tone_map_keeps_faces_and_stays_in_range() -> None:
    levels = np.linspace(-0.2, 6, 500, dtype=np.float32).reshape(1, -1, 1).repeat(3, axis=2)
    shown = tone_map(levels)
    assert shown.min() >= 0
    assert shown.max() <= 1
    assert (np.diff(shown[0, :, 0]) >= 0).all()
    dark = levels[0, :, 0] < 0.75
    assert np.allclose(shown[0, dark], np.maximum(levels[0, dark], 0))


@pytest.mark.parametrize("tags", [PQ, HLG])
def test_hdr_frames_are_edited_in_their_own_code(tags: ColourTags) -> None:
    picture = av.VideoFrame(64, 48, "yuv420p10le")
    frame = PlaneFrame(picture, index=0, time_s=0, colour=Colour.resolve(tags, 48), orientation=Orientation())
    rng = np.random.default_rng(3)
    for plane, (low, high) in zip(
        plane_arrays(picture, frame.layout), [(200, 700), (480, 544), (480, 544)], strict=True
    ):
        plane[...] = rng.integers(low, high, (1, 1))
    before = [plane.copy() for plane in plane_arrays(picture, frame.layout)]
    rect = Rect(16, 16, 32, 16)
    patch = frame.working(rect)
    frame.apply(rect, patch, patch.copy())
    assert all(np.array_equal(*pair) for pair in zip(before, plane_arrays(picture, frame.layout), strict=True))
    frame.apply(rect, patch, patch * np.float32(0.8))
    assert np.abs(frame.working(rect) - patch * 0.8).max() < 0.01
    assert frame.display().dtype == np.uint8
