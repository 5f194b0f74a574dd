"""Swapping faces in pictures and clips without the pipeline, for tests of the effect alone."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import replace
from functools import cache

import numpy as np
from numpy.typing import NDArray

from mien.edit.source import SourceFace, build_source
from mien.edit.swap import GeometricSwap
from mien.faces.align import to_canonical
from mien.faces.analyser import make_face
from mien.faces.face import Face, TrackedFace
from support.animate import Clip
from support.people import NAMES, analyser, invented, picture

Pixels = NDArray[np.uint8]


def portrait(name: str) -> Pixels:
    """A still or an invented person, (height, width, 3) RGB."""
    return picture(name) if name in NAMES else invented(name)


@cache
def source(name: str) -> SourceFace:
    """The source made of one portrait."""
    return build_source([(name, portrait(name))], analyser())


@cache
def face_of(name: str) -> Face:
    """The largest face of a portrait."""
    return analyser().find(portrait(name))[0]


def tracked(face: Face, *, fresh: bool = True, fade: float = 1.0, track: int = 0) -> TrackedFace:
    """A face as the tracker of a still would give it."""
    return TrackedFace(face, track, None, None, fade, fresh)


def as_working(image: Pixels) -> NDArray[np.float32]:
    """8-bit RGB as working RGB, 0..1."""
    return image.astype(np.float32) / 255


def as_pixels(patch: NDArray[np.float32]) -> Pixels:
    """Working RGB as 8-bit RGB."""
    return np.clip(patch * 255 + 0.5, 0, 255).astype(np.uint8)


def swap_face(image: Pixels, face: TrackedFace, effect: GeometricSwap, others: Iterable[TrackedFace] = ()) -> Pixels:
    """The picture with one face edited."""
    rect = effect.rect(face, image.shape[1], image.shape[0])
    result = image.copy()
    result[rect.slices] = as_pixels(effect.edit(as_working(image[rect.slices]), rect, face, list(others)))
    return result


def swap_portrait(source_name: str, target_name: str, *, shape: float = 1.0) -> Pixels:
    """One portrait with another person's face."""
    effect = GeometricSwap(source(source_name), shape=shape)
    return swap_face(portrait(target_name), tracked(face_of(target_name)), effect)


def swap_clip(clip: Clip, source_name: str, *, shape: float = 1.0) -> list[Pixels]:
    """A clip of one person with another person's face, edited by the true landmarks: what is measured is the effect."""
    effect = GeometricSwap(source(source_name), shape=shape)
    frames = list(clip)
    faces = [make_face(points, 1.0) for frame in frames if (points := frame.faces[0].landmarks) is not None]
    neutral = np.mean([to_canonical(face.landmarks) for face in faces], axis=0).astype(np.float32)
    return [
        swap_face(frame.picture, replace(tracked(face, fresh=index == 0), neutral=neutral), effect)
        for index, (frame, face) in enumerate(zip(frames, faces, strict=True))
    ]
