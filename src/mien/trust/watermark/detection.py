"""Finds the mark again, and reads it.

The picture is whitened, in space and in frequency, so that nothing in it stands out; frames are averaged, which is the
vote. Then the pilot is looked for at all shifts and at the scales that crops and borders make, and the bits are read
where it fits best.

How often something unmarked is taken for marked does not depend on what it shows, because the pilot's chips are random:
whatever the whitened picture y, their sum weighted with y exceeds t times the length of y with a probability of at
most exp(-t^2/2) (Hoeffding). Over all alignments that the search can end at, that makes `FALSE_ALARMS`, 1 in 5,900; as
a sum of thousands is as good as normal, it is 1 in 120,000 rather.
"""

from __future__ import annotations

import math
from collections.abc import Iterable
from dataclasses import dataclass
from functools import cache
from typing import Any, NamedTuple, cast

import cv2
import numpy as np
from numpy.typing import NDArray

from mien.trust.watermark.carrier import CELLS, PILOT, TILE, Floats, folded, layout
from mien.trust.watermark.ids import BITS, MarkId, from_bits

Spectrum = NDArray[np.complexfloating[Any]]
"""(TILE, TILE // 2 + 1), as `np.fft.rfft2` gives it."""

THRESHOLD = 8.0
"""Score from which on a mark is there."""

WORK_SIDE = 2 * CELLS
"""Shorter side in pixels at which frames are looked at: two a cell."""

_SCALES = np.geomspace(0.7, 1.45, 123)
"""Share of a frame's shorter side that is left, in steps of 0.6 %: from crops by a third to borders of a fifth on each
side. Half a step shifts the outermost cells of a wide frame by less than one."""
_PROMISING = 3
"""Scales that are looked at more closely."""
_FINER = (0.003, 0.0015)
"""Changes of the scale that are tried then, of both sides and of each."""
_PHASES = (-1 / 3, 0.0, 1 / 3)
"""Fractions of a cell by which the grid may lie between the sampled ones."""
_TRIES = len(_SCALES) * 3 ** (3 * len(_FINER)) * len(_PHASES) ** 2 * TILE**2
"""Alignments that the search can end at, 1.3e10."""
FALSE_ALARMS = _TRIES * math.exp(-(THRESHOLD**2) / 2)
"""Bound on the probability that a picture or clip without a mark is taken for marked."""
_CLEAR = 1.5 * THRESHOLD
"""Score at which the frame is clearly not cropped, so that other scales need not be tried."""

# Chosen on coded, scaled and cropped clips; lengths in cells, levels in 8-bit codes.
_FINE, _NEAR = 1.0, 5.0
_NOISE, _OUTLIER = 0.5, 3.0
_STILL = 0.2
_NEIGHBOURS, _NOTHING = 2.0, 1e-6

_LONGEST = 4
"""Longer side over shorter side of what is looked at, the middle of a frame that is longer."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Detection:
    """What was found in pictures that belong together."""

    score: float
    """How well the pilot fits, in standard deviations of what an unmarked picture gives."""
    present: bool
    """Whether there is a mark: `score` is at least `THRESHOLD`."""
    mark_id: MarkId | None
    """What the mark says; None where there is none, or its bits do not agree with their checksum."""
    bits: tuple[bool, ...]
    """The 32 bits as read; they mean nothing where there is no mark."""
    certainty: float
    """How clear the least clear bit is, in standard deviations."""
    scale: float
    """Share of the marked frame's shorter side that is left, above 1 where a border was added."""
    frames: int
    """Pictures that had a vote."""


class _Grid(NamedTuple):
    """How cells lie on a working picture."""

    across: float
    """Share of the columns that is left, see `Detection.scale`."""
    down: float
    x: float = 0.0
    """Shift in cells."""
    y: float = 0.0

    def stretched(self, along_x: float, along_y: float) -> _Grid:
        """With more cells by these shares."""
        return self._replace(across=self.across * (1 + along_x), down=self.down * (1 + along_y))


class _Fit(NamedTuple):
    score: float
    """As `Detection.score`, within 2 %."""
    grid: _Grid
    spectrum: Spectrum
    """Of the cells, folded and whitened."""
    shift: tuple[int, int]
    """Row and column of the square's upper left cell."""

    def cells(self) -> Floats:
        """(TILE, TILE), the square's upper left cell first."""
        down, across = self.shift
        return np.roll(np.fft.irfft2(self.spectrum), (-down, -across), axis=(0, 1)).astype(np.float32)


def detect(pictures: Iterable[NDArray[np.uint8]]) -> Detection:
    """Look for one mark in pictures that belong together, such as frames of a video: they vote with all they show.

    Args:
        pictures: RGB (height, width, 3) or grey (height, width), all of one size.

    Raises:
        ValueError: there is no picture.
    """
    total, count = None, 0
    for picture in pictures:
        one = _flattened(_working(picture))
        total = one if total is None else total + one
        count += 1
    if total is None:
        raise ValueError("no picture to look for a mark in")
    fit = _best_fit(_evened(total / np.float32(count)))
    cells = fit.cells()
    score = _agreement(cells, PILOT)
    clarity = [_agreement(cells, bit) for bit in range(BITS)]
    bits = tuple(value > 0 for value in clarity)
    present = score >= THRESHOLD
    return Detection(
        score=score,
        present=present,
        mark_id=from_bits(bits) if present else None,
        bits=bits,
        certainty=min(abs(value) for value in clarity),
        scale=(fit.grid.across + fit.grid.down) / 2,
        frames=count,
    )


