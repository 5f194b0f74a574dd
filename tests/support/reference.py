"""The field's contracts written down a second time, in NumPy and float64, for tests to compare with."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

ARCFACE_112 = np.array(
    [[38.2946, 51.6963], [73.5318, 51.5014], [56.0252, 71.7366], [41.5493, 92.3655], [70.7299, 92.2041]]
)
"""InsightFace's own template, pixels of a crop of 112."""


def similarity(points: np.ndarray, goal: np.ndarray) -> np.ndarray:
    """(2, 3) turn, scale and shift from points to their goals, as four unknowns of 2n linear equations."""
    x, y = points.astype(np.float64).T
    one, zero = np.ones_like(x), np.zeros_like(x)
    rows = np.concatenate([np.stack([x, -y, one, zero], 1), np.stack([y, x, zero, one], 1)])
    (a, b, dx, dy), *_ = np.linalg.lstsq(rows, goal.T.ravel(), rcond=None)
    return np.array([[a, -b, dx], [b, a, dy]])


def inverse(matrix: np.ndarray) -> np.ndarray:
    return np.linalg.inv(np.vstack([matrix, [0, 0, 1]]))[:2]


def move(points: np.ndarray, matrix: np.ndarray) -> np.ndarray:
    return np.concatenate([points, np.ones((len(points), 1))], axis=1) @ matrix.T


def sample(image: np.ndarray, x: np.ndarray, y: np.ndarray, *, outside: str = "edge") -> np.ndarray:
    """Bilinear values at pixel centres x, y; outside the picture its `edge`, or `zero`."""
    image = image.astype(np.float64)
    padded = np.pad(
        image, ((1, 1), (1, 1)) + ((0, 0),) * (image.ndim - 2), mode="edge" if outside == "edge" else "constant"
    )
    height, width = padded.shape[:2]
    x, y = np.clip(x + 1, 0, width - 1.000001), np.clip(y + 1, 0, height - 1.000001)
    column, row = np.floor(x).astype(int), np.floor(y).astype(int)
    right, below = (x - column)[..., None], (y - row)[..., None]
    flat = padded.reshape(height, width, -1)
    upper = flat[row, column] * (1 - right) + flat[row, column + 1] * right
    lower = flat[row + 1, column] * (1 - right) + flat[row + 1, column + 1] * right
    return (upper * (1 - below) + lower * below).reshape(*x.shape, *image.shape[2:])


def warp(image: np.ndarray, matrix: np.ndarray, width: int, height: int, *, outside: str = "edge") -> np.ndarray:
    """The picture moved by a matrix (2, 3)."""
    y, x = np.mgrid[:height, :width].astype(np.float64)
    places = move(np.stack([x.ravel(), y.ravel()], axis=1), inverse(matrix))
    return sample(image, *places.T.reshape(2, height, width), outside=outside)


def resize(image: np.ndarray, width: int, height: int) -> np.ndarray:
    """Bilinear, outer edges on outer edges."""
    y, x = np.mgrid[:height, :width].astype(np.float64)
    x = (x + 0.5) * image.shape[1] / width - 0.5
    y = (y + 0.5) * image.shape[0] / height - 0.5
    return sample(image, x, y)


def blur(image: np.ndarray, sigma: float) -> np.ndarray:
    """Gaussian, four sigmas wide on each side, the picture mirrored at its outermost pixels."""
    reach = round(sigma * 4)
    kernel = np.exp(-0.5 * (np.arange(-reach, reach + 1) / sigma) ** 2)
    kernel /= kernel.sum()
    for axis in (0, 1):
        ends = [(reach, reach) if at == axis else (0, 0) for at in range(image.ndim)]
        padded = np.pad(image.astype(np.float64), ends, mode="reflect")
        image = sum(
            weight * np.take(padded, range(at, at + image.shape[axis]), axis=axis) for at, weight in enumerate(kernel)
        )
    return image


def planes(pictures: np.ndarray, mean: Sequence[float] = (0, 0, 0), std: Sequence[float] = (1, 1, 1)) -> np.ndarray:
    """(n, 3, height, width) of bytes (n, height, width, 3)."""
    return np.moveaxis((pictures / 255.0 - np.array(mean)) / np.array(std), 3, 1)


