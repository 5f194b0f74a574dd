"""Animated GIF, PNG and WebP: read as frames, edited like those of a video, and written with their own timing."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from contextlib import ExitStack
from fractions import Fraction
from functools import partial
from pathlib import Path
from types import MappingProxyType, TracebackType
from typing import Any, BinaryIO, NamedTuple, Self

import numpy as np
from numpy.typing import NDArray
from PIL import Image

from mien.errors import UnreadableError, UsageError
from mien.media.animations import apng, gif, webp
from mien.media.animations.encoder import AnimationInfo, Encoder
from mien.media.arrays import ArrayFrame
from mien.media.files import read_bytes, renaming, writing
from mien.media.inscription import NOTHING, Inscription
from mien.media.profiles import space_or_srgb
from mien.media.stills.still import open_image, reading


class _Format(NamedTuple):
    describe: Callable[[bytes, Image.Image], AnimationInfo]
    encoder: Callable[[BinaryIO, AnimationInfo], Encoder]
    suffixes: tuple[str, ...]


_FORMATS = MappingProxyType(
    {
        "GIF": _Format(gif.describe, gif.GifEncoder, (".gif",)),
        "PNG": _Format(apng.describe, apng.ApngEncoder, (".png", ".apng")),
        "WEBP": _Format(webp.describe, webp.WebpEncoder, (".webp",)),
    }
)


class AnimationFrame(ArrayFrame):
    """A whole frame as it is seen: all that was drawn before and still shows, and its own."""

    def __init__(self, rgba: NDArray[np.uint8], *, duration_s: Fraction, **place: Any) -> None:
        """`rgba` (height, width, 4) as stored; `place` as for `ArrayFrame`."""
        super().__init__(rgba, **place)
        self.rgba = rgba
        self.duration_s = duration_s
        self._original = rgba.copy()

    @property
    def edited(self) -> NDArray[np.bool_]:
        """(height, width), as stored: pixels that an edit changed."""
        return (self.rgba != self._original).any(axis=2)


class AnimationSource:
    """An animated picture, read frame by frame.

    Raises:
        UnreadableError: missing, empty, damaged, or no GIF, PNG or WebP.
    """

    def __init__(self, path: str | Path) -> None:
        self.path = Path(path)
        self._data = read_bytes(path)
        with reading(path):
            image = self._image()
            self.info = _FORMATS[image.format or ""].describe(self._data, image)
        self._space, problems = space_or_srgb("rgb", 255, self.info.metadata.icc)
        self.warnings: list[str] = [*self.info.warnings, *problems]
        """What could not be read or will not be kept."""

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *_: object) -> None:
        self._data = b""

    def frames(self) -> Iterator[AnimationFrame]:
        """All frames in order. A file that ends early gives what is there, and a warning."""
        image, time_s = self._image(), Fraction(0)
        for index, duration_s in enumerate(self.info.durations_s):
            try:
                with reading(self.path):
                    image.seek(index)
                    rgba = np.array(image.convert("RGBA"))
            except UnreadableError as error:
                count = self.info.frame_count
                self.warnings.append(f"the target ends early: {index} of {count} frames can be read ({error})")
                return
            yield AnimationFrame(
                rgba,
                duration_s=duration_s,
                space=self._space,
                orientation=self.info.metadata.orientation,
                index=index,
                time_s=float(time_s),
            )
            time_s += duration_s

    def _image(self) -> Image.Image:
        return open_image(self._data, *_FORMATS)


class AnimationWriter:
    """Writes the edited frames of `source`, in the format of the name's ending, with the source's timing and loop.

    The file appears under its name when the context is left without an error, and not at all otherwise.
    GIF: untouched colours stay exact as far as 256 colours a frame allow; edited pixels share the entries that are
    left. PNG and lossless WebP: untouched pixels stay exact.

    Raises:
        UsageError: the ending is none of an animated picture's.
        UnwritableError: the directory is missing or read-only, or the disk is full.
    """

    def __init__(self, path: str | Path, source: AnimationSource, inscription: Inscription = NOTHING) -> None:
        self.path = Path(path)
        self._name = _format_of(self.path)
        self._info = source.info
        self._publish = inscription.finish
        if inscription.xmp is not None:
            self._info = source.info.with_xmp(inscription.xmp(source.info.metadata.xmp))
        self.warnings = _losses(source.info, self._name)
        """What the format cannot hold."""

    def __enter__(self) -> Self:
        with ExitStack() as stack, writing(self.path):
            part = stack.enter_context(renaming(self.path))
            stack.push(partial(self._inscribe, part))
            self._file = stack.enter_context(part.open("w+b"))
            self._encoder = _FORMATS[self._name].encoder(self._file, self._info)
            stack.push(self._finish)
            self._stack = stack.pop_all()
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self._stack.__exit__(kind, error, trace)

    def write(self, frame: AnimationFrame) -> None:
        """Add a frame, edited or not."""
        if frame.index == 0 and self._info.hidden_first and self._name != "PNG":
            return
        rgba, edited = frame.rgba, frame.edited
        if self._name == "GIF":  # which has no orientation
            turn = self._info.metadata.orientation.upright
            rgba, edited = turn(rgba), turn(edited)
        with writing(self.path):
            self._encoder.write(rgba, edited, frame.duration_s)

    def _inscribe(self, part: Path, kind: object, error: BaseException | None, trace: object) -> None:  # noqa: ARG002
        """The last step, when the file is closed."""
        if error is None and self._publish is not None:
            self._publish(part)

    def _finish(self, kind: object, error: BaseException | None, trace: object) -> None:  # noqa: ARG002
        if error is None:
            with writing(self.path):
                self._encoder.finish()
                self._file.flush()


def _format_of(path: Path) -> str:
    for name, entry in _FORMATS.items():
        if path.suffix.lower() in entry.suffixes:
            return name
    raise UsageError(
        f"an animation cannot be written as '{path.name}': end the output's name in .gif, .png, .apng or .webp "
        "(for a video, make one of the animation first)"
    )


def _losses(info: AnimationInfo, name: str) -> list[str]:
    notes: list[str] = []
    if name == "GIF" and info.format != "GIF":
        notes.append("GIF has 256 colours a frame and transparency only on or off")
        if info.metadata.icc or info.metadata.exif:
            notes.append("GIF has no place for profile and EXIF: they are left out")
        if any(duration * 100 % 1 for duration in info.durations_s):
            notes.append("GIF counts time in hundredths of a second: frames were rounded to them")
    if name == "WEBP" and any(duration * 1000 % 1 for duration in info.durations_s):
        notes.append("WebP counts time in thousandths of a second: frames were rounded to them")
    return notes
