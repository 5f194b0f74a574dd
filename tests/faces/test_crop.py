import math

import numpy as np
import pytest

from mien.faces.crop import Crop, cut, uncrop
from mien.faces.face import Detection
from support.moving import ArrayFrame

WIDTH, HEIGHT = 600, 400


def ramps() -> np.ndarray:
    """Red grows with x, green with y: a pixel tells where it comes from."""
    y, x = np.mgrid[:HEIGHT, :WIDTH] + 0.5
    return np.stack([x / WIDTH * 250, y / HEIGHT * 250, np.zeros_like(x)], axis=2).round().astype(np.uint8)


def places(crop: Crop, size: int) -> np.ndarray:
    """(size, size, 2) where the centres of the crop's pixels lie in the picture, by its definition."""
    across = (np.arange(size) + 0.5) / size - 0.5
    x, y = np.meshgrid(across * crop.side, across * crop.side)
    cosine, sine = math.cos(crop.angle), math.sin(crop.angle)
    return np.stack([crop.x + cosine * x - sine * y, crop.y + sine * x + cosine * y], axis=2)


@pytest.mark.parametrize("side", [100, 192, 250, 300, 333.3])
@pytest.mark.parametrize("angle", [0, 0.4, math.pi / 2, 2.5, -3])
def test_a_pixel_of_the_crop_shows_its_place_in_the_picture(side: float, angle: float):
    crop = Crop(300, 200, side, angle)
    shown = cut(ramps(), crop.matrix(64), 64).astype(float)
    wanted = places(crop, 64)
    inside = np.all((wanted > 2) & (wanted < [WIDTH - 2, HEIGHT - 2]), axis=2)
    assert inside.mean() > 0.7
    # Half a grey level of rounding twice over: 1 level is 2.4 pixels.
    assert abs(shown[..., 0] - wanted[..., 0] / WIDTH * 250)[inside].max() < 1.5
    assert abs(shown[..., 1] - wanted[..., 1] / HEIGHT * 250)[inside].max() < 1.5


@pytest.mark.parametrize("side", [60, 300, 380])
def test_a_frame_is_cut_like_its_pixels(side: float):
    image = np.random.default_rng(0).integers(0, 255, (HEIGHT, WIDTH, 3)).astype(np.uint8)
    matrix = Crop(250, 190, side, 0.3).matrix(96)
    np.testing.assert_array_equal(cut(image, matrix, 96), cut(ArrayFrame(image), matrix, 96))


def test_shrinking_does_not_alias():
    checks = (np.indices((HEIGHT, WIDTH)).sum(axis=0) % 2 * 255).astype(np.uint8)
    shown = cut(np.repeat(checks[..., None], 3, axis=2), Crop(300, 200, 380, 0.2).matrix(64), 64)
    assert abs(shown[4:-4, 4:-4].astype(int) - 127).max() < 24


def test_beyond_the_edge_the_edge_is_repeated():
    image = np.full((50, 50, 3), 77, np.uint8)
    for x, y in ((0, 0), (50, 25), (-400, -400), (900, 25)):
        assert np.all(cut(image, Crop(x, y, 60, 0.5).matrix(32), 32) == 77)


def test_uncrop_is_the_way_back():
    crop = Crop(123.4, 210.9, 77, -1.2)
    points = np.random.default_rng(1).uniform(0, 192, (50, 3)).astype(np.float32)
    back = uncrop(points, crop.matrix(192))
    again = back[:, :2] @ crop.matrix(192)[:, :2].T + crop.matrix(192)[:, 2]
    np.testing.assert_allclose(again, points[:, :2], atol=1e-3)
    np.testing.assert_allclose(back[:, 2], points[:, 2] * 77 / 192, rtol=1e-4)
    np.testing.assert_allclose(
        uncrop(np.array([[96, 96, 0]], np.float32), crop.matrix(192)), [[123.4, 210.9, 0]], atol=1e-3
    )


def test_a_detection_is_levelled_by_its_eyes():
    keypoints = np.zeros((6, 2), np.float32)
    keypoints[0], keypoints[1] = (100, 50), (100, 150)  # the left eye below the right one: turned clockwise
    crop = Crop.around_detection(Detection(np.array([40, 20, 120, 180], np.float32), keypoints, 0.9), 1.5)
    assert crop == Crop(80, 100, 240, pytest.approx(math.pi / 2))


def test_differences_that_matter():
    crop = Crop(100, 100, 200, 3.1)
    assert not crop.differs(crop)
    assert not crop.differs(Crop(105, 103, 210, -3.13))
    assert crop.differs(Crop(120, 100, 200, 3.1))
    assert crop.differs(Crop(100, 100, 250, 3.1))
    assert crop.differs(Crop(100, 100, 200, 2.8))
    assert not crop.differs(Crop(120, 100, 200, 3.1), tolerance=2)
