"""Sharpness and grain: what is drawn is as sharp as the target, and has the target's grain."""

from __future__ import annotations

from typing import NamedTuple, cast

import cv2
import numpy as np
from numpy.typing import NDArray

from mien.edit.raster import Floats
from mien.native import face as kernels

_SIGMAS = (0.8, 1.9)
"""Blurs, in pixels, that split off the two finest bands of detail."""
_QUIET = 30
"""Percentile of detail on the skin that is taken for grain alone."""
_QUIET_TO_MEAN = 2.1
"""Mean absolute value of a Gaussian over that percentile of its absolute value."""
_STRUCTURE = 0.9
"""Detail larger than this many times the grain, averaged over 6 x 6 pixels, is a wrinkle or an edge: not carried."""
_SPARSE = 3
"""Every how manieth pixel is looked at for the percentile."""
_SOFTEST = 0.85
"""Largest part of the finest band that is taken away."""
_TOLERANCE = 0.9
"""Sharpness of the target over that of the drawing from which on nothing is softened."""
_SKIN_BAND = 0.005
_WIDEST_SKIN_BAND = 1.2
"""Blur that splits off the fine detail of skin: in widths of the face, and pixels at most. Wider wrinkles stay."""
_SKIN_TOLERANCE = 1.15
"""Fine detail of the drawn skin over that of the target's that is left as it is."""
_SMOOTHEST = 0.9
"""Largest part of that detail that is taken away."""
_ENOUGH = 60
"""Least number of those pixels."""
_MEASURE, _FOLLOW = 16, 0.64
"""Frames between two measurements, and the share of a new one in the remembered amounts."""
_AGAIN = 8
"""Frames after which the first measurement is taken again: a face may come in blurred."""


class Amounts(NamedTuple):
    """What to do to the finest detail."""

    soften: float
    """Part of the drawn band that is taken away, 0..1."""
    add: float
    """Part of the target's grain that is put on top, 0..1."""
    smooth: float
    """Part of the drawn skin's fine detail that is taken away, 0..1."""


class Drawing(NamedTuple):
    """What is laid over the target."""

    picture: Floats
    """(height, width, 4) RGB; the fourth channel means nothing."""
    grey: Floats
    """(height, width) its lightness."""
    opacity: Floats
    """(height, width) 0..1."""


class Fields(NamedTuple):
    """Smooth fields (rows, columns), 0..1, on cells of `step` x `step` pixels."""

    step: int
    unknown: Floats
    """Where the drawing has no detail of its own."""
    parts: Floats
    """Where eyes, brows and mouth are: not smoothed as skin is."""


class GrainMatch:
    """Matches one track's drawings, and remembers the amounts."""

    def __init__(self) -> None:
        self._age = 0
        self._measured = False
        self._amounts = Amounts(0.0, 0.0, 0.0)
        self._grain = 0.0

    @property
    def due(self) -> bool:
        """Whether it is time to measure again."""
        return self._age % _MEASURE == 0 or self._age == _AGAIN

    def lay_over(self, picture: Floats, drawing: Drawing, detail: Floats, fields: Fields, face_width: float) -> None:
        """Lay a drawing over the target, in place, as sharp and with as much grain.

        Args:
            picture: (height, width, 3) the target.
            drawing: What is drawn there.
            detail: (height, width) the target's finest band of lightness.
            fields: How much of the target's grain is carried, and where the drawing is not skin.
            face_width: pixels.
        """
        self._age += 1
        quiet = kernels.quiet(detail, max(_STRUCTURE * self._grain, 1e-6))
        soften, _, smooth = self._amounts
        kernels.lay_over(
            picture,
            drawing.picture,
            drawing.opacity,
            (detail, quiet, self._share(fields.unknown)),
            fields.step,
            soften=(_finer(drawing.grey, _SIGMAS[0]), soften) if soften > 0 else None,
            smooth=(_finer(drawing.grey, _skin_sigma(face_width)), smooth, fields.parts) if smooth > 0 else None,
        )

    def _share(self, unknown: Floats) -> Floats:
        """How much of the target's grain is carried, given where the drawing has no detail of its own (0..1)."""
        add = np.float32(self._amounts.add)
        return add + (1 - add) * unknown

    def measure(self, drawn: Floats, target: Floats, skin: Floats, parts: Floats, face_width: float) -> None:
        """Look at both pictures and adapt the amounts.

        Args:
            drawn: (height, width, 4) RGB that is drawn.
            target: (height, width, 3) the target there.
            skin: (height, width) 0..1 where both are plain, uncovered skin: there grain and fine detail are measured.
            parts: (height, width) 0..1 where eyes, brows and mouth are: there the sharpness is measured.
            face_width: pixels.
        """
        where = skin[::_SPARSE, ::_SPARSE] > 0.5
        if np.count_nonzero(where) < _ENOUGH:
            return
        (ours, our_coarse), (theirs, their_coarse) = _bands(drawn), _bands(target)
        our_grain, their_grain = _grain(ours, where), _grain(theirs, where)
        our_sharpness = _size(ours, parts) / max(_size(our_coarse, parts), 1e-6)
        their_sharpness = _size(theirs, parts) / max(_size(their_coarse, parts), 1e-6)
        soften = float(np.clip(1 - their_sharpness / max(_TOLERANCE * our_sharpness, 1e-6), 0, _SOFTEST))
        our_detail, their_detail = (_size(_finer(_grey(one), _skin_sigma(face_width)), skin) for one in (drawn, target))
        smooth = float(np.clip(1 - _SKIN_TOLERANCE * their_detail / max(our_detail, 1e-6), 0, _SMOOTHEST))
        # Independent grain adds up in squares.
        left = (1 - soften) * our_grain / max(their_grain, 1e-6)
        now = Amounts(soften, float(np.sqrt(max(1 - left * left, 0))), smooth)
        share = _FOLLOW if self._measured else 1.0
        self._amounts = Amounts(*(old + share * (new - old) for old, new in zip(self._amounts, now, strict=True)))
        self._grain += share * (their_grain - self._grain)
        self._measured = True


def _bands(picture: Floats) -> tuple[Floats, Floats]:
    """The two finest bands of lightness, finest first."""
    grey = _grey(picture)
    fine, coarse = (cast(Floats, cv2.GaussianBlur(grey, (0, 0), sigma)) for sigma in _SIGMAS)
    return grey - fine, fine - coarse


def _skin_sigma(face_width: float) -> float:
    """Blur, in pixels, that splits off the fine detail of a face's skin."""
    return min(max(_SKIN_BAND * face_width, 0.1), _WIDEST_SKIN_BAND)


def _grey(picture: Floats) -> Floats:
    """Lightness of RGB with three or four channels."""
    code = cv2.COLOR_RGB2GRAY if picture.shape[2] == 3 else cv2.COLOR_RGBA2GRAY
    return cast(Floats, cv2.cvtColor(picture, code))


def _finer(grey: Floats, sigma: float) -> Floats:
    """What a blur takes from lightness."""
    return cast(Floats, cv2.subtract(grey, cv2.GaussianBlur(grey, (0, 0), sigma)))


def _size(band: Floats, weight: Floats) -> float:
    """Mean size of a band where the weight is."""
    return float(cv2.mean(np.abs(band) * weight)[0])


def _grain(band: Floats, where: NDArray[np.bool_]) -> float:
    """Size of the grain in a band: its mean in the quiet parts of the skin (a mask of every third pixel)."""
    return float(np.percentile(np.abs(band[::_SPARSE, ::_SPARSE][where]), _QUIET)) * _QUIET_TO_MEAN
