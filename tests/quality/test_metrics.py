import numpy as np
import pytest

from mien.faces import mesh
from mien.quality import metrics
from support.puppet import rotation

CENTRE, RADIUS, SIZE = 100.0, 60.0, 200


def round_face() -> np.ndarray:
    """Landmarks (478, 3) whose oval is a circle; the cheek points lie on its horizontal diameter."""
    landmarks = np.full((478, 3), CENTRE)
    landmarks[:, 2] = 0
    turn = 2 * np.pi * np.arange(36) / 36
    oval = np.stack([CENTRE + RADIUS * np.sin(turn), CENTRE - RADIUS * np.cos(turn)], 1)
    landmarks[mesh.OVAL, :2] = oval
    landmarks[454, :2], landmarks[234, :2] = (CENTRE + RADIUS, CENTRE), (CENTRE - RADIUS, CENTRE)
    return landmarks


def face_with(eyes: tuple[float, float], mouth: float) -> np.ndarray:
    """Landmarks whose openings are as given: eyes 30 and a mouth 50 wide."""
    landmarks = np.zeros((478, 3))
    for (upper, lower, outer, inner), height, x in (
        ((386, 374, 263, 362), eyes[0], 40),
        ((159, 145, 33, 133), eyes[1], -40),
    ):
        landmarks[outer], landmarks[inner] = (x + 15, 0, 3), (x - 15, 0, 3)
        landmarks[upper], landmarks[lower] = (x, -15 * height, 0), (x, 15 * height, 0)
    landmarks[61], landmarks[291] = (-25, 60, 5), (25, 60, 5)
    landmarks[13], landmarks[14] = (0, 60, 0), (0, 60 + 50 * mouth, 0)
    return landmarks


def ramp(slope: float) -> np.ndarray:
    """Grey that grows by `slope` levels a column."""
    row = np.clip(slope * np.arange(SIZE), 0, 255).astype(np.uint8)
    return np.broadcast_to(row[None, :, None], (SIZE, SIZE, 3)).copy()


def test_identity_distance_is_euclidean_and_broadcasts():
    one, many = np.zeros(128), np.zeros((3, 128))
    many[1, :2], many[2, 5] = (3, 4), 2
    assert metrics.identity_distance(one, many) == pytest.approx([0, 5, 2])


def test_opening_is_height_over_width():
    found = metrics.opening(face_with((0.3, 0.1), 0.4))
    assert found.eyes == pytest.approx([0.3, 0.1])
    assert found.mouth == pytest.approx(0.4)


@pytest.mark.parametrize("turn", [(0, 0, 90), (25, 0, 0), (-40, 30, 180)])
def test_opening_in_space_does_not_change_when_the_head_moves(turn):
    moved = 2.5 * face_with((0.3, 0.1), 0.4) @ rotation(np.array(turn, float)).T + [300, 100, 9]
    found = metrics.opening(moved)
    assert found.eyes == pytest.approx([0.3, 0.1])
    assert found.mouth == pytest.approx(0.4)


def test_opening_in_the_picture_ignores_roll():
    rolled = (face_with((0.2, 0.2), 0.5) @ rotation(np.array([0, 0, 33.0])).T)[:, :2]
    assert metrics.opening(rolled).mouth == pytest.approx(0.5)


def test_opening_of_a_track_has_one_row_a_frame():
    track = np.stack([face_with((0.3, 0.3), mouth) for mouth in (0, 0.2, 0.6)])
    found = metrics.opening(track)
    assert found.eyes.shape == (3, 2)
    assert found.mouth == pytest.approx([0, 0.2, 0.6])


def test_mask_and_ring_of_a_round_face_have_the_area_of_disc_and_annulus():
    face = round_face()
    assert metrics.face_mask(face, SIZE, SIZE).sum() == pytest.approx(np.pi * RADIUS**2, rel=0.03)
    assert metrics.face_ring(face, SIZE, SIZE, 10).sum() == pytest.approx(
        np.pi * ((RADIUS + 10) ** 2 - RADIUS**2), rel=0.05
    )


def test_signed_distance_is_positive_inside():
    distance = metrics.signed_distance(round_face(), SIZE, SIZE)
    assert distance[100, 100] == pytest.approx(RADIUS, abs=1.5)
    assert distance[100, 190] == pytest.approx(RADIUS - 90, abs=1.5)


def test_ring_ratio_of_a_picture_to_itself_is_one():
    assert metrics.ring_gradient_ratio(ramp(1), ramp(1), round_face()) == 1


def test_ring_ratio_is_that_of_the_slopes():
    before, after = np.float32(ramp(0.5)), ramp(1)
    assert metrics.ring_gradient_ratio(before.astype(np.uint8), after, round_face()) == pytest.approx(2, rel=0.02)


def test_ring_ratio_of_a_step_at_the_oval_is_that_of_total_variation():
    face, step = round_face(), 60
    before = ramp(1)
    after = before + np.where(metrics.face_mask(face, SIZE, SIZE), step, 0)[..., None].astype(np.uint8)
    # A step of d along a circle has the total variation d * 2 pi R; the ramp that of its area.
    width = 2 * RADIUS
    area = np.pi * ((RADIUS + 0.05 * width) ** 2 - (RADIUS - 0.1 * width) ** 2)
    expected = step * 2 * np.pi * RADIUS / area
    assert expected < metrics.ring_gradient_ratio(before, after, face) < expected + 1


def test_ring_ratio_sees_the_ring_alone():
    face, before = round_face(), ramp(1)
    after = before.copy()
    distance = metrics.signed_distance(face, SIZE, SIZE)
    after[(distance > 25) | (distance < -20)] = 7
    assert metrics.ring_gradient_ratio(before, after, face) == 1


@pytest.mark.parametrize("offset", [1, 16])
def test_psnr_of_a_constant_offset(offset):
    picture = np.full((8, 8, 3), 100, np.uint8)
    assert metrics.psnr(picture, picture + np.uint8(offset)) == pytest.approx(20 * np.log10(255 / offset))


def test_psnr_looks_inside_the_mask():
    a, b = np.zeros((4, 4, 3)), np.zeros((4, 4, 3))
    b[0] = 0.5
    mask = np.zeros((4, 4), bool)
    mask[0] = True
    assert metrics.psnr(a, b, mask, peak=1) == pytest.approx(20 * np.log10(2))
    assert metrics.psnr(a, b, ~mask, peak=1) == np.inf
