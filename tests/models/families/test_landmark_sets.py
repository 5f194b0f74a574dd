import numpy as np
import pytest

from mien.faces import mesh
from mien.models.families import templates
from mien.models.families.alignment import align, move
from mien.models.families.landmark_sets import MESH_TO_68, MIRROR_68, five_of_68, five_of_mesh, sixty_eight_of_mesh

PICTURE = mesh.XYZ * [1, -1, 1]
"""The canonical face in picture axes."""


def test_the_two_halves_mirror_each_other():
    assert [mesh.MIRROR[vertex] for vertex in MESH_TO_68] == [MESH_TO_68[point] for point in MIRROR_68]
    assert len(set(MESH_TO_68)) == 68


@pytest.mark.parametrize(
    ("points", "ring"),
    [
        (range(36, 42), mesh.RIGHT_EYE),
        (range(42, 48), mesh.LEFT_EYE),
        (range(48, 60), mesh.LIPS_OUTER),
        (range(60, 68), mesh.LIPS_INNER),
        (range(17), mesh.OVAL),
        (range(17, 22), mesh.RIGHT_BROW),
        (range(22, 27), mesh.LEFT_BROW),
        (range(27, 36), mesh.NOSE),
    ],
)
def test_points_lie_on_their_part_of_the_face(points, ring):
    assert {MESH_TO_68[point] for point in points} <= set(ring.tolist())


def test_the_order_is_that_of_300_w():
    points = sixty_eight_of_mesh(PICTURE)
    x, y = points.T
    assert np.all(np.diff(x[:17]) > 0)  # outline from the picture's left
    assert np.argmax(y) == 8  # chin
    assert np.all(np.diff(x[17:27]) > 0)  # brows
    assert np.all(np.diff(y[27:31]) > 0)  # bridge of the nose
    assert np.all(np.diff(x[31:36]) > 0)  # base of the nose
    for first in (36, 42):  # eyes: left corner, upper lid, right corner, lower lid
        eye = points[first : first + 6]
        assert eye[0, 0] == eye[:, 0].min()
        assert eye[3, 0] == eye[:, 0].max()
        assert eye[1:3, 1].max() < eye[4:6, 1].min()
    assert points[48, 0] < points[54, 0]
    assert points[51, 1] < points[62, 1] < points[66, 1] < points[57, 1]  # middle of the lips, downwards


def test_outline_points_are_as_evenly_spread_as_vertices_allow():
    ring = [127, 234, 93, 132, 58, 172, 136, 150, 149, 176, 148, 152]  # ear to chin
    assert set(ring) <= set(mesh.OVAL.tolist())
    steps = np.linalg.norm(np.diff(mesh.XYZ[ring, :2], axis=0), axis=1)
    along = np.concatenate([[0], np.cumsum(steps)])
    nearest = [ring[np.abs(along - goal).argmin()] for goal in np.linspace(0, along[-1], 9)]
    assert list(MESH_TO_68[:9]) == nearest


def test_five_points_are_means_of_eyes_tip_and_corners():
    points = np.random.default_rng(0).random((2, 68, 2))
    five = five_of_68(points)
    np.testing.assert_allclose(five[:, 0], points[:, 36:42].mean(1), atol=1e-6)
    np.testing.assert_allclose(five[:, 1], points[:, 42:48].mean(1), atol=1e-6)
    np.testing.assert_allclose(five[:, 2:], points[:, [30, 48, 54]], atol=1e-6)


def test_mesh_points_fit_the_template_of_recognisers():
    five = five_of_mesh(PICTURE)
    placed = move(five, align(five, templates.ARCFACE_112_V2, 112))
    # The template is a mean of real faces, the canonical mesh another: within 4 of 112 pixels.
    assert np.linalg.norm(placed - templates.ARCFACE_112_V2 * 112, axis=1).max() < 4


def test_pixel_corners_become_pixel_centres():
    landmarks = np.zeros((478, 3), np.float32)
    landmarks[:, 0], landmarks[:, 1] = 100.5, 60.5
    np.testing.assert_array_equal(five_of_mesh(landmarks), np.broadcast_to([100, 60], (5, 2)))