def _working(picture: NDArray[np.uint8]) -> Floats:
    """Brightness (height, width) with `WORK_SIDE` pixels on the shorter side."""
    grey = picture if picture.ndim == 2 else cv2.cvtColor(picture, cv2.COLOR_RGB2GRAY)
    height, width = grey.shape
    longest = _LONGEST * min(height, width)
    top, left = max(height - longest, 0) // 2, max(width - longest, 0) // 2
    grey = grey[top : top + longest, left : left + longest].astype(np.float32)
    height, width = grey.shape
    scale = WORK_SIDE / min(height, width)
    how = cv2.INTER_AREA if scale < 1 else cv2.INTER_CUBIC
    return cast(Floats, cv2.resize(grey, (round(width * scale), round(height * scale)), interpolation=how))


def _flattened(grey: Floats) -> Floats:
    """Fine detail alone, as strong in texture as in plain ground."""
    per_cell = WORK_SIDE / CELLS
    detail = grey - cv2.GaussianBlur(grey, (0, 0), _FINE * per_cell)
    return cast(Floats, np.clip(detail / (_spread(detail) + _NOISE), -_OUTLIER, _OUTLIER))


def _evened(mean: Floats) -> Floats:
    """The mean of frames, where what moved has faded, as strong where all moved as where all stood still."""
    return cast(Floats, mean / (_spread(mean) + _STILL))


def _spread(detail: Floats) -> Floats:
    """Root of the mean square around each pixel."""
    side = round(_NEAR * WORK_SIDE / CELLS) | 1
    return cast(Floats, np.sqrt(np.maximum(cv2.blur(np.square(detail), (side, side)), 0)))


def _best_fit(detail: Floats) -> _Fit:
    soft = cast(Floats, cv2.blur(detail, (2, 2)))  # over a cell, which is two pixels wide
    whole = _fit(soft, _Grid(1, 1))
    if whole.score >= _CLEAR:
        return _refined(soft, whole)
    fits = [whole, *(_fit(soft, _Grid(scale, scale)) for scale in _SCALES.tolist())]
    best = sorted(fits, key=_score)[-_PROMISING:]
    return max((_refined(soft, fit) for fit in best), key=_score)


def _refined(soft: Floats, fit: _Fit) -> _Fit:
    for step in _FINER:
        for along_x, along_y in ((step, step), (step, 0), (0, step)):
            near = [_fit(soft, fit.grid.stretched(sign * along_x, sign * along_y)) for sign in (-1, 1)]
            fit = max(fit, *near, key=_score)
    shifted = (fit.grid._replace(x=x, y=y) for x in _PHASES for y in _PHASES)
    return max((_fit(soft, grid) for grid in shifted), key=_score)


def _score(fit: _Fit) -> float:
    return fit.score


def _fit(soft: Floats, grid: _Grid) -> _Fit:
    """How well the pilot fits at the best of all shifts."""
    spectrum = np.fft.rfft2(folded(_sampled(soft, grid)))
    spectrum /= cv2.GaussianBlur(np.abs(spectrum), (0, 0), _NEIGHBOURS) + _NOTHING
    match = np.fft.irfft2(spectrum * _pilot().spectrum)
    down, across = divmod(int(match.argmax()), TILE)
    # Half of the spectrum stands for all of it (but for its two edges), and the pilot's cells for any others.
    length = math.sqrt(2 * np.square(np.abs(spectrum)).sum() * _pilot().share) / TILE
    return _Fit(float(match[down, across]) / max(length, _NOTHING), grid, spectrum, (down, across))


def _sampled(soft: Floats, grid: _Grid) -> Floats:
    """Cells of a working picture."""
    height, width = soft.shape
    pixels_x, pixels_y = WORK_SIDE / CELLS / grid.across, WORK_SIDE / CELLS / grid.down
    columns, rows = int(width / pixels_x), int(height / pixels_y)
    place = np.array([[pixels_x, 0, (grid.x + 0.5) * pixels_x], [0, pixels_y, (grid.y + 0.5) * pixels_y]])
    how = cv2.INTER_LINEAR | cv2.WARP_INVERSE_MAP
    return cast(Floats, cv2.warpAffine(soft, place, (columns, rows), flags=how))


def _agreement(cells: Floats, owner: int) -> float:
    """Sum of an owner's chips weighted with the cells, over the length of those: of unmarked cells about N(0, 1)."""
    chips, owners = layout()
    own = cells[owners == owner].astype(np.float64)
    return float(own @ chips[owners == owner] / max(np.linalg.norm(own), 1e-9))


class _Pilot(NamedTuple):
    spectrum: Spectrum
    """Conjugate."""
    share: float
    """Of the cells."""


@cache
def _pilot() -> _Pilot:
    chips, owners = layout()
    own = owners == PILOT
    return _Pilot(np.conj(np.fft.rfft2(np.where(own, chips, 0))), float(own.mean()))
