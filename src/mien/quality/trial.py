"""Trying a network out on real faces, through the same adapter as in a job."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any, cast

import cv2
import numpy as np
from numpy.typing import NDArray

from mien.engine.session import Session
from mien.errors import UsageError
from mien.faces.analyser import FaceAnalyser, chip_matrix
from mien.faces.face import Face
from mien.media.pictures import read_rgb
from mien.models import blazeface, dlib_identity, face_mesh, selfie
from mien.models.catalogue import CatalogueEntry
from mien.models.families.alignment import cut, cut_faces, move
from mien.models.families.arcface import ArcFace
from mien.models.families.bisenet import BiSeNet
from mien.models.families.crossface import CrossFace
from mien.models.families.deep_swapper import DeepSwapper
from mien.models.families.detection import Detector
from mien.models.families.face_view import SIDE as VIEW_SIDE
from mien.models.families.face_view import ViewLandmarker, view_matrix
from mien.models.families.fairface import AGES, GENDERS, RACES, FairFace
from mien.models.families.family import Family
from mien.models.families.fan_68_5 import Fan68From5
from mien.models.families.identity import DIMENSIONS, Identity
from mien.models.families.inspection import inspect
from mien.models.families.landmark_sets import five_of_mesh
from mien.models.families.registry import FAMILIES
from mien.models.families.restoring import Restorer
from mien.models.families.swapping import EmbeddingSwapper, PictureSwapper
from mien.models.families.templates import DFL_WHOLE_FACE, FFHQ_512
from mien.models.families.upscaling import Upscaler
from mien.models.families.xseg import XSeg
from mien.quality.fidelity import Answers

DETECTOR_SIDE = 640
"""Pictures are shrunk to this, so that a detector's pixels are those of its view."""
MASK_SIDE = 256
UPSCALED_SIDE = 128
"""Sides of crops where a network leaves them open, pixels."""
EMBEDDING_LENGTH = 22.0
"""Usual length of the field's raw embeddings."""

Pixels = NDArray[np.uint8]


@dataclass(frozen=True, slots=True)
class Sample:
    """A face of one picture."""

    picture: Pixels
    """RGB (height, width, 3)."""
    face: Face

    @property
    def points(self) -> NDArray[np.float32]:
        """(5, 2) eyes, nose tip, corners of the mouth."""
        return five_of_mesh(self.face.landmarks)


def samples(paths: Sequence[Path]) -> list[Sample]:
    """Every face of the pictures, each also mirrored.

    Raises:
        UnreadableError: a picture cannot be read.
        UsageError: there is no face in them.
    """
    analyser, found = FaceAnalyser(), list[Sample]()
    for path in paths:
        picture = read_rgb(path)
        for view in (picture, np.ascontiguousarray(picture[:, ::-1])):
            found += [Sample(view, face) for face in analyser.find(view)]
    if not found:
        raise UsageError(f"there is no face in {', '.join(map(str, paths))}: a check needs pictures with faces")
    return found


def try_out(entry: CatalogueEntry, path: Path, session: Session, faces: Sequence[Sample]) -> Answers:
    """What the network says about the faces.

    Args:
        entry: The network.
        path: Its file.
        session: The network, loaded.
        faces: From `samples`.

    Raises:
        UsageError: networks of its family cannot be tried out alone.
        EngineError: the engine failed.
    """
    if entry.family in _BUNDLED:
        return _BUNDLED[entry.family](entry, session, faces)
    known = FAMILIES.families.get(entry.family, Family)
    for kind, attempt in _FIELD.items():
        if issubclass(known, kind):
            return attempt(known.open(session, inspect(path)), faces)
    raise UsageError(f"{entry.id} cannot be checked: networks of the family {entry.family} do not run alone")


def _crops(faces: Sequence[Sample], template: NDArray[Any], size: int) -> Pixels:
    return np.concatenate([cut_faces(face.picture, [face.points], template, size)[0] for face in faces])


def _shrunk(faces: Sequence[Sample], side: int) -> list[Pixels]:
    """The pictures, each once, so small that a pixel of the network's view is no more than one of theirs."""
    pictures = {id(face.picture): face.picture for face in faces}.values()
    return [_fitted(picture, side) for picture in pictures]


def _fitted(picture: Pixels, side: int) -> Pixels:
    zoom = side / max(picture.shape[:2])
    if zoom >= 1:
        return picture
    size = round(picture.shape[1] * zoom), round(picture.shape[0] * zoom)
    return np.asarray(cv2.resize(picture, size, interpolation=cv2.INTER_AREA), np.uint8)


def _person() -> Identity:
    """A made-up person: swappers take any direction of an embedding."""
    raw = np.random.default_rng(0).normal(size=(1, DIMENSIONS))
    return Identity.average(raw / np.linalg.norm(raw) * EMBEDDING_LENGTH)


def _detect(family: Detector, faces: Sequence[Sample]) -> Answers:
    found = family.detect(_shrunk(faces, DETECTOR_SIDE))
    return Answers("landmarks", np.concatenate([_in_order(one.points) for one in found]))


def _in_order(points: NDArray[Any]) -> NDArray[Any]:
    """Faces from left to right: scores that change a little must not change the order."""
    return points[np.argsort(points[..., 0].mean(axis=1), kind="stable")]


