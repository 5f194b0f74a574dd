"""What is counted while frames pass, kept per segment so that a resumed run reports the whole."""

from __future__ import annotations

import dataclasses
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

from mien.faces.face import TrackedFace
from mien.report import FlaggedFrame, Quality, Report
from mien.trust.gate import Ballot

_SAME_TRACK_OVERLAP = 0.5
"""Intersection over union of two boxes, one frame apart across a seam, that belong to one track."""

Box = tuple[float, float, float, float]
"""Left, top, right, bottom in pixels."""


@dataclass(slots=True)
class Tally:
    """Counts of one segment, or of a whole picture."""

    frames: int = 0
    frames_with_faces: int = 0
    faces: int = 0
    tracks: list[int] = field(default_factory=list[int])
    """Numbers of the edited tracks, in the order of appearance."""
    first: dict[int, Box] = field(default_factory=dict[int, Box])
    """Track and box of each face edited in the first frame."""
    last: dict[int, Box] = field(default_factory=dict[int, Box])
    """The same in the last frame so far."""
    flagged: list[FlaggedFrame] = field(default_factory=list[FlaggedFrame])
    time_s: float = 0.0
    """Of the last frame so far."""
    source_distances: list[float] = field(default_factory=list[float])
    target_distances: list[float] = field(default_factory=list[float])
    jitter_before: float = 0.0
    """Sum of squared second differences of the target's landmarks."""
    jitter_after: float = 0.0
    """The same of the result's."""
    content: Ballot = field(default_factory=Ballot)
    """What the content gate saw of the result."""

    def add(self, index: int, time_s: float, edited: Sequence[TrackedFace]) -> None:
        """Count a frame and the faces edited in it."""
        boxes: dict[int, Box] = {face.track: _box(face) for face in edited}
        if self.frames == 0:
            self.first = boxes
        self.last = boxes
        self.time_s = time_s
        self.frames += 1
        self.frames_with_faces += bool(edited)
        self.faces += len(edited)
        self.tracks += [track for track in boxes if track not in self.tracks]
        self.flagged += [FlaggedFrame(index, time_s, reason, face.track) for face in edited for reason in face.flags]

    def flag(self, index: int, reason: str, track: int) -> None:
        """Have a person look at the frame that was counted last, `index`."""
        self.flagged.append(FlaggedFrame(index, self.time_s, reason, track))

    def to_mapping(self) -> dict[str, Any]:
        """Plain data, ready for JSON."""
        return dataclasses.asdict(self)

    @classmethod
    def from_mapping(cls, fields: Mapping[str, Any]) -> Tally:
        """The inverse of `to_mapping`, also after JSON."""
        plain = dict(fields)
        for name in ("first", "last"):
            plain[name] = {int(track): tuple(box) for track, box in plain[name].items()}
        plain["content"] = Ballot(**plain["content"])
        plain["flagged"] = [FlaggedFrame(**flag) for flag in plain["flagged"]]
        return cls(**plain)


def summarise(tallies: Iterable[Tally], report: Report) -> None:
    """Write the counts of consecutive segments into a report; a track that goes on over a seam is one."""
    offset, previous, renamed = 0, dict[int, Box](), dict[int, int]()
    source, target, before, after = list[float](), list[float](), 0.0, 0.0
    for tally in tallies:
        report.frames += tally.frames
        report.frames_with_faces += tally.frames_with_faces
        report.faces += tally.faces
        renamed = _continue_tracks(tally, previous, offset)
        offset = max([offset, *(number + 1 for number in renamed.values())])
        previous = {renamed[track]: box for track, box in tally.last.items()}
        report.flagged += [
            dataclasses.replace(flag, track=None if flag.track is None else renamed[flag.track])
            for flag in tally.flagged
        ]
        source += tally.source_distances
        target += tally.target_distances
        before, after = before + tally.jitter_before, after + tally.jitter_after
    report.tracks = offset
    report.quality = Quality(_mean(source), _mean(target), (after / before) ** 0.5 if before > 0 else None)


def _continue_tracks(tally: Tally, previous: Mapping[int, Box], free: int) -> dict[int, int]:
    """Job-wide number of each track of a segment: that of the track it continues, or the next free one."""
    renamed: dict[int, int] = {}
    for track in tally.tracks:
        candidates = {number: box for number, box in previous.items() if number not in renamed.values()}
        best = (
            max(candidates, key=lambda number: overlap(candidates[number], tally.first[track]), default=None)
            if (track in tally.first)
            else None
        )
        if best is not None and overlap(candidates[best], tally.first[track]) >= _SAME_TRACK_OVERLAP:
            renamed[track] = best
        else:
            renamed[track], free = free, free + 1
    return renamed


def overlap(one: Box, other: Box) -> float:
    """Intersection over union of two boxes, 0..1."""
    width = min(one[2], other[2]) - max(one[0], other[0])
    height = min(one[3], other[3]) - max(one[1], other[1])
    if width <= 0 or height <= 0:
        return 0.0
    shared = width * height
    return shared / (_area(one) + _area(other) - shared)


def _area(box: Box) -> float:
    return (box[2] - box[0]) * (box[3] - box[1])


def _box(face: TrackedFace) -> Box:
    left, top, right, bottom = (float(value) for value in face.face.box)
    return left, top, right, bottom


def _mean(values: Sequence[float]) -> float | None:
    return sum(values) / len(values) if values else None
