"""Colour of stored samples: matrices, ranges, and the way between HDR code values and the working space.

Code points are those of ISO/IEC 23091-2 (H.273), as decoders report them. The *working space* is RGB with the
primaries of BT.709, gamma coded as sRGB, 1 = reference white.
"""

from __future__ import annotations

from dataclasses import dataclass
from functools import lru_cache
from typing import cast

import cv2
import numpy as np
from numpy.typing import NDArray

Float = NDArray[np.float32]

UNSPECIFIED = 2
RANGE_LIMITED, RANGE_FULL = 1, 2
MATRIX_BT709, MATRIX_BT601, MATRIX_BT2020 = 1, 6, 9
PRIMARIES_BT2020 = 9
TRANSFER_PQ, TRANSFER_HLG = 16, 18

REFERENCE_WHITE = 203.0
"""Luminance of reference white in HDR, cd/m2 (ITU-R BT.2408)."""
PQ_PEAK = 10000.0
"""Luminance of the code value 1 of PQ, cd/m2 (SMPTE ST 2084)."""
HLG_PEAK = 1000.0
"""Nominal peak of an HLG display, cd/m2 (ITU-R BT.2100); its system gamma is 1.2."""
HLG_GAMMA = 1.2

_LUMA_WEIGHTS = {
    **{1: (0.2126, 0.0722), 4: (0.30, 0.11), 5: (0.299, 0.114), 6: (0.299, 0.114), 7: (0.212, 0.087)},
    **{9: (0.2627, 0.0593), 10: (0.2627, 0.0593)},
}
"""Weights of red and blue in luma by matrix code point (H.273, table 4)."""

# Chromaticities x, y of red, green, blue (H.273, table 2); all with white D65.
_PRIMARIES = {
    1: ((0.640, 0.330), (0.300, 0.600), (0.150, 0.060)),
    9: ((0.708, 0.292), (0.170, 0.797), (0.131, 0.046)),
    12: ((0.680, 0.320), (0.265, 0.690), (0.150, 0.060)),
}
_D65 = (0.3127, 0.3290)


@dataclass(frozen=True, slots=True)
class ColourTags:
    """Colour description of a stream, as code points; 0 range and `UNSPECIFIED` where the file says nothing."""

    range: int = 0
    matrix: int = UNSPECIFIED
    primaries: int = UNSPECIFIED
    transfer: int = UNSPECIFIED
    chroma: str | None = None
    """Where chroma samples lie among those of luma, as FFmpeg names it: `left`, `center`, `topleft` or `top`."""

    @property
    def hdr(self) -> bool:
        """True for PQ and HLG."""
        return self.transfer in (TRANSFER_PQ, TRANSFER_HLG)


