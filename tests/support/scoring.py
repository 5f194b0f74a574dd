"""All figures of one swap, for tests and benchmarks."""

from __future__ import annotations

from collections.abc import Sequence
from itertools import chain

import numpy as np
from numpy.typing import NDArray

from mien.faces.analyser import FaceAnalyser
from mien.faces.face import Face
from mien.quality.metrics import (
    eye_distance,
    face_mask,
    face_ring,
    identity_distance,
    opening,
    ring_gradient_ratio,
)
from mien.quality.steadiness import jitter_ratio, warp_error_ratio

Pixels = NDArray[np.uint8]
Score = dict[str, float]


def score_pair(source: Pixels, target: Pixels, result: Pixels, analyser: FaceAnalyser) -> Score:
    """Figures of one swapped picture; all are RGB, `target` and `result` of one size, with the face found largest.

    - `identity`, `target_identity`, `source_target`: identity distances result-source, result-target, source-target;
    - `ring`: `ring_gradient_ratio`;
    - `eyes`, `mouth`: absolute differences of the openings, result against target (mean of both eyes);
    - `yaw`, `pitch`, `roll`: absolute differences in degrees;
    - `landmarks`: mean distance of the 468 landmarks, result to target, in eye distances.
    """
    faces = [analyser.find(source)[0], analyser.find(target)[0]]
    faces.append(_again(result, faces[1], analyser))
    given, there, made = (
        analyser.embed(picture, [face])[0] for picture, face in zip((source, target, result), faces, strict=True)
    )
    return {
        "identity": float(identity_distance(made, given)),
        "target_identity": float(identity_distance(made, there)),
        "source_target": float(identity_distance(given, there)),
        "ring": ring_gradient_ratio(target, result, faces[1].landmarks),
        **_expression(faces[1], faces[2]),
    }


def score_clip(source: Pixels, before: Sequence[Pixels], after: Sequence[Pixels], analyser: FaceAnalyser) -> Score:
    """Figures of a swapped clip with one face in every frame.

    Where `after` has been encoded, `before` is to be encoded the same way, unswapped: an encoder alone can raise the
    warp error around a face by a fifth (measured with H.264, CRF 18, 400 x 224).

    - those of `score_pair` as means over the frames, `identity_p95` and `ring_p90` too;
    - `eyes_correlation`, `mouth_correlation`: of the openings over the clip, result with target; NaN where the
      target's hardly changes;
    - `warp_face`, `warp_ring`: `warp_error_ratio` inside the face and on a ring of 10 pixels around it;
    - `warp_face_original`, `warp_ring_original`: the same along the flow of the original;
    - `jitter`: `jitter_ratio`.
    """
    given = analyser.embed(source, analyser.find(source)[:1])[0]
    there = follow(before, analyser)
    made = [_again(picture, face, analyser) for picture, face in zip(after, there, strict=True)]
    embeddings = [
        np.stack([analyser.embed(picture, [face])[0] for picture, face in zip(pictures, faces, strict=True)])
        for pictures, faces in ((before, there), (after, made))
    ]
    identity = identity_distance(embeddings[1], given)
    rings = [ring_gradient_ratio(old, new, face.landmarks) for old, new, face in zip(before, after, there, strict=True)]
    expressions = [_expression(old, new) for old, new in zip(there, made, strict=True)]
    points = [np.stack([face.landmarks for face in faces]) for faces in (there, made)]
    openings = [opening(track) for track in points]
    return {
        "identity": float(identity.mean()),
        "identity_p95": float(np.percentile(identity, 95)),
        "target_identity": float(identity_distance(embeddings[1], embeddings[0]).mean()),
        "ring": float(np.mean(rings)),
        "ring_p90": float(np.percentile(rings, 90)),
        **{name: float(np.mean([one[name] for one in expressions])) for name in expressions[0]},
        "eyes_correlation": _correlation(openings[0].eyes.mean(1), openings[1].eyes.mean(1)),
        "mouth_correlation": _correlation(openings[0].mouth, openings[1].mouth),
        **_steadiness(before, after, there),
        "jitter": jitter_ratio(*points),
    }


def _steadiness(before: Sequence[Pixels], after: Sequence[Pixels], faces: Sequence[Face]) -> Score:
    height, width = before[0].shape[:2]
    return {
        f"warp_{name}{suffix}": warp_error_ratio(
            before, after, (region(face.landmarks, width, height) for face in faces), along=along
        )
        for name, region in (("face", face_mask), ("ring", face_ring))
        for suffix, along in (("", "own"), ("_original", "original"))
    }


def follow(pictures: Sequence[Pixels], analyser: FaceAnalyser) -> list[Face]:
    """The largest face of the first picture, fitted again and again in the following ones."""
    faces = [analyser.find(pictures[0])[0]]
    for picture in pictures[1:]:
        faces += analyser.landmarks(picture, [faces[-1].landmarks])
    return faces


def summary(scores: Sequence[Score]) -> Score:
    """Mean of each figure, and the 90th percentile as `<name>_p90`; NaN are left out."""
    columns = {name: np.array([score[name] for score in scores]) for name in scores[0]}
    return dict(
        chain.from_iterable(
            ((name, float(np.nanmean(values))), (f"{name}_p90", float(np.nanpercentile(values, 90))))
            for name, values in columns.items()
            if np.isfinite(values).any()
        )
    )


def _again(picture: Pixels, face: Face, analyser: FaceAnalyser) -> Face:
    """The face in another picture, looked for at the same place, so that only the picture makes the difference."""
    return analyser.landmarks(picture, [face.landmarks])[0]


def _expression(before: Face, after: Face) -> Score:
    old, new = opening(before.landmarks), opening(after.landmarks)
    moved = np.linalg.norm(after.landmarks[:468, :2] - before.landmarks[:468, :2], axis=1)
    turned = np.abs((np.array(after.pose) - np.array(before.pose) + 180) % 360 - 180)
    return {
        "eyes": float(np.abs(new.eyes - old.eyes).mean()),
        "mouth": float(abs(new.mouth - old.mouth)),
        "yaw": float(turned[0]),
        "pitch": float(turned[1]),
        "roll": float(turned[2]),
        "landmarks": float(moved.mean() / eye_distance(before.landmarks)),
    }


def _correlation(a: NDArray[np.floating], b: NDArray[np.floating]) -> float:
    return float(np.corrcoef(a, b)[0, 1]) if a.std() > 0.01 and b.std() > 0 else float("nan")
