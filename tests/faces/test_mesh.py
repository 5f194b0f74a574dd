import numpy as np
import pytest

from mien.faces import mesh

EDGES = {tuple(sorted(pair)) for a, b, c in mesh.TRIANGLES.tolist() for pair in ((a, b), (b, c), (c, a))}
RINGS = ("OVAL", "LIPS_OUTER", "LIPS_INNER", "LEFT_EYE", "RIGHT_EYE", "LEFT_BROW", "RIGHT_BROW")
X, Y, Z = mesh.XYZ.T


def vertices(name: str) -> list[int]:
    return getattr(mesh, name).tolist()


@pytest.mark.parametrize("name", RINGS)
def test_rings_are_closed_loops_of_edges(name: str):
    ring = vertices(name)
    assert len(set(ring)) == len(ring)
    assert all(tuple(sorted(pair)) in EDGES for pair in zip(ring, ring[1:] + ring[:1], strict=True))


def test_the_oval_is_the_edge_of_the_mesh():
    uses = {edge: 0 for edge in EDGES}
    for a, b, c in mesh.TRIANGLES.tolist():
        for pair in ((a, b), (b, c), (c, a)):
            uses[tuple(sorted(pair))] += 1
    border = {vertex for edge, count in uses.items() if count == 1 for vertex in edge}
    assert border == set(vertices("OVAL"))


def test_the_mirror_flips_x_and_is_its_own_inverse():
    np.testing.assert_allclose(mesh.XYZ[mesh.MIRROR], mesh.XYZ * [-1, 1, 1], atol=1e-4)
    np.testing.assert_array_equal(mesh.MIRROR[mesh.MIRROR], np.arange(468))
    assert abs(X[np.arange(468) == mesh.MIRROR]).max() < 1e-4


@pytest.mark.parametrize("pair", [("LEFT_EYE", "RIGHT_EYE"), ("LEFT_BROW", "RIGHT_BROW")])
def test_left_and_right_are_the_subjects_own_and_mirror_each_other(pair: tuple[str, str]):
    left, right = (vertices(name) for name in pair)
    assert X[left].min() > 0 > X[right].max()
    assert mesh.MIRROR[left].tolist() == right


@pytest.mark.parametrize("name", ["OVAL", "LIPS_OUTER", "LIPS_INNER", "NOSE"])
def test_parts_on_the_midline_are_symmetric(name: str):
    assert set(mesh.MIRROR[vertices(name)].tolist()) == set(vertices(name))


def test_parts_lie_where_a_face_has_them():
    brows, eyes = vertices("LEFT_BROW"), vertices("LEFT_EYE")
    nose, lips = vertices("NOSE"), vertices("LIPS_OUTER")
    assert Y[brows].min() > Y[eyes].max() > Y[lips].max()
    assert Y[nose].max() > Y[eyes].min()
    assert Y[nose].min() > Y[lips].max()
    assert Z.argmax() in nose
    assert abs(X[nose]).max() < abs(X[lips]).max() < abs(X[vertices("OVAL")]).max()
    inner, outer = vertices("LIPS_INNER"), vertices("LIPS_OUTER")
    assert Y[outer].min() < Y[inner].min() < Y[inner].max() < Y[outer].max()


def test_eye_corners_go_from_left_to_right_in_the_picture():
    assert np.all(np.diff(X[mesh.EYE_CORNERS]) > 0)
    assert set(mesh.EYE_CORNERS.tolist()) <= {*vertices("LEFT_EYE"), *vertices("RIGHT_EYE")}


def test_triangles_face_the_camera():
    in_picture = mesh.XYZ * np.array([1, -1, -1], np.float32)
    normals = mesh.triangle_normals(in_picture)
    np.testing.assert_allclose(np.linalg.norm(normals, axis=1), 1, atol=1e-5)
    assert (normals[:, 2] < 0).mean() > 0.98
    behind = mesh.triangle_normals(mesh.XYZ * np.array([-1, -1, 1], np.float32))
    assert (behind[:, 2] > 0).mean() > 0.98


def test_triangles_of_a_ring_fill_it():
    mouth = mesh.triangles_of(mesh.LIPS_INNER)
    # A polygon of 20 corners is cut into 18 triangles.
    assert mouth.sum() == 18
    assert set(mesh.TRIANGLES[mouth].ravel().tolist()) == set(vertices("LIPS_INNER"))


def test_procrustes_weights_are_positive_and_of_mesh_vertices():
    assert mesh.PROCRUSTES_VERTICES.shape == mesh.PROCRUSTES_WEIGHTS.shape == (33,)
    assert mesh.PROCRUSTES_WEIGHTS.min() > 0
    assert mesh.PROCRUSTES_VERTICES.max() < mesh.VERTICES


def test_constants_cannot_be_changed():
    for name in ("XYZ", "UV", "TRIANGLES", "MIRROR", "OVAL", "IRISES"):
        with pytest.raises(ValueError, match="read-only"):
            getattr(mesh, name)[0] = 0
