"""How steady an edited face is over time, as a ratio to the clip it was edited from: 1 = as steady as before.

The flicker that an edit adds is told from the motion that was there: what is measured is measured the same way in the
original.
"""

from __future__ import annotations

from collections.abc import Iterable
from itertools import pairwise
from typing import Any, Literal

import cv2
import numpy as np
from numpy.typing import NDArray

from mien.quality.metrics import Floats, Pixels, face_width

ROUNDING_VARIANCE = 2 / 12
"""Variance of the difference of two values that were each rounded to whole levels: no 8-bit clip is steadier."""

LANDMARK_FLOOR = 0.0005
"""Jitter of landmarks, in face widths, below which a clip counts as still: a tenth of a pixel on a 192-pixel crop."""

_MARGIN = 32
"""Pixels around the mask that the flow sees."""


def warp_error_ratio(
    before: Iterable[Pixels],
    after: Iterable[Pixels],
    masks: Iterable[NDArray[np.bool_]],
    *,
    along: Literal["own", "original"] = "own",
) -> float:
    """How much more a region changes along the motion than it did.

    The previous frame is warped to the present one by the DIS optical flow (Kroeger et al. 2016); the error is the RMS
    difference inside the mask (as Lai et al. 2018, there without the root), over all pairs of frames. Rounding to 8
    bits is added to both errors, which keeps still clips from dividing by nothing.

    Each clip is followed along its `own` flow: in an edit that moves outlines, other things lie at a pixel than in the
    original, and move otherwise. Wobble that looks like motion is not seen then: `jitter_ratio` sees it. Along the
    flow of the `original`, whatever moves otherwise counts as change.

    Args:
        before: frames of the original, RGB.
        after: frames of the result, of the same size and number.
        masks: (height, width) where to look in each frame, such as `metrics.face_mask` or `metrics.face_ring` of the
            original's landmarks. The first frame's is not used.
        along: Whose flow the result is followed by.

    Raises:
        ValueError: the numbers of frames differ, or no mask has a pixel in it.
    """
    squares, count = np.zeros(2), 0
    for (old, old_edit, _), (new, new_edit, mask) in pairwise(zip(before, after, masks, strict=True)):
        window = _window(mask)
        if window is None:
            continue
        region = mask[window]
        flow = _flow(new[window], old[window])
        flow_edit = _flow(new_edit[window], old_edit[window]) if along == "own" else flow
        for which, (present, past, way) in enumerate(((new, old, flow), (new_edit, old_edit, flow_edit))):
            difference = present[window].astype(np.float32) - _warp(past[window], way)
            squares[which] += float(np.square(difference[region]).sum())
        count += 3 * int(region.sum())
    if count == 0:
        raise ValueError("the masks of all frames but the first are empty: there is nothing to measure")
    original, edited = np.sqrt(squares / count + ROUNDING_VARIANCE)
    return float(edited / original)


def landmark_jitter(landmarks: Floats) -> float:
    """RMS of the second difference of landmarks over time, in face widths a frame squared.

    Args:
        landmarks: (frames, points, 2 or 3) in pixels; NaN where there was no face. Only x and y are looked at.
    """
    bend = landmarks[2:, :, :2] - 2 * landmarks[1:-1, :, :2] + landmarks[:-2, :, :2]
    relative = bend / face_width(landmarks[1:-1])[:, None, None]
    squares = np.square(relative).sum(axis=2)
    known = squares[np.isfinite(squares)]
    return float(np.sqrt(known.mean())) if known.size else float("nan")


def jitter_ratio(before: Floats, after: Floats) -> float:
    """How much more the face trembles than it did: `landmark_jitter` of the result over the original's.

    Frames where either has no face (NaN) are left out of both. `LANDMARK_FLOOR` is added (in squares) to both, so that
    the ratio of two still clips is 1. NaN if fewer than three frames in a row have a face.

    Args:
        before: (frames, 478, 2 or 3) landmarks of the original.
        after: the same of the result.
    """
    present = np.isfinite(before[..., :2] + after[..., :2]).all(axis=(1, 2), keepdims=True)
    original, edited = (landmark_jitter(np.where(present, points, np.nan)) for points in (before, after))
    return float(np.hypot(edited, LANDMARK_FLOOR) / np.hypot(original, LANDMARK_FLOOR))


def _window(mask: NDArray[np.bool_]) -> tuple[slice, slice] | None:
    """The rows and columns of a mask, with a margin; None if it is empty."""
    rows, columns = np.flatnonzero(mask.any(axis=1)), np.flatnonzero(mask.any(axis=0))
    if not rows.size:
        return None
    return (
        slice(max(int(rows[0]) - _MARGIN, 0), int(rows[-1]) + 1 + _MARGIN),
        slice(max(int(columns[0]) - _MARGIN, 0), int(columns[-1]) + 1 + _MARGIN),
    )


def _flow(new: Pixels, old: Pixels) -> NDArray[np.float32]:
    """(height, width, 2): where each pixel of `new` was in `old`, as a shift."""
    flow = cv2.DISOpticalFlow.create(cv2.DISOPTICAL_FLOW_PRESET_MEDIUM)
    grey = [cv2.cvtColor(picture, cv2.COLOR_RGB2GRAY) for picture in (new, old)]
    still: Any = None
    return flow.calc(grey[0], grey[1], still).astype(np.float32)


def _warp(old: Pixels, flow: NDArray[np.float32]) -> NDArray[np.float32]:
    height, width = old.shape[:2]
    grid = np.stack(np.meshgrid(np.arange(width), np.arange(height)), axis=-1).astype(np.float32) + flow
    empty: Any = None
    warped = cv2.remap(old.astype(np.float32), grid, empty, cv2.INTER_LINEAR, borderMode=cv2.BORDER_REPLICATE)
    return np.asarray(warped, np.float32)
