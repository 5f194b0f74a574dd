"""Faces of the user's pictures and clips, to calibrate and to measure with, and a list of what they are."""

from __future__ import annotations

import hashlib
import json
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import asdict, dataclass, replace
from pathlib import Path

import cv2
import numpy as np
from numpy.typing import NDArray

from mien.errors import MediaError, NoFaceError, UsageError
from mien.faces.analyser import FaceAnalyser
from mien.faces.face import Face
from mien.media.animation import AnimationSource
from mien.media.frame import Frame
from mien.media.pictures import read_picture
from mien.media.probe import probe
from mien.media.video import VideoSource
from mien.models.checksum import checksum_of
from mien.optimize.spread import farthest_points, held_out, traits
from mien.quality.trial import Pixels, Sample

LONGEST_SIDE = 1280
"""Pictures are shrunk to this, pixels: more than any network looks at, and less than a film takes in memory."""
AROUND = 1.0
"""Widths of its box that are kept on every side of a face: all crops of the field lie inside."""
LOOKED_AT = 3
"""Faces that are looked at for one that is taken."""
FRAMES_LOOKED_AT = 400
"""Frames of one clip that are looked at, at most, spread evenly."""
WHOLE_VIEW_ROLES = frozenset({"detector", "person_mask"})
"""Networks that look at whole pictures."""


@dataclass(frozen=True, slots=True)
class Origin:
    """Where a face comes from."""

    file: str
    sha256: str
    frame: int
    """0 of a picture."""
    mirrored: bool
    box: tuple[int, int, int, int]
    """Left, top, right, bottom in pixels of the picture as it was looked at: shrunk, and mirrored if it was."""
    yaw: float
    """Degrees; see `mien.faces.face.Pose`."""
    pitch: float
    brightness: float
    """Mean of the face, 0..255."""
    pixels: str
    """SHA-256 of the face's upright chip (150 pixels) that the identity network sees."""


@dataclass(frozen=True, slots=True)
class Material:
    """Faces, spread over people, poses and light."""

    calibration: tuple[Sample, ...]
    held_out: tuple[Sample, ...]
    """None of them calibrates anything."""
    manifest: Manifest


@dataclass(frozen=True, slots=True)
class Manifest:
    """What was taken, so that it can be told whether two artefacts were calibrated alike."""

    calibration: tuple[Origin, ...]
    held_out: tuple[Origin, ...]
    looked_at: int
    """Faces among which they were chosen."""
    left_out: tuple[str, ...]
    """Files that are neither pictures nor clips."""

    def to_json(self) -> str:
        """Sorted, so that equal manifests are equal text."""
        return json.dumps(asdict(self), indent=2, sort_keys=True, ensure_ascii=False) + "\n"

    @property
    def sha256(self) -> str:
        """Of `to_json`."""
        return hashlib.sha256(self.to_json().encode()).hexdigest()


@dataclass(frozen=True, slots=True)
class _Candidate:
    sample: Sample
    origin: Origin
    traits: NDArray[np.float64]


