"""Finding faces in one picture: boxes, landmarks, pose, identity and the people's outline."""

from __future__ import annotations

import copy
import threading
from collections.abc import Callable, Iterable, Sequence
from typing import TypeVar

import numpy as np
from numpy.typing import NDArray

from mien.engine.session import Session
from mien.faces import boxes, detect, mesh
from mien.faces.align import head_pose, similarity_2d
from mien.faces.crop import Crop, Picture, Pixels, cut, uncrop
from mien.faces.face import Detection, Face
from mien.faces.flow import View, view_of_crop
from mien.models import blazeface, dlib_identity, face_mesh, selfie
from mien.models.blazeface import BlazeFace, Variant
from mien.models.dlib_identity import DlibIdentity
from mien.models.face_mesh import FaceMesh
from mien.models.selfie import SelfieSegmentation
from mien.models.shelf import ModelShelf

Floats = NDArray[np.float32]
Adapter = TypeVar("Adapter")

MODELS = (blazeface.LAYOUTS["back"].model, blazeface.LAYOUTS["full_range"].model, face_mesh.MODEL, dlib_identity.MODEL)
"""Networks behind every job: they find faces, follow them and tell people apart."""
PRESENT = 0.5
"""Presence under which the landmarker's answer is not a face."""
AGREEMENT = 0.035
"""Face widths by which landmarks may differ on average when a face is looked at again, mirrored and from a slightly
different crop. Measured: faces up to .03 (yaw up to 45 degrees, 22 pixels and more), walls and faces read the wrong way
round from .044 on, though the landmarker is as sure of them."""


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
        self._finder: detect.Finder | None = None

    def with_finder(self, finder: detect.Finder) -> FaceAnalyser:
        """The same networks, but faces are found by another detector."""
        other = copy.copy(self)
        other._finder = finder
        return other

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

    def find(self, picture: Picture, *, thorough: bool = True) -> list[Face]:
        """Every face of a picture, at any in-plane angle, largest first.

        Args:
            picture: RGB uint8 (height, width, 3), or a frame.
            thorough: Look for faces that are far away *and* turned, too, if there are no others; this takes longer
                than all the rest.

        Raises:
            ModelError, EngineError: a network cannot be loaded or run.
        """
        faces = self.find_upright(picture)
        for search in detect.searches(picture, self._detector):
            faces = faces or self.confirm(picture, search())
        if not faces or any(detect.is_small(picture, face.box) for face in faces):
            faces = self._find_far(picture, faces)
        if thorough and not faces:
            faces = self.confirm(picture, detect.detect_in_tiles(picture, self._detector, 1, 2, 3))
        return faces

    def _find_far(self, picture: Picture, faces: list[Face]) -> list[Face]:
        """Those found already, and others as far away: upright, or turned as any of them is."""
        ways, searched = {0}, set[int]()
        while ways := (ways | {round(face.pose.roll / 90) % 4 for face in faces}) - searched:
            far = detect.detect_in_tiles(picture, self._detector, *sorted(ways))
            faces = faces + self.confirm(picture, far, turned=not faces)
            searched |= ways
        return _without_doubles([(0.0, face) for face in faces])

    def find_upright(self, picture: Picture) -> list[Face]:
        """As `find`, cheaply: only faces turned less than about 45 degrees, and none that is tiny."""
        return self.confirm(picture, self.detect(picture))

    def detect(self, picture: Picture) -> list[Detection]:
        """What the detectors take for upright faces, best first, not yet confirmed by the landmarker."""
        if self._finder is not None:
            return detect.detect_whole(picture, self._finder)
        return detect.detect_upright(picture, self._detector)

    def confirm(self, picture: Picture, detections: Sequence[Detection], *, turned: bool = True) -> list[Face]:
        """The detections that the landmarker agrees are faces, without doubles, largest first.

        Args:
            picture: In which they were detected.
            detections: What to look at.
            turned: Try what is no face as it stands in all four ways round, which costs ten times as much.
        """
        fitted = self._settle(picture, [Crop.around_detection(one, face_mesh.MARGIN) for one in detections])
        gaps = self._mirror_gaps(picture, fitted)
        judged = list(zip(gaps, fitted, strict=True))
        if turned:
            # A detector finds faces that stand on their head as well, but then mistakes how they stand.
            doubtful = [face for gap, face in judged if gap >= AGREEMENT]
            crops = [Crop.around_landmarks(face.landmarks, face_mesh.MARGIN) for face in doubtful]
            others = self._settle(picture, [crop.turned(quarters) for crop in crops for quarters in range(4)])
            judged += zip(self._mirror_gaps(picture, others), others, strict=True)
        return _without_doubles([(gap, face) for gap, face in judged if gap < AGREEMENT])

    def landmarks(self, picture: Picture, previous: Sequence[Floats]) -> list[Face]:
        """Faces of a frame, looked for where their landmarks were (or are expected), in one batch.

        Args:
            picture: RGB uint8 or a frame.
            previous: One (478, 3) for each face.

        Returns:
            One face each, in the same order; whether it still is one is for the caller to judge by `score`.
        """
        return [face for face, _ in self.look(picture, previous)]

    def look(self, picture: Picture, previous: Sequence[Floats]) -> list[tuple[Face, View]]:
        """As `landmarks`, with what was looked at, for `flow`."""
        return self._see(picture, [Crop.around_landmarks(points, face_mesh.MARGIN) for points in previous])

    def embed(self, picture: Picture, faces: Sequence[Face]) -> Floats:
        """Identity embeddings (n, 128) of faces of a picture; Euclidean distance under .6 = one person."""
        if not faces:
            return np.empty((0, 128), np.float32)
        return self.embed_chips(self.chips(picture, faces))

    def chips(self, picture: Picture, faces: Sequence[Face]) -> Pixels:
        """What the identity network looks at: RGB uint8 (n, 150, 150, 3) of one face or more."""
        return np.stack([cut(picture, chip_matrix(face.landmarks), dlib_identity.SIDE) for face in faces])

    def embed_chips(self, chips: Pixels) -> Floats:
        """Identity embeddings (n, 128) of `chips`."""
        return self._adapter(dlib_identity.MODEL, DlibIdentity).embed(chips)

    def person_mask(self, image: Pixels) -> Floats:
        """Probability 0..1 (height, width) that a pixel of an RGB uint8 image shows a person."""
        return self._adapter(selfie.MODEL, SelfieSegmentation).person_mask(image)

    def _mirror_gaps(self, picture: Picture, faces: Sequence[Face]) -> list[float]:
        """For each face how far (see `AGREEMENT`) a second look at its mirror picture is from it.

        Infinite where either of the two shows no face.
        """
        if not faces:
            return []
        crops = [Crop.around_landmarks(face.landmarks, face_mesh.MARGIN).jolted() for face in faces]
        matrices = [crop.matrix(face_mesh.SIDE) for crop in crops]
        flipped = np.stack([cut(picture, matrix, face_mesh.SIDE)[:, ::-1] for matrix in matrices])
        landmarks, presence = self._adapter(face_mesh.MODEL, FaceMesh).landmarks(flipped)
        landmarks[:, :, 0] = face_mesh.SIDE - landmarks[:, :, 0]
        gaps: list[float] = []
        for face, points, matrix, score in zip(faces, landmarks, matrices, presence, strict=True):
            off = uncrop(points[mesh.MIRROR], matrix)[:, :2] - face.landmarks[: mesh.VERTICES, :2]
            gap = float(np.linalg.norm(off, axis=1).mean()) / boxes.width(face.box)
            gaps.append(gap if min(face.score, score) >= PRESENT else float("inf"))
        return gaps

    def _settle(self, picture: Picture, crops: Sequence[Crop]) -> list[Face]:
        """Fit, and once more from the landmarks where the first crop lay poorly."""
        faces = self._fit(picture, crops)
        better = [Crop.around_landmarks(face.landmarks, face_mesh.MARGIN) for face in faces]
        poor = [index for index, crop in enumerate(better) if crop.differs(crops[index])]
        for index, face in zip(poor, self._fit(picture, [better[index] for index in poor]), strict=True):
            faces[index] = face
        return faces

    def _fit(self, picture: Picture, crops: Sequence[Crop]) -> list[Face]:
        return [face for face, _ in self._see(picture, crops)]

    def _see(self, picture: Picture, crops: Sequence[Crop]) -> list[tuple[Face, View]]:
        if not crops:
            return []
        matrices = [crop.matrix(face_mesh.SIDE) for crop in crops]
        pixels = np.stack([cut(picture, matrix, face_mesh.SIDE) for matrix in matrices])
        landmarks, presence = self._adapter(face_mesh.MODEL, FaceMesh).landmarks(pixels)
        return [
            (make_face(uncrop(points, matrix).astype(np.float32), float(score)), view_of_crop(crop, matrix))
            for points, matrix, score, crop in zip(landmarks, matrices, presence, pixels, strict=True)
        ]

    def _detector(self, variant: Variant) -> detect.ViewDetector:
        if self._finder is not None:
            return self._finder
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


def _without_doubles(faces: Sequence[tuple[float, Face]], overlap: float = 0.6) -> list[Face]:
    """Of (doubt, face): the least doubtful of faces that cover more than `overlap` of the smaller one's box."""
    kept: list[Face] = []
    for _, face in sorted(faces, key=lambda pair: pair[0]):
        if all(boxes.covered(face.box, other.box) <= overlap for other in kept):
            kept.append(face)
    return sorted(kept, key=lambda face: -boxes.area(face.box))