def pictures(values: np.ndarray, mean: Sequence[float] = (0, 0, 0), std: Sequence[float] = (1, 1, 1)) -> np.ndarray:
    """(n, height, width, 3) in 0..1 of (n, 3, height, width)."""
    return np.clip(np.moveaxis(values, 1, 3) * np.array(std) + np.array(mean), 0, 1)


def view(image: np.ndarray, side: int) -> np.ndarray:
    """What a detector is shown, in bytes as float64: blue, green, red, in the top left corner of a black square."""
    height, width = image.shape[:2]
    zoom = min(side / height, side / width, 1)
    inner = int(width * zoom), int(height * zoom)
    shown = np.zeros((side, side, 3))
    shown[: inner[1], : inner[0]] = (image if zoom == 1 else resize(image, *inner))[:, :, ::-1]
    return shown


def unit(vector: np.ndarray) -> np.ndarray:
    return vector / np.linalg.norm(vector)


def inswapper_source(raw: np.ndarray, emap: np.ndarray) -> np.ndarray:
    raw = raw.astype(np.float64)
    return raw @ emap.astype(np.float64) / np.linalg.norm(raw)


def weighted(source: np.ndarray, target: np.ndarray, strength: float) -> np.ndarray:
    """The source at a strength of 0..1 on the field's dial."""
    share = np.interp(strength, [0, 0.5, 1], [0.35, 0, -0.35])
    return source * (1 - share) + target * share


def boosted(crop: np.ndarray, times: int, network) -> np.ndarray:
    """A crop run as interleaved sub-images, one by one."""
    result = np.empty(crop.shape)
    for row in range(times):
        for column in range(times):
            result[row::times, column::times] = network(crop[row::times, column::times])
    return result


def box_mask(size: int, blur_share: float, padding: Sequence[float]) -> np.ndarray:
    amount = int(size * 0.5 * blur_share)
    top, right, bottom, left = (max(max(amount // 2, 1), int(size * percent / 100)) for percent in padding)
    rows, columns = np.arange(size)[:, None], np.arange(size)[None]
    inside = (rows >= top) & (rows < size - bottom) & (columns >= left) & (columns < size - right)
    return blur(inside.astype(np.float64), amount * 0.25) if amount else inside.astype(np.float64)


def soft_edge(mask: np.ndarray) -> np.ndarray:
    return (np.clip(blur(np.clip(mask, 0, 1), 5), 0.5, 1) - 0.5) * 2


def inside_hull(points: np.ndarray, size: int) -> np.ndarray:
    """(size, size) whether a pixel's centre is on one side of every line between two points that no point crosses."""
    y, x = np.mgrid[:size, :size]
    inside = np.ones((size, size), bool)
    for first in points:
        for second in points:
            across = np.array([-(second - first)[1], (second - first)[0]])
            if np.any(across) and np.all((points - first) @ across >= -1e-9):
                inside &= (x - first[0]) * across[0] + (y - first[1]) * across[1] >= -1e-9
    return inside


def grown(mask: np.ndarray) -> np.ndarray:
    """A mask and all its neighbours."""
    padded = np.pad(mask, 1)
    height, width = mask.shape
    return np.maximum.reduce([padded[y : y + height, x : x + width] for y in range(3) for x in range(3)])


def paste(frame: np.ndarray, crop: np.ndarray, mask: np.ndarray, matrix: np.ndarray) -> np.ndarray:
    """The whole frame in float64 with a crop in it."""
    height, width = frame.shape[:2]
    opacity = np.clip(warp(mask, inverse(matrix), width, height, outside="zero"), 0, 1)[:, :, None]
    return frame * (1 - opacity) + warp(crop, inverse(matrix), width, height) * opacity


def rotation(pitch: float, yaw: float, roll: float) -> np.ndarray:
    """(3, 3) about fixed x, y and z axes in that order, degrees; by the vectors of the three axes."""

    def about(axis: np.ndarray, degrees: float) -> np.ndarray:
        x, y, z = axis
        cross = np.array([[0, -z, y], [z, 0, -x], [-y, x, 0]])
        angle = np.radians(degrees)
        return np.eye(3) + np.sin(angle) * cross + (1 - np.cos(angle)) * cross @ cross

    first, second, third = (about(axis, angle) for axis, angle in zip(np.eye(3), (pitch, yaw, roll), strict=True))
    return third @ second @ first