def gather(places: Sequence[Path], count: int, role: str, analyser: FaceAnalyser | None = None) -> Material:
    """Choose faces of pictures and clips. A still counts twice, as it is and mirrored.

    Args:
        places: Folders, whose files are taken in the order of their names, and files.
        count: How many faces to take, those held out included.
        role: Of the network they are for: detectors see whole pictures, others what is around each face.
        analyser: Networks that are loaded already.

    Raises:
        UsageError: `count` is under two, or a place is missing.
        NoFaceError: there are fewer than two faces in all of it.
        UnreadableError: a file that is named is damaged.
    """
    if count < 2:
        raise UsageError(f"{count} samples are too few: one to calibrate and one to measure, or more")
    files, left_out = _files(places)
    finder = analyser or FaceAnalyser()
    found: list[_Candidate] = []
    share = max(LOOKED_AT * count // max(len(files), 1), 2)
    for file in files:
        found += _candidates(file, finder, share, whole=role in WHOLE_VIEW_ROLES)
    named = ", ".join(map(str, places))
    if len(found) < 2:
        raise NoFaceError(
            f"there are not enough faces in {named}: {len(files)} files were looked at and {len(found)} faces found; "
            "give pictures or clips in which faces are upright and sharp"
        )
    rows = farthest_points(np.stack([one.traits for one in found]), count)
    out = held_out(len(rows))
    chosen = [(found[row], apart) for row, apart in zip(rows, out, strict=True)]
    kept, apart = ([one for one, is_out in chosen if is_out is side] for side in (False, True))
    manifest = Manifest(
        tuple(one.origin for one in kept), tuple(one.origin for one in apart), len(found), tuple(left_out)
    )
    return Material(tuple(one.sample for one in kept), tuple(one.sample for one in apart), manifest)


def _files(places: Iterable[Path]) -> tuple[list[Path], list[str]]:
    """Pictures and clips, and the names of what is neither; a file that is named itself has to be one."""
    files, left_out = list[Path](), list[str]()
    for place in places:
        if not place.exists():
            raise UsageError(f"{place} is missing: give a folder of pictures and clips, or a clip")
        if place.is_file():
            files.append(place)
            continue
        for file in sorted(path for path in place.iterdir() if path.is_file()):
            try:
                probe(file)
                files.append(file)
            except MediaError:
                left_out.append(file.name)
    return files, left_out


def _candidates(file: Path, analyser: FaceAnalyser, most: int, *, whole: bool) -> list[_Candidate]:
    sha256 = checksum_of(file, "sha256")
    found: list[_Candidate] = []
    for frame, picture, mirrored in _views(file, most):
        faces = analyser.find(picture, thorough=False)
        if faces:
            chips, embeddings = analyser.chips(picture, faces), analyser.embed(picture, faces)
            for face, chip, embedding in zip(faces, chips, embeddings, strict=True):
                origin = _origin(file.name, sha256, frame, mirrored, face, chip)
                sample = Sample(picture, face)
                found.append(
                    _Candidate(sample if whole else _around(sample), origin, traits(embedding, face.pose, chip))
                )
        if len(found) >= most:
            break
    return found


def _views(file: Path, most: int) -> Iterator[tuple[int, Pixels, bool]]:
    """Number, picture and whether it is mirrored: a still both ways, frames of a clip spread evenly."""
    kind = probe(file).kind
    if kind == "picture":
        picture = read_picture(file).display(max_side=LONGEST_SIDE)
        yield 0, picture, False
        yield 0, np.ascontiguousarray(picture[:, ::-1]), True
    elif kind == "animation":
        with AnimationSource(file) as animation:
            yield from _spread(animation.frames(), animation.info.frame_count, most)
    else:
        with VideoSource(file) as video:
            yield from _spread(video.frames(), video.end_rank - video.first_rank, most)


def _spread(frames: Iterator[Frame], count: int, most: int) -> Iterator[tuple[int, Pixels, bool]]:
    step = max(count // min(most, FRAMES_LOOKED_AT), 1)
    for frame in frames:
        if frame.index % step == 0:
            yield frame.index, frame.display(max_side=LONGEST_SIDE), False


def _origin(name: str, sha256: str, frame: int, mirrored: bool, face: Face, chip: Pixels) -> Origin:
    left, top, right, bottom = (round(float(side)) for side in face.box)
    return Origin(
        file=name,
        sha256=sha256,
        frame=frame,
        mirrored=mirrored,
        box=(left, top, right, bottom),
        yaw=round(face.pose.yaw, 1),
        pitch=round(face.pose.pitch, 1),
        brightness=round(float(chip.mean()), 1),
        pixels=hashlib.sha256(np.ascontiguousarray(chip).tobytes()).hexdigest(),
    )


def _around(sample: Sample) -> Sample:
    """The face with what is around it; the rest of the picture is let go of."""
    height, width = sample.picture.shape[:2]
    left, top, right, bottom = sample.face.box
    margin = AROUND * max(right - left, bottom - top)
    x, y = max(int(left - margin), 0), max(int(top - margin), 0)
    x_end, y_end = min(int(right + margin) + 1, width), min(int(bottom + margin) + 1, height)
    shift = np.array([x, y, 0], np.float32)
    face = replace(sample.face, box=sample.face.box - shift[[0, 1, 0, 1]], landmarks=sample.face.landmarks - shift)
    return Sample(np.ascontiguousarray(sample.picture[y:y_end, x:x_end]), face)


def moved(sample: Sample, pixels: float) -> Sample:
    """The same place of a picture that has slid to the right by a fraction of a pixel."""
    height, width = sample.picture.shape[:2]
    slide = np.array([[1, 0, pixels], [0, 1, 0]], np.float64)
    picture = cv2.warpAffine(sample.picture, slide, (width, height), borderMode=cv2.BORDER_REPLICATE)
    return Sample(np.asarray(picture, np.uint8), sample.face)
