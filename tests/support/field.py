"""A folder of networks like those of the field, and what they do to a picture, worked out in float64."""

from __future__ import annotations

from pathlib import Path

import numpy as np

from mien.models.families.landmark_sets import five_of_mesh, sixty_eight_of_mesh
from mien.models.families.templates import ARCFACE_128, FFHQ_512
from support import contract_networks as networks
from support import people, reference

_RNG = np.random.default_rng(7)
EMAP = _RNG.normal(0, 0.05, (512, 512)).astype(np.float32)
LOOKS = _RNG.normal(0, 0.1, (588, 512)).astype(np.float32)
TINT = _RNG.normal(0, 0.2, (512, 3)).astype(np.float32)
SHIFT = (0.2, -0.15, 0.25)
"""Added by the tinting swapper, so that nothing stays as it was."""
FACTOR, GLOW = 0.7, (0.2, 0.1, -0.1)
"""Of the restorer, in -1..1."""


def write_networks(folder: Path) -> Path:
    """inswapper_128 that returns its input, its tinting sister, and what the two need."""
    folder.mkdir()
    emap = [networks.emap_weight(EMAP)]
    networks.swapper(folder / "inswapper_128.onnx", 128, np.zeros((512, 3)), weights=emap)
    networks.swapper(folder / "tinting.onnx", 128, TINT, shift=SHIFT, weights=emap)
    networks.arcface(folder / "arcface_w600k_r50.onnx", LOOKS)
    networks.restorer(folder / "gfpgan_1.4.onnx", 512, FACTOR, GLOW)
    networks.xseg(folder / "xseg_1.onnx")
    networks.bisenet(folder / "bisenet_resnet_34.onnx", {1: (0, 0, 1), 0: (1.13, 0, 0)})
    return folder


def landmarks(pixels: np.ndarray) -> np.ndarray:
    """(478, 3) of the largest face."""
    return people.analyser().find(pixels)[0].landmarks


def five(pixels: np.ndarray) -> np.ndarray:
    return five_of_mesh(landmarks(pixels)).astype(np.float64)


def sixty_eight(pixels: np.ndarray) -> np.ndarray:
    return sixty_eight_of_mesh(landmarks(pixels)).astype(np.float64)


def embedding(pixels: np.ndarray, points: np.ndarray) -> np.ndarray:
    """(512,) what the recogniser makes of a face."""
    crop = reference.warp(pixels, reference.similarity(points, reference.ARCFACE_112), 112, 112)
    cells = (crop / 127.5 - 1).reshape(14, 8, 14, 8, 3).mean(axis=(1, 3))
    return cells.transpose(2, 0, 1).ravel() @ LOOKS.astype(np.float64)


def tint_of(source: np.ndarray) -> np.ndarray:
    """(3,) what the tinting swapper adds for a source vector, 0..1."""
    return source @ TINT.astype(np.float64) + SHIFT


def swapped(
    target: np.ndarray,
    points: np.ndarray,
    tint: np.ndarray,
    *,
    size: int = 128,
    template: np.ndarray = ARCFACE_128,
    mask: np.ndarray | None = None,
) -> np.ndarray:
    """The target (0..255 in float64) after a swapper that adds `tint` (0..1)."""
    matrix = reference.similarity(points, template * size)
    crop = reference.warp(target, matrix, size, size)
    face = np.clip(crop + tint * 255, 0, 255)
    return reference.paste(target, face, reference.box_mask(size, 0.3, (0,) * 4) if mask is None else mask, matrix)


def restored(
    target: np.ndarray,
    points: np.ndarray,
    blend: float,
    *,
    factor: float = FACTOR,
    size: int = 512,
    template: np.ndarray = FFHQ_512,
) -> np.ndarray:
    """The target (0..255) after the restorer, whose change is added."""
    height, width = target.shape[:2]
    matrix = reference.similarity(points, template * size)
    crop = reference.warp(target, matrix, size, size)
    change = np.clip((crop / 127.5 - 1) * factor + GLOW, -1, 1) * 127.5 + 127.5 - crop
    back, mask = reference.inverse(matrix), reference.box_mask(size, 0.3, (0,) * 4)
    opacity = np.clip(reference.warp(mask, back, width, height, outside="zero"), 0, 1)
    return target + reference.warp(change, back, width, height) * opacity[..., None] * blend
