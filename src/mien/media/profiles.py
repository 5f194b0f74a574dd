"""Colour profiles of pictures: stored code values to working sRGB, and edits back into the stored space.

A profile with primaries and curves (Display P3, Adobe RGB, grey gammas) is evaluated in floating point, so that 16
bits stay 16 bits. A profile made of look-up tables (CMYK, scanners) goes through LittleCMS, 8 bits a channel.
"""

from __future__ import annotations

import io
import struct
from typing import Any, Literal

import numpy as np
from numpy.typing import NDArray
from PIL import Image, ImageCms

from mien.media.arrays import ColourSpace, Pixels

ColourModel = Literal["grey", "rgb", "cmyk"]

_Floats = NDArray[np.float32]

_SRGB_TO_XYZ = np.array(
    [[0.4360747, 0.3850649, 0.1430804], [0.2225045, 0.7168786, 0.0606169], [0.0139322, 0.0971045, 0.7141733]]
)
"""Linear sRGB to XYZ of D50, the ICC's connection space (IEC 61966-2-1 primaries, adapted by Bradford)."""

_LUMA = np.array([0.2126, 0.7152, 0.0722], np.float32)
"""BT.709 weights: what an edit in colour does to a grey picture."""

_LUT_RAMP = 4 / 255
"""Through an 8-bit table: a change this large is stored as the new colour itself, a smaller one in proportion."""

_SMALLEST_RISE, _SMALLEST_GAMUT = 0.5, 1e-3
"""Less is a damaged profile: linear light from black to white, and the volume of the primaries (sRGB: 0.2)."""

_PARAMETERS = (1, 3, 4, 5, 7)
"""Numbers of a parametric curve, by its kind."""

_SIGNATURES: dict[ColourModel, bytes] = {"grey": b"GRAY", "rgb": b"RGB ", "cmyk": b"CMYK"}
_MODES: dict[ColourModel, str] = {"grey": "L", "rgb": "RGB", "cmyk": "CMYK"}


class ProfileError(ValueError):
    """An ICC profile that is damaged or does not fit the picture."""


def space_of(model: ColourModel, maximum: int, profile: bytes | None) -> ColourSpace:
    """The colour space of pixels whose code values are 0..`maximum`; without a profile they are sRGB.

    Raises:
        ProfileError: the profile is damaged or made for another colour model.
    """
    if not profile:
        plain = {"grey": PlainGrey, "rgb": PlainRgb, "cmyk": PlainCmyk}
        return plain[model](maximum)
    if profile[16:20] != _SIGNATURES[model]:
        raise ProfileError(f"it is made for {profile[16:20].decode('ascii', 'replace').strip()}, not for {model}")
    tags = _read_tags(profile)
    if model == "cmyk" or b"A2B0" in tags:
        return TableSpace(model, maximum, profile)
    space = CurveSpace(*_read_curves(tags, model, maximum), maximum=maximum)
    return PlainRgb(maximum) if model == "rgb" and space.is_srgb() else space


def space_or_srgb(model: ColourModel, maximum: int, profile: bytes | None) -> tuple[ColourSpace, tuple[str, ...]]:
    """As `space_of`, but a profile that cannot be used counts as sRGB and gives a warning."""
    try:
        return space_of(model, maximum, profile), ()
    except ProfileError as error:
        note = f"the colour profile is kept but not used, colours are taken as sRGB: {error}"
        return space_of(model, maximum, None), (note,)


class PlainRgb:
    """sRGB."""

    channels = 3
    plain = True

    def __init__(self, maximum: int) -> None:
        self._maximum = float(maximum)

    def to_working(self, stored: Pixels) -> _Floats:
        """See `ColourSpace`."""
        return (stored / self._maximum).astype(np.float32)

    def add(self, stored: Pixels, before: _Floats, after: _Floats) -> Pixels:
        """See `ColourSpace`."""
        return _round(stored + (after - before) * self._maximum, self._maximum, stored)


class PlainGrey:
    """Grey with sRGB's curve."""

    channels = 1
    plain = True

    def __init__(self, maximum: int) -> None:
        self._maximum = float(maximum)

    def to_working(self, stored: Pixels) -> _Floats:
        """See `ColourSpace`."""
        return np.repeat((stored / self._maximum).astype(np.float32), 3, axis=2)

    def add(self, stored: Pixels, before: _Floats, after: _Floats) -> Pixels:
        """See `ColourSpace`."""
        change = (after - before) @ _LUMA
        return _round(stored + change[..., None] * self._maximum, self._maximum, stored)


