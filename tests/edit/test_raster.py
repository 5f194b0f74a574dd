"""Triangles on grids, against OpenCV and against what must hold."""

from __future__ import annotations

import cv2
import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from numpy.typing import NDArray

from mien.edit import topology
from mien.edit.raster import draw_triangles

coordinate = st.floats(-5, 45, allow_nan=False, width=32)


def drawn(points: NDArray[np.floating], triangles: list[list[int]], values: NDArray[np.floating], side: int = 40):
    """(side, side, channels), NaN where nothing is drawn."""
    field = np.full((side, side, values.shape[1]), np.nan, np.float32)
    return draw_triangles(points, np.array(triangles), values, field)


@given(st.lists(st.tuples(coordinate, coordinate), min_size=3, max_size=3))
def test_values_are_interpolated_linearly_inside_one_triangle(corners: list[tuple[float, float]]) -> None:
    points = np.array(corners, np.float32)
    places = drawn(points, [[0, 1, 2]], points)
    rows, columns = np.nonzero(~np.isnan(places[..., 0]))
    # Where a cell is covered, the carried coordinates are the cell's own.
    tolerance = 0.02 + 1e-3 * np.ptp(points, axis=0).max()
    np.testing.assert_allclose(places[rows, columns], np.stack([columns, rows], axis=1), atol=tolerance)


@given(st.lists(st.tuples(coordinate, coordinate), min_size=3, max_size=3))
def test_a_triangle_covers_the_cells_whose_centres_lie_in_it(corners: list[tuple[float, float]]) -> None:
    points = np.array(corners, np.float32)
    covered = ~np.isnan(drawn(points, [[0, 1, 2]], points)[..., 0])
    contour = points.reshape(-1, 1, 2)
    for row, column in np.ndindex(covered.shape):
        inwards = cv2.pointPolygonTest(contour, (float(column), float(row)), True)
        if abs(inwards) > 0.02:
            assert covered[row, column] == (inwards > 0), (row, column, inwards)


def test_a_mesh_covers_what_opencv_fills() -> None:
    points = topology.plane() * 120 + 4
    covered = ~np.isnan(drawn(points, topology.triangles().tolist(), points, 130)[..., 0])
    filled = np.zeros((130, 130), np.uint8)
    outer = points[topology.FACE_POINTS :]
    cv2.fillPoly(filled, [np.round(outer * 16).astype(np.int32)], (1,), shift=4)
    ring = cv2.morphologyEx(filled, cv2.MORPH_GRADIENT, np.ones((5, 5), np.uint8)) > 0
    np.testing.assert_array_equal(covered[~ring], filled[~ring])


def test_later_triangles_lie_over_earlier_ones() -> None:
    points = np.array([[0, 0], [9, 0], [0, 9], [9, 9]], np.float32)
    values = np.array([[0], [0], [1], [2]], np.float32)
    one, other = [0, 1, 2], [0, 1, 3]
    shared = 1, 4  # row, column
    alone = [drawn(points, [triangle], values, 10)[shared] for triangle in (one, other)]
    assert alone[0] != alone[1]
    assert drawn(points, [one, other], values, 10)[shared] == alone[1]
    assert drawn(points, [other, one], values, 10)[shared] == alone[0]


def test_triangles_outside_the_grid_are_left_out() -> None:
    points = np.array([[-20, -20], [-10, -20], [-20, -10], [60, 60], [70, 60], [60, 70]], np.float32)
    assert np.isnan(drawn(points, [[0, 1, 2], [3, 4, 5]], points)).all()


def test_triangles_of_points_that_are_not_there_are_refused() -> None:
    with pytest.raises(ValueError, match="name points 0 to 3, there are 3"):
        drawn(np.zeros((3, 2), np.float32), [[0, 1, 3]], np.zeros((3, 1), np.float32))


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
    field = topology.to_grid(topology.plane(), side, outside=-1)
    rows, columns = np.nonzero(field[..., 0] >= 0)
    assert len(rows) > 0.4 * side * side
    np.testing.assert_allclose(field[rows, columns] * side - 0.5, np.stack([columns, rows], 1), atol=1e-2)
