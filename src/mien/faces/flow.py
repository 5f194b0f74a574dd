"""How a face moved from one frame to the next, by the optical flow of its skin.

A landmark network says where a face is without drifting, but trembles. Flow says how it moved since the last frame ten
times as precisely, but drifts: `steady` joins the two.
"""

from __future__ import annotations

import functools
from dataclasses import dataclass

import cv2
import numpy as np
from numpy.typing import NDArray

from mien.faces import mesh
from mien.faces.align import similarity_2d
from mien.faces.crop import Pixels, uncrop

Floats = NDArray[np.float32]

POINTS = 80
"""Vertices whose surroundings are followed."""
FEWEST = POINTS / 5
"""Sum of trust (0..1 each) in points that agree with each other, below which the flow is not believed at all."""

_WINDOW, _HALVINGS = 11, 1
_STOP = (cv2.TERM_CRITERIA_COUNT | cv2.TERM_CRITERIA_EPS, 6, 0.01)
_RETURN = 0.5  # pixels of the crop by which a point followed there and back may miss at half trust
_RIDGE = np.diag([1e-3, 1e-3, 3e-2, 1e-6])  # depth has to be convincing: where it is guessed, it should move little
_ROUNDS = 4
_SPREAD = (0.001, 0.012)  # face widths by which points differ from a solid head's motion: at least, and at most
_REACH = 0.06  # face widths over which what moves differently from the whole is pooled
_DOUBT = 1.0  # points' worth of evidence that nothing does
_OUTLIER = 0.05  # face widths by which a point may move differently at half trust


@dataclass(frozen=True, slots=True)
class View:
    """A crop of a frame, as a network saw it."""

    grey: Pixels
    """(side, side)"""
    matrix: Floats
    """(2, 3) from picture coordinates to those of the crop."""


def view_of_crop(crop: Pixels, matrix: Floats) -> View:
    """The view that an RGB crop (side, side, 3) is."""
    return View(np.asarray(cv2.cvtColor(crop, cv2.COLOR_RGB2GRAY), np.uint8), matrix)


def carry(before: View, after: View, landmarks: Floats, roughly: Floats) -> Floats | None:
    """Move a face on by the flow from one frame to the next.

    Args:
        before: The last frame around the face.
        after: The present one.
        landmarks: (478, 3) where the face was, in pixels of the last frame.
        roughly: (478, 3) about where it is now.

    Returns:
        (478, 3) the moved landmarks, or None where too little could be followed. The plane's motion is that of the
        points, the depth's that of a solid head with this motion in the plane.
    """
    chosen = _chosen()
    guess = similarity_2d(landmarks[: mesh.VERTICES], roughly[: mesh.VERTICES]).apply(landmarks[chosen, :2])
    moved, trust = _follow(before, after, landmarks[chosen, :2], guess)
    width = float(np.linalg.norm(landmarks[454] - landmarks[234]))
    places = (landmarks - landmarks[: mesh.VERTICES].mean(axis=0)) / width
    places = np.concatenate([places, np.ones((len(places), 1))], axis=1)
    motion = (moved - landmarks[chosen, :2]) / width
    whole, agreement = _fit(places[chosen], motion, trust)
    if agreement < FEWEST:
        return None
    shift = places @ whole + _pooled(motion - places[chosen] @ whole, trust)
    deeper = places @ np.array([-whole[2, 0], -whole[2, 1], (whole[0, 0] + whole[1, 1]) / 2, 0])
    return (landmarks + width * np.concatenate([shift, deeper[:, None]], axis=1)).astype(np.float32)


def _follow(before: View, after: View, points: Floats, guess: Floats) -> tuple[Floats, Floats]:
    """Where points (n, 2) of the last frame are now, and (n,) 0..1 how sure that is: whether the way back agrees."""
    start = _into(points, before.matrix)
    there, found = _lucas_kanade(before.grey, after.grey, start, _into(guess, after.matrix))
    back, found_back = _lucas_kanade(after.grey, before.grey, there, start)
    miss = np.linalg.norm(back - start, axis=1) / _RETURN
    trust = found * found_back / (1 + miss**4)
    flat = np.concatenate([there + 0.5, np.zeros((len(there), 1))], axis=1).astype(np.float32)
    return uncrop(flat, after.matrix)[:, :2], trust.astype(np.float32)