@dataclass(frozen=True, slots=True)
class Colour:
    """What the samples of a picture mean, nothing unspecified any more.

    `red` and `blue` are the weights of those in luma; `full` says whether samples span all codes; `transfer` and
    `primaries` matter only where the working space differs from the stored one (`converts`).
    """

    red: float
    blue: float
    full: bool
    transfer: int
    primaries: int

    @classmethod
    def resolve(cls, tags: ColourTags, height: int, *, rgb: bool = False, full: bool = False) -> Colour:
        """Fill in what `tags` leave open: BT.601 below 576 rows, else BT.709; limited range, or full if `full`.

        A matrix that is not a luma matrix (RGB, YCgCo, ICtCp) counts as unspecified; `rgb` pictures are full range.
        """
        fallback = MATRIX_BT601 if height < 576 else MATRIX_BT709
        red, blue = _LUMA_WEIGHTS.get(tags.matrix, _LUMA_WEIGHTS[fallback])
        spans_all = tags.range == RANGE_FULL or (full and tags.range != RANGE_LIMITED)
        return cls(red, blue, rgb or spans_all, tags.transfer, tags.primaries)

    @property
    def converts(self) -> bool:
        """True where working RGB is not simply the stored R'G'B': HDR, or primaries wider than BT.709's."""
        return self.transfer in (TRANSFER_PQ, TRANSFER_HLG) or self.primaries in (9, 12)

    def to_yuv(self) -> Float:
        """(3, 3) from R'G'B' to Y' and Cb, Cr, with Y' in 0..1 and chroma in -0.5..0.5."""
        return _to_yuv(self.red, self.blue)

    def to_rgb(self) -> Float:
        """(3, 3) inverse of `to_yuv`."""
        return np.linalg.inv(self.to_yuv().astype(np.float64)).astype(np.float32)

    def scale(self, bits: int) -> tuple[float, float, float]:
        """Codes per unit of luma, codes per unit of chroma, and the code of luma 0 at `bits` per sample."""
        if self.full:
            return float(2**bits - 1), float(2**bits - 1), 0.0
        unit = 2.0 ** (bits - 8)
        return 219 * unit, 224 * unit, 16 * unit

    def to_working(self, coded: Float) -> Float:
        """Stored R'G'B' (h, w, 3), 0..1, to working RGB. Returns `coded` itself where both are the same."""
        if not self.converts:
            return coded
        linear = mix(self._linear(coded), primaries_matrix(self.primaries, 1))
        return srgb_encode(linear)

    def from_working(self, working: Float) -> Float:
        """Exact inverse of `to_working`, code values below 0 excepted."""
        if not self.converts:
            return working
        linear = mix(srgb_decode(working), primaries_matrix(1, self.primaries))
        return self._coded(linear)

    def _linear(self, coded: Float) -> Float:
        if self.transfer == TRANSFER_PQ:
            return pq_decode(coded)
        if self.transfer == TRANSFER_HLG:
            return hlg_decode(coded)
        return srgb_decode(coded)

    def _coded(self, linear: Float) -> Float:
        if self.transfer == TRANSFER_PQ:
            return pq_encode(linear)
        if self.transfer == TRANSFER_HLG:
            return hlg_encode(linear)
        return srgb_encode(linear)


@lru_cache(maxsize=16)
def _to_yuv(red: float, blue: float) -> Float:
    green = 1 - red - blue
    luma = np.array([red, green, blue])
    cb = (np.array([0, 0, 1]) - luma) / (2 * (1 - blue))
    cr = (np.array([1, 0, 0]) - luma) / (2 * (1 - red))
    return np.stack([luma, cb, cr]).astype(np.float32)


@lru_cache(maxsize=16)
def primaries_matrix(source: int, target: int) -> Float:
    """(3, 3) linear RGB of primaries `source` to linear RGB of primaries `target` (unknown ones count as BT.709)."""
    return (np.linalg.inv(_to_xyz(target)) @ _to_xyz(source)).astype(np.float32)


def _to_xyz(primaries: int) -> NDArray[np.float64]:
    corners = np.array([(x / y, 1.0, (1 - x - y) / y) for x, y in _PRIMARIES.get(primaries, _PRIMARIES[1])]).T
    x, y = _D65
    white = np.array([x / y, 1.0, (1 - x - y) / y])
    return corners * np.linalg.solve(corners, white)


def mix(rgb: Float, matrix: Float) -> Float:
    """Apply a (3, 3) or affine (3, 4) matrix to every pixel."""
    return cast(Float, cv2.transform(rgb, matrix))


_TINY, _ALL = 1e-30, 1e30
"""Bounds that keep logarithms finite, and no bound at all."""


def _power(values: Float, exponent: float) -> Float:
    """`values ** exponent` for values above 0, twice as fast as `cv2.pow`."""
    return cast(Float, cv2.exp(cv2.log(values) * np.float32(exponent)))


def _bounded(values: Float, low: float, high: float) -> Float:
    return np.clip(values, np.float32(low), np.float32(high))


# Functions in two pieces are written as the sum of both, each fed only its own range: that is several times faster
# than choosing for every sample.


def srgb_encode(linear: Float) -> Float:
    """Linear light, 1 = reference white, to sRGB code; odd in its argument, so that out-of-gamut light survives."""
    size = np.abs(linear)
    coded = _power(_bounded(size, 0.0031308, _ALL), 1 / 2.4)
    coded *= np.float32(1.055)
    coded += _bounded(size, 0, 0.0031308) * np.float32(12.92) - np.float32(0.055 + 12.92 * 0.0031308)
    return np.copysign(coded, linear)


