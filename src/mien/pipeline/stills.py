"""The faces of a single picture, as a scene wants them."""

from __future__ import annotations

from collections.abc import Sequence

from mien.faces import fading
from mien.faces.face import TrackedFace
from mien.faces.people import People, Sample
from mien.media.frame import Frame


class StillFollower:
    """Gives the faces that were found in a picture, each a person of its own."""

    def __init__(self, samples: Sequence[Sample], people: People) -> None:
        """Args:
        samples: the picture's faces.
        people: the same, told apart.
        """
        persons = {id(person.first): person.index for person in people.persons}
        self._faces = [_still(number, sample, persons.get(id(sample))) for number, sample in enumerate(samples)]

    def update(self, frame: Frame) -> Sequence[TrackedFace]:
        """The faces, whatever the frame; there is only one."""
        del frame
        return self._faces


def _still(number: int, sample: Sample, person: int | None) -> TrackedFace:
    face = sample.face
    return TrackedFace(
        face=face,
        track=number,
        person=person,
        neutral=None,  # One picture does not tell a person's expression from their features.
        fade=fading.visible_part(face.pose, face.score),
        fresh=True,
        flags=fading.flags(face.pose, face.score, 0, 0.0),
    )
