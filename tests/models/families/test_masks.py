import numpy as np
import pytest

from mien.errors import UsageError
from mien.models.families import masks
from mien.models.families.bisenet import REGIONS, BiSeNet
from mien.models.families.xseg import XSeg
from support import contract_networks, reference


@pytest.mark.parametrize("size", [128, 256])
@pytest.mark.parametrize("blur", [0.0, 0.1, 0.3, 1.0])
@pytest.mark.parametrize("padding", [(0, 0, 0, 0), (10, 20, 5, 40)])
def test_box(size: int, blur: float, padding):
    mask = masks.box(size, blur=blur, padding=padding)
    np.testing.assert_allclose(mask, reference.box_mask(size, blur, padding), atol=1e-4)
    assert mask.dtype == np.float32


@pytest.mark.parametrize("area", masks.AREAS)
def test_areas_are_hulls_with_a_soft_edge(area: str):
    points = np.random.default_rng(3).uniform(20, 108, (68, 2))
    hull = reference.inside_hull(points[list(masks.AREAS[area])].astype(np.int32), 128)
    # OpenCV also fills the pixels that the outline touches: half a pixel more on each side.
    grown = reference.soft_edge(reference.grown(hull))
    found = masks.area(points, 128, [area])
    assert np.all(found >= reference.soft_edge(hull) - 1e-3)
    assert np.all(found <= grown + 1e-3)


def test_areas_join_to_one_hull():
    points = np.random.default_rng(4).uniform(20, 108, (68, 2))
    names = ["upper-face", "mouth"]
    joined = np.concatenate([points[list(masks.AREAS[name])] for name in names]).astype(np.int32)
    hull = reference.inside_hull(joined, 128)
    found = masks.area(points, 128, names)
    assert np.all(found >= reference.soft_edge(hull) - 1e-3)
    assert np.all(found <= reference.soft_edge(reference.grown(hull)) + 1e-3)


def test_a_soft_edge_is_soft_inwards_only():
    mask = np.zeros((64, 64), np.float32)
    mask[:, 20:] = 1
    soft = masks.soften(mask)
    np.testing.assert_allclose(soft, reference.soft_edge(mask), atol=1e-4)
    assert soft[:, :20].max() < 0.05
    assert soft[:, 40:].min() > 0.99


def test_masks_are_combined_by_what_all_show():
    one, other = np.float32([[0.2, 1.5, 1]]), np.float32([[0.9, 2, -1]])
    np.testing.assert_array_equal(masks.combine([one, other]), np.float32([[0.2, 1, 0]]))


def painted(size: int) -> np.ndarray:
    """Red left, green in the middle, blue right."""
    crop = np.full((size, size, 3), 20, np.uint8)
    for channel in range(3):
        crop[:, channel * size // 3 : (channel + 1) * size // 3, channel] = 230
    return crop


@pytest.mark.parametrize("size", [128, 256, 512])
def test_the_occluder_marks_what_its_network_marks(open_adapter, path, size):
    occluder, session = open_adapter(XSeg, contract_networks.xseg(path))
    crops = np.stack([painted(size), np.rot90(painted(size))])
    found = occluder.visible(crops)
    assert len(session.calls) == 1
    for crop, given, mask in zip(crops, session.calls[0]["input"], found, strict=True):
        view = crop if size == 256 else reference.resize(crop, 256, 256)
        # Halving may average what bilinear sampling skips, on the borders only.
        assert np.abs(given - view[:, :, ::-1] / 255).mean() < 0.01
        marked = (given[:, :, 0] > 0.5).astype(np.float64)
        expected = reference.soft_edge(marked if size == 256 else reference.resize(marked, size, size))
        assert mask.shape == (size, size)
        np.testing.assert_allclose(mask, expected, atol=5e-3)
    assert found[0][:, -size // 6 :].min() > 0.9
    assert found[0][:, : size // 2].max() < 0.05
    assert occluder.visible(np.zeros((0, size, size, 3), np.uint8)).shape == (0, size, size)


def test_regions_are_those_of_their_numbers(open_adapter, path):
    # Skin where red is strongest, nose for green, hair (17, not of the face) for blue.
    file = contract_networks.bisenet(path, {1: (1, 0, 0), 10: (0, 1, 0), 17: (0, 0, 1)})
    parser, session = open_adapter(BiSeNet, file)
    crops = np.stack([painted(512), np.rot90(painted(512))])
    labels = parser.labels(crops)
    values = reference.planes(crops, (0.485, 0.456, 0.406), (0.229, 0.224, 0.225))
    np.testing.assert_allclose(session.calls[0]["input"], values, atol=1e-5)
    np.testing.assert_array_equal(labels, np.array([1, 10, 17])[values.argmax(axis=1)])
    for wanted, numbers in ((["nose"], [10]), (["skin", "nose"], [1, 10]), (tuple(REGIONS), [1, 10])):
        expected = [reference.soft_edge(np.isin(one, numbers)) for one in labels]
        np.testing.assert_allclose(parser.region(crops, wanted), expected, atol=1e-4)
    assert parser.region(crops[:, ::2, ::2], ["mouth"]).max() == 0


def test_unknown_names_are_refused():
    with pytest.raises(UsageError, match="no area of the face 'chin': it is one of upper-face"):
        masks.area(np.zeros((68, 2)), 64, ["chin"])
    with pytest.raises(UsageError, match="no region of the face 'hair': it is one of skin"):
        masks.regions(np.zeros((1, 8, 8)), 8, ["hair"], REGIONS)
