"""Honest in-memory stand-ins of the pipeline's neighbours: frames, a follower, an effect and a writer."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field
from types import TracebackType

import numpy as np
from numpy.typing import NDArray

from mien.faces.face import Face, Pose, TrackedFace
from mien.geometry import Rect


class MemoryFrame:
    """A grey picture in memory; working values are its bytes over 255."""

    step = 1

    def __init__(self, index: int, pixels: NDArray[np.uint8]) -> None:
        self.index = index
        self.time_s = index / 25
        self.pixels = pixels

    @property
    def width(self) -> int:
        return self.pixels.shape[1]

    @property
    def height(self) -> int:
        return self.pixels.shape[0]

    def display(self, rect: Rect | None = None, *, max_side: int | None = None) -> NDArray[np.uint8]:
        assert max_side is None
        patch = self.pixels if rect is None else self.pixels[rect.slices]
        return np.repeat(patch[:, :, None], 3, axis=2)

    def working(self, rect: Rect) -> NDArray[np.float32]:
        return self.display(rect).astype(np.float32) / 255

    def apply(self, rect: Rect, before: NDArray[np.float32], after: NDArray[np.float32]) -> None:
        change = np.rint((after - before)[:, :, 0] * 255)
        self.pixels[rect.slices] = np.clip(self.pixels[rect.slices] + change, 0, 255).astype(np.uint8)


@dataclass(frozen=True)
class Span:
    number: int
    first: int
    end: int


def spans(*lengths: int) -> list[Span]:
    ends = np.cumsum(lengths)
    return [
        Span(number, int(end) - length, int(end))
        for number, (end, length) in enumerate(zip(ends, lengths, strict=True))
    ]


@dataclass
class MemoryVideo:
    """Seeded noise of changing brightness, made anew whenever it is asked for."""

    length: int
    ranges: list[tuple[int, int]] = field(default_factory=list)

    def frames(self, first: int, end: int) -> Iterator[MemoryFrame]:
        self.ranges.append((first, end))
        for index in range(first, min(end, self.length)):
            level = 40 + index * 37 % 80
            yield MemoryFrame(index, np.random.default_rng(index).integers(level, level + 60, (16, 24), np.uint8))


def tracked(x: float, y: float, *, track: int = 0, size: float = 6, **fields: object) -> TrackedFace:
    landmarks = np.zeros((478, 3), np.float32)
    landmarks[:, 0], landmarks[:, 1] = x, y
    box = np.array([x - size / 2, y - size / 2, x + size / 2, y + size / 2], np.float32)
    face = Face(box, 1.0, landmarks, Pose(0, 0, 0))
    values: dict[str, object] = {"person": None, "neutral": None, "fade": 1.0, "fresh": False, **fields}
    return TrackedFace(face, track, **values)  # type: ignore[arg-type]


class RecallingFollower:
    """Where it says the face is depends on the last `memory` frames it saw: it must see pixels before any edit."""

    def __init__(self, memory: int) -> None:
        self._memory = memory
        self._seen: list[float] = []

    def update(self, frame: MemoryFrame) -> Sequence[TrackedFace]:
        self._seen = [*self._seen, float(frame.pixels.mean())][-self._memory :]
        return [tracked(8 + np.mean(self._seen) % 8, 8.0, fresh=len(self._seen) == 1)]


class RecallingEffect:
    """Adds to each pixel what it saw in the last `memory` patches."""

    remembers = True

    def __init__(self, memory: int) -> None:
        self._memory = memory
        self._seen: list[float] = []

    def rect(self, face: TrackedFace, width: int, height: int) -> Rect | None:
        left, top, right, bottom = (int(value) for value in face.face.box)
        return Rect(left, top, right - left, bottom - top).clip(width, height)

    def edit(
        self, patch: NDArray[np.float32], rect: Rect, face: TrackedFace, others: Sequence[TrackedFace]
    ) -> NDArray[np.float32]:
        assert face not in others
        assert patch.shape == (rect.height, rect.width, 3)
        self._seen = [*self._seen, float(patch.mean())][-self._memory :]
        return patch + np.float32(np.mean(self._seen) - 0.4)


class MemoryWriter:
    """Keeps the pixels it is given; they appear in `shelf` when it is left without an error."""

    def __init__(self, shelf: dict[int, list[bytes]], number: int) -> None:
        self._shelf = shelf
        self._number = number
        self._frames: list[bytes] = []

    def write(self, frame: MemoryFrame) -> None:
        self._frames.append(frame.pixels.tobytes())

    def __enter__(self) -> MemoryWriter:
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        if error is None:
            self._shelf[self._number] = self._frames
