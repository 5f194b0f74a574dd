"""The content gate's look at a target video, on the side: a few frames before any work, the rest meanwhile."""

from __future__ import annotations

import math
import threading
from collections.abc import Generator, Iterator, Sequence
from concurrent.futures import Future, ThreadPoolExecutor
from contextlib import contextmanager
from dataclasses import dataclass

from mien.media.frame import Frame
from mien.media.video import VideoSource
from mien.pipeline.guard import Guard
from mien.pipeline.survey import frames_to_look_at

FIRST_LOOKS = 12
"""Frames, spread over the whole, that are looked at before the first one is edited; of a longer video one a second
follows."""


@dataclass(frozen=True, slots=True)
class Watch:
    """The looks at one target."""

    looks: Sequence[Future[None]]
    """A few over the whole, then all."""

    def first(self) -> None:
        """Wait for the looks before any work.

        Raises:
            ContentRefused: the target is refused, or cannot be looked at.
        """
        for look in self.looks[:1]:
            look.result()

    def check(self) -> None:
        """Stop the job if the target has turned out to be one that is refused.

        Raises:
            ContentRefused: it has.
        """
        for look in self.looks:
            if look.done():
                look.result()

    def finish(self) -> None:
        """Wait for all looks.

        Raises:
            ContentRefused: the target is refused, or cannot be looked at.
        """
        for look in self.looks:
            look.result()


@contextmanager
def watching(guard: Guard, source: VideoSource) -> Generator[Watch]:
    """Begin to look at a target; whatever is not done when this is left is given up."""
    if guard.gate is None:
        yield Watch(())
        return
    seconds = max(math.ceil(source.info.duration_s), 1)
    stopped = threading.Event()

    def look(frames: int) -> None:
        guard.target(_until(stopped, frames_to_look_at(source, frames)))

    with ThreadPoolExecutor(1, "mien-gate") as pool:
        try:
            counts = [min(seconds, FIRST_LOOKS), *([seconds] if seconds > FIRST_LOOKS else [])]
            yield Watch([pool.submit(look, count) for count in counts])
        finally:
            stopped.set()


def _until(stopped: threading.Event, frames: Iterator[Frame]) -> Iterator[Frame]:
    for frame in frames:
        if stopped.is_set():
            return
        yield frame