def srgb_decode(coded: Float) -> Float:
    """Inverse of `srgb_encode`."""
    size = np.abs(coded)
    linear = _power((_bounded(size, 0.04045, _ALL) + np.float32(0.055)) * np.float32(1 / 1.055), 2.4)
    linear += (_bounded(size, 0, 0.04045) - np.float32(0.04045)) * np.float32(1 / 12.92)
    return np.copysign(linear, coded)


# Constants of SMPTE ST 2084.
_PQ_M1, _PQ_M2 = 2610 / 16384, 2523 / 4096 * 128
_PQ_C1, _PQ_C2, _PQ_C3 = 3424 / 4096, 2413 / 4096 * 32, 2392 / 4096 * 32


def pq_decode(coded: Float) -> Float:
    """PQ code 0..1 to light, 1 = reference white."""
    power = _power(_bounded(coded, _TINY, _ALL), 1 / _PQ_M2)
    ratio = _bounded(power - np.float32(_PQ_C1), 1e-12, _ALL) / (np.float32(_PQ_C2) - np.float32(_PQ_C3) * power)
    return _power(cast(Float, ratio), 1 / _PQ_M1) * np.float32(PQ_PEAK / REFERENCE_WHITE)


def pq_encode(linear: Float) -> Float:
    """Light, 1 = reference white, to PQ code 0..1; negative light becomes 0."""
    power = _power(_bounded(linear * np.float32(REFERENCE_WHITE / PQ_PEAK), _TINY, 1), _PQ_M1)
    ratio = (np.float32(_PQ_C1) + np.float32(_PQ_C2) * power) / (1 + np.float32(_PQ_C3) * power)
    return _power(cast(Float, ratio), _PQ_M2)


# Constants of ITU-R BT.2100 (HLG).
_HLG_A, _HLG_B, _HLG_C = 0.17883277, 0.28466892, 0.55991073
_LUMA_2020 = np.array([[0.2627, 0.6780, 0.0593]], np.float32)


def hlg_decode(coded: Float) -> Float:
    """HLG code 0..1 to light on a display of 1000 cd/m2, 1 = reference white."""
    scene = cv2.exp((_bounded(coded, 0.5, _ALL) - np.float32(_HLG_C)) * np.float32(1 / _HLG_A))
    scene += np.float32(_HLG_B - 1)
    scene *= np.float32(1 / 12)
    scene += np.square(_bounded(coded, 0, 0.5)) * np.float32(1 / 3)
    luma = cast(Float, cv2.transform(scene, _LUMA_2020))
    gain = _power(_bounded(luma, _TINY, _ALL), HLG_GAMMA - 1) * np.float32(HLG_PEAK / REFERENCE_WHITE)
    return cast(Float, scene * gain[..., None])


def hlg_encode(linear: Float) -> Float:
    """Inverse of `hlg_decode`; negative light becomes 0."""
    display = _bounded(linear * np.float32(REFERENCE_WHITE / HLG_PEAK), 0, _ALL)
    luma = cast(Float, cv2.transform(display, _LUMA_2020))
    scene = display * _power(_bounded(luma, 1e-9, _ALL), (1 - HLG_GAMMA) / HLG_GAMMA)[..., None]
    coded = cv2.log(_bounded(scene, 1 / 12, _ALL) * np.float32(12) - np.float32(_HLG_B))
    coded *= np.float32(_HLG_A)
    coded += np.float32(_HLG_C - 0.5)
    return cast(Float, coded + cv2.sqrt(_bounded(scene, 0, 1 / 12) * np.float32(3)))


_KNEE = 0.8


def tone_map(working: Float) -> Float:
    """Working RGB to 0..1 for an ordinary screen: unchanged up to a knee at 0.8, light above it rolled off."""
    over = _bounded(working - np.float32(_KNEE), 0, _ALL)
    rolled = np.float32(1) - cast(Float, cv2.exp(over * np.float32(-1 / (1 - _KNEE))))
    return _bounded(working, 0, _KNEE) + cast(Float, np.float32(1 - _KNEE) * rolled)
