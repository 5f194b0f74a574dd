"""Measuring an artefact against its parent, through the same adapter as in a job, on faces that calibrated nothing."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from mien.engine.session import Session
from mien.models.dlib_identity import SAME_PERSON_DISTANCE
from mien.models.families.alignment import cut_faces
from mien.models.families.templates import FFHQ_512
from mien.models.store import Located
from mien.optimize.graph import Inputs
from mien.optimize.material import moved
from mien.optimize.metrics import Metric, compare, flicker, lost_decibels
from mien.optimize.views import see
from mien.quality.fidelity import Answers
from mien.quality.trial import Sample, try_out

SLIDE_STEPS = 5
SLIDE_PIXELS = 0.3
"""A slide of a picture, on which tremor is measured: steps that are no whole pixels of any crop."""
SLIDES = 2
"""Faces that slide."""
_TREMBLING = frozenset({"landmarker", "person_mask", "swapper", "restorer", "upscaler", "occluder"})
"""Roles whose answers are seen from frame to frame; others are asked now and then."""
_SAME_UNDER = {"dlib_identity": SAME_PERSON_DISTANCE}
"""By family: the distance of embeddings under which two show one person."""


class Examiner:
    """Knows the parent's answers on some faces, and compares others with them."""

    def __init__(self, located: Located, session: Session, faces: Sequence[Sample]) -> None:
        """Ask the parent.

        Args:
            located: The parent.
            session: It, in float32.
            faces: To measure with.

        Raises:
            UsageError: networks of its family do not run alone.
            EngineError: the engine failed.
        """
        self._located = located
        self._faces = tuple(faces)
        self._slides = _slides(faces) if located.entry.role in _TREMBLING else []
        self._exact, self.inputs = see(located, session, faces)
        """What the network is given for the faces, item by item."""
        self._exact_slides = [try_out(located.entry, located.path, session, step) for step in self._slides]

    def metrics(self, path: Path, session: Session) -> tuple[Metric, ...]:
        """Of an artefact.

        Args:
            path: Its file.
            session: It, loaded.

        Raises:
            ModelError: its file is not what its family needs.
            EngineError: the engine failed.
        """
        entry = self._located.entry
        answers = try_out(entry, path, session, self._faces)
        found = compare(self._exact, answers, same_under=_SAME_UNDER.get(entry.family))
        if entry.role == "upscaler":
            truth = _truth(self._faces, self._exact)
            found = (lost_decibels(truth, self._exact.values, answers.values), *found)
        if self._slides:
            slid = [try_out(entry, path, session, step) for step in self._slides]
            tremor = flicker(self._exact_slides, slid)
            found = found if tremor is None else (*found, tremor)
        return found


def _slides(faces: Sequence[Sample]) -> list[list[Sample]]:
    """By step, the faces."""
    return [[moved(face, step * SLIDE_PIXELS) for face in faces[:SLIDES]] for step in range(SLIDE_STEPS)]


def _truth(faces: Sequence[Sample], enlarged: Answers) -> NDArray[Any]:
    """What the enlarged crops should be: the same crops, cut as large from the pictures."""
    side = enlarged.values.shape[1]
    crops = [cut_faces(face.picture, [face.points], FFHQ_512, side)[0] for face in faces]
    return np.concatenate(crops).astype(np.float32) / 255


def damage_of(exact: Sequence[Sequence[NDArray[np.float32]]], other: Sequence[Sequence[NDArray[np.float32]]]) -> float:
    """Largest relative error of any output of any item: length of the difference over that of what is exact."""
    worst = 0.0
    for item, changed in zip(exact, other, strict=True):
        for one, two in zip(item, changed, strict=True):
            if not np.isfinite(two).all():
                return float("inf")
            length = float(np.linalg.norm(one))
            worst = max(worst, float(np.linalg.norm(one.astype(np.float64) - two)) / max(length, 1e-12))
    return worst


def outputs_of(session: Session, items: Sequence[Inputs]) -> list[list[NDArray[np.float32]]]:
    """What a network gives for each item."""
    return [list(session.run(item).values()) for item in items]
