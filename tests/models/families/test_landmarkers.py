from collections.abc import Callable
from pathlib import Path
from typing import NamedTuple

import cv2
import numpy as np
import pytest

from mien.models.families.face_view import ViewLandmarker, quarter_angle, view_matrix
from mien.models.families.fan import Fan
from mien.models.families.fan_68_5 import Fan68From5
from mien.models.families.peppa_wutz import PeppaWutz
from mien.models.families.templates import FFHQ_512
from support import contract_networks, reference

OFFSETS = np.random.default_rng(0).normal(0, 6, (68, 2))
SURE = np.linspace(0.2, 0.9, 68)
BOX = np.array([150, 100, 210, 190], np.float32)


class Case(NamedTuple):
    """A family, its file and the mean score that counts as 1."""

    family: type[ViewLandmarker]
    write: Callable[..., Path]
    full: float


CASES = (Case(Fan, contract_networks.fan, 0.9), Case(PeppaWutz, contract_networks.peppa_wutz, 0.95))
NETWORKS = pytest.mark.parametrize("case", CASES, ids=lambda case: case.family.name)


def blob(x: float, y: float, red: int = 0, width: int = 400, height: int = 300) -> np.ndarray:
    """A soft blue spot around a point; red may cover the rest."""
    columns, rows = np.arange(width), np.arange(height)[:, None]
    spot = 220 * np.exp(-((columns - x) ** 2 + (rows - y) ** 2) / (2 * 4.0**2))
    return np.stack([np.full_like(spot, red), np.full_like(spot, 90), spot], 2).round().astype(np.uint8)


def shown(image: np.ndarray, box: np.ndarray) -> np.ndarray:
    """The field's view of a face: 195 pixels for the longer side of the box."""
    scale = 195 / (box[3] - box[1])
    middle = np.array([box[0] + box[2], box[1] + box[3]]) / 2
    matrix = np.array([[scale, 0, 128 - scale * middle[0]], [0, scale, 128 - scale * middle[1]]])
    return reference.warp(image, matrix, 256, 256, outside="zero")


@NETWORKS
def test_points_come_back_to_the_picture(open_adapter, path, case):
    landmarker, session = open_adapter(case.family, case.write(path, OFFSETS, SURE))
    image = blob(172.3, 151.8)
    found = landmarker.landmarks(image, [BOX])
    given = session.calls[0]["input"][0].transpose(1, 2, 0)
    np.testing.assert_allclose(given, shown(image, BOX)[:, :, ::-1] / 255, atol=2 / 255)
    # A step on the network's grid is 4 pixels of the view, which shows 90 pixels as 195.
    expected = np.array([172.3, 151.8]) + OFFSETS * 4 * 90 / 195
    np.testing.assert_allclose(found.points[0], expected, atol=0.1)
    np.testing.assert_allclose(found.scores, [SURE.mean() / case.full], rtol=1e-4)


@NETWORKS
@pytest.mark.parametrize("quarters", [0, 1, 2, 3])
def test_turned_faces_are_shown_upright(open_adapter, path, case, quarters):
    landmarker, _ = open_adapter(case.family, case.write(path, OFFSETS, SURE))
    # As np.rot90 turns pictures anticlockwise, the picture turned by -quarters has the face turned clockwise.
    turned = np.rot90(blob(172.3, 151.8), -quarters).copy()
    turn = np.linalg.matrix_power(np.array([[0, -1], [1, 0]]), quarters)
    middle, new_middle = np.array([199.5, 149.5]), (np.array(turned.shape[1::-1]) - 1) / 2
    corners = (np.array([BOX[:2], BOX[2:]]) - middle) @ turn.T + new_middle
    box = np.concatenate([corners.min(0), corners.max(0)])
    found = landmarker.landmarks(turned, [box], [90 * quarters])
    upright = np.array([172.3, 151.8]) + OFFSETS * 4 * 90 / 195
    np.testing.assert_allclose(found.points[0], (upright - middle) @ turn.T + new_middle, atol=0.1)


@NETWORKS
def test_several_faces_are_one_batch(open_adapter, path, case):
    landmarker, session = open_adapter(case.family, case.write(path, OFFSETS, SURE))
    image, boxes = blob(172.3, 151.8), [BOX, BOX + 7, BOX * 1.1]
    together = landmarker.landmarks(image, boxes)
    assert len(session.calls) == 1
    for box, points in zip(boxes, together.points, strict=True):
        np.testing.assert_allclose(points, landmarker.landmarks(image, [box]).points[0], atol=1e-3)
    assert landmarker.landmarks(image, []).points.shape == (0, 68, 2)


@NETWORKS
def test_scores_stay_below_one(open_adapter, path, case):
    landmarker, _ = open_adapter(case.family, case.write(path, OFFSETS, np.full(68, 0.97)))
    assert landmarker.landmarks(blob(172, 151), [BOX]).scores.tolist() == [1]


def test_dark_faces_are_brightened_and_others_left_alone(open_adapter, path):
    landmarker, session = open_adapter(Fan, contract_networks.fan(path, OFFSETS, SURE))
    texture = np.random.default_rng(0).integers(0, 30, (300, 400, 3)).astype(np.uint8)
    dark = cv2.GaussianBlur(texture, (0, 0), 2)
    for image in (dark, dark + np.uint8(60)):
        landmarker.landmarks(image, [BOX])
    given = [call["input"][0].transpose(1, 2, 0) * 255 for call in session.calls]
    plain = [shown(image, BOX)[:, :, ::-1] for image in (dark, dark + np.uint8(60))]
    assert given[0].std() > 1.5 * plain[0].std()
    np.testing.assert_allclose(given[1], plain[1], atol=1.5)


@pytest.mark.parametrize(("degrees", "angle"), [(0, 0), (40, 0), (-40, 0), (50, 90), (90, 90), (180, 180), (-90, 270)])
def test_the_angle_is_that_of_the_line_between_the_ears(degrees: float, angle: int):
    points = np.zeros((68, 2))
    points[16] = np.cos(np.radians(degrees)), np.sin(np.radians(degrees))
    assert quarter_angle(points) == angle


def test_the_longer_side_of_the_box_counts():
    for box in ([0, 0, 100, 50], [0, 0, 50, 100]):
        matrix = view_matrix(np.array(box))
        np.testing.assert_allclose(matrix[:, :2], np.eye(2) * 1.95)
        np.testing.assert_allclose(matrix @ [box[2] / 2, box[3] / 2, 1], [128, 128])


def test_five_points_give_an_estimate_of_68(open_adapter, path):
    rng = np.random.default_rng(3)
    matrix = rng.normal(0, 0.4, (11, 136))
    estimator, session = open_adapter(Fan68From5, contract_networks.fan_68_5(path, matrix))
    faces = rng.normal(0, 3, (3, 5, 2)) + FFHQ_512 * 120 + [300, 40]
    found = estimator.estimate(faces)
    assert len(session.calls) == 1
    for points, estimate in zip(faces, found, strict=True):
        to_square = reference.similarity(points, FFHQ_512)
        flat = reference.move(points, to_square).ravel()
        expected = (np.append(flat, 1) @ matrix).reshape(68, 2)
        np.testing.assert_allclose(estimate, reference.move(expected, reference.inverse(to_square)), atol=2e-3)
    assert estimator.estimate(np.zeros((0, 5, 2))).shape == (0, 68, 2)
