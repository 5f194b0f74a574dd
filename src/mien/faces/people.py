"""Who is who in a target, and who of them is replaced by whom."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from mien.errors import NoFaceError
from mien.faces import boxes
from mien.faces.align import to_canonical
from mien.faces.analyser import FaceAnalyser
from mien.faces.crop import Pixels
from mien.faces.face import Face
from mien.faces.remember import RememberingAnalyser
from mien.models.dlib_identity import SAME_PERSON_DISTANCE

Floats = NDArray[np.float32]

GOOD_YAW, GOOD_PITCH = 40.0, 30.0
"""Degrees up to which a view shows who someone is; others join a person but make none."""
GOOD_SCORE = 0.9
"""Presence that such a view has."""
GOOD_SIZE = 40.0
"""Pixels of the face that such a view has."""


@dataclass(frozen=True, slots=True)
class Sample:
    """A face found in the survey of a target, with its embedding."""

    frame: int
    face: Face

    @property
    def embedding(self) -> Floats:
        """(128,)

        Raises:
            ValueError: the face was not embedded.
        """
        if self.face.embedding is None:
            raise ValueError("a sample's face has to be embedded")
        return self.face.embedding

    @property
    def is_good(self) -> bool:
        """Whether the view shows who it is."""
        pose = self.face.pose
        frontal = abs(pose.yaw) <= GOOD_YAW and abs(pose.pitch) <= GOOD_PITCH
        return frontal and self.face.score >= GOOD_SCORE and boxes.width(self.face.box) >= GOOD_SIZE


@dataclass(frozen=True, slots=True)
class Person:
    """One of the people in a target."""

    index: int
    """Place in `People`."""
    embedding: Floats
    """(128,) mean identity embedding."""
    neutral: Floats
    """(468, 3) mean face in the canonical mesh's coordinates (cm): what remains when expressions cancel out."""
    size: float
    """Median of the longer side of the face's box, pixels."""
    rank: int
    """Place from left to right, 0 = leftmost (by the median of the box's middle)."""
    seen: int
    """Samples that show the person."""
    first: Sample
    """The first of them."""


@dataclass(frozen=True, slots=True)
class People:
    """The people of a target, most often seen first."""

    persons: tuple[Person, ...] = ()

    def match(self, embedding: Floats) -> int | None:
        """Index of the person nearest to an embedding, or None if none is near enough to be the same."""
        if not self.persons:
            return None
        distances = self.distances(embedding)
        nearest = int(distances.argmin())
        return nearest if distances[nearest] < SAME_PERSON_DISTANCE else None

    def neutral_of(self, person: int) -> Floats:
        """(468, 3) the mean face of the person of that index, cm."""
        return self.persons[person].neutral

    def distances(self, embedding: Floats) -> Floats:
        """(n,) Euclidean distance of each person to an embedding."""
        return np.linalg.norm(np.array([person.embedding for person in self.persons]) - embedding, axis=1)


def tell_apart(samples: Sequence[Sample], bound: float = SAME_PERSON_DISTANCE) -> People:
    """Group the faces of a survey into people.

    Good views are joined first, the nearest pair of groups at a time, until no two groups are nearer than `bound`;
    two faces of one frame are never one person. Poor views then join the nearest person, or make people of their own.
    """
    good = [sample for sample in samples if sample.is_good]
    poor = [sample for sample in samples if not sample.is_good]
    groups = _cluster([[sample] for sample in good], bound)
    strangers: list[Sample] = []
    for sample in poor:
        fitting = [group for group in groups if _gap(group, [sample]) < bound]
        if fitting:
            min(fitting, key=lambda group: _gap(group, [sample])).append(sample)
        else:
            strangers.append(sample)
    groups += _cluster([[sample] for sample in strangers], bound)
    groups.sort(key=lambda group: (-len(group), min(sample.frame for sample in group)))
    places = [float(np.median([boxes.centre(sample.face.box)[0] for sample in group])) for group in groups]
    ranks = np.argsort(np.argsort(places, kind="stable"), kind="stable")
    return People(
        tuple(_person(index, group, int(rank)) for index, (group, rank) in enumerate(zip(groups, ranks, strict=True)))
    )


@dataclass(frozen=True, slots=True)
class Selection:
    """Whose face each person gets."""

    sources: tuple[int | None, ...]
    """For each person of `People`: index of the source, or None = is left alone."""
    unknown: int | None
    """The same for a face that is none of these people."""

    def source_for(self, person: int | None) -> int | None:
        """Index of the source for a person, or for an unknown face."""
        return self.unknown if person is None else self.sources[person]


