import numpy as np
import pytest

from mien.errors import UsageError
from mien.models.families.live_portrait import FeatureExtractor, Generator, LivePortrait, MotionExtractor, rotation
from support import contract_networks, reference
from support.contract_networks import MOTION

RNG = np.random.default_rng(0)
FACTORS = {name: RNG.normal(0, 0.3, (3, int(np.prod(shape)))).astype(np.float32) for name, shape in MOTION.items()}
REST = {name: RNG.normal(0, 0.3, int(np.prod(shape))).astype(np.float32) for name, shape in MOTION.items()}
REST |= {"pitch": np.float32([10]), "yaw": np.float32([-25]), "roll": np.float32([7]), "scale": np.float32([1.2])}
FIXED = [0, 4, 5, 8, 9]
LOWER = [3, 7, 14, 17, 18, 19, 20]


@pytest.fixture
def networks(open_adapter, tmp_path):
    """The three networks together, and their sessions."""
    _, features = open_adapter(FeatureExtractor, contract_networks.feature_extractor(tmp_path / "features.onnx"))
    motion_file = contract_networks.motion_extractor(tmp_path / "motion.onnx", FACTORS, REST)
    _, motion = open_adapter(MotionExtractor, motion_file)
    _, generator = open_adapter(Generator, contract_networks.generator(tmp_path / "generator.onnx"))
    return LivePortrait(features, motion, generator), (features, motion, generator)


def view(crop: np.ndarray) -> np.ndarray:
    """256 pixels, each the mean of four."""
    means = crop.reshape(256, 2, 256, 2, 3).mean(axis=(1, 3))
    return np.rint(means) / 255


def motion_of(crop: np.ndarray) -> dict[str, np.ndarray]:
    means = view(crop).mean(axis=(0, 1))
    return {name: (means @ FACTORS[name] + REST[name]).reshape(shape) for name, shape in MOTION.items()}


def expected(crop: np.ndarray, original: np.ndarray, strength: float, areas: tuple[str, ...]) -> np.ndarray:
    own, target = motion_of(crop), motion_of(original)["expression"]
    share = np.interp(strength, [0, 1], [0, 1.2])
    wanted = target * share + own["expression"] * (1 - share)
    kept = FIXED + (LOWER if "lower-face" not in areas else [])
    kept += [point for point in range(21) if point not in FIXED + LOWER] if "upper-face" not in areas else []
    wanted[kept] = own["expression"][kept]
    turn = reference.rotation(*(float(own[name][0]) for name in ("pitch", "yaw", "roll")))
    placed = [
        own["scale"] * (own["motion_points"] @ turn.T + one) + own["translation"] for one in (wanted, own["expression"])
    ]
    look = view(crop).reshape(64, 4, 64, 4, 3).mean(axis=(1, 3)).repeat(8, 0).repeat(8, 1)
    return np.clip(look + (placed[0] - placed[1]).mean(axis=0), 0, 1)


@pytest.mark.parametrize("strength", [0.0, 0.5, 1.0])
@pytest.mark.parametrize("areas", [("upper-face", "lower-face"), ("upper-face",), ("lower-face",)])
def test_the_expression_is_that_of_the_original(networks, crops, strength, areas):
    portrait, sessions = networks
    faces = crops(2, 512)
    faces[1] = faces[1] // 2 + 60
    originals = faces[::-1].copy() // 2 + 30
    restored = portrait.restore(faces, originals, strength=strength, areas=areas)
    for face, original, one in zip(faces, originals, restored, strict=True):
        np.testing.assert_allclose(one, expected(face, original, strength, areas), atol=3e-3)
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
