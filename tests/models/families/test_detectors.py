from collections.abc import Callable
from pathlib import Path
from typing import NamedTuple

import cv2
import numpy as np
import pytest

from mien.models.families.detection import Detector, Faces, suppress
from mien.models.families.retinaface import RetinaFace, Scrfd
from mien.models.families.yolo_face import YoloFace
from mien.models.families.yunet import YuNet
from support import contract_networks, reference
from support.contract_networks import Planted

POINTS = ((110.0, 120.0), (150.5, 118.0), (131.0, 140.0), (114.0, 160.0), (149.0, 158.5))
NEAR = Planted((91.0, 83.0, 171.0, 195.0), POINTS, 0.55, stride=32)
FAR = Planted((400.5, 50.0, 430.0, 90.0), tuple((x + 290, y - 70) for x, y in POINTS), 0.65, stride=8)
DOUBLE = Planted((93.0, 85.0, 173.0, 197.0), POINTS, 0.45, stride=16)  # overlaps NEAR, is less sure
DIM = Planted((300.0, 300.0, 340.0, 350.0), POINTS, 0.1, stride=16)
FACES = (NEAR, FAR, DOUBLE, DIM)


class Case(NamedTuple):
    """A family, its file and the values of black and white in its input."""

    family: type[Detector]
    write: Callable[..., Path]
    lowest: float
    highest: float

    @property
    def spread(self) -> float:
        return self.highest - self.lowest


CASES = (
    Case(RetinaFace, contract_networks.retinaface, -127.5 / 128, 127.5 / 128),
    Case(Scrfd, contract_networks.retinaface, -127.5 / 128, 127.5 / 128),
    Case(YoloFace, contract_networks.yolo_face, 0, 1),
    Case(YuNet, contract_networks.yunet, 0, 255),
)
FAMILIES = pytest.mark.parametrize("case", CASES, ids=lambda case: case.family.name)


def tinted(width: int, height: int, blue: int) -> np.ndarray:
    """RGB noise whose channels differ."""
    rng = np.random.default_rng(width)
    return np.stack([rng.integers(level, level + 40, (height, width)) for level in (10, 100, blue)], 2).astype(np.uint8)


def values(shown: np.ndarray, case: Case) -> np.ndarray:
    return case.lowest + shown * case.spread / 255


@FAMILIES
def test_planted_faces_are_found_where_they_are(open_adapter, path, case):
    detector, session = open_adapter(case.family, case.write(path, FACES, gain=0.2 / case.spread))
    image = tinted(640, 480, blue=200)
    (found,) = detector.detect([image])
    shown = values(reference.view(image, 640), case)
    np.testing.assert_allclose(session.calls[0]["input"][0], shown.transpose(2, 0, 1), atol=2e-5 * case.highest)
    # The network adds a part of the mean of its first channel: blue.
    blue = shown[:, :, 0].mean() * 0.2 / case.spread
    scores = [face.score * (1 + blue) if case.family is YuNet else face.score + blue for face in (FAR, NEAR)]
    np.testing.assert_allclose(found.scores, scores, atol=1e-4)
    np.testing.assert_allclose(found.boxes, [FAR.box, NEAR.box], atol=1e-3)
    np.testing.assert_allclose(found.points, [FAR.points, NEAR.points], atol=1e-3)


@FAMILIES
@pytest.mark.parametrize(("width", "height"), [(1285, 723), (301, 909)])
def test_larger_pictures_are_shrunk(open_adapter, path, case, width, height):
    detector, session = open_adapter(case.family, case.write(path, FACES, gain=0))
    image = cv2.GaussianBlur(tinted(width, height, blue=200), (0, 0), 3)
    (found,) = detector.detect([image])
    shown = values(reference.view(image, 640), case)
    level = case.spread / 255
    np.testing.assert_allclose(session.calls[0]["input"][0], shown.transpose(2, 0, 1), atol=1.01 * level)
    zoom = 640 / max(width, height)
    ratio = np.array([width / int(width * zoom), height / int(height * zoom)])
    np.testing.assert_allclose(found.points, np.array([FAR.points, NEAR.points]) * ratio, rtol=1e-5)
    np.testing.assert_allclose(found.boxes, np.array([FAR.box, NEAR.box]) * np.tile(ratio, 2), rtol=1e-5)


@FAMILIES
def test_several_pictures_at_once_give_the_same_as_one_by_one(open_adapter, path, case):
    batch = {} if case.family in (RetinaFace, Scrfd) else {"batch": "n"}
    detector, session = open_adapter(case.family, case.write(path, FACES, gain=0.2 / case.spread, **batch))
    images = [tinted(640, 480, 200), tinted(320, 200, 90), tinted(900, 640, 10)]
    together = detector.detect(images)
    assert len(session.calls) == (1 if case.family.batches else 3)
    for image, found in zip(images, together, strict=True):
        (alone,) = detector.detect([image])
        np.testing.assert_array_equal(found.boxes, alone.boxes)
        np.testing.assert_array_equal(found.points, alone.points)
        np.testing.assert_allclose(found.scores, alone.scores, rtol=1e-6)
    assert len({float(found.scores[0]) for found in together}) == 3
    assert detector.detect([]) == []


@FAMILIES
@pytest.mark.parametrize(("threshold", "count"), [(0.05, 3), (0.5, 2), (0.6, 1), (0.7, 0)])
def test_only_scores_from_the_threshold_on_count(open_adapter, path, case, threshold, count):
    detector, _ = open_adapter(case.family, case.write(path, FACES, gain=0))
    (found,) = detector.detect([np.zeros((64, 64, 3), np.uint8)], threshold=threshold)
    assert found.boxes.shape == (count, 4)
    assert found.points.shape == (count, 5, 2)
    assert np.all(np.diff(found.scores) < 0)


@pytest.mark.parametrize("side", [160, 320, 512])
def test_the_view_is_as_large_as_the_file_says(open_adapter, path, side):
    face = Planted((40.0, 40.0, 100.0, 110.0), POINTS, 0.9)
    detector, session = open_adapter(
        RetinaFace, contract_networks.retinaface(path, [face], gain=0, side=side, anchor=0)
    )
    (found,) = detector.detect([np.zeros((side, side, 3), np.uint8)])
    assert session.calls[0]["input"].shape == (1, 3, side, side)
    np.testing.assert_allclose(found.boxes, [face.box], atol=1e-4)


def test_suppression_keeps_the_best_and_what_overlaps_less():
    # The second shares 80 of 120 with the first, the third 50 of 150; the fourth is a double of the third.
    boxes = np.array([[0, 0, 10, 10], [0, 2, 10, 12], [0, 5, 10, 15], [0, 5, 10, 15.5]], np.float32)
    faces = Faces(boxes, np.zeros((4, 5, 2), np.float32), np.array([0.9, 0.8, 0.5, 0.6], np.float32))
    kept = suppress(faces, 0.4)
    np.testing.assert_array_equal(kept.scores, np.float32([0.9, 0.6]))
    np.testing.assert_array_equal(kept.boxes, boxes[[0, 3]])
    assert len(suppress(faces, 0.7).scores) == 3


def test_faces_of_other_shapes_are_refused():
    with pytest.raises(ValueError, match="2 scores, boxes"):
        Faces(np.zeros((1, 4), np.float32), np.zeros((2, 5, 2), np.float32), np.zeros(2, np.float32))