def select_faces(people: People, faces: str) -> Selection:
    """By the recipe's `faces`: `all`, `largest`, or a number from the left; the source is number 0.

    Raises:
        NoFaceError: there is no person of that number.
    """
    if faces == "all":
        return Selection((0,) * len(people.persons), 0)
    if not people.persons:
        return Selection((), None)
    if faces == "largest":
        chosen = max(people.persons, key=lambda person: person.size).index
        return _only(people, {chosen: 0})
    rank = int(faces)
    if rank >= len(people.persons):
        raise NoFaceError(
            f"there is no face number {rank}: the target has {len(people.persons)}, counted from the left from 0; "
            "`mien faces` lists them"
        )
    return _only(people, {next(person.index for person in people.persons if person.rank == rank): 0})


def select_references(
    people: People, references: Sequence[tuple[str, Floats]], bound: float = SAME_PERSON_DISTANCE
) -> Selection:
    """By reference pictures: source number i for whom reference i shows.

    Args:
        people: Who is in the target.
        references: (name of the picture, embedding (128,)) in the order of the sources.
        bound: Distance under which a person is the reference's. One who is near to several goes to the nearest.

    Raises:
        NoFaceError: a reference shows nobody in the target; the message gives the distances found.
    """
    if not people.persons:
        return Selection((), None)
    table = np.array([people.distances(embedding) for _, embedding in references])
    nearest = table.argmin(axis=0)
    chosen = {person: int(reference) for person, reference in enumerate(nearest) if table[reference, person] < bound}
    for reference, (name, _) in enumerate(references):
        if reference not in chosen.values():
            found = ", ".join(f"{distance:.2f}" for distance in table[reference])
            raise NoFaceError(
                f"nobody in the target is the person in {name}: the people there are {found} away from it, and the "
                f"nearest has to be under {bound:.2f}; give a clearer reference or a larger 'reference_distance'"
            )
    return _only(people, chosen)


def reference_embedding(name: str, image: Pixels, analyser: FaceAnalyser | RememberingAnalyser) -> Floats:
    """(128,) identity of the largest face in a reference picture (RGB uint8); `name` is for the message.

    Raises:
        NoFaceError: it shows no face.
    """
    faces = analyser.find(image)
    if not faces:
        raise NoFaceError(f"no face in the reference {name}: give a picture that shows the person's face clearly")
    return analyser.embed(image, faces[:1])[0]


def _only(people: People, chosen: dict[int, int]) -> Selection:
    return Selection(tuple(chosen.get(person.index) for person in people.persons), None)


def _cluster(groups: Sequence[list[Sample]], bound: float) -> list[list[Sample]]:
    """Join the two nearest groups again and again while they are nearer than `bound` and no frame shows both."""
    if not groups:
        return []
    joined = [list(group) for group in groups]
    centres = np.array([_centre(group) for group in groups])
    gaps = np.array([np.linalg.norm(centres - centre, axis=1) for centre in centres])
    frames = [{sample.frame for sample in group} for group in groups]
    # An infinite gap stands for a pair that must not be joined: a group and itself, two of one frame, one that is gone.
    gaps[[[not one.isdisjoint(other) for other in frames] for one in frames]] = np.inf
    gone: set[int] = set()
    while True:
        kept, other = (int(index) for index in np.unravel_index(gaps.argmin(), gaps.shape))
        if gaps[kept, other] >= bound:
            return [group for index, group in enumerate(joined) if index not in gone]
        barred = np.isinf(gaps[kept]) | np.isinf(gaps[other])
        barred[other] = True
        joined[kept] += joined[other]
        gone.add(other)
        centres[kept] = _centre(joined[kept])
        gaps[other, :] = gaps[:, other] = np.inf
        gaps[kept, :] = gaps[:, kept] = np.where(barred, np.inf, np.linalg.norm(centres - centres[kept], axis=1))


def _gap(first: Sequence[Sample], second: Sequence[Sample]) -> float:
    """Distance of two groups' centres; infinite if one frame shows both."""
    if {sample.frame for sample in first} & {sample.frame for sample in second}:
        return float("inf")
    return float(np.linalg.norm(_centre(first) - _centre(second)))


def _centre(group: Sequence[Sample]) -> Floats:
    return np.mean([sample.embedding for sample in group], axis=0)


def _person(index: int, group: Sequence[Sample], rank: int) -> Person:
    telling = [sample for sample in group if sample.is_good] or group
    shapes = [to_canonical(sample.face.landmarks) for sample in telling]
    return Person(
        index=index,
        embedding=_centre(telling).astype(np.float32),
        neutral=np.median(shapes, axis=0).astype(np.float32),
        size=float(np.median([boxes.width(sample.face.box) for sample in group])),
        rank=rank,
        seen=len(group),
        first=min(group, key=lambda sample: sample.frame),
    )
