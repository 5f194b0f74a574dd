"""Following faces through a video: the detector runs seldom, landmarks are steadied, identities survive crossings."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field, replace
from typing import Protocol

import numpy as np
from numpy.typing import NDArray

from mien.faces import boxes, fading
from mien.faces.analyser import PRESENT, FaceAnalyser, make_face
from mien.faces.crop import Crop
from mien.faces.cuts import CutDetector, Thumbnail, changed_outside, thumbnail
from mien.faces.face import Face, TrackedFace
from mien.faces.flow import View, carry
from mien.faces.steady import Steady, begin, follow
from mien.media.frame import Frame
from mien.models.dlib_identity import SAME_PERSON_DISTANCE
from mien.models.face_mesh import MARGIN

Floats = NDArray[np.float32]

SEARCH_S = 0.2
"""A new face is noticed within this time: the detector runs that often."""
STILL_SEARCH_S = 1.0
"""The same while nothing has changed since but the faces that are followed."""
EAGER_SEARCH_S = 0.1
"""The same while no face is followed, or one is lost."""
FULL_SEARCH_S = 3.0
"""While no face is followed, turned and far faces are looked for that often."""
FORGET_S = 1.5
"""A lost face that comes back within this time goes on with its old track."""
FADING_FRAMES = 3
"""Frames over which a lost face is still shown, ever weaker, where it should be."""
EMBED_S = 1.0
"""A track's identity is averaged over views that far apart."""
RETRY_S = 0.2
"""The same while it is nobody of the survey: the face may have been blurred, or half in the picture."""
EMBED_VIEWS = 5
"""Views that are averaged."""
EMBED_YAW = 35.0
"""Degrees up to which a view is good enough for that."""
HEAD = 0.4
"""A head is larger than its face by this part of it on every side."""
TANGLED = 0.15
"""Two faces whose heads cover each other by more may hide each other and exchange their tracks."""
DOUBLE = 0.55
"""Two tracks whose boxes cover each other by more follow one face."""
_LOOK_AGAIN = 2.5  # how far (see Crop.differs) landmarks may lie from the expected place before a second fit
_FIRST_STEP_S = 1 / 30


class Persons(Protocol):
    """What the survey knows about people."""

    def match(self, embedding: Floats) -> int | None:
        """Index of the person whose embedding this is, or None."""
        ...

    def distances(self, embedding: Floats) -> Floats:
        """(n,) distance of each person to an embedding."""
        ...

    def neutral_of(self, person: int) -> Floats:
        """(468, 3) the person's mean face, cm."""
        ...


@dataclass(slots=True)
class _Track:
    number: int
    steady: Steady
    score: float
    embedding: Floats
    seen_s: float
    embedded_s: float
    views: int = 1
    person: int | None = None
    fade: float = 1.0
    missed: int = 0
    fresh: bool = True
    velocity: float = 0.0
    view: View | None = None
    tangled: set[int] = field(default_factory=set[int])
    doubted: bool = False
    face: Face = field(init=False)

    def __post_init__(self) -> None:
        self.face = make_face(self.steady.landmarks, self.score)

    @property
    def present(self) -> bool:
        return self.missed == 0


