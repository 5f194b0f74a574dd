"""Finding faces in one picture: boxes, landmarks, pose, identity and the people's outline."""

from __future__ import annotations

import threading
from collections.abc import Callable, Iterable, Sequence
from typing import TypeVar

import numpy as np
from numpy.typing import NDArray

from mien.engine.session import Session
from mien.faces import boxes, detect, mesh
from mien.faces.align import head_pose, oddness, similarity_2d
from mien.faces.crop import Crop, Picture, Pixels, cut, uncrop
from mien.faces.face import Detection, Face
from mien.models import blazeface, dlib_identity, face_mesh, selfie
from mien.models.blazeface import BlazeFace, Variant
from mien.models.dlib_identity import DlibIdentity
from mien.models.face_mesh import FaceMesh
from mien.models.selfie import SelfieSegmentation
from mien.models.shelf import ModelShelf

Floats = NDArray[np.float32]
Adapter = TypeVar("Adapter")

PRESENT = 0.5
"""Presence under which the landmarker's answer is not a face."""
SURE = 0.45
"""Oddness (cm, see `align.oddness`) under which landmarks surely sit; others are compared with turned crops."""
ODD = 0.65
"""Oddness from which on a face may have been read the wrong way round, or be none."""
CERTAIN = 0.9
"""Presence that an odd face needs."""


