"""Still pictures as frames: read, edited like a frame of a video, and written as they were."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path

import cv2
import numpy as np
from numpy.typing import NDArray

from mien.errors import UnreadableError
from mien.media.animation import AnimationSource
from mien.media.arrays import ArrayFrame, Pixels
from mien.media.files import read_bytes, read_head, write_bytes
from mien.media.inscription import NOTHING, Inscription
from mien.media.palette import colours_of, remap
from mien.media.profiles import space_or_srgb
from mien.media.stills.convert import convert
from mien.media.stills.damage import DAMAGED
from mien.media.stills.formats import FORMATS, HEAD_SIZE, format_of_content, format_of_suffix, is_gif
from mien.media.stills.still import Still, reading
from mien.media.video import VideoSource


class Picture(ArrayFrame):
    """A still picture that can be edited and written back as it was."""

    def __init__(self, still: Still) -> None:
        space, problems = space_or_srgb(still.model, still.maximum, still.metadata.icc)
        if still.palette is None:
            pixels = still.pixels
        else:
            pixels = colours_of(still.pixels.astype(np.uint8, copy=False), still.palette)
        super().__init__(pixels, space, orientation=still.metadata.orientation)
        self._still = still
        self.warnings: tuple[str, ...] = (*still.warnings, *problems)
        """What could not be read or will not be kept."""

    @property
    def subtle(self) -> bool:
        """Whether small changes of colour can be kept: a palette has no room for them."""
        return self._still.palette is None

    def enlarged(self, times: int) -> Picture:
        """The same picture `times` as wide and high, interpolated. One with a palette gets all colours."""
        still = replace(self._still, pixels=_enlarged(self.pixels, times))
        return Picture(still if still.palette is None else replace(still, palette=None, model="rgb", maximum=255))

    @property
    def still(self) -> Still:
        """The picture with all edits so far, as its format stores it."""
        still = self._still
        if still.palette is None:
            return still
        indices = still.pixels.astype(np.uint8, copy=False)
        rgb = self.pixels.astype(np.uint8, copy=False)
        indices, palette = remap(indices, still.palette, rgb, limit=still.palette_limit)
        return replace(still, pixels=indices, palette=palette)


def _enlarged(pixels: Pixels, times: int) -> Pixels:
    height, width, channels = pixels.shape
    size = (width * times, height * times)
    # One by one: OpenCV takes four channels at most.
    planes = [
        cv2.resize(np.ascontiguousarray(pixels[..., channel]), size, interpolation=cv2.INTER_CUBIC)
        for channel in range(channels)
    ]
    return np.stack(planes, axis=2).astype(pixels.dtype, copy=False)


def read_picture(path: str | Path) -> Picture:
    """Read a JPEG, PNG, WebP, TIFF, BMP, AVIF or HEIC picture, told by content and not by name.

    Raises:
        UnreadableError: missing, empty, damaged, cut short or not a picture.
        UnsupportedMediaError: a kind of picture that cannot be edited, or that needs an extra.
    """
    data = read_bytes(path)
    name = format_of_content(data)
    if name is None:
        raise UnreadableError(f"{path} is not a picture that can be edited: give {', '.join(FORMATS)}")
    with reading(path):
        still = FORMATS[name].read(data)
        if FORMATS[name].is_damaged(data):
            still = replace(still, warnings=(DAMAGED, *still.warnings))
        return Picture(still)


def is_damaged(path: str | Path) -> bool:
    """Whether part of a picture that can be read is not what it was, as far as its format tells.

    Raises:
        UnreadableError: the file is missing or empty.
    """
    name = format_of_content(read_head(path, HEAD_SIZE))
    if name is None:  # A video can be large.
        return False
    with reading(path):
        return FORMATS[name].is_damaged(read_bytes(path))


def write_picture(picture: Picture, path: str | Path, inscription: Inscription = NOTHING) -> list[str]:
    """Write `picture` in the format of the name's ending, and return what could not be kept (empty: nothing lost).

    In the format it came in, depth, mode, palette, profile, orientation, density, metadata and compression are the
    original's, and in lossless formats untouched pixels keep their stored values. JPEG is coded again as a whole with
    the original's tables and sampling: outside the edit it differs by the coder's rounding only.
    Palette pictures stay so: edited pixels get free entries of the palette, or its nearest colours.
    In another format, what that format can hold is kept.

    Args:
        picture: What to write.
        path: Its name, whose ending says the format.
        inscription: What it says about itself beyond that. A BMP has no place for it.

    Raises:
        UnsupportedMediaError: no format has this ending, or it cannot hold so much metadata.
        UnwritableError: the directory is missing or read-only, or the disk is full.
    """
    path = Path(path)
    still, notes = picture.still, list[str]()
    name = format_of_suffix(path.suffix)
    if name != still.format:
        still, notes = convert(still, name)
    if inscription.xmp is not None and FORMATS[name].metadata:
        packet = inscription.xmp(still.metadata.xmp)
        with reading(path):  # What a format cannot hold is said of the file.
            still = FORMATS[name].with_xmp(still, packet)
    write_bytes(path, FORMATS[name].write(still), inscription.finish)
    return notes


def read_rgb(path: str | Path) -> NDArray[np.uint8]:
    """Upright sRGB (height, width, 3) of a picture, or of the first frame of an animation or video.

    Raises:
        UnreadableError: missing, empty, damaged, cut short, or neither picture nor video.
        UnsupportedMediaError: a kind that needs an extra.
    """
    head = read_head(path, HEAD_SIZE)
    if format_of_content(head):
        return read_picture(path).display()
    with AnimationSource(path) if is_gif(head) else VideoSource(path) as source:
        for frame in source.frames():
            return frame.display()
    raise UnreadableError(f"{path} has no picture that can be decoded")