def _lucas_kanade(old: Pixels, new: Pixels, points: Floats, guess: Floats) -> tuple[Floats, Floats]:
    """Pyramidal Lucas-Kanade (Bouguet 2001) from a guess: the places (n, 2), and (n,) 1 where there is one."""
    moved, status, _ = cv2.calcOpticalFlowPyrLK(
        old,
        new,
        points,
        guess.copy(),
        winSize=(_WINDOW, _WINDOW),
        maxLevel=_HALVINGS,
        criteria=_STOP,
        flags=cv2.OPTFLOW_USE_INITIAL_FLOW,
    )
    return np.asarray(moved, np.float32), np.asarray(status[:, 0], np.float32)


def _fit(places: NDArray[np.float64], motion: Floats, trust: Floats) -> tuple[NDArray[np.float64], float]:
    """(4, 2) the motion of the whole face, affine in x, y and depth, and how much trust is in points that agree.

    For a small turn of a solid face it is exact. Iteratively reweighted least squares with Cauchy's weights.
    """
    sure = trust > 0.5
    if not sure.any():
        return np.zeros((4, 2)), 0.0
    whole = np.zeros((4, 2), np.float64)
    whole[3] = np.median(motion[sure], axis=0)
    spread = 3 * _SPREAD[1]
    for _ in range(_ROUNDS):
        weights = _agreeing(places, motion, whole, spread) * trust
        weighted = places * weights[:, None]
        whole = np.linalg.solve(places.T @ weighted + _RIDGE, weighted.T @ motion).astype(np.float64)
        typical = float(np.median(np.linalg.norm(motion - places @ whole, axis=1)[sure]))
        spread = min(max(3 * typical, _SPREAD[0]), _SPREAD[1])
    return whole, float((_agreeing(places, motion, whole, _SPREAD[1]) * trust).sum())


def _agreeing(
    places: NDArray[np.float64], motion: Floats, whole: NDArray[np.float64], spread: float
) -> NDArray[np.float64]:
    """(n,) 0..1: how well the points' motion is that of the whole."""
    return 1 / (1 + np.square(np.linalg.norm(motion - places @ whole, axis=1) / spread))


def _pooled(rest: NDArray[np.float64], trust: Floats) -> NDArray[np.float64]:
    """(478, 2) what moves differently from the whole, from (n, 2) at the followed points."""
    sure = trust / (1 + (np.linalg.norm(rest, axis=1) / _OUTLIER) ** 4)
    near = _nearness() * sure
    return near @ rest / (near.sum(axis=1, keepdims=True) + _DOUBT)


def _into(points: Floats, matrix: Floats) -> Floats:
    """Points (n, 2) of the picture in the pixel indices of a crop."""
    return (points @ matrix[:, :2].T + matrix[:, 2] - 0.5).astype(np.float32)


@functools.cache
def _chosen() -> mesh.Indices:
    """(POINTS,) vertices spread evenly over the face; its outline may lie on the background and is left out."""
    inner = np.setdiff1d(np.arange(mesh.VERTICES), mesh.OVAL)
    points = mesh.flat()[inner]
    chosen = [int(np.linalg.norm(points, axis=1).argmin())]
    distance = np.linalg.norm(points - points[chosen[0]], axis=1)
    while len(chosen) < POINTS:
        chosen.append(int(distance.argmax()))
        distance = np.minimum(distance, np.linalg.norm(points - points[chosen[-1]], axis=1))
    return inner[chosen]


@functools.cache
def _nearness() -> Floats:
    """(478, POINTS) 0..1: how much each landmark goes with each of the followed points."""
    points = mesh.flat()
    distances = np.linalg.norm(points[:, None] - points[_chosen()][None], axis=2)
    return np.exp(-0.5 * np.square(distances / _REACH)).astype(np.float32)
