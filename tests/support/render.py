"""Draw pictures deformed by a triangle mesh: one dense map, one remap.

Coordinates are continuous pixels: x right, y down, pixel (i, j) covers [i, i + 1) x [j, j + 1); z is on the same scale
and smaller is nearer, as the landmarks of `mien.faces.face.Face` are.
"""

from __future__ import annotations

from dataclasses import dataclass

import cv2
import numpy as np
from numpy.typing import NDArray

Array = NDArray[np.float64]
_SUBPIXEL_BITS = 5


@dataclass(frozen=True, slots=True)
class Placement:
    """A similarity without rotation: frame = scale * picture + offset."""

    scale: float
    offset: tuple[float, float]

    def to_frame(self, points: Array) -> Array:
        """Picture points (..., 2 or 3) as frame points; z is scaled with them."""
        moved = points * self.scale
        moved[..., :2] += self.offset
        return moved


def mesh_map(
    base: Placement,
    source: Array,
    target: Array,
    triangles: NDArray[np.int64],
    size: tuple[int, int],
    step: int = 1,
) -> NDArray[np.float32]:
    """For each pixel of a frame, the picture coordinates it shows, ready for `cv2.remap`.

    Args:
        base: where the picture lies outside the mesh.
        source: (n, 2) vertices in the picture.
        target: (n, 3) the same vertices in the frame. Triangles that face away are left out and nearer ones hide
            farther ones. A mesh whose outline is where `base` puts it has no holes, however its inside is moved.
        triangles: (m, 3) indices of vertices, clockwise on the screen in `source`.
        size: width, height of the frame.
        step: the map is drawn on every `step`-th pixel and interpolated.

    Returns:
        (height, width, 2) float32.
    """
    width, height = -(-size[0] // step) + 1, -(-size[1] // step) + 1
    corners = target[triangles]
    edge_a, edge_b = corners[:, 1, :2] - corners[:, 0, :2], corners[:, 2, :2] - corners[:, 0, :2]
    area = edge_a[:, 0] * edge_b[:, 1] - edge_a[:, 1] * edge_b[:, 0]
    facing = np.flatnonzero(area > 1e-3)
    far_first = facing[np.argsort(-corners[facing, :, 2].mean(1), kind="stable")]

    # Pixel i of the coarse map is frame coordinate i * step + 1/2.
    raster = np.round((corners[..., :2] - 0.5) / step * (1 << _SUBPIXEL_BITS)).astype(np.int32)
    owner = np.full((height, width), -1, np.int32)
    for triangle in far_first.tolist():
        cv2.fillConvexPoly(owner, raster[triangle], triangle, cv2.LINE_8, _SUBPIXEL_BITS)

    y, x = np.mgrid[:height, :width].astype(np.float32) * step + 0.5
    grid = np.stack([(x - base.offset[0]) / base.scale, (y - base.offset[1]) / base.scale], -1).astype(np.float32)
    inside = owner >= 0
    affine = _triangle_affines(source[triangles], corners[..., :2], facing)[owner[inside]]
    points = np.stack([x[inside], y[inside]], -1)
    shown = np.einsum("nij,nj->ni", affine[:, :, :2], points) + affine[:, :, 2]
    # Triangles are drawn with their border; thin ones must not reach beyond themselves there.
    low, high = source[triangles].min(1), source[triangles].max(1)
    grid[inside] = np.clip(shown, low[owner[inside]], high[owner[inside]])
    grid -= 0.5
    if step == 1:
        return grid[: size[1], : size[0]]
    # Bilinear in the grid's own frame: frame pixel i reads coarse pixel i / step.
    to_coarse = np.float32([[1 / step, 0, 0], [0, 1 / step, 0]])
    return cv2.warpAffine(grid, to_coarse, size, flags=cv2.INTER_LINEAR | cv2.WARP_INVERSE_MAP)


def _triangle_affines(source: Array, target: Array, used: NDArray[np.int64]) -> NDArray[np.float32]:
    """(m, 2, 3) maps from target to source; rows that are not `used` stay zero."""
    affines = np.zeros((len(source), 2, 3), np.float32)
    corners = np.concatenate([target[used], np.ones((len(used), 3, 1))], -1)
    affines[used] = np.linalg.solve(corners, source[used]).transpose(0, 2, 1)
    return affines


def polygon_mask(points: Array, size: tuple[int, int]) -> NDArray[np.float32]:
    """Anti-aliased filled polygon, float32 (height, width) 0..1; `points` is (n, 2)."""
    mask = np.zeros((size[1], size[0]), np.uint8)
    fixed = np.round((points - 0.5) * (1 << _SUBPIXEL_BITS)).astype(np.int32)
    cv2.fillPoly(mask, [fixed], 255, cv2.LINE_AA, _SUBPIXEL_BITS)
    return mask.astype(np.float32) / 255


def over(frame: NDArray[np.uint8], picture: NDArray[np.uint8], alpha: NDArray[np.float32]) -> NDArray[np.uint8]:
    """`picture` laid over `frame` with coverage `alpha` (height, width) 0..1."""
    return cv2.blendLinear(picture, frame, alpha, 1 - alpha)


def shade(frame: NDArray[np.uint8], gain: NDArray[np.float32]) -> NDArray[np.uint8]:
    """Light of `gain` times the strength, (3,) or (height, width, 3), as a camera with gamma 2.2 would store it."""
    factor = np.power(np.maximum(gain, 0), 1 / 2.2).astype(np.float32)
    return cv2.convertScaleAbs(frame.astype(np.float32) * factor)


def grain(frame: NDArray[np.uint8], sigma: float, seed: int) -> NDArray[np.uint8]:
    """Camera noise: Gaussian of `sigma` levels, the same for the same `seed`."""
    noise = np.empty(frame.shape, np.int16)
    cv2.setRNGSeed(seed)
    cv2.randn(noise, (0.0,) * 3, (sigma,) * 3)
    return cv2.add(frame, noise, dtype=cv2.CV_8U)


def open_mouth(
    frame: NDArray[np.uint8], picture: NDArray[np.uint8], source: Array, target: Array, amount: float
) -> None:
    """Paint the inside of an opened mouth into `frame`: the teeth the picture shows, the tongue, the dark behind.

    Args:
        frame: (height, width, 3), changed in place.
        picture: the still, (h, w, 3 or more), on `frame`'s scale or so.
        source: (20, 2) inner lips in the picture, from one corner along the upper lip to the other and back.
        target: (20, 2) the same in the frame.
        amount: 0..1 how far the mouth is opened; the painting fades in until .15.
    """
    left, top = np.maximum(np.floor(target.min(0)).astype(int) - 2, 0)
    right, bottom = np.minimum(np.ceil(target.max(0)).astype(int) + 2, [frame.shape[1], frame.shape[0]])
    if right <= left or bottom <= top:
        return
    size = (int(right - left), int(bottom - top))
    lips = target - [left, top]

    # The teeth go with the upper lip: a similarity given by the corners, shifted to the lip's middle.
    across, wide = lips[_OTHER] - lips[_CORNER], source[_OTHER] - source[_CORNER]
    ratio = complex(*across) / complex(*wide)
    turn = np.array([[ratio.real, -ratio.imag], [ratio.imag, ratio.real]])
    matrix = np.column_stack([turn, lips[_UPPER] - turn @ source[_UPPER]])
    teeth = cv2.warpAffine(picture, matrix, size, flags=cv2.INTER_LINEAR)[..., :3]
    shown = cv2.GaussianBlur(polygon_mask(source @ turn.T + matrix[:, 2], size), (0, 0), 0.8)
    inside = teeth * shown[..., None] + _throat(lips, size) * (1 - shown[..., None])

    hole = polygon_mask(lips, size)
    # Lips shade what lies behind their edge.
    shade = cv2.GaussianBlur(hole, (0, 0), max(0.03 * np.linalg.norm(across), 0.6))
    inside *= np.clip(0.35 + 0.9 * shade, 0, 1)[..., None]
    mask = cv2.GaussianBlur(hole, (0, 0), 0.7) * min(amount / 0.15, 1)
    window = frame[top:bottom, left:right]
    window[:] = over(window, inside.astype(np.uint8), mask)


def look_through(frame: NDArray[np.uint8], eyes: NDArray[np.uint8], lids: Array, blink: float) -> None:
    """Show what lies behind half closed lids, in their shadow and through their lashes.

    Args:
        frame: (height, width, 3), changed in place.
        eyes: the same with eyes as open as in the still.
        lids: (16, 2) outline of what is to be seen of an eyeball.
        blink: 0..1; the painting fades in until .15.
    """
    height, width = frame.shape[:2]
    left, top = np.maximum(np.floor(lids.min(0)).astype(int) - 3, 0)
    right, bottom = np.minimum(np.ceil(lids.max(0)).astype(int) + 3, [width, height])
    if right <= left or bottom <= top:
        return
    hole = polygon_mask(lids - [left, top], (int(right - left), int(bottom - top)))
    lashes = cv2.GaussianBlur(hole, (0, 0), max(_LASHES * float(np.ptp(lids[:, 0])), 0.6))
    fade = min(blink / 0.15, 1)
    light = 1 - fade * (1 - np.clip(_LASH_LIGHT + 1.1 * (lashes - 0.3), _LASH_LIGHT, 1))
    window = frame[top:bottom, left:right]
    shown = (eyes[top:bottom, left:right] * light[..., None] ** _LASH_TINT).astype(np.uint8)
    window[:] = over(window, shown, hole * fade)


_LASHES, _LASH_LIGHT = 0.06, 0.25
"""Length of the lashes as a share of the eye's width, and what shines through them."""
_LASH_TINT = np.array([0.9, 1.05, 1.2], np.float32)
"""They are brown."""

_CORNER, _UPPER, _OTHER, _LOWER = 0, 5, 10, 15
"""Points of the inner lips: a corner, the middle of the upper lip, the other corner, the middle of the lower lip."""
_DARK, _TONGUE = np.array([26, 9, 9], np.float32), np.array([156, 84, 80], np.float32)


def _throat(lips: Array, size: tuple[int, int]) -> NDArray[np.float32]:
    """The dark of a mouth (height, width, 3) with the tongue lying on the lower lip, lit from above."""
    middle, half = (lips[_CORNER] + lips[_OTHER]) / 2, (lips[_OTHER] - lips[_CORNER]) / 2
    along = half / np.linalg.norm(half)
    down = np.array([-along[1], along[0]])
    gap = max(float((lips[_LOWER] - lips[_UPPER]) @ down), 1.0)
    y, x = np.mgrid[: size[1], : size[0]] + 0.5
    aside = ((x - middle[0]) * along[0] + (y - middle[1]) * along[1]) / np.linalg.norm(half)
    depth = ((x - lips[_UPPER, 0]) * down[0] + (y - lips[_UPPER, 1]) * down[1]) / gap
    hill = np.clip(1.6 - (aside / 0.62) ** 2 - ((depth - 1.08) / 0.42) ** 2, 0, 1)
    tongue = (hill**2 * (3 - 2 * hill)).astype(np.float32)[..., None]
    light = np.clip(0.44 + 0.45 * depth, 0.4, 1).astype(np.float32)[..., None]
    return _DARK * (1 - tongue) + _TONGUE * light * tongue