class Tracker:
    """Follows the faces of one video, frame after frame. Not for several threads at once.

    All it remembers decays within about ten frames, or hangs on time stamps: started a dozen frames earlier, it
    reaches the same state as one that saw the video from its start (track numbers aside).
    """

    def __init__(self, analyser: FaceAnalyser, persons: Persons | None = None) -> None:
        self._analyser = analyser
        self._persons = persons
        self._next_number = 0
        self.reset()

    def reset(self) -> None:
        """Forget everything but the track numbers given out."""
        self._tracks: list[_Track] = []
        self._cuts = CutDetector()
        self._last_s: float | None = None
        self._looked_at: Thumbnail | None = None

    def update(self, frame: Frame) -> list[TrackedFace]:
        """The faces of the next frame, largest first.

        Raises:
            ModelError, EngineError: a network cannot be loaded or run.
        """
        last_s, self._last_s = self._last_s, frame.time_s
        view = thumbnail(frame)
        opening = self._cuts.update(view) or last_s is None
        if opening:
            self._tracks, self._looked_at = [], None
        step_s = frame.time_s - last_s if last_s is not None and frame.time_s > last_s else _FIRST_STEP_S
        for track in self._tracks:
            track.fresh = False
        self._follow(frame, step_s)
        self._part_doubles(frame)
        if opening or self._search_is_due(frame, view, last_s):
            self._search(frame, last_s, opening)
        self._untangle(frame)
        self._learn_identities(frame)
        self._settle_claims()
        self._forget(frame.time_s)
        shown = [self._show(track) for track in self._tracks if track.missed <= FADING_FRAMES]
        return sorted(shown, key=lambda tracked: -boxes.area(tracked.face.box))

    def _follow(self, frame: Frame, step_s: float) -> None:
        """Fit every face where it should be by now; those not there count as missed."""
        followed = [track for track in self._tracks if track.missed < FADING_FRAMES]
        ahead = [track.steady.expected(step_s * (track.missed + 1)) for track in followed]
        seen = self._analyser.look(frame, ahead)
        again = [
            index
            for index, ((face, _), points) in enumerate(zip(seen, ahead, strict=True))
            if Crop.around_landmarks(face.landmarks, MARGIN).differs(Crop.around_landmarks(points, MARGIN), _LOOK_AGAIN)
        ]
        second = self._analyser.look(frame, [seen[index][0].landmarks for index in again])
        for index, better in zip(again, second, strict=True):
            seen[index] = better
        for track, (face, view), points in zip(followed, seen, ahead, strict=True):
            if face.score >= PRESENT and _reachable(face, points):
                self._take(track, face, frame.time_s, step_s * (track.missed + 1), view)
            else:
                track.missed += 1
                track.score = face.score
        for track in self._tracks:
            if track not in followed:
                track.missed += 1

    def _take(self, track: _Track, face: Face, time_s: float, step_s: float, view: View | None = None) -> None:
        """The track goes on with this face; after a gap its filters start anew."""
        before = track.steady
        if track.missed < FADING_FRAMES:
            carried = None
            if track.present and track.view is not None and view is not None:
                carried = carry(track.view, view, before.landmarks, face.landmarks)
            track.steady = follow(before, face.landmarks, step_s, carried)
        else:
            track.steady, track.fresh = begin(face.landmarks), True
        moved = float(np.linalg.norm(track.steady.place.value - before.place.value))
        track.velocity = 0.0 if track.fresh else moved / track.steady.width
        track.score, track.missed, track.seen_s, track.view = face.score, 0, time_s, view
        track.face = make_face(track.steady.landmarks, face.score)

    def _search_is_due(self, frame: Frame, view: Thumbnail, last_s: float | None) -> bool:
        # Bound to time stamps, so that it does not matter where a run began.
        missing = [track.missed for track in self._tracks if not track.present]
        if any(missed <= FADING_FRAMES for missed in missing):
            return True
        settled = bool(self._tracks) and not missing
        if not passed(SEARCH_S if settled else EAGER_SEARCH_S, last_s, frame.time_s):
            return False
        looked_at, self._looked_at = self._looked_at, view
        if not settled or looked_at is None or passed(STILL_SEARCH_S, last_s, frame.time_s):
            return True
        size = np.array([frame.width, frame.height] * 2, np.float32)
        return changed_outside(looked_at, view, [_body(track.face.box) / size for track in self._tracks])

    def _search(self, frame: Frame, last_s: float | None, opening: bool) -> None:
        """Look for faces that no track follows."""
        present = [track for track in self._tracks if track.present]
        if opening or (not present and passed(FULL_SEARCH_S, last_s, frame.time_s)):
            found = self._analyser.find(frame, thorough=False)
        else:
            detections = self._analyser.detect(frame)
            known = [track.face.box for track in present]
            new = [one for one in detections if all(boxes.covered(one.box, box) < DOUBLE for box in known)]
            found = self._analyser.confirm(frame, new, turned=False)
        found = [face for face in found if all(boxes.covered(face.box, track.face.box) < DOUBLE for track in present)]
        for face, embedding in zip(found, self._analyser.embed(frame, found), strict=True):
            self._adopt(face, embedding, frame.time_s, opening)

    def _adopt(self, face: Face, embedding: Floats, time_s: float, opening: bool) -> None:
        """A face that no track follows: a lost one that is back, or a new one."""
        if returned := self._lost_one(face, embedding):
            self._take(returned, face, time_s, max(time_s - returned.seen_s, _FIRST_STEP_S))
        else:
            self._tracks.append(self._new(face, embedding, time_s, fade=1.0 if opening else 0.0))

    def _lost_one(self, face: Face, embedding: Floats) -> _Track | None:
        lost = [track for track in self._tracks if not track.present]
        nearest = min(lost, key=lambda track: distance(track.embedding, embedding), default=None)
        if nearest is None or distance(nearest.embedding, embedding) < SAME_PERSON_DISTANCE:
            return nearest
        # Half hidden behind the face that hid it, a face is hard to recognise: who else could it be?
        # Once the two are apart, `_untangle` looks again.
        hiding = {track.number for track in self._tracks if track.present and _near(track.face, face) > TANGLED / 3}
        if not nearest.tangled & hiding:
            return None
        nearest.doubted = True
        return nearest

    def _new(self, face: Face, embedding: Floats, time_s: float, fade: float) -> _Track:
        person = self._match(embedding)
        return _Track(
            self._next(), begin(face.landmarks), face.score, embedding, time_s, time_s, person=person, fade=fade
        )

    def _become_new(self, track: _Track, embedding: Floats) -> None:
        """A face taken for a lost one turns out to be somebody else."""
        track.number, track.embedding, track.views = self._next(), embedding, 1
        track.person, track.fresh = self._match(embedding), True

    def _next(self) -> int:
        self._next_number += 1
        return self._next_number - 1

    def _part_doubles(self, frame: Frame) -> None:
        """Two tracks that came to follow one face: it belongs to whose identity is nearer, the other one is lost."""
        for first, second in _pairs(self._tracks):
            if (first.present or second.present) and _near(first.face, second.face) > TANGLED:
                first.tangled.add(second.number)
                second.tangled.add(first.number)
            if first.present and second.present and boxes.covered(first.face.box, second.face.box) > DOUBLE:
                seen = self._analyser.embed(frame, [first.face])[0]
                loser = max(first, second, key=lambda track: distance(track.embedding, seen))
                loser.missed = FADING_FRAMES + 1

    def _untangle(self, frame: Frame) -> None:
        """Two faces that were over each other and are apart again: see who is who."""
        for first, second in _pairs(list(self._tracks)):
            if second.number not in first.tangled or not (first.present and second.present):
                continue
            if _near(first.face, second.face) > TANGLED / 3:
                continue
            first.tangled.discard(second.number)
            second.tangled.discard(first.number)
            seen = self._analyser.embed(frame, [first.face, second.face])
            if exchanged(first.embedding, second.embedding, seen[0], seen[1]):
                _exchange(first, second)
                seen = seen[::-1]
            for track, embedding in zip((first, second), seen, strict=True):
                if track.doubted and distance(track.embedding, embedding) >= SAME_PERSON_DISTANCE:
                    self._become_new(track, embedding)
                track.doubted = False

    def _learn_identities(self, frame: Frame) -> None:
        """Average a track's identity over a few good views."""
        due = [
            track
            for track in self._tracks
            if track.present
            and track.views < EMBED_VIEWS
            and not track.tangled
            and frame.time_s - track.embedded_s >= (RETRY_S if self._is_stranger(track) else EMBED_S)
            and abs(track.face.pose.yaw) < EMBED_YAW
        ]
        for track, seen in zip(due, self._analyser.embed(frame, [track.face for track in due]), strict=True):
            track.embedded_s = frame.time_s
            if self._is_stranger(track) and self._match(seen) is not None:
                # The views so far did not show who it is: they are not worth keeping.
                track.embedding, track.views = seen, 0
            track.embedding = track.embedding + (seen - track.embedding) / (track.views + 1)
            track.views += 1
            if track.person is None:
                track.person = self._match(track.embedding)

    def _settle_claims(self) -> None:
        """Nobody is in a frame twice: of two faces taken for one person, the less alike is a stranger."""
        if self._persons is None:
            return
        for first, second in _pairs([track for track in self._tracks if track.present]):
            person = first.person
            if person is not None and person == second.person:
                likeness = {
                    track.number: float(self._persons.distances(track.embedding)[person]) for track in (first, second)
                }
                max(first, second, key=lambda track: likeness[track.number]).person = None

    def _is_stranger(self, track: _Track) -> bool:
        return self._persons is not None and track.person is None

    def _forget(self, time_s: float) -> None:
        self._tracks = [track for track in self._tracks if time_s - track.seen_s <= FORGET_S]
        numbers = {track.number for track in self._tracks}
        for track in self._tracks:
            track.tangled &= numbers

    def _show(self, track: _Track) -> TrackedFace:
        pose = track.face.pose
        wanted = fading.visible_part(pose, track.score) if track.present else 0.0
        track.fade = fading.approach(track.fade, wanted)
        person = track.person
        return TrackedFace(
            face=replace(track.face, embedding=track.embedding),
            track=track.number,
            person=person,
            neutral=self._persons.neutral_of(person) if self._persons is not None and person is not None else None,
            fade=track.fade,
            fresh=track.fresh,
            velocity=track.velocity,
            flags=fading.flags(pose, track.score, track.missed, track.velocity),
        )

    def _match(self, embedding: Floats) -> int | None:
        return None if self._persons is None else self._persons.match(embedding)