class FaceAnalyser:
    """The bundled networks for faces. Safe to use from several threads; networks load when first needed."""

    def __init__(self, device: str = "auto", precision: str = "auto", *, shelf: ModelShelf | None = None) -> None:
        """Choose where networks run.

        Args:
            device: `auto`, `cpu`, `gpu`, ...
            precision: `auto`, `fp32` or `bf16`.
            shelf: Networks shared with others, instead of `device` and `precision`.

        Raises:
            EngineError: the device or precision is not there.
        """
        self._shelf = shelf or ModelShelf(device, precision)
        self._adapters: dict[str, object] = {}
        self._lock = threading.Lock()

    @property
    def sessions(self) -> list[Session]:
        """The networks loaded so far."""
        return self._shelf.sessions

    @property
    def warnings(self) -> list[str]:
        """What the user may want to know about the engine."""
        return self._shelf.warnings

    def warm(self, models: Iterable[str] = (blazeface.LAYOUTS["back"].model, face_mesh.MODEL)) -> None:
        """Load networks (catalogue ids) side by side, before they are needed.

        Raises:
            ModelError: one is unknown, missing or damaged.
            EngineError: one cannot be compiled.
        """
        self._shelf.warm(models)

    def find(self, picture: Picture) -> list[Face]:
        """Every face of a picture, at any in-plane angle, largest first.

        Args:
            picture: RGB uint8 (height, width, 3), or a frame.

        Raises:
            ModelError, EngineError: a network cannot be loaded or run.
        """
        faces = self.find_upright(picture)
        if any(_plausible(face) for face in faces):
            return faces
        for search in detect.searches(picture, self._detector):
            if search.costly and faces:
                break
            faces = _without_doubles([*faces, *self.confirm(picture, search.run())])
            if any(_plausible(face) for face in faces):
                break
        return faces

    def find_upright(self, picture: Picture) -> list[Face]:
        """As `find`, cheaply: only faces turned less than about 45 degrees, and none that is tiny."""
        return self.confirm(picture, self.detect(picture))

    def detect(self, picture: Picture) -> list[Detection]:
        """What the detectors take for upright faces, best first, not yet confirmed by the landmarker."""
        return detect.detect_upright(picture, self._detector)

    def confirm(self, picture: Picture, detections: Sequence[Detection]) -> list[Face]:
        """The detections that the landmarker agrees are faces, without doubles, largest first."""
        fitted = self._settle(picture, [Crop.around_detection(one, face_mesh.MARGIN) for one in detections])
        faces = [face for face in fitted if face.score >= PRESENT and oddness(face.landmarks) < SURE]
        # The landmarker also reads faces upside down, with confidence: try what may be one turned. Quarter turns are
        # left out: the detector tells them itself, and a lively upright face can look less odd when read sideways.
        for doubtful in (face for face in fitted if face.score < PRESENT or oddness(face.landmarks) >= SURE):
            crop = Crop.around_landmarks(doubtful.landmarks, face_mesh.MARGIN)
            turned = self._settle(picture, [crop.turned(quarters) for quarters in (0, 2)])
            present = [face for face in turned if face.score >= (PRESENT if _plausible(face) else CERTAIN)]
            faces += sorted(present, key=lambda face: oddness(face.landmarks))[:1]
        return _without_doubles(faces)

    def landmarks(self, picture: Picture, previous: Sequence[Floats]) -> list[Face]:
        """Faces of a frame, looked for where their landmarks were (or are expected), in one batch.

        Args:
            picture: RGB uint8 or a frame.
            previous: One (478, 3) for each face.

        Returns:
            One face each, in the same order; whether it still is one is for the caller to judge by `score`.
        """
        return self._fit(picture, [Crop.around_landmarks(points, face_mesh.MARGIN) for points in previous])

    def embed(self, picture: Picture, faces: Sequence[Face]) -> Floats:
        """Identity embeddings (n, 128) of faces of a picture; Euclidean distance under .6 = one person."""
        if not faces:
            return np.empty((0, 128), np.float32)
        chips = [cut(picture, chip_matrix(face.landmarks), dlib_identity.SIDE) for face in faces]
        return self._adapter(dlib_identity.MODEL, DlibIdentity).embed(np.stack(chips))

    def person_mask(self, image: Pixels) -> Floats:
        """Probability 0..1 (height, width) that a pixel of an RGB uint8 image shows a person."""
        return self._adapter(selfie.MODEL, SelfieSegmentation).person_mask(image)

    def _settle(self, picture: Picture, crops: Sequence[Crop]) -> list[Face]:
        """Fit, and once more from the landmarks where the first crop lay poorly."""
        faces = self._fit(picture, crops)
        better = [Crop.around_landmarks(face.landmarks, face_mesh.MARGIN) for face in faces]
        poor = [index for index, crop in enumerate(better) if crop.differs(crops[index])]
        for index, face in zip(poor, self._fit(picture, [better[index] for index in poor]), strict=True):
            faces[index] = face
        return faces

    def _fit(self, picture: Picture, crops: Sequence[Crop]) -> list[Face]:
        if not crops:
            return []
        matrices = [crop.matrix(face_mesh.SIDE) for crop in crops]
        pixels = np.stack([cut(picture, matrix, face_mesh.SIDE) for matrix in matrices])
        landmarks, presence = self._adapter(face_mesh.MODEL, FaceMesh).landmarks(pixels)
        return [
            make_face(uncrop(points, matrix).astype(np.float32), float(score))
            for points, matrix, score in zip(landmarks, matrices, presence, strict=True)
        ]

    def _detector(self, variant: Variant) -> BlazeFace:
        return self._adapter(blazeface.LAYOUTS[variant].model, lambda session: BlazeFace(session, variant))

    def _adapter(self, model: str, make: Callable[[Session], Adapter]) -> Adapter:
        adapter = self._adapters.get(model)
        if adapter is None:
            made = make(self._shelf.session(model))
            with self._lock:
                adapter = self._adapters.setdefault(model, made)
        return adapter  # type: ignore[return-value]


def make_face(landmarks: Floats, score: float) -> Face:
    """A face from its landmarks (478, 3)."""
    return Face(boxes.of_points(landmarks[: mesh.VERTICES]), score, landmarks, head_pose(landmarks))


def chip_matrix(landmarks: Floats) -> Floats:
    """(2, 3) from picture coordinates to those of the identity network's chip."""
    points = landmarks[list(dlib_identity.MESH_POINTS), :2]
    return similarity_2d(points, dlib_identity.TEMPLATE).matrix


def _plausible(face: Face) -> bool:
    return oddness(face.landmarks) < ODD


def _without_doubles(faces: Sequence[Face], overlap: float = 0.6) -> list[Face]:
    """The least odd of faces that cover more than `overlap` of the smaller one's box, largest first."""
    kept: list[Face] = []
    for face in sorted(faces, key=lambda one: oddness(one.landmarks)):
        if all(boxes.covered(face.box, other.box) <= overlap for other in kept):
            kept.append(face)
    return sorted(kept, key=lambda face: -boxes.area(face.box))
