import cv2
import numpy as np
import pytest

from mien.errors import ModelError
from mien.models.catalogue import find_model
from mien.models.families.real_esrgan import LargeTiles, RealEsrgan, SmallTiles, TinyTiles
from mien.models.families.span import Span
from mien.models.families.tiles import Tiling, run_tiled
from support import contract_networks

KERNEL = np.outer([1, 2, 3, 2, 1], [1, 2, 3, 2, 1]) / 81


def enlarged(picture: np.ndarray, scale: int) -> np.ndarray:
    """Blurred with a mirrored border, every pixel `scale` x `scale` times."""
    padded = np.pad(picture / 255, ((2, 2), (2, 2), (0, 0)), mode="symmetric")
    height, width = picture.shape[:2]
    blurred = sum(KERNEL[y, x] * padded[y : y + height, x : x + width] for y in range(5) for x in range(5))
    return blurred.repeat(scale, 0).repeat(scale, 1)


@pytest.mark.parametrize(
    ("family", "scale"), [(RealEsrgan, 2), (RealEsrgan, 4), (SmallTiles, 4), (TinyTiles, 8), (TinyTiles, 4)]
)
@pytest.mark.parametrize(("width", "height"), [(260, 203), (40, 200)])
def test_tiles_leave_no_seams(open_adapter, path, portrait, family, scale, width, height):
    upscaler, session = open_adapter(family, contract_networks.upscaler(path, scale, KERNEL))
    assert upscaler.scale == scale
    picture = portrait[:height, :width]
    result = upscaler.upscale(picture)
    np.testing.assert_allclose(result, enlarged(picture, scale), atol=1e-5)
    assert all(call["input"].shape[1:] == (3, family.tiling.side, family.tiling.side) for call in session.calls)
    # After the first black tile, which shows the scale, all tiles go in batches of up to eight.
    tiles = family.tiling.along(width).count * family.tiling.along(height).count
    assert [len(call["input"]) for call in session.calls[1:]] == [8] * (tiles // 8) + [tiles % 8] * (tiles % 8 > 0)


def test_large_tiles_take_a_frame_in_a_few(open_adapter, path, portrait):
    upscaler, session = open_adapter(LargeTiles, contract_networks.upscaler(path, 2, KERNEL))
    picture = portrait[:300, :500]
    np.testing.assert_allclose(upscaler.upscale(picture), enlarged(picture, 2), atol=1e-5)
    assert sum(len(call["input"]) for call in session.calls[1:]) == 1


def test_the_bundled_networks_are_tiled_without_seams(record, portrait):
    model = find_model("span_x2")
    session = record(model.path)
    upscaler = Span.open(session, None)  # type: ignore[arg-type]
    picture = portrait[40:180, 100:380]
    result = upscaler.upscale(picture)
    padded = cv2.copyMakeBorder(picture, 30, 30, 30, 30, cv2.BORDER_REFLECT).astype(np.float32) / 255
    whole = np.clip(session.run({"image": padded[None]})["output"][0][60:-60, 60:-60], 0, 1)
    assert np.abs(result - whole).max() < 1 / 255
    small = cv2.resize(picture, None, fx=0.5, fy=0.5, interpolation=cv2.INTER_AREA)
    bicubic = cv2.resize(small, picture.shape[1::-1], interpolation=cv2.INTER_CUBIC)
    restored = upscaler.upscale(small) * 255
    assert np.square(restored - picture).mean() < np.square(bicubic.astype(float) - picture).mean()


@pytest.mark.parametrize(
    "tiling", [Tiling(16, 2, 4), Tiling(16, 0, 0), Tiling(16, 3, 1), Tiling(7, 1, 2), Tiling(16, 2, 4, True)]
)
@pytest.mark.parametrize("shape", [(1, 1), (7, 40), (12, 16), (33, 61)])
def test_tiles_add_up_to_the_picture(tiling, shape):
    picture = np.random.default_rng(0).random((*shape, 2), np.float32)
    np.testing.assert_allclose(run_tiled(picture, tiling, 1, lambda tiles: tiles), picture, atol=1e-6)


def test_tiles_fade_into_each_other():
    """Networks that see no more than their tile and differ from tile to tile leave a slope, not a step."""
    counter = iter(range(100))
    tiling = Tiling(32, 4, 8)

    def network(tiles: np.ndarray) -> np.ndarray:
        return np.stack([np.full((64, 64, 1), next(counter) % 2, np.float32) for _ in tiles])

    result = run_tiled(np.zeros((20, 200, 1), np.float32), tiling, 2, network, batch=3)
    steps = np.abs(np.diff(result[:, :, 0], axis=1))
    assert steps.max() <= 1 / (2 * tiling.overlap) + 1e-6
    assert set(np.unique(result)) >= {0, 1}


@pytest.mark.parametrize("length", [1, 30, 231, 232, 233, 500, 720, 1280, 1920])
def test_tiles_that_may_be_smaller_cover_a_picture_with_little_beyond(length):
    free, fixed = Tiling(256, 12, 8, fits=True).along(length), Tiling(256, 12, 8).along(length)
    assert free.count == fixed.count
    assert length <= free.covered <= fixed.covered
    assert free.side <= fixed.side == 256
    if length >= 2 * 8:
        assert free.covered < length + free.count


def test_tiles_without_room_are_refused():
    with pytest.raises(ValueError, match="tiles of 16 pixels have no room for 6 margin, 4 overlap"):
        Tiling(16, 6, 4)


def test_more_overlap_than_step_is_refused():
    with pytest.raises(ValueError, match="tiles of 16 pixels have no room for 1 margin, 8 overlap"):
        Tiling(16, 1, 8)


def test_a_network_that_does_not_enlarge_by_a_whole_number_is_refused(path, record):
    file = contract_networks.upscaler(path, 1.5, KERNEL)
    with pytest.raises(ModelError, match="real_esrgan: 256x256 pixels became 384x384"):
        RealEsrgan.open(record(file), None)  # type: ignore[arg-type]
