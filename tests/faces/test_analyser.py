from collections.abc import Sequence

import cv2
import numpy as np
import pytest

from mien.engine.session import Session
from mien.faces.analyser import FaceAnalyser
from support.moving import ArrayFrame, compose, placed, still

STILLS = ("astronaut", "grace", "luis")
# Pupils of the people on the stills, read off enlargements by eye: right, left (the subject's), pixels.
PUPILS = {
    "astronaut": ((202.7, 100.8), (246.9, 103.5)),
    "grace": ((221.4, 189.0), (304.5, 186.5)),
    "luis": ((70.0, 171.7), (148.6, 158.0)),
}


def distance(first: np.ndarray, second: np.ndarray) -> float:
    return float(np.linalg.norm(first - second))


def embedding_of(analyser: FaceAnalyser, image: np.ndarray) -> np.ndarray:
    return analyser.embed(image, analyser.find(image)[:1])[0]


def turned(image: np.ndarray, angle: float) -> tuple[np.ndarray, np.ndarray]:
    """The image turned clockwise in a frame that holds all of it, and the matrix (pixel coordinates)."""
    side = round(float(np.hypot(*image.shape[:2])))
    matrix = placed(image, side / 2, side / 2, 1.0, angle)
    return compose([(image, matrix)], (side, side)), matrix


def row_of_people(
    analyser: FaceAnalyser,
    middles: Sequence[float],
    heights: Sequence[float],
    size: tuple[int, int],
    angles: Sequence[float] | None = None,
) -> np.ndarray:
    """The people of the stills side by side, in a picture of `size` (width, height).

    Args:
        analyser: finds them in the stills.
        middles: of their faces, pixels from the left.
        heights: of their faces, pixels.
        size: of the picture.
        angles: degrees clockwise by which they are turned, upright if not given.
    """
    layers: list[tuple[np.ndarray, np.ndarray]] = []
    for number, (middle, pixels, angle) in enumerate(zip(middles, heights, angles or [0] * len(middles), strict=True)):
        image = still(STILLS[number % len(STILLS)])
        (whole,) = analyser.find(image)
        scale = pixels / float(whole.box[3] - whole.box[1])
        turn = placed(image, 0, 0, scale, angle)[:, :2]
        off = turn @ ((whole.box[:2] + whole.box[2:]) / 2 - np.array(image.shape[1::-1]) / 2)
        layers.append((image, placed(image, middle - off[0], size[1] / 2 - off[1], scale, angle)))
    return compose(layers, size)


@pytest.mark.parametrize("name", STILLS)
def test_one_face_is_found_and_the_eyes_are_where_they_are(analyser: FaceAnalyser, name: str):
    (face,) = analyser.find(still(name))
    assert face.landmarks.shape == (478, 3)
    assert face.score > 0.95
    right, left = PUPILS[name]
    size = distance(np.array(right), np.array(left))
    assert distance(face.landmarks[468, :2], np.array(right)) < 0.06 * size
    assert distance(face.landmarks[473, :2], np.array(left)) < 0.06 * size
    points = face.landmarks[:468, :2]
    np.testing.assert_allclose(face.box, [*points.min(axis=0), *points.max(axis=0)], atol=1e-3)


def test_poses_of_the_stills(analyser: FaceAnalyser):
    poses = {name: analyser.find(still(name))[0].pose for name in STILLS}
    assert abs(poses["astronaut"].yaw) < 8
    assert abs(poses["grace"].yaw) < 8
    # The three-quarter view: his nose points to the left of the picture.
    assert -40 < poses["luis"].yaw < -15


@pytest.mark.parametrize("name", STILLS)
def test_a_face_is_found_at_any_angle(analyser: FaceAnalyser, name: str):
    image = still(name)
    (upright,) = analyser.find(image)
    for angle in range(0, 360, 15):
        picture, matrix = turned(image, angle)
        (face,) = analyser.find(picture)
        wanted = (upright.landmarks[:, :2] - 0.5) @ matrix[:, :2].T + matrix[:, 2] + 0.5
        width = np.ptp(upright.landmarks[:, 0])
        assert np.linalg.norm(face.landmarks[:, :2] - wanted, axis=1).mean() < 0.05 * width, angle
        assert abs((face.pose.roll - upright.pose.roll - angle + 180) % 360 - 180) < 6, angle


