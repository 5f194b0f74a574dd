import numpy as np
import pytest

from mien.engine.session import Ran, Usage
from mien.models.blazeface import LAYOUTS, BlazeFace, Candidates, merge_overlapping


class Scripted:
    """A session that answers with one face at one row."""

    ran = Ran("scripted", "none", "none", "fp32")
    usage = Usage()

    def __init__(self, variant: str, row: int, logit: float, box: tuple[float, float, float, float]) -> None:
        layout = LAYOUTS[variant]
        rows = sum(cells * cells * per_cell for cells, per_cell in layout.grids)
        self.views: list[np.ndarray] = []
        self._layout = layout
        self._regressors = np.zeros((1, rows, 16), np.float32)
        self._regressors[0, row, :4] = box
        self._scores = np.full((1, rows, 1), -1000, np.float32)
        self._scores[0, row] = logit

    def run(self, inputs):
        view = inputs[self._layout.input]
        self.views.append(view)
        count = len(view)
        return {
            self._layout.regressors: np.repeat(self._regressors, count, axis=0),
            self._layout.scores: np.repeat(self._scores, count, axis=0),
        }


def test_rows_become_boxes_in_the_pixels_of_the_image():
    # Row 1056 of 2304: line 22, column 0 of 48x48 cells; the anchor is (.5, 22.5) / 48 of the view.
    session = Scripted("full_range", 22 * 48, logit=2.0, box=(96 - 2, 0, 48, 24))
    image = np.zeros((192, 384, 3), np.uint8)
    (found,) = BlazeFace(session, "full_range").detect([image])
    # The view of 192 shows the image at half its size, 48 rows down; centre (96, 90), 48 x 24 in the view.
    x, y = 96 * 2, (90 - 48) * 2
    np.testing.assert_allclose(found.boxes, [[x - 48, y - 24, x + 48, y + 24]], atol=1e-3)
    # Keypoints were all 0: they lie on the anchor.
    np.testing.assert_allclose(found.keypoints, np.broadcast_to([4, y], (1, 6, 2)), atol=1e-3)
    np.testing.assert_allclose(found.scores, [1 / (1 + np.exp(-2))], atol=1e-6)


def test_the_view_is_the_whole_image_between_black_bars():
    session = Scripted("short_range", 0, logit=-5, box=(0, 0, 1, 1))
    BlazeFace(session, "short_range").detect([np.full((100, 50, 3), 255, np.uint8)])
    view = session.views[0][0]
    assert view.shape == (128, 128, 3)
    np.testing.assert_allclose(view[:, 32:96], 1, atol=1e-6)
    np.testing.assert_allclose(view[:, :32], -1)
    np.testing.assert_allclose(view[:, 96:], -1)


@pytest.mark.parametrize(("logit", "count"), [(-4928, 0), (-0.1, 0), (0.1, 1), (4928, 1)])
def test_only_scores_over_the_threshold_count(logit: float, count: int):
    session = Scripted("back", 5, logit=logit, box=(0, 0, 30, 30))
    (found,) = BlazeFace(session, "back").detect([np.zeros((256, 256, 3), np.uint8)])
    assert found.boxes.shape == (count, 4)
    assert found.keypoints.shape == (count, 6, 2)
    assert np.all((found.scores > 0.5) & (found.scores <= 1))


def test_overlapping_candidates_are_averaged_by_score():
    boxes = np.array([[0, 0, 10, 10], [1, 0, 11, 10], [50, 50, 60, 60]], np.float32)
    keypoints = np.broadcast_to(boxes[:, None, :2], (3, 6, 2)).copy()
    merged = merge_overlapping(Candidates(boxes, keypoints, np.array([0.9, 0.6, 0.55], np.float32)), 0.3)
    np.testing.assert_allclose(merged.boxes, [[0.4, 0, 10.4, 10], [50, 50, 60, 60]], atol=1e-5)
    np.testing.assert_allclose(merged.keypoints[0], np.broadcast_to([0.4, 0], (6, 2)), atol=1e-5)
    np.testing.assert_allclose(merged.scores, [0.9, 0.55])
