import cv2
import numpy as np
import pytest

from mien.faces.analyser import FaceAnalyser
from mien.faces.crop import Crop, cut
from mien.faces.face import Face
from mien.faces.flow import View, carry, view_of_crop
from mien.models.face_mesh import MARGIN, SIDE
from support.animate import Actor, Clip, Motion, Scene, ramp
from support.moving import compose, placed, still
from support.people import still as puppet

SIZE = (640, 360)
STILL = still("grace")


def picture(x: float, y: float, scale: float = 0.5, angle: float = 0.0, seed: int = 0) -> np.ndarray:
    return compose([(STILL, placed(STILL, x, y, scale, angle))], SIZE, noise=1.5, seed=seed)


def view(image: np.ndarray, landmarks: np.ndarray) -> View:
    matrix = Crop.around_landmarks(landmarks, MARGIN).matrix(SIDE)
    return view_of_crop(cut(image, matrix, SIDE), matrix)


def trembling(landmarks: np.ndarray, pixels: float = 1.0) -> np.ndarray:
    noise = np.random.default_rng(7).normal(0, pixels, landmarks.shape)
    return (landmarks + noise).astype(np.float32)


def moved(landmarks: np.ndarray, old: np.ndarray, new: np.ndarray) -> np.ndarray:
    """(478, 2) where the picture that `placed` put with `old` has the points when put with `new`."""
    old, new = (np.vstack([matrix, [0, 0, 1]]) for matrix in (old, new))
    across = new @ np.linalg.inv(old)
    return landmarks[:, :2] @ across[:2, :2].T + across[:2, 2]


@pytest.fixture(scope="module")
def face(analyser: FaceAnalyser) -> Face:
    return analyser.find(picture(300, 190))[0]


@pytest.mark.parametrize(
    ("x", "y", "scale", "angle"),
    [(300, 190, 0.5, 0), (300.4, 189.7, 0.5, 0), (306, 184, 0.51, 2), (292, 195, 0.49, -4), (330, 190, 0.5, 0)],
)
def test_a_face_is_carried_to_a_tenth_of_a_pixel(face: Face, x: float, y: float, scale: float, angle: float):
    truth = moved(face.landmarks, placed(STILL, 300, 190, 0.5), placed(STILL, x, y, scale, angle))
    roughly = trembling(np.column_stack([truth, face.landmarks[:, 2]]))
    new = picture(x, y, scale, angle, seed=1)
    carried = carry(view(picture(300, 190), face.landmarks), view(new, roughly), face.landmarks, roughly)
    assert carried is not None
    off = np.linalg.norm(carried[:, :2] - truth, axis=1)
    assert off.mean() < 0.12
    assert off.max() < 0.5
    # The depth grows with the picture, and is otherwise that of before.
    grown = face.landmarks[:, 2] * scale / 0.5
    assert abs((carried - carried[:468].mean(0) - grown[:, None] + grown[:468].mean())[:, 2]).max() < 2


def test_a_turn_moves_the_depth_as_well():
    scene = Scene(
        width=640, height=360, actors=(Actor(puppet("astronaut"), Motion(yaw=ramp(0, 15, 0, 0.2)), 0.5),), frames=6
    )
    truth, carried, before = [], [], None
    for shown in Clip(scene):
        landmarks = shown.faces[0].landmarks.astype(np.float32)
        now = view(shown.picture, landmarks)
        carried.append(landmarks if before is None else carry(before, now, carried[-1], trembling(landmarks)))
        truth.append(landmarks)
        before = now
    assert carried[-1] is not None
    relative = [points - points[:468].mean(axis=0) for points in (truth[0], truth[-1], carried[-1])]
    turned = abs(relative[1] - relative[0])[:, 2].mean()
    assert turned > 5
    assert abs(relative[2] - relative[1])[:, 2].mean() < 0.25 * turned
    assert np.linalg.norm(carried[-1] - truth[-1], axis=1)[:468].mean() < 0.35 * turned


def test_something_in_front_that_moves_otherwise_does_not_carry_the_face_away(face: Face):
    noise = np.random.default_rng(3).integers(0, 255, (12, 12)).astype(np.uint8)
    noise = cv2.resize(noise, (45, 45), interpolation=cv2.INTER_CUBIC)[..., None]
    x, y = (face.landmarks[1, :2] + np.float32([8, -25])).astype(int)
    old, new = picture(300, 190), picture(302, 190, seed=1)
    old[y : y + 45, x : x + 45] = noise
    new[y - 3 : y + 42, x - 4 : x + 41] = noise
    roughly = trembling(face.landmarks + np.float32([2, 0, 0]))
    carried = carry(view(old, face.landmarks), view(new, roughly), face.landmarks, roughly)
    assert carried is not None
    elsewhere = (face.landmarks[:, 0] < x - 15) | (face.landmarks[:, 1] > y + 60)
    assert elsewhere.sum() > 150
    off = (carried - face.landmarks)[elsewhere, :2] - [2, 0]
    assert np.linalg.norm(off, axis=1).mean() < 0.3


def test_what_cannot_be_followed_is_not(face: Face):
    flat = np.full((360, 640, 3), 120, np.uint8)
    other = np.random.default_rng(0).integers(0, 255, (360, 640, 3)).astype(np.uint8)
    for image in (flat, other):
        assert (
            carry(view(picture(300, 190), face.landmarks), view(image, face.landmarks), *[face.landmarks] * 2) is None
        )


def test_the_same_twice_is_the_same(face: Face):
    views = view(picture(300, 190), face.landmarks), view(picture(301, 190, seed=1), face.landmarks)
    first, second = (carry(*views, face.landmarks, face.landmarks) for _ in range(2))
    np.testing.assert_array_equal(first, second)
