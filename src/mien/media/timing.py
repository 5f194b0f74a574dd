"""When each frame of a video is shown, read from its packets without decoding."""

from __future__ import annotations

import math
from bisect import bisect_left
from collections.abc import Sequence
from dataclasses import dataclass
from fractions import Fraction
from typing import Any, cast

import numpy as np
from av.container import InputContainer
from av.error import FFmpegError
from av.packet import Packet
from av.stream import Discard
from av.video.stream import VideoStream
from numpy.typing import NDArray

from mien.recipe import Position

_NO_PRESENTATION_TIMES = {"avi", "h264", "hevc", "m4v", "mpegvideo"}
"""Demuxers whose files hold no presentation times: frames are shown one after the other in decoding times' steps."""


@dataclass(frozen=True, slots=True)
class Keyframe:
    """A packet at which decoding can start."""

    rank: int
    """Number of its frame in order of presentation."""
    pts: int
    dts: int


@dataclass(frozen=True, slots=True)
class PacketIndex:
    """Packets of a video stream, in units of its time base."""

    times: NDArray[np.int64]
    """(n,) presentation times of the frames that are shown, ascending."""
    keyframes: tuple[Keyframe, ...]
    """In order of presentation; only those that can be sought exactly."""
    last_duration: int
    """How long the last frame is shown."""
    presentation: bool
    """True where packets carry presentation times, so that a frame's own time stamp tells which one it is."""
    packets: int
    """Packets read, those that are never shown included."""
    complete: bool
    """False if reading ended with an error."""
    restarts: int
    """How often the stream's clock was set back; time goes on over it."""

    def rank_of(self, pts: int | None, after: int) -> int:
        """Number of the frame with time stamp `pts` that follows frame `after`; at least `after + 1`."""
        if not self.presentation or pts is None:
            return after + 1
        rank = bisect_left(self.times, pts, lo=after + 1)
        return rank if rank < len(self.times) and self.times[rank] == pts else after + 1

    def keyframe_before(self, rank: int) -> Keyframe | None:
        """The last keyframe at or before frame `rank`."""
        at = bisect_left(self.keyframes, rank + 1, key=lambda keyframe: keyframe.rank)
        return self.keyframes[at - 1] if at else None

    def duration(self, rank: int) -> int:
        """How long frame `rank` is shown."""
        if rank + 1 < len(self.times):
            return int(self.times[rank + 1] - self.times[rank])
        return self.last_duration


class Continuity:
    """Lets time go on where a stream's clock is set back, as in recordings that were joined by appending files.

    Feed it every packet of one stream in the order of the file; add what `offset` returns to its time stamps. Only
    decoding times tell: they rise through a stream, while presentation times go forth and back in any with B-frames.
    """

    def __init__(self, time_base: Fraction) -> None:
        self._slack = math.ceil(_SET_BACK_S / time_base)
        self._offset = 0
        self._end: int | None = None
        self.restarts = 0
        """How often the clock was set back."""

    def offset(self, dts: int | None, duration: int) -> int:
        """Ticks to add to a packet with decoding time `dts`; one without goes with those before it."""
        if dts is None:
            return self._offset
        if self._end is not None and dts + self._offset < self._end - self._slack:
            self._offset = self._end - dts
            self.restarts += 1
        end = dts + self._offset + duration
        self._end = end if self._end is None else max(self._end, end)
        return self._offset


_SET_BACK_S = Fraction(1, 4)
"""Less than this is disorder in a damaged file, not a clock that starts again."""


def read_index(container: InputContainer, stream: VideoStream) -> PacketIndex:
    """Read all packets of `stream` (the container is at its end afterwards)."""
    for other in container.streams:
        if other.index != stream.index:
            other.discard = Discard.all
    shown: list[tuple[int, int, bool, int]] = []
    packets, complete, following = 0, True, 0
    continuity = Continuity(cast(Fraction, stream.time_base))
    try:
        for packet in container.demux(stream):
            if packet.size:
                packets += 1
                # A bare stream has no times at all: one frame follows the other.
                time = next((time for time in (packet.pts, packet.dts) if time is not None), following)
                duration = packet.duration or 0
                following = time + duration
                dts = packet.dts if packet.dts is not None else time
                offset = continuity.offset(packet.dts, duration)
                if _is_shown(packet, stream):
                    shown.append((time + offset, dts + offset, packet.is_keyframe, duration))
    except FFmpegError:
        complete = False
    presentation = container.format.name not in _NO_PRESENTATION_TIMES and not continuity.restarts
    if not presentation and shown == sorted(shown):
        # The demuxer has guessed presentation times without knowing the order: only decoding times are real.
        shown = [(dts, dts, key, duration) for _, dts, key, duration in shown]
    shown.sort()
    times = _rising(np.array([time for time, *_ in shown], np.int64))
    keyframes = tuple(
        Keyframe(rank, time, dts) for rank, (time, dts, key, _) in enumerate(shown) if key and presentation
    )
    last = _last_duration(shown, times)
    return PacketIndex(times, keyframes, last, presentation, packets, complete, continuity.restarts)


