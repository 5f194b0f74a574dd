"""A decoded still picture with everything its file needs to be written again."""

from __future__ import annotations

import io
import struct
import warnings
from collections.abc import Generator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass, field, replace
from pathlib import Path
from types import MappingProxyType
from typing import Any

import numpy as np
from numpy.typing import NDArray
from PIL import Image

from mien.errors import UnreadableError, UnsupportedMediaError
from mien.media.arrays import Pixels
from mien.media.metadata import Metadata
from mien.media.profiles import ColourModel

CHANNELS: dict[ColourModel, int] = {"grey": 1, "rgb": 3, "cmyk": 4}

VISUALLY_LOSSLESS = 97
"""Quality (0..100) for lossy formats that do not say with what quality a file was made: loss over 45 dB down."""

_DECODER_ERRORS = (OSError, SyntaxError, ValueError, EOFError, RuntimeError, IndexError, struct.error)
"""What Pillow and its plugins raise for files that are damaged in one way or another."""

CREDENTIALS_DROPPED = "the content credentials of the target are left out: they do not hold for an edited picture"


@dataclass(frozen=True, slots=True, kw_only=True)
class Still:
    """One picture as its file stores it."""

    format: str
    """`JPEG`, `PNG`, `WEBP`, `TIFF`, `BMP`, `AVIF` or `HEIC`."""
    pixels: Pixels
    """(height, width, channels) before the orientation is applied; with a palette (height, width, 1) indices."""
    model: ColourModel
    """Colour model of the pixels, or of the palette's colours."""
    maximum: int
    """Largest code value: 255, 1023, 4095 or 65535."""
    palette: NDArray[np.uint8] | None = None
    """(entries, 3 or 4) RGB or RGBA."""
    metadata: Metadata
    options: Mapping[str, Any] = field(default_factory=lambda: MappingProxyType({}))
    """How this format was coded: quality, tables, compression."""
    carried: tuple[Any, ...] = ()
    """Parts of the file that are carried as they are, in the format's own terms."""
    warnings: tuple[str, ...] = ()
    palette_limit: int = 256
    """Entries a palette can have in this file."""

    @property
    def has_alpha(self) -> bool:
        """Whether pixels (or palette colours) have transparency."""
        if self.palette is not None:
            return self.palette.shape[1] == 4
        return self.pixels.shape[2] > CHANNELS[self.model]

    def with_xmp(self, packet: bytes) -> Still:
        """The same with another XMP packet, as far as metadata is not carried in the format's own terms."""
        return replace(self, metadata=replace(self.metadata, xmp=packet))

    @property
    def depth(self) -> int:
        """Bits a channel."""
        return self.maximum.bit_length()


@contextmanager
def reading(path: str | Path) -> Generator[None]:
    """Turn what Pillow raises for a bad file into errors that name it and say what is wrong.

    Raises:
        UnreadableError: not a picture, damaged, cut short, or far larger than any camera's.
    """
    try:
        with warnings.catch_warnings():
            # Up to twice Image.MAX_IMAGE_PIXELS (179 million) is read without a word.
            warnings.simplefilter("ignore", Image.DecompressionBombWarning)
            # Broken metadata is no reason to refuse a picture.
            warnings.simplefilter("ignore", UserWarning)
            yield
    except Image.DecompressionBombError as error:
        raise UnreadableError(f"{path} has far more pixels than any camera's picture: scale it down") from error
    except Image.UnidentifiedImageError as error:
        raise UnreadableError(f"{path} is damaged, or not the picture that its first bytes promise") from error
    except UnsupportedMediaError as error:
        raise UnsupportedMediaError(f"{path} {error}") from error
    except _DECODER_ERRORS as error:
        if "truncated" in str(error) or isinstance(error, EOFError):
            raise UnreadableError(f"{path} is cut short: fetch it again") from error
        raise UnreadableError(f"{path} is damaged ({error}): fetch it again") from error


def open_image(data: bytes, *formats: str) -> Image.Image:
    """Open with Pillow, which is told to accept only `formats` (all if none), and decode the first picture."""
    image = Image.open(io.BytesIO(data), formats=formats or None)
    image.load()
    return image


def pixels_of(image: Image.Image) -> Pixels:
    """A writable (height, width, channels) array of a decoded picture in native byte order."""
    array = np.array(image)
    if array.dtype == np.bool_:
        array = array.astype(np.uint8)
    if array.dtype.kind != "u" or array.dtype.itemsize > 2:
        raise UnsupportedMediaError(f"has {array.dtype} samples (mode {image.mode}): convert it to 8 or 16 bits first")
    return array.astype(array.dtype.newbyteorder("="), copy=False).reshape(image.height, image.width, -1)


def image_of(pixels: Pixels, mode: str) -> Image.Image:
    """A Pillow picture of 8-bit (height, width, channels) pixels."""
    height, width, channels = pixels.shape
    return Image.frombytes(mode, (width, height), np.ascontiguousarray(pixels.reshape(height, width * channels)))


def mode_of(still: Still) -> str:
    """Pillow's name for the still's 8-bit channels."""
    mode = {"grey": "L", "rgb": "RGB", "cmyk": "CMYK"}[still.model]
    if still.palette is not None:
        return "P"
    return mode + "A" if still.has_alpha else mode


def save(image: Image.Image, name: str, options: Mapping[str, Any]) -> bytes:
    """Encode with Pillow."""
    buffer = io.BytesIO()
    image.save(buffer, name, **options)
    return buffer.getvalue()
