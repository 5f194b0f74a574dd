"""The content gate's look at a target video: what the survey sees before any work, then a frame a second meanwhile."""

from __future__ import annotations

import math
import threading
from collections.abc import Generator, Iterator
from concurrent.futures import Future, ThreadPoolExecutor
from contextlib import contextmanager
from dataclasses import dataclass, field

from mien.media.frame import Frame
from mien.media.video import VideoSource
from mien.pipeline.guard import Guard, Look
from mien.pipeline.survey import LOOKS, frames_to_look_at


@dataclass(slots=True)
class Watch:
    """The looks at one target, on a thread of their own."""

    guard: Guard
    source: VideoSource
    pool: ThreadPoolExecutor
    idle: bool
    """Whether nothing is to be looked at."""
    stopped: threading.Event = field(default_factory=threading.Event)
    _seen: list[Future[Look]] = field(default_factory=list[Future[Look]])
    """Of frames that somebody else decoded."""
    _rest: Future[None] | None = None

    def through(self, frames: Iterator[Frame]) -> Iterator[Frame]:
        """The same frames, looked at on the side."""
        for frame in frames:
            if not self.idle:
                self._seen.append(self.pool.submit(self.guard.look, frame.time_s, self.guard.view(frame)))
            yield frame

    def first(self) -> None:
        """Wait for the looks before any work; the others begin.

        Raises:
            ContentRefused: the target is refused, or cannot be looked at.
        """
        if self.idle:
            return
        seconds = math.ceil(self.source.info.duration_s)
        looks = [look.result() for look in self._seen]
        self.guard.target(looks or self._looks(min(max(seconds, 1), LOOKS)))
        if seconds > LOOKS:
            self._rest = self.pool.submit(lambda: self.guard.target(self._looks(seconds)))

    def check(self) -> None:
        """Stop the job if the target has turned out to be one that is refused.

        Raises:
            ContentRefused: it has.
        """
        if self._rest is not None and self._rest.done():
            self._rest.result()

    def finish(self) -> None:
        """Wait for all looks.

        Raises:
            ContentRefused: the target is refused, or cannot be looked at.
        """
        if self._rest is not None:
            self._rest.result()

    def _looks(self, count: int) -> Iterator[Look]:
        """Frames spread over the target, until nobody waits for them any more."""
        for frame in frames_to_look_at(self.source, count):
            if self.stopped.is_set():
                return
            yield self.guard.look(frame.time_s, self.guard.view(frame))


@contextmanager
def watching(guard: Guard, source: VideoSource, watched: bool = True) -> Generator[Watch]:
    """Watch a target; whatever has not been looked at when this is left is given up.

    Args:
        guard: Of the job.
        source: The target.
        watched: Look at it at all, if the gate is on.
    """
    with ThreadPoolExecutor(1, "mien-gate") as pool:
        watch = Watch(guard, source, pool, idle=guard.gate is None or not watched)
        try:
            yield watch
        finally:
            watch.stopped.set()
            pool.shutdown(cancel_futures=True)
