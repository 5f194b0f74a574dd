"""LivePortrait's networks with a known meaning, and what the three together do, worked out in float64."""

from __future__ import annotations

from pathlib import Path

import numpy as np

from support import contract_networks, reference
from support.contract_networks import MOTION

RNG = np.random.default_rng(0)
FACTORS = {name: RNG.normal(0, 0.3, (3, int(np.prod(shape)))).astype(np.float32) for name, shape in MOTION.items()}
REST = {name: RNG.normal(0, 0.3, int(np.prod(shape))).astype(np.float32) for name, shape in MOTION.items()}
REST |= {"pitch": np.float32([10]), "yaw": np.float32([-25]), "roll": np.float32([7]), "scale": np.float32([1.2])}
FIXED = [0, 4, 5, 8, 9]
LOWER = [3, 7, 14, 17, 18, 19, 20]


def write_portrait(folder: Path) -> Path:
    """The three files."""
    contract_networks.feature_extractor(folder / "live_portrait_feature_extractor.onnx")
    contract_networks.motion_extractor(folder / "live_portrait_motion_extractor.onnx", FACTORS, REST)
    contract_networks.generator(folder / "live_portrait_generator.onnx")
    return folder


def view(crop: np.ndarray) -> np.ndarray:
    """256 pixels, each the mean of four, 0..1; of whole numbers it is one, too."""
    means = crop.reshape(256, 2, 256, 2, 3).mean(axis=(1, 3))
    return (np.rint(means) if crop.dtype == np.uint8 else means) / 255


def motion_of(crop: np.ndarray) -> dict[str, np.ndarray]:
    """What the motion network sees."""
    means = view(crop).mean(axis=(0, 1))
    return {name: (means @ FACTORS[name] + REST[name]).reshape(shape) for name, shape in MOTION.items()}


def expected(
    crop: np.ndarray, original: np.ndarray, strength: float, areas: tuple[str, ...] = ("upper-face", "lower-face")
) -> np.ndarray:
    """(512, 512, 3) 0..1: the crop (0..255) with the expression of the original."""
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
