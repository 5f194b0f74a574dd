"""Sharpness and grain: what is drawn is as sharp as the target, and has the target's grain."""

from __future__ import annotations

from typing import NamedTuple, cast

import cv2
import numpy as np
from numpy.typing import NDArray

from mien.edit.raster import Floats

_SIGMAS = (0.8, 1.9)
"""Blurs, in pixels, that split off the two finest bands of detail."""
_QUIET = 30
"""Percentile of detail on the skin that is taken for grain alone."""
_QUIET_TO_MEAN = 2.1
"""Mean absolute value of a Gaussian over that percentile of its absolute value."""
_STRUCTURE = 1.2
"""Detail larger than this many times the grain, averaged over a few pixels, is a wrinkle or an edge: not carried."""
_PATCH = 7
"""Side of that average, in pixels."""
_SOFTEST = 0.85
"""Largest part of the finest band that is taken away."""
_TOLERANCE = 0.9
"""Sharpness of the target over that of the drawing from which on nothing is softened."""
_FOLLOW = 0.25
"""Share of a new frame in the remembered amounts."""


class Amounts(NamedTuple):
    """What to do to the finest band of detail."""

    soften: float
    """Part of the drawn band that is taken away, 0..1."""
    add: float
    """Part of the target's grain that is put on top, 0..1."""


class GrainMatch:
    """Matches one track's drawings, and remembers the amounts."""

    def __init__(self) -> None:
        self._amounts: Amounts | None = None

    def apply(self, drawn: Floats, target: Floats, skin: Floats, parts: Floats, unknown: Floats) -> None:
        """Match `drawn` to `target`, in place.

        Args:
            drawn: (height, width, 3) RGB that is drawn.
            target: (height, width, 3) the target there.
            skin: (height, width) 0..1 where both are plain, uncovered skin: the grain is measured there.
            parts: (height, width) 0..1 where eyes, brows and mouth are: the sharpness is measured there.
            unknown: (height, width) 0..1 where `drawn` has no detail of its own.
        """
        where = skin[::2, ::2] > 0.5
        if np.count_nonzero(where) < 100:
            return
        (ours, our_coarse), (theirs, their_coarse) = _bands(drawn), _bands(target)
        our_grain, their_grain = _grain(ours, where), _grain(theirs, where)
        our_sharpness = _size(ours, parts) / max(_size(our_coarse, parts), 1e-6)
        their_sharpness = _size(theirs, parts) / max(_size(their_coarse, parts), 1e-6)
        soften = float(np.clip(1 - their_sharpness / max(_TOLERANCE * our_sharpness, 1e-6), 0, _SOFTEST))
        # Independent grain adds up in squares.
        left = (1 - soften) * our_grain / max(their_grain, 1e-6)
        amounts = self._remembered(Amounts(soften, float(np.sqrt(max(1 - left * left, 0)))))

        busy = cast(Floats, cv2.blur(np.abs(theirs), (_PATCH, _PATCH)))
        quiet = np.clip(2 - busy * np.float32(1 / max(_STRUCTURE * their_grain, 1e-6)), 0, 1)
        change = theirs * quiet * (amounts.add + (1 - amounts.add) * unknown) - ours * np.float32(amounts.soften)
        cv2.add(drawn, cv2.merge([change, change, change]), dst=drawn)

    def _remembered(self, now: Amounts) -> Amounts:
        last = self._amounts or now
        self._amounts = Amounts(*(old + _FOLLOW * (new - old) for old, new in zip(last, now, strict=True)))
        return self._amounts


def _bands(picture: Floats) -> tuple[Floats, Floats]:
    """The two finest bands of lightness, finest first."""
    grey = cast(Floats, cv2.cvtColor(picture, cv2.COLOR_RGB2GRAY))
    fine, coarse = (cast(Floats, cv2.GaussianBlur(grey, (0, 0), sigma)) for sigma in _SIGMAS)
    return grey - fine, fine - coarse


def _size(band: Floats, weight: Floats) -> float:
    """Mean size of a band where the weight is."""
    return float(cv2.mean(np.abs(band) * weight)[0])


def _grain(band: Floats, where: NDArray[np.bool_]) -> float:
    """Size of the grain in a band: its mean in the quiet parts of the skin (a mask of every second pixel)."""
    return float(np.percentile(np.abs(band[::2, ::2][where]), _QUIET)) * _QUIET_TO_MEAN
