"""Triangles on grids, against OpenCV and against what must hold."""

from __future__ import annotations

import cv2
import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from mien.edit import topology
from mien.edit.raster import rasterise

coordinate = st.floats(-5, 45, allow_nan=False, width=32)


@given(st.lists(st.tuples(coordinate, coordinate), min_size=3, max_size=3))
def test_values_are_interpolated_linearly_inside_one_triangle(corners: list[tuple[float, float]]) -> None:
    points = np.array(corners, np.float32)
    coverage = rasterise(points, np.array([[0, 1, 2]]), 40, 40)
    places = coverage.lift(points)
    rows, columns = np.divmod(coverage.cells, 40)
    # Where a cell is covered, the carried coordinates are the cell's own.
    tolerance = 0.02 + 1e-3 * np.ptp(points, axis=0).max()
    np.testing.assert_allclose(places, np.stack([columns, rows], axis=1), atol=tolerance)
    np.testing.assert_allclose(coverage.weights.sum(axis=1), 1, atol=1e-5)


def test_a_mesh_covers_what_opencv_fills() -> None:
    points = topology.plane() * 120 + 4
    coverage = rasterise(points.astype(np.float32), topology.triangles(), 130, 130)
    drawn = np.zeros((130, 130), np.uint8)
    drawn.ravel()[coverage.cells] = 1
    filled = np.zeros((130, 130), np.uint8)
    outer = points[topology.FACE_POINTS :]
    cv2.fillPoly(filled, [np.round(outer * 16).astype(np.int32)], (1,), shift=4)
    ring = cv2.morphologyEx(filled, cv2.MORPH_GRADIENT, np.ones((5, 5), np.uint8)) > 0
    np.testing.assert_array_equal(drawn[~ring], filled[~ring])


def test_later_triangles_lie_over_earlier_ones() -> None:
    points = np.array([[0, 0], [9, 0], [0, 9], [9, 9]], np.float32)
    values = np.array([[1], [1], [1], [1]], np.float32)
    one, other = np.array([[0, 1, 2], [0, 1, 3]]), np.array([[0, 1, 3], [0, 1, 2]])
    shared = 1 * 10 + 4  # row 1, column 4
    for triangles, owner in ((one, 3), (other, 2)):
        coverage = rasterise(points, triangles, 10, 10)
        corners = coverage.corners[coverage.cells == shared][0]
        assert owner in corners
        np.testing.assert_allclose(coverage.lift(values), 1, atol=1e-5)


def test_triangles_outside_the_grid_are_left_out() -> None:
    points = np.array([[-20, -20], [-10, -20], [-20, -10], [60, 60], [70, 60], [60, 70]], np.float32)
    assert rasterise(points, np.array([[0, 1, 2], [3, 4, 5]]), 40, 40).cells.size == 0


def test_the_canonical_face_looks_at_the_viewer() -> None:
    from mien.faces.mesh import XYZ

    points = topology.add_skirt(XYZ * np.array([1, -1, -1], np.float32))
    facing = topology.facing(points)
    assert facing[[1, 4, 9, 50, 280]].min() > 0.5  # nose, forehead, cheeks
    turned = points * np.array([-1, 1, -1], np.float32)
    np.testing.assert_allclose(topology.facing(turned), -facing, atol=1e-4)


def test_the_texture_plane_is_symmetric() -> None:
    from mien.faces.mesh import MIRROR

    plane = topology.plane()[: topology.FACE_POINTS]
    mirrored = plane[MIRROR] * np.array([-1, 1], np.float32) + np.array([1, 0], np.float32)
    assert np.abs(mirrored - plane).max() < 0.02


@pytest.mark.parametrize("side", [64, 96])
def test_fields_carry_vertex_values_to_the_grid(side: int) -> None:
    field = topology.to_grid(topology.plane(), side)
    cells = topology.grid(side).cells
    rows, columns = np.divmod(cells, side)
    np.testing.assert_allclose(field.reshape(-1, 2)[cells] * side - 0.5, np.stack([columns, rows], 1), atol=1e-2)
