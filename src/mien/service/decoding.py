"""Decoding a stranger's file once in a process with bounds, before the worker's own decoders see it.

A file that takes all memory, never ends or breaks its decoder ends that process and its own job, not the worker and the
jobs beside it. The process is a fork of a small one that has its libraries loaded and nothing else.
"""

from __future__ import annotations

import multiprocessing
import resource
from collections.abc import Iterable
from dataclasses import dataclass
from multiprocessing.connection import Connection
from pathlib import Path

from mien import errors
from mien.errors import MienError, UnreadableError
from mien.recipe import Position

_PRELOADED = [
    "mien.media.animation",
    "mien.media.halving",
    "mien.media.probe",
    "mien.media.video",
    "mien.pipeline.survey",
]
_OPEN_FILES = 256
_LOOKED_AT = 600
"""Frames that a thorough survey decodes, at most, about."""
_HALVED_AT_MOST = 20_000
"""Frames of a video of which a copy is made: of more than some ten minutes nobody makes a preview."""


@dataclass(frozen=True, slots=True)
class Bounds:
    """What decoding may take."""

    memory_bytes: int = 2_000_000_000
    """Private memory beyond that of a process which has decoded nothing."""
    seconds: float = 60.0
    """Of processor time, for a picture or to open a video."""
    frame_seconds: float = 0.5
    """The same for each frame of a video."""
    pixels: int = 100_000_000
    """Of a picture or a frame."""


@dataclass(frozen=True, slots=True)
class Part:
    """What is decoded of a video."""

    start: str | None = None
    """The first moment that the recipe keeps."""
    end: str | None = None
    """The first that it no longer keeps."""
    frames: tuple[int, int] | None = None
    """First frame of that range and index after the last; None = those that a survey may look at."""
    halved: Path | None = None
    """Decode all of it, and write a copy of half the size there."""

    @property
    def count(self) -> int:
        """How many frames these are, at most."""
        if self.halved is not None:
            return _HALVED_AT_MOST
        return self.frames[1] - self.frames[0] if self.frames else _LOOKED_AT


def check(path: Path, bounds: Bounds, part: Part = Part()) -> None:
    """Decode a picture or an animation whole, or a part of a video.

    Raises:
        MienError: what the decoder says is wrong with it, or UnreadableError if it goes beyond the bounds.
    """
    context = multiprocessing.get_context("forkserver")
    context.set_forkserver_preload(_PRELOADED)
    reader, writer = context.Pipe(duplex=False)
    seconds = bounds.seconds + bounds.frame_seconds * part.count
    process = context.Process(target=_run, args=(writer, path, bounds, part, seconds), daemon=True)
    process.start()
    writer.close()
    try:
        # Twice the bound: on a busy machine time goes on while the process waits for its turn.
        answer = reader.recv() if reader.poll(2 * seconds) else None
    except EOFError:
        answer = None
    finally:
        reader.close()
        process.kill()
        process.join()
        process.close()
    if answer is None:
        raise UnreadableError(
            f"decoding {path} took more than {seconds:.0f} s or {bounds.memory_bytes // 1_000_000} MB, "
            "or broke the decoder: re-encode it"
        )
    if answer:
        name, message = answer
        raise getattr(errors, name)(message)


def _run(answer: Connection, path: Path, bounds: Bounds, part: Part, seconds: float) -> None:
    """The process: sends nothing to complain about, or the name of an error and its message."""
    try:
        _limit(bounds, seconds, writes=part.halved is not None)
        _decode(path, bounds, part)
        answer.send(())
    except MienError as error:
        answer.send((type(error).__name__, str(error)))
    except MemoryError:
        text = f"decoding {path} takes more than {bounds.memory_bytes // 1_000_000} MB: make it smaller"
        answer.send((UnreadableError.__name__, text))
    except Exception as error:
        # What a decoder stumbles over in a damaged file is not foreseen by anyone.
        answer.send((UnreadableError.__name__, f"{path} cannot be decoded ({type(error).__name__}: {error})"))


def _limit(bounds: Bounds, seconds: float, *, writes: bool) -> None:
    # Private memory, not address space, of which threads reserve much more than they use.
    held = int(Path("/proc/self/statm").read_text().split()[5]) * resource.getpagesize()
    most = held + bounds.memory_bytes
    resource.setrlimit(resource.RLIMIT_DATA, (most, most))
    resource.setrlimit(resource.RLIMIT_CPU, (int(seconds) + 1, int(seconds) + 1))
    if not writes:
        resource.setrlimit(resource.RLIMIT_FSIZE, (0, 0))
    resource.setrlimit(resource.RLIMIT_CORE, (0, 0))
    resource.setrlimit(resource.RLIMIT_NOFILE, (_OPEN_FILES, _OPEN_FILES))


def _decode(path: Path, bounds: Bounds, part: Part) -> None:
    from mien.media.animation import AnimationSource
    from mien.media.halving import halve_picture, halve_video
    from mien.media.pictures import read_picture
    from mien.media.probe import probe
    from mien.media.video import VideoSource
    from mien.pipeline.survey import THOROUGH_LOOKS, frames_to_look_at

    found = probe(path)
    if found.width * found.height > bounds.pixels:
        raise UnreadableError(
            f"{path} has {found.width}x{found.height} pixels, and at most {bounds.pixels} are taken: make it smaller"
        )
    if part.halved is not None and found.kind != "animation":
        (halve_picture if found.kind == "picture" else halve_video)(path, part.halved)
    elif found.kind == "picture":
        read_picture(path)
    elif found.kind == "animation":
        with AnimationSource(path) as animation:
            _pass(animation.frames())
    else:
        start, end = (Position.parse(text) if text is not None else None for text in (part.start, part.end))
        with VideoSource(path, start=start, end=end) as video:
            _pass(video.frames(*part.frames) if part.frames else frames_to_look_at(video, THOROUGH_LOOKS))


def _pass(frames: Iterable[object]) -> None:
    for _ in frames:
        pass
