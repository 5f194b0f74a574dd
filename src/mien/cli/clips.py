"""Videos and animations as one thing: frames that are shown at certain times."""

from __future__ import annotations

from bisect import bisect_right
from collections.abc import Callable, Generator, Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from fractions import Fraction
from itertools import accumulate, islice
from pathlib import Path

from mien.media.animation import AnimationSource
from mien.media.frame import Frame
from mien.media.probe import probe
from mien.media.video import VideoSource
from mien.recipe import Position


@dataclass(frozen=True, slots=True)
class Clip:
    """A clip that is open for reading."""

    width: int
    height: int
    times_s: Sequence[float]
    """When each frame is shown, counted from the first one."""
    duration_s: float
    frame_rate: Fraction
    """Average."""
    has_sound: bool
    keyframes: Sequence[int]
    """Frames at which reading can begin without reading those before."""
    frames_from: Callable[[int], Iterator[Frame]]
    """Frames in order from one on; a damaged frame is left out, so numbers may have gaps."""
    warnings: Callable[[], Sequence[str]]
    """What is odd about the file, as far as it has been read."""

    def rank_at(self, time_s: float) -> int:
        """Number of the frame that is seen at `time_s`."""
        return max(bisect_right(self.times_s, time_s + 1e-6) - 1, 0)

    def frames_at(self, ranks: Sequence[int]) -> Iterator[Frame]:
        """The frames with these numbers (ascending), reading as little as possible."""
        frames: Iterator[Frame] = iter(())
        position = -1
        for rank in ranks:
            at = bisect_right(self.keyframes, rank)
            if position < 0 or (at and self.keyframes[at - 1] > position):
                frames = self.frames_from(rank)
            for frame in frames:
                position = frame.index
                if position >= rank:
                    yield frame
                    break


@contextmanager
def open_clip(path: Path, start: Position | None = None) -> Generator[Clip]:
    """Open a video, from `start` on, or an animation.

    Raises:
        UnreadableError: it is missing or damaged, or neither of the two.
        UsageError: nothing of it is left after `start`.
    """
    if probe(path).kind == "animation":
        with AnimationSource(path) as animation:
            yield _of_animation(animation)
    else:
        with VideoSource(path, start=start) as video:
            yield _of_video(video)


def _of_video(video: VideoSource) -> Clip:
    info = video.info
    times = video.index.times[video.first_rank : video.end_rank]
    return Clip(
        width=info.width,
        height=info.height,
        times_s=[float(time) for time in (times - times[0]) * float(video.time_base)],
        duration_s=info.duration_s,
        frame_rate=info.frame_rate,
        has_sound=any(stream.kind == "audio" for stream in info.streams),
        keyframes=video.keyframes(),
        frames_from=video.frames,
        warnings=lambda: video.warnings,
    )


def _of_animation(animation: AnimationSource) -> Clip:
    info = animation.info
    ends = [float(end) for end in accumulate(info.durations_s)]
    duration = sum(info.durations_s, Fraction(0)) or Fraction(1)
    return Clip(
        width=info.width,
        height=info.height,
        times_s=[0.0, *ends[:-1]],
        duration_s=float(duration),
        frame_rate=(info.frame_count / duration).limit_denominator(1000),
        has_sound=False,
        keyframes=(0,),
        frames_from=lambda first: islice(animation.frames(), first, None),
        warnings=lambda: animation.warnings,
    )