def _landmarks(family: ViewLandmarker, faces: Sequence[Sample]) -> Answers:
    points: list[NDArray[Any]] = []
    for sample in faces:
        # The face's own view as the picture: its pixels are those of the network.
        matrix = view_matrix(sample.face.box)
        box = move(sample.face.box.reshape(2, 2), matrix).ravel()
        points.append(family.landmarks(cut(sample.picture, matrix, VIEW_SIDE), [box]).points)
    return Answers("landmarks", np.concatenate(points))


def _estimate(family: Fan68From5, faces: Sequence[Sample]) -> Answers:
    return Answers("landmarks", family.estimate(np.stack([face.points for face in faces])))


def _classify(family: FairFace, faces: Sequence[Sample]) -> Answers:
    looks = family.classify(_crops(faces, family.template, family.size))
    numbers = [(RACES.index(one.race), GENDERS.index(one.gender), AGES.index(one.age)) for one in looks]
    return Answers("labels", np.array(numbers))


def _swap(family: EmbeddingSwapper, faces: Sequence[Sample]) -> Answers:
    crops = _crops(faces, family.template, family.side)
    return Answers("picture", family.swap(crops, family.source(_person())))


def _swap_by_picture(family: PictureSwapper, faces: Sequence[Sample]) -> Answers:
    source = _crops(faces[:1], family.picture_template, family.picture_size)[0]
    return Answers("picture", family.swap(_crops(faces, family.template, family.side), source))


def _swap_one_person(family: DeepSwapper, faces: Sequence[Sample]) -> Answers:
    crops = _crops(faces, family.template, family.side)
    return Answers("picture", family.swap(crops, match_colours=False).crops)


def _find_landmarks(_: CatalogueEntry, session: Session, faces: Sequence[Sample]) -> Answers:
    crops: list[NDArray[Any]] = []
    for sample in faces:
        corners = sample.face.box.reshape(2, 2).astype(np.float64)
        zoom = face_mesh.SIDE / (face_mesh.MARGIN * float(np.ptp(corners, axis=0).max()))
        left, top = face_mesh.SIDE / 2 - zoom * corners.mean(axis=0)
        crops.append(cut(sample.picture, np.array([[zoom, 0, left], [0, zoom, top]], np.float64), face_mesh.SIDE))
    landmarks = face_mesh.FaceMesh(session).landmarks(np.stack(crops))[0]
    return Answers("landmarks", landmarks[..., :2])


def _detect_blaze(entry: CatalogueEntry, session: Session, faces: Sequence[Sample]) -> Answers:
    variant = cast(blazeface.Variant, {layout.model: name for name, layout in blazeface.LAYOUTS.items()}[entry.id])
    found = blazeface.BlazeFace(session, variant).detect(_shrunk(faces, blazeface.LAYOUTS[variant].side))
    return Answers("landmarks", np.concatenate([_in_order(one.keypoints) for one in found]))


def _embed_dlib(_: CatalogueEntry, session: Session, faces: Sequence[Sample]) -> Answers:
    chips = [
        cut(sample.picture, chip_matrix(sample.face.landmarks).astype(np.float64), dlib_identity.SIDE)
        for sample in faces
    ]
    return Answers("embedding", dlib_identity.DlibIdentity(session).embed(np.stack(chips)))


def _mask_persons(_: CatalogueEntry, session: Session, faces: Sequence[Sample]) -> Answers:
    family = selfie.SelfieSegmentation(session)
    views = [np.asarray(cv2.resize(sample.picture, (MASK_SIDE, MASK_SIDE)), np.uint8) for sample in faces]
    return Answers("picture", np.stack([family.person_mask(view) for view in views]))


_BUNDLED: Mapping[str, Callable[[CatalogueEntry, Session, Sequence[Sample]], Answers]] = {
    "blazeface": _detect_blaze,
    "face_mesh": _find_landmarks,
    "dlib_identity": _embed_dlib,
    "selfie": _mask_persons,
}
"""Families of bundled networks, whose adapters have no class in common."""

_FIELD: Mapping[type[Family], Callable[[Any, Sequence[Sample]], Answers]] = {
    Detector: _detect,
    ViewLandmarker: _landmarks,
    Fan68From5: _estimate,
    ArcFace: lambda family, faces: Answers("embedding", family.embed(_crops(faces, family.template, family.size))),
    CrossFace: lambda family, _: Answers("embedding", family.convert(_person()).raw[None]),
    FairFace: _classify,
    EmbeddingSwapper: _swap,
    PictureSwapper: _swap_by_picture,
    DeepSwapper: _swap_one_person,
    Restorer: lambda family, faces: Answers("picture", family.restore(_crops(faces, family.template, family.side))),
    Upscaler: lambda family, faces: Answers(
        "picture", np.stack([family.upscale(crop) for crop in _crops(faces, FFHQ_512, UPSCALED_SIDE)])
    ),
    XSeg: lambda family, faces: Answers("picture", family.visible(_crops(faces, DFL_WHOLE_FACE, MASK_SIDE))),
    BiSeNet: lambda family, faces: Answers("labels", family.labels(_crops(faces, FFHQ_512, 512))),
}
"""How a network of each kind is tried out."""