def _rising(times: NDArray[np.int64]) -> NDArray[np.int64]:
    """Move frames with the same time stamp a tick apart: no container holds two at once."""
    ticks = np.arange(len(times))
    return np.maximum.accumulate(times - ticks) + ticks


def _is_shown(packet: Packet[VideoStream], stream: VideoStream) -> bool:
    if packet.is_discard:  # Outside the edit list.
        return False
    # VP8 keeps its hidden reference frames in packets of their own (RFC 6386, 9.1: bit 4 of the first byte).
    return stream.codec_context.name not in ("vp8", "libvpx") or bool(bytes(packet)[0] >> 4 & 1)


def _last_duration(shown: Sequence[tuple[int, int, bool, int]], times: NDArray[np.int64]) -> int:
    if not shown:
        return 0
    if shown[-1][3] > 0:
        return shown[-1][3]
    return int(np.median(np.diff(times))) if len(times) > 1 else 1


@dataclass(frozen=True, slots=True)
class Segment:
    """Half-open range of frames, counted from the first one that is kept."""

    number: int
    first: int
    end: int


def split(times_s: NDArray[Any], keyframes: Sequence[int], seconds: float) -> list[Segment]:
    """Cut frames shown at `times_s` (ascending) into segments of about `seconds`.

    A cut is at the keyframe nearest to its ideal place if one lies within half a segment of it, else at the first
    frame at or after that place. The last segment is at most one and a half long.
    """
    total = len(times_s)
    cuts = [0]
    while True:
        begin = float(times_s[cuts[-1]]) if total else 0.0
        if not total or float(times_s[-1]) - begin < 1.5 * seconds:
            break
        ideal = begin + seconds
        near = [at for at in keyframes if at > cuts[-1] and abs(float(times_s[at]) - ideal) <= seconds / 2]
        exact = int(np.searchsorted(times_s, ideal))
        cuts.append(min(near, key=lambda at: abs(float(times_s[at]) - ideal)) if near else max(exact, cuts[-1] + 1))
    return [
        Segment(number, first, end) for number, (first, end) in enumerate(zip(cuts, [*cuts[1:], total], strict=True))
    ]


def rank_at(position: Position, times: NDArray[np.int64], origin: Fraction, time_base: Fraction) -> int:
    """First frame at or after `position`; `origin` is the target's start in seconds."""
    if position.frame is not None:
        return min(position.frame, len(times))
    # A microsecond of slack: the frame at 1.001 s written as '1.001' is not to be lost to rounding.
    ticks = (Fraction(position.seconds or 0.0) + origin - Fraction(1, 1_000_000)) / time_base
    return bisect_left(times, math.ceil(ticks))


def decoding_times(pts: NDArray[np.int64]) -> NDArray[np.int64]:
    """Decoding times for packets in decoding order whose presentation times are `pts` (all different).

    They are the presentation times in order, delayed by as many frames as the deepest reordering needs; before the
    first one they go on backwards by the smallest step. So they rise strictly and never pass a packet's own
    presentation time, also where several independently encoded parts follow each other.
    """
    ordered = np.sort(pts)
    delay = int((np.arange(len(pts)) - np.searchsorted(ordered, pts)).max(initial=0))
    step = int(np.diff(ordered).min(initial=np.iinfo(np.int64).max)) if len(pts) > 1 else 1
    early = ordered[0] - step * np.arange(delay, 0, -1) if len(pts) else ordered
    return np.concatenate([early, ordered])[: len(pts)]


def common_time_base(times: Sequence[int] | NDArray[np.int64], time_base: Fraction) -> Fraction:
    """The coarsest time base in which all differences of `times` are whole."""
    steps = np.diff(np.asarray(times, np.int64))
    step = int(np.gcd.reduce(steps)) if len(steps) else 1
    return time_base * max(step, 1)