class PlainCmyk:
    """Inks without a profile: R = (1 - C)(1 - K), and so on. Black is lowered only where the new colour needs it."""

    channels = 4
    plain = False

    def __init__(self, maximum: int) -> None:
        self._maximum = float(maximum)

    def to_working(self, stored: Pixels) -> _Floats:
        """See `ColourSpace`."""
        paper = 1 - stored.astype(np.float32) / np.float32(self._maximum)
        return (paper[..., :3] * paper[..., 3:]).astype(np.float32, copy=False)

    def add(self, stored: Pixels, before: _Floats, after: _Floats) -> Pixels:
        """See `ColourSpace`."""
        change = after - before
        wanted = np.clip(self.to_working(stored) + change, 0, 1)
        white = np.maximum(1 - stored[..., 3:] / self._maximum, wanted.max(axis=2, keepdims=True))
        inks = 1 - wanted / np.maximum(white, 1e-6)
        codes = np.concatenate([inks, 1 - white], axis=2) * self._maximum
        return np.where(_changed(change), _round(codes, self._maximum, stored), stored)


class CurveSpace:
    """Primaries and tone curves, or one curve for grey.

    Colours beyond sRGB's gamut are shown clipped, but an edit is added to the unclipped colour.
    """

    plain = False

    def __init__(self, curves: NDArray[np.float64], to_srgb: NDArray[np.float64], *, maximum: int) -> None:
        """`curves` (channels, maximum + 1) linear light of each code value, rising; `to_srgb` (3, channels)."""
        self.channels = curves.shape[0]
        self._curves = curves
        self._to_srgb = to_srgb
        self._from_srgb = np.linalg.inv(to_srgb) if self.channels == 3 else _LUMA[None]
        self._maximum = maximum

    def to_working(self, stored: Pixels) -> _Floats:
        """See `ColourSpace`."""
        return np.clip(self._extended(stored), 0, 1).astype(np.float32)

    def add(self, stored: Pixels, before: _Floats, after: _Floats) -> Pixels:
        """See `ColourSpace`."""
        change = after - before
        linear = _srgb_to_linear(self._extended(stored) + change) @ self._from_srgb.T
        codes = [
            np.interp(linear[..., channel], curve, np.arange(len(curve))) for channel, curve in enumerate(self._curves)
        ]
        return np.where(_changed(change), _round(np.stack(codes, axis=2), self._maximum, stored), stored)

    def is_srgb(self) -> bool:
        """Whether all colours are sRGB's to within a step of 8 bits, so that no conversion is needed."""
        steps = np.linspace(0, self._maximum, 9).round().astype(np.uint16)
        grid = np.stack(np.meshgrid(steps, steps, steps), axis=-1).reshape(-1, 1, 3)
        return bool(np.abs(self._extended(grid) - grid / self._maximum).max() < 1 / 255)

    def _extended(self, stored: Pixels) -> NDArray[np.float64]:
        linear = np.stack([curve[stored[..., channel]] for channel, curve in enumerate(self._curves)], axis=2)
        return _linear_to_srgb(linear @ self._to_srgb.T)


class TableSpace:
    """A profile made of look-up tables, through LittleCMS: relative colorimetric with black point compensation."""

    plain = False

    def __init__(self, model: ColourModel, maximum: int, profile: bytes) -> None:
        self.channels = {"grey": 1, "rgb": 3, "cmyk": 4}[model]
        self._mode = _MODES[model]
        self._maximum = maximum
        intent, flags = ImageCms.Intent.RELATIVE_COLORIMETRIC, ImageCms.Flags.BLACKPOINTCOMPENSATION
        srgb = ImageCms.createProfile("sRGB")
        try:
            own = ImageCms.ImageCmsProfile(io.BytesIO(profile))
            self._forward = ImageCms.buildTransform(own, srgb, self._mode, "RGB", intent, flags)
            self._backward = ImageCms.buildTransform(srgb, own, "RGB", self._mode, intent, flags)
        except (ImageCms.PyCMSError, OSError) as error:
            raise ProfileError(str(error)) from error

    def to_working(self, stored: Pixels) -> _Floats:
        """See `ColourSpace`."""
        codes = np.rint(stored * (255 / self._maximum)).astype(np.uint8)
        return _transform(self._forward, codes, self._mode).astype(np.float32) / np.float32(255)

    def add(self, stored: Pixels, before: _Floats, after: _Floats) -> Pixels:
        """See `ColourSpace`."""
        change = after - before
        wanted = np.rint(np.clip(self.to_working(stored) + change, 0, 1) * 255).astype(np.uint8)
        target = _transform(self._backward, wanted, "RGB") * (self._maximum / 255)
        weight = np.minimum(np.abs(change).max(axis=2, keepdims=True) / _LUT_RAMP, 1)
        return _round(stored + weight * (target - stored), self._maximum, stored)


def _transform(transform: ImageCms.ImageCmsTransform, codes: NDArray[np.uint8], mode: str) -> NDArray[np.uint8]:
    picture = Image.fromarray(codes[..., 0] if mode == "L" else np.ascontiguousarray(codes), mode)
    result = np.asarray(ImageCms.applyTransform(picture, transform))
    return result.reshape(*codes.shape[:2], -1)


