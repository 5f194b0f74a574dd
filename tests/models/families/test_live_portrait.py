import numpy as np
import pytest

from mien.errors import UsageError
from mien.models.families.live_portrait import FeatureExtractor, Generator, LivePortrait, MotionExtractor, rotation
from support import portrait as known
from support import reference


@pytest.fixture
def networks(open_adapter, tmp_path):
    """The three networks together, and their sessions."""
    folder = known.write_portrait(tmp_path)
    look, features = open_adapter(FeatureExtractor, folder / "live_portrait_feature_extractor.onnx")
    seen, motion = open_adapter(MotionExtractor, folder / "live_portrait_motion_extractor.onnx")
    drawn, generator = open_adapter(Generator, folder / "live_portrait_generator.onnx")
    return LivePortrait(look, seen, drawn), (features, motion, generator)


@pytest.mark.parametrize("strength", [0.0, 0.5, 1.0])
@pytest.mark.parametrize("areas", [("upper-face", "lower-face"), ("upper-face",), ("lower-face",)])
def test_the_expression_is_that_of_the_original(networks, crops, strength, areas):
    portrait, sessions = networks
    faces = crops(2, 512)
    faces[1] = faces[1] // 2 + 60
    originals = faces[::-1].copy() // 2 + 30
    restored = portrait.restore(faces, originals, strength=strength, areas=areas)
    for face, original, one in zip(faces, originals, restored, strict=True):
        np.testing.assert_allclose(one, known.expected(face, original, strength, areas), atol=3e-3)
    # Both faces in one batch: look, motion of crops and of originals, drawing.
    assert [len(session.calls) for session in sessions] == [1, 2, 1]


def test_crops_and_areas_are_checked(networks):
    portrait, _ = networks
    small = np.zeros((1, 256, 256, 3), np.uint8)
    with pytest.raises(UsageError, match=r"crops are to be \(n, 512, 512, 3\), got \(1, 256, 256, 3\)"):
        portrait.restore(small, small)
    crop = np.zeros((1, 512, 512, 3), np.uint8)
    with pytest.raises(UsageError, match="no area 'ears' with an expression: it is one of upper-face, lower-face"):
        portrait.restore(crop, crop, areas=("ears",))
    assert portrait.restore(crop[:0], crop[:0]).shape == (0, 512, 512, 3)


def test_turns_follow_each_other_about_fixed_axes():
    angles = np.random.default_rng(1).uniform(-60, 60, (4, 3))
    for turn, (pitch, yaw, roll) in zip(rotation(*angles.T), angles, strict=True):
        np.testing.assert_allclose(turn, reference.rotation(pitch, yaw, roll), atol=1e-6)