@pytest.mark.parametrize("name", STILLS)
@pytest.mark.parametrize("pixels", [40, 80, 400])
def test_small_and_large_faces_are_found_in_full_hd(analyser: FaceAnalyser, name: str, pixels: int):
    image = still(name)
    (whole,) = analyser.find(image)
    scale = pixels / float(whole.box[3] - whole.box[1])
    off = (whole.box[:2] + whole.box[2:]) / 2 - np.array(image.shape[1::-1]) / 2
    # The middle of the face goes to 1210, 520.
    picture = compose([(image, placed(image, 1210 - off[0] * scale, 520 - off[1] * scale, scale))], (1920, 1080))
    (face,) = analyser.find(picture)
    assert distance((face.box[:2] + face.box[2:]) / 2, np.array([1210, 520])) < 0.1 * pixels
    assert face.box[3] - face.box[1] == pytest.approx(pixels, rel=0.15)


@pytest.mark.parametrize("name", ["grace", "luis"])
def test_a_face_that_fills_the_picture_is_found(analyser: FaceAnalyser, name: str):
    image = still(name)
    (whole,) = analyser.find(image)
    left, top, right, bottom = np.maximum(whole.box, 0).astype(int)
    (face,) = analyser.find(np.ascontiguousarray(image[top:bottom, left:right]))
    off = face.landmarks[:, :2] + [left, top] - whole.landmarks[:, :2]
    assert np.linalg.norm(off, axis=1).mean() < 0.06 * (right - left)


def test_several_faces_are_found_largest_first(analyser: FaceAnalyser):
    layers = [
        (still(name), placed(still(name), x, 300, scale))
        for name, x, scale in (("luis", 1050, 0.9), ("astronaut", 300, 1.0), ("grace", 700, 0.9))
    ]
    faces = analyser.find(compose(layers, (1280, 640)))
    assert len(faces) == 3
    areas = [float(np.prod(face.box[2:] - face.box[:2])) for face in faces]
    assert areas == sorted(areas, reverse=True)
    assert sorted(round(float(face.box[0]) / 400) for face in faces) == [1, 2, 2]


def test_faces_near_and_ever_farther_are_all_found(analyser: FaceAnalyser):
    """In one picture: a face seen at once does not keep others from being looked for that are a fifth of its size."""
    middles = [200 + 390 * number for number in range(5)]
    faces = analyser.find(row_of_people(analyser, middles, (260, 110, 75, 52, 38), (1920, 1080)))
    assert sorted(float(face.box[0] + face.box[2]) / 2 for face in faces) == pytest.approx(middles, abs=20)


@pytest.mark.parametrize("quarters", range(3))
def test_far_faces_are_found_together_however_the_picture_lies(analyser: FaceAnalyser, quarters: int):
    """One that is seen at once, turned or not, does not keep the others from being looked for."""
    middles = [80 + 135 * number for number in range(9)]
    picture = row_of_people(analyser, middles, (40, 26, 28, 30, 26, 34, 28, 26, 30), (1280, 720))
    faces = analyser.find(np.ascontiguousarray(np.rot90(picture, quarters)))
    axis, backwards = quarters % 2, quarters in (1, 2)
    found = [float(face.box[axis] + face.box[axis + 2]) / 2 for face in faces]
    assert sorted(1280 - place if backwards else place for place in found) == pytest.approx(middles, abs=12)


def test_a_far_face_that_lies_on_its_side_keeps_no_upright_ones_from_being_found(analyser: FaceAnalyser):
    middles = [200 + 300 * number for number in range(4)]
    picture = row_of_people(analyser, middles, (70, 26, 28, 30), (1280, 720), angles=(90, 0, 0, 0))
    faces = analyser.find(picture)
    assert sorted(float(face.box[0] + face.box[2]) / 2 for face in faces) == pytest.approx(middles, abs=20)


def test_noise_holds_no_face(analyser: FaceAnalyser):
    generator = np.random.default_rng(0)
    grey = np.repeat(generator.integers(0, 256, (360, 640, 1)), 3, axis=2).astype(np.uint8)
    assert analyser.find(grey) == []


@pytest.mark.parametrize("seed", range(8))
def test_what_a_detector_takes_for_a_face_is_looked_at_again(analyser: FaceAnalyser, seed: int):
    """Blots of colour fool the detectors now and then, and the landmarker with them."""
    generator = np.random.default_rng(seed)
    blots = cv2.resize(generator.integers(0, 256, (9, 16, 3)).astype(np.uint8), (640, 360))
    assert analyser.find_upright(blots) == []