def passed(period_s: float, last_s: float | None, time_s: float) -> bool:
    """Whether a multiple of the period lies between two time stamps (after the first, up to the second)."""
    return last_s is None or int(time_s / period_s + 1e-6) > int(last_s / period_s + 1e-6)


def distance(first: Floats, second: Floats) -> float:
    """Euclidean distance of two identity embeddings."""
    return float(np.linalg.norm(first - second))


def exchanged(first: Floats, second: Floats, seen_first: Floats, seen_second: Floats, margin: float = 0.1) -> bool:
    """Whether two identities, as seen now, fit better the other way round (clearly: by `margin` in sum)."""
    straight = distance(first, seen_first) + distance(second, seen_second)
    crossed = distance(first, seen_second) + distance(second, seen_first)
    return crossed + margin < straight


def _exchange(first: _Track, second: _Track) -> None:
    for name in ("number", "embedding", "views", "embedded_s", "person"):
        ours, theirs = getattr(first, name), getattr(second, name)
        setattr(first, name, theirs)
        setattr(second, name, ours)
    first.fresh = second.fresh = True


def _reachable(face: Face, expected: Floats) -> bool:
    """Whether a face can have come from where it was expected: not far off, nor of another size."""
    box = boxes.of_points(expected)
    off = float(np.linalg.norm(boxes.centre(face.box) - boxes.centre(box)))
    growth = boxes.width(face.box) / max(boxes.width(box), 1e-6)
    return off < 0.7 * boxes.width(box) and 0.6 < growth < 1.6


def _body(box: Floats) -> Floats:
    """About where hat, head, shoulders and body are of an upright person who moves on the spot."""
    left, top, right, bottom = boxes.grown(box, HEAD)
    room = (right - left) / 3
    return np.array([left - room, top - room, right + room, bottom + 10 * (bottom - top)], np.float32)


def _near(first: Face, second: Face) -> float:
    return boxes.covered(boxes.grown(first.box, HEAD), boxes.grown(second.box, HEAD))


def _pairs(tracks: Sequence[_Track]) -> list[tuple[_Track, _Track]]:
    return [(first, second) for index, first in enumerate(tracks) for second in tracks[index + 1 :]]
