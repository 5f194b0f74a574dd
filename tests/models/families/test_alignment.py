import numpy as np
import pytest

from mien.models.families import templates
from mien.models.families.alignment import align, cut, cut_faces, invert, move
from support import reference

TEMPLATES = {name: value for name, value in vars(templates).items() if isinstance(value, np.ndarray)}


def points(seed: int = 0, scale: float = 80) -> np.ndarray:
    """A face that no template fits exactly."""
    rng = np.random.default_rng(seed)
    return 200 + scale * (templates.FFHQ_512 - 0.5) @ [[0.9, 0.4], [-0.4, 0.9]] + rng.normal(0, 2, (5, 2))


@pytest.mark.parametrize("name", TEMPLATES)
def test_alignment_is_the_least_squares_solution(name: str):
    template = TEMPLATES[name]
    expected = reference.similarity(points(), template * 256)
    np.testing.assert_allclose(align(points(), template, 256), expected, atol=1e-9)


def test_templates_are_the_field_s():
    np.testing.assert_allclose(templates.ARCFACE_112_V2 * 112, reference.ARCFACE_112, atol=1e-3)
    moved = (reference.ARCFACE_112 + np.array([8, 0])) / 128
    # The crop of 128 is that of 112 with 8 more columns on each side and 16 more rows below.
    np.testing.assert_allclose(templates.ARCFACE_128, moved, atol=1e-4)
    assert len(TEMPLATES) == 7
    for template in TEMPLATES.values():
        assert template.shape == (5, 2)
        assert not template.flags.writeable
        left, right, nose, mouth_left, mouth_right = template
        assert left[0] < nose[0] < right[0]
        assert mouth_left[0] < nose[0] < mouth_right[0]
        assert max(left[1], right[1]) < nose[1] < min(mouth_left[1], mouth_right[1])


def test_points_on_the_template_are_left_where_they_are():
    matrix = align(templates.MTCNN_512 * 512, templates.MTCNN_512, 512)
    np.testing.assert_allclose(matrix, [[1, 0, 0], [0, 1, 0]], atol=1e-9)


def test_there_and_back():
    matrix = align(points(), templates.ARCFACE_128, 128)
    np.testing.assert_allclose(move(move(points(), matrix), invert(matrix)), points(), atol=1e-9)


@pytest.mark.parametrize("kind", [np.uint8, np.float32])
def test_crops_are_bilinear_with_the_edge_repeated(portrait, kind):
    image = (portrait[::2, ::2].astype(np.float32) / 255).astype(kind) if kind == np.float32 else portrait[::2, ::2]
    # Upper left corner: a part of the crop lies outside the picture.
    matrix = align(points() - 190, templates.ARCFACE_128, 128)
    expected = reference.warp(image, matrix, 128, 128)
    level = 1 if kind == np.uint8 else 1 / 255
    difference = np.abs(cut(image, matrix, 128) - expected)
    # OpenCV knows places to 1/32 of a pixel.
    assert difference.mean() < 0.5 * level
    assert np.quantile(difference, 0.99) < 2.5 * level


def test_faces_of_one_picture_come_as_one_batch(portrait):
    faces = [points(seed) for seed in range(3)]
    crops, matrices = cut_faces(portrait, faces, templates.ARCFACE_112_V1, 256)
    assert crops.shape == (3, 256, 256, 3)
    assert crops.dtype == np.uint8
    for face, crop, matrix in zip(faces, crops, matrices, strict=True):
        np.testing.assert_array_equal(crop, cut(portrait, align(face, templates.ARCFACE_112_V1, 256), 256))
        np.testing.assert_array_equal(matrix, align(face, templates.ARCFACE_112_V1, 256))
    assert cut_faces(portrait, [], templates.ARCFACE_112_V1, 256)[0].shape == (0, 256, 256, 3)