@pytest.mark.parametrize("name", STILLS)
def test_no_face_is_found_beside_the_face(analyser: FaceAnalyser, name: str):
    image = still(name)
    (face,) = analyser.find(image)
    covered = image.copy()
    left, top, right, bottom = np.maximum(face.box, 0).astype(int)
    covered[top - 20 : bottom, max(left - 10, 0) : right + 10] = 128
    assert analyser.find_upright(covered) == []


def test_tiny_and_thin_pictures_hold_no_face(analyser: FaceAnalyser):
    for height, width in ((1, 1), (3, 200), (200, 2)):
        assert analyser.find(np.full((height, width, 3), 90, np.uint8)) == []


def test_a_frame_gives_what_its_pixels_give(analyser: FaceAnalyser):
    image = still("grace")
    (face,), (framed,) = analyser.find(image), analyser.find(ArrayFrame(image))
    np.testing.assert_allclose(face.landmarks, framed.landmarks, atol=1e-3)


def test_landmarks_follow_a_small_motion_in_the_order_asked(analyser: FaceAnalyser):
    images = [still(name) for name in ("grace", "luis")]
    before = compose([(i, placed(i, x, 300, 0.8)) for i, x in zip(images, (250, 700), strict=True)], (960, 600))
    after = compose([(i, placed(i, x + 12, 306, 0.8)) for i, x in zip(images, (250, 700), strict=True)], (960, 600))
    faces = sorted(analyser.find(before), key=lambda face: -face.box[0])
    for face, moved in zip(faces, analyser.landmarks(after, [face.landmarks for face in faces]), strict=True):
        assert moved.score > 0.9
        shift = (moved.landmarks - face.landmarks)[:, :2].mean(axis=0)
        np.testing.assert_allclose(shift, [12, 6], atol=2.0)


def test_where_there_is_no_face_the_score_says_so(analyser: FaceAnalyser):
    image = still("grace")
    (face,) = analyser.find(image)
    wall = np.full_like(image, 120)
    (nothing,) = analyser.landmarks(wall, [face.landmarks])
    assert nothing.score < 0.2


@pytest.mark.parametrize("name", STILLS)
def test_one_picture_saved_anew_shows_the_same_person(analyser: FaceAnalyser, name: str):
    image = still(name)
    ours = embedding_of(analyser, image)
    _, coded = cv2.imencode(".jpg", cv2.cvtColor(image, cv2.COLOR_RGB2BGR), [cv2.IMWRITE_JPEG_QUALITY, 60])
    again = cv2.cvtColor(cv2.imdecode(coded, cv2.IMREAD_COLOR), cv2.COLOR_BGR2RGB)
    assert distance(ours, embedding_of(analyser, again)) < 0.3
    larger = cv2.resize(image, None, fx=2.3, fy=2.3, interpolation=cv2.INTER_CUBIC)
    assert distance(ours, embedding_of(analyser, larger)) < 0.3
    assert distance(ours, embedding_of(analyser, turned(image, 140)[0])) < 0.3


def test_different_people_are_far_apart(analyser: FaceAnalyser):
    ours = [embedding_of(analyser, still(name)) for name in STILLS]
    for first, second in ((0, 1), (0, 2), (1, 2)):
        assert distance(ours[first], ours[second]) > 0.6


def test_nobody_has_no_embedding(analyser: FaceAnalyser):
    assert analyser.embed(still("grace"), []).shape == (0, 128)


@pytest.mark.parametrize("name", STILLS)
def test_the_person_mask_covers_the_face_and_not_all(analyser: FaceAnalyser, name: str):
    image = still(name)
    mask = analyser.person_mask(image)
    assert mask.shape == image.shape[:2]
    assert mask.min() >= 0
    assert mask.max() <= 1
    left, top, right, bottom = analyser.find(image)[0].box.astype(int)
    assert mask[top:bottom, left:right].mean() > 0.9
    assert mask[:20, :20].mean() < 0.3


def test_reports_what_ran():
    own = FaceAnalyser(precision="fp32")
    assert own.sessions == []
    embedding_of(own, still("grace"))
    ran: dict[str, Session] = {session.ran.model: session for session in own.sessions}
    assert set(ran) == {"face_detection_back", "face_mesh_478", "dlib_face_recognition"}
    assert {session.ran.precision for session in ran.values()} == {"fp32"}
    assert ran["dlib_face_recognition"].usage.items == 1
