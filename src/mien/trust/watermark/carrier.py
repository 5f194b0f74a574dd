"""The pattern that carries the mark: a square of cells, repeated over the frame.

Each cell is lighter or darker by a chip of +1 or -1 that looks random and is the same for every mark. A quarter of the
cells are the *pilot*: they show their chips as they are, and tell that there is a mark and how it lies. Each other cell
belongs to one of the 32 bits and shows its chip, turned round where the bit is 0.

Cells are measured by the frame: its shorter side has `CELLS`. So scaling a frame changes nothing, and what a crop has
left differs by a factor a little under one.
"""

from __future__ import annotations

import hashlib
from collections.abc import Sequence
from functools import cache
from typing import NamedTuple

import cv2
import numpy as np
from numpy.typing import NDArray

from mien.trust.watermark.ids import BITS

Floats = NDArray[np.float32]

CELLS = 144
"""Cells on a frame's shorter side: 2.5 pixels each at 360 lines, 7.5 at 1080. Finer ones do not survive coding at
crf 28 and half the size, coarser ones are fewer and more easily seen."""
TILE = 128
"""Cells on a side of the square."""
PILOT = -1
"""Owner of the pilot's cells."""

_SEED = b"mien mark 1"
_BLOTCHES = 3.0
"""Sigma in cells of what is taken off: patches of several cells would be seen, and tell a reader nothing."""


class Layout(NamedTuple):
    """What each cell of the square is, both (TILE, TILE)."""

    chips: Floats
    """+1 or -1."""
    owners: NDArray[np.int64]
    """Number of a bit, or `PILOT`."""


@cache
def layout() -> Layout:
    """The layout of all marks; it can never change, or marks out there are no longer found."""
    # An extendable hash and no random generator, whose streams may differ between versions of a library. One byte a
    # cell: a bit for the chip; of the 128 values that are left, 32 say pilot and 96 are three for each bit.
    cells = np.frombuffer(hashlib.shake_256(_SEED).digest(TILE * TILE), np.uint8).reshape(TILE, TILE)
    values = (cells & 127).astype(np.int64)
    return Layout(
        chips=np.where(cells >> 7, 1, -1).astype(np.float32),
        owners=np.where(values < BITS, PILOT, (values - BITS) % BITS),
    )


def square(bits: Sequence[bool]) -> Floats:
    """(TILE, TILE) pattern of a mark: mean 0, standard deviation 1, no patches; it can be repeated without a seam."""
    chips, owners = layout()
    signs = np.array([1 if bit else -1 for bit in bits] + [1], np.float32)  # the last one is the pilot's
    shown = chips * signs[owners]
    margin = int(4 * _BLOTCHES)
    around = np.pad(shown, margin, mode="wrap")
    patches = cv2.GaussianBlur(around, (0, 0), _BLOTCHES)[margin:-margin, margin:-margin]
    pattern = shown - patches
    return pattern / pattern.std()


def grid(width: int, height: int) -> tuple[int, int]:
    """Columns and rows of cells over a frame."""
    cells = CELLS / min(width, height)
    return round(width * cells), round(height * cells)


def repeated(pattern: Floats, columns: int, rows: int) -> Floats:
    """(rows, columns): the square, repeated from the upper left corner on."""
    return np.tile(pattern, (-(-rows // TILE), -(-columns // TILE)))[:rows, :columns]


def folded(cells: Floats) -> Floats:
    """(TILE, TILE): the sum of all repeats in cells of any size."""
    result = np.zeros((TILE, TILE), np.float32)
    for top in range(0, cells.shape[0], TILE):
        for left in range(0, cells.shape[1], TILE):
            part = cells[top : top + TILE, left : left + TILE]
            result[: part.shape[0], : part.shape[1]] += part
    return result
