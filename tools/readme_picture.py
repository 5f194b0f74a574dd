"""Makes docs/images/result.jpg: source, target and result for three pairs of the stills."""

from __future__ import annotations

from pathlib import Path
from tempfile import TemporaryDirectory

import cv2
import numpy as np
from numpy.typing import NDArray
from PIL import Image

import mien
from mien.faces.analyser import FaceAnalyser

ROOT = Path(__file__).resolve().parent.parent
STILLS = ROOT / "tests" / "stills"
PICTURE = ROOT / "docs" / "images" / "result.jpg"
PAIRS = (
    ("astronaut.png", "luispedro.jpg"),
    ("luispedro.jpg", "astronaut.png"),
    ("astronaut.png", "grace_hopper.jpg"),
)
CELL = 300
"""Side of one picture in pixels."""
GAP = 8


def read(path: Path) -> NDArray[np.uint8]:
    """RGB (height, width, 3)."""
    with Image.open(path) as image:
        return np.asarray(image.convert("RGB"))


def square(image: NDArray[np.uint8], box: NDArray[np.float32]) -> NDArray[np.uint8]:
    """The face in `box` with its surroundings, CELL x CELL; the cut stays inside the picture."""
    height, width = image.shape[:2]
    left, top, right, bottom = box
    side = round(min(1.8 * max(right - left, bottom - top), width, height))
    x = round(min(max((left + right - side) / 2, 0), width - side))
    y = round(min(max((top + bottom - side) / 2, 0), height - side))
    return cv2.resize(image[y : y + side, x : x + side], (CELL, CELL), interpolation=cv2.INTER_AREA)


def main() -> None:
    analyser = FaceAnalyser()
    rows = []
    with TemporaryDirectory() as folder:
        for source, target in PAIRS:
            result = Path(folder) / "result.png"
            mien.swap(STILLS / source, STILLS / target, result, overwrite=True)
            images = [read(STILLS / source), read(STILLS / target)]
            boxes = [analyser.find(image)[0].box for image in images]
            cells = [square(image, box) for image, box in zip(images, boxes, strict=True)]
            cells.append(square(read(result), boxes[1]))
            gap = np.full((CELL, GAP, 3), 255, np.uint8)
            rows.append(np.hstack([cells[0], gap, cells[1], gap, cells[2]]))
    PICTURE.parent.mkdir(exist_ok=True)
    line = np.full((GAP, rows[0].shape[1], 3), 255, np.uint8)
    Image.fromarray(np.vstack([rows[0], line, rows[1], line, rows[2]])).save(PICTURE, quality=88)
    print(f"{PICTURE.relative_to(ROOT)}: {PICTURE.stat().st_size // 1024} KB")


if __name__ == "__main__":
    main()
