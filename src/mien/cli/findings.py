"""What `mien faces` finds: every face of a picture, or of samples of a video or animation."""

from __future__ import annotations

import math
from collections.abc import Callable, Generator, Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, field, replace
from itertools import groupby
from pathlib import Path
from time import monotonic
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from mien.cli.clips import open_clip
from mien.cli.sheet import CROP, crop_square, fit_square
from mien.errors import Interrupted
from mien.faces.analyser import FaceAnalyser
from mien.faces.face import Face
from mien.faces.people import People, Sample, tell_apart
from mien.media.frame import Frame
from mien.media.pictures import read_picture
from mien.media.probe import Kind, probe
from mien.pipeline.progress import ProgressCallback, ProgressMeter

MAX_SAMPLES = 200
"""Frames of a video that are looked at, at most: under a minute's work, and as much as a person reads."""


@dataclass(frozen=True, slots=True)
class Sighting:
    """A face in one frame."""

    frame: int
    time_s: float
    face: Face
    person: int
    """Index in the people, 0 for the one seen most often."""
    crop: NDArray[np.uint8]
    """RGB (CROP, CROP, 3)."""


@dataclass(frozen=True, slots=True)
class Findings:
    """Everything found in one file."""

    file: str
    kind: Kind
    width: int
    height: int
    frames: int
    """Frames there are; 1 for a picture."""
    sampled: int
    """Frames that were looked at."""
    sightings: tuple[Sighting, ...] = ()
    """By frame, the largest face of a frame first."""
    people: People = field(default_factory=People)
    warnings: tuple[str, ...] = ()


def sample_ranks(times_s: Sequence[float], every_s: float, limit: int = MAX_SAMPLES) -> list[int]:
    """Numbers of frames about `every_s` apart, from the first one on; spread evenly where they would be too many.

    Args:
        times_s: when each frame is shown, ascending from 0.
        every_s: wanted distance, above 0.
        limit: how many at most.
    """
    ranks: list[int] = []
    due_s = -math.inf
    for rank, time_s in enumerate(times_s):
        if time_s >= due_s - 1e-6:
            ranks.append(rank)
            due_s = (math.floor(time_s / every_s + 1e-6) + 1) * every_s
    if len(ranks) > limit:
        ranks = [ranks[number * len(ranks) // limit] for number in range(limit)]
    return ranks


def find_faces(
    path: Path,
    analyser: FaceAnalyser,
    *,
    every_s: float,
    progress: ProgressCallback,
    cancelled: Callable[[], bool],
) -> Findings:
    """Find the faces of a picture, or of a video or animation about every `every_s` seconds.

    Raises:
        MediaError: the file cannot be read.
        EngineError, ModelError: a network cannot be loaded or run.
        Interrupted: `cancelled` said so.
    """
    with _open(path, every_s) as (findings, frames, warnings):
        meter = ProgressMeter("looking for faces", findings.sampled)
        found: list[_Found] = []
        for count, frame in enumerate(frames, start=1):
            found += _look(frame, analyser)
            progress(meter.at(monotonic(), count))
            if cancelled():
                raise Interrupted("stopped while looking for faces")
        findings = replace(findings, warnings=tuple(warnings()))
    people = tell_apart([Sample(one.frame, one.face) for one in found])
    sightings = [
        Sighting(one.frame, one.time_s, one.face, person, one.crop)
        for _, members in groupby(found, key=lambda one: one.frame)
        for one, person in _name(list(members), people)
    ]
    return replace(findings, sightings=tuple(sightings), people=people)


class _Found(NamedTuple):
    frame: int
    time_s: float
    face: Face
    """With its embedding."""
    crop: NDArray[np.uint8]


def _name(found: Sequence[_Found], people: People) -> list[tuple[_Found, int]]:
    """Each face of a frame with its person; two faces of one frame are never one person."""
    distances = np.array([people.distances(Sample(one.frame, one.face).embedding) for one in found])
    named: dict[int, int] = {}
    while len(named) < len(found):
        face, person = np.unravel_index(int(distances.argmin()), distances.shape)
        named[int(face)] = int(person)
        distances[face, :] = distances[:, person] = np.inf
    return [(one, named[number]) for number, one in enumerate(found)]


@contextmanager
def _open(path: Path, every_s: float) -> Generator[tuple[Findings, Iterator[Frame], Callable[[], Sequence[str]]]]:
    """What is known of the file before a face is looked for, the frames to look at, and what is odd about them."""
    kind = probe(path).kind
    if kind == "picture":
        picture = read_picture(path)
        findings = Findings(str(path), kind, picture.width, picture.height, frames=1, sampled=1)
        yield findings, iter([picture]), lambda: picture.warnings
        return
    with open_clip(path) as clip:
        ranks = sample_ranks(clip.times_s, every_s)
        findings = Findings(str(path), kind, clip.width, clip.height, frames=len(clip.times_s), sampled=len(ranks))
        yield findings, clip.frames_at(ranks), clip.warnings


def _look(frame: Frame, analyser: FaceAnalyser) -> list[_Found]:
    faces = analyser.find(frame)
    found: list[_Found] = []
    for face, embedding in zip(faces, analyser.embed(frame, faces), strict=True):
        if rect := crop_square(face.box, frame.width, frame.height):
            crop = fit_square(frame.display(rect, max_side=2 * CROP))
            found.append(_Found(frame.index, frame.time_s, replace(face, embedding=embedding), crop))
    return found
