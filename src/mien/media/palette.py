"""Edited pictures with a palette: which index shows a new colour best."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray
from PIL import Image

_ENTRIES = 256

Indices = NDArray[np.uint8]
Colours = NDArray[np.uint8]
"""(entries, 3 or 4) RGB or RGBA."""


def colours_of(indices: Indices, palette: Colours) -> NDArray[np.uint8]:
    """RGB (height, width, 3) of (height, width, 1) indices; an index beyond the palette is black, as readers do."""
    table = np.zeros((_ENTRIES, 3), np.uint8)
    table[: len(palette)] = palette[:, :3]
    return table[indices[..., 0]]


def remap(indices: Indices, palette: Colours, edited: NDArray[np.uint8], *, limit: int) -> tuple[Indices, Colours]:
    """Indices and palette of an edited picture: pixels whose colour did not change keep their index.

    New colours get what is free of `limit` entries; edited pixels are then dithered to the nearest opaque colours, so
    that a face in few colours keeps its tones on average.

    Args:
        indices: (height, width, 1) before the edit.
        palette: its colours, RGB or RGBA.
        edited: (height, width, 3) RGB after the edit.
        limit: entries the file can have (2, 4, 16 or 256).
    """
    changed = (edited != colours_of(indices, palette)).any(axis=2)
    if not changed.any():
        return indices, palette
    palette = np.concatenate([palette, _new_colours(edited[changed], palette, limit - len(palette))])
    rows, columns = (np.flatnonzero(changed.any(axis=axis)) for axis in (1, 0))
    area = (slice(rows[0], rows[-1] + 1), slice(columns[0], columns[-1] + 1))
    result = indices.copy()
    found = dither(edited[area], palette)
    result[area][..., 0] = np.where(changed[area], found, indices[area][..., 0])
    return result, palette


def dither(rgb: NDArray[np.uint8], palette: Colours) -> NDArray[np.uint8]:
    """Indices (height, width) of the opaque colours that show `rgb`, errors diffused (Floyd-Steinberg)."""
    opaque = np.arange(len(palette)) if palette.shape[1] == 3 else np.flatnonzero(palette[:, 3] == 255)
    if not len(opaque):
        opaque = np.arange(len(palette))
    book = Image.new("P", (1, 1))
    book.putpalette(np.ascontiguousarray(palette[opaque, :3]).tobytes())
    picture = Image.fromarray(np.ascontiguousarray(rgb)).quantize(palette=book, dither=Image.Dither.FLOYDSTEINBERG)
    return opaque.astype(np.uint8)[np.minimum(np.asarray(picture), len(opaque) - 1)]


def _new_colours(pixels: NDArray[np.uint8], palette: Colours, free: int) -> Colours:
    """At most `free` opaque colours that show (n, 3) `pixels` best (median cut)."""
    if free <= 0:
        return palette[:0]
    strip = Image.fromarray(np.ascontiguousarray(pixels[None]))
    found = strip.quantize(free, method=Image.Quantize.MEDIANCUT).getpalette("RGB") or []
    colours = np.array(found, np.uint8).reshape(-1, 3)[:free]
    return np.pad(colours, ((0, 0), (0, palette.shape[1] - 3)), constant_values=255)


def quantise(
    rgb: NDArray[np.uint8], kept: NDArray[np.bool_], changed: NDArray[np.bool_], *, limit: int
) -> tuple[NDArray[np.uint8], Colours]:
    """Indices (height, width) and a palette of at most `limit` colours for a picture without one.

    Pixels in `kept` have their exact colours if these are no more than `limit`, and pixels in `changed` share what is
    left of the palette, dithered; otherwise all share the palette. Other pixels have no meaning.
    """
    codes = _packed(rgb)
    exact = np.unique(codes[kept])
    if len(exact) > limit:
        exact, kept, changed = exact[:0], np.zeros_like(kept), kept | changed
    palette = _unpacked(exact)
    indices = np.minimum(np.searchsorted(exact, codes), max(len(exact) - 1, 0)).astype(np.uint8)
    if changed.any():
        palette = np.concatenate([palette, _new_colours(rgb[changed], palette, limit - len(palette))])
        indices = np.where(kept, indices, dither(rgb, palette))
    return indices, palette if len(palette) else np.zeros((1, 3), np.uint8)


def _packed(rgb: NDArray[np.uint8]) -> NDArray[np.uint32]:
    wide = rgb.astype(np.uint32)
    return (wide[..., 0] << 16 | wide[..., 1] << 8 | wide[..., 2]).astype(np.uint32, copy=False)


def _unpacked(codes: NDArray[np.uint32]) -> NDArray[np.uint8]:
    return np.stack([codes >> 16, codes >> 8 & 255, codes & 255], axis=-1).astype(np.uint8)