def _changed(change: _Floats) -> NDArray[np.bool_]:
    return (change != 0).any(axis=2, keepdims=True)


def _round(codes: NDArray[np.floating[Any]], maximum: float, like: Pixels) -> Pixels:
    return np.clip(np.rint(codes), 0, maximum).astype(like.dtype)


def _srgb_to_linear(coded: NDArray[np.float64]) -> NDArray[np.float64]:
    """IEC 61966-2-1, mirrored for negative values (colours beyond the gamut)."""
    size = np.abs(coded)
    return np.copysign(np.where(size <= 0.04045, size / 12.92, ((size + 0.055) / 1.055) ** 2.4), coded)


def _linear_to_srgb(linear: NDArray[np.float64]) -> NDArray[np.float64]:
    size = np.abs(linear)
    return np.copysign(np.where(size <= 0.0031308, size * 12.92, 1.055 * size ** (1 / 2.4) - 0.055), linear)


def _read_tags(profile: bytes) -> dict[bytes, bytes]:
    """The tags of an ICC profile (ICC.1:2022, 7.3)."""
    try:
        (count,) = struct.unpack_from(">I", profile, 128)
        entries = [struct.unpack_from(">4sII", profile, 132 + 12 * number) for number in range(min(count, 100))]
    except struct.error as error:
        raise ProfileError("it is cut short") from error
    return {name: profile[offset : offset + size] for name, offset, size in entries}


def _read_curves(
    tags: dict[bytes, bytes], model: ColourModel, maximum: int
) -> tuple[NDArray[np.float64], NDArray[np.float64]]:
    names = (b"k",) if model == "grey" else (b"r", b"g", b"b")
    codes = np.linspace(0, 1, maximum + 1)
    try:
        with np.errstate(all="ignore"):  # a senseless curve is found right below
            curves = np.stack([_read_curve(tags[name + b"TRC"], codes) for name in names])
        if not (curves[:, -1] - curves[:, 0] > _SMALLEST_RISE).all():
            raise ProfileError("its curves do not rise")
        if model == "grey":
            return curves, np.ones((3, 1))
        # XYZType: signature, reserved, three s15Fixed16 numbers.
        to_xyz = np.array([struct.unpack_from(">3i", tags[name + b"XYZ"], 8) for name in names]).T / 65536
    except (KeyError, struct.error) as error:
        raise ProfileError(f"a tag is missing or cut short ({error})") from error
    if abs(np.linalg.det(to_xyz)) < _SMALLEST_GAMUT:
        raise ProfileError("its primaries lie on a line")
    return curves, np.linalg.solve(_SRGB_TO_XYZ, to_xyz).astype(np.float64)


def _read_curve(tag: bytes, codes: NDArray[np.float64]) -> NDArray[np.float64]:
    """Linear light of `codes` (0..1) by a curveType or parametricCurveType (ICC.1:2022, 10.6 and 10.18)."""
    if tag[:4] == b"curv":
        (count,) = struct.unpack_from(">I", tag, 8)
        if count == 0:
            return codes
        values = np.array(struct.unpack_from(f">{count}H", tag, 12), np.float64)
        if count == 1:
            return codes ** (values[0] / 256)
        return np.maximum.accumulate(np.interp(codes, np.linspace(0, 1, count), values / 65535))
    if tag[:4] != b"para":
        raise ProfileError(f"its curves are of the unknown type {tag[:4]!r}")
    (kind,) = struct.unpack_from(">H", tag, 8)
    if kind >= len(_PARAMETERS):
        raise ProfileError(f"its curves have the unknown formula {kind}")
    numbers = struct.unpack_from(f">{_PARAMETERS[kind]}i", tag, 12)
    return np.maximum.accumulate(np.clip(_parametric(kind, [number / 65536 for number in numbers], codes), 0, 1))


def _parametric(kind: int, numbers: list[float], codes: NDArray[np.float64]) -> NDArray[np.float64]:
    g, a, b, c, d, e, f = (*numbers, *[0.0] * 7)[:7]
    if kind == 0:
        return codes**g
    inner = a * codes + b
    power = np.maximum(inner, 0) ** g
    if kind == 1:
        return np.where(inner >= 0, power, 0)
    if kind == 2:
        return np.where(inner >= 0, power + c, c)
    return np.where(codes >= d, power + e, c * codes + f)


def describe(profile: bytes) -> str:
    """The profile's own name for itself, or an empty text if it has none."""
    try:
        return ImageCms.getProfileDescription(ImageCms.ImageCmsProfile(io.BytesIO(profile))).strip()
    except (ImageCms.PyCMSError, OSError):
        return ""
