"""A short look over a target before its first frame is edited: who is there."""

from __future__ import annotations

import io
from bisect import bisect_left
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass, replace
from pathlib import Path

import numpy as np

from mien.errors import VaultError
from mien.faces.analyser import FaceAnalyser, make_face
from mien.faces.people import Sample
from mien.media.frame import Frame
from mien.media.video import VideoSource
from mien.pipeline.checkpoint import write_atomically
from mien.pipeline.samples import spread
from mien.trust.vault import Vault

LOOKS = 12
"""Frames that are looked at, at most."""
THOROUGH_LOOKS = 200
"""The same where somebody asked for was not among those."""
_ENOUGH = 8
"""With so many keyframes to look at, no others are decoded."""
_DECODED_PIXELS = 6_000_000
"""Bound of decoding per look where keyframes are rare: three frames of 1080p, about 20 ms."""
_NAME = "survey"
"""Under which it is sealed."""
_PATIENCE = 3
"""Looks without a face after which turned and far faces are no longer searched for, which costs ten times as much."""


@dataclass(frozen=True, slots=True)
class Look:
    """Half-open range of frames to decode, of which every `step`-th is looked at."""

    first: int
    end: int
    step: int


def plan_looks(keyframes: Sequence[int], frames: int, pixels: int, looks: int = LOOKS) -> list[Look]:
    """Which frames to look at: keyframes spread over the video, and frames after them where those are too few.

    Args:
        keyframes: indices at which decoding can start, ascending.
        frames: length of the video.
        pixels: of a frame.
        looks: how many, about.
    """
    starts = sorted({_last_before(keyframes, index) for index in spread(frames, looks)})
    if len(starts) >= min(_ENOUGH, frames):
        return [Look(start, start + 1, 1) for start in starts]
    each = -(-looks // len(starts))
    reach = each * max(_DECODED_PIXELS // pixels, 1)
    ends = [*starts[1:], frames]
    plan: list[Look] = []
    for start, end in zip(starts, ends, strict=True):
        length = min(reach, end - start)
        plan.append(Look(start, start + length, max(length // each, 1)))
    return plan


def frames_to_look_at(source: VideoSource, looks: int = LOOKS) -> Iterator[Frame]:
    """Frames spread over a video, about `looks` of them, for little decoding."""
    info = source.info
    for look in plan_looks(source.keyframes(), info.frame_count, info.width * info.height, looks):
        for frame in source.frames(look.first, look.end, few=True):
            if (frame.index - look.first) % look.step == 0:
                yield frame


def survey_frames(frames: Iterable[Frame], analyser: FaceAnalyser) -> list[Sample]:
    """The faces of each frame, with embeddings."""
    samples: list[Sample] = []
    for number, frame in enumerate(frames):
        patient = number < _PATIENCE and not samples
        faces = analyser.find(frame, thorough=False) if patient else analyser.find_upright(frame)
        embeddings = analyser.embed(frame, faces)
        samples += [
            Sample(frame.index, replace(face, embedding=embedding))
            for face, embedding in zip(faces, embeddings, strict=True)
        ]
    return samples


def save_samples(samples: Sequence[Sample], path: Path, vault: Vault) -> None:
    """Keep a survey for a run that resumes, encrypted: it has the faces of those who are there.

    Raises:
        UnwritableError: no space, no permission.
    """
    content = io.BytesIO()
    np.savez(
        content,
        frames=np.array([sample.frame for sample in samples], np.int64),
        scores=np.array([sample.face.score for sample in samples], np.float64),
        landmarks=np.array([sample.face.landmarks for sample in samples], np.float32),
        embeddings=np.array([sample.embedding for sample in samples], np.float32),
    )
    write_atomically(path, vault.seal(_NAME, content.getvalue()))


def load_samples(path: Path, vault: Vault) -> list[Sample]:
    """The inverse of `save_samples`, bit for bit.

    Raises:
        VaultError: it was kept with another key, or is damaged.
    """
    try:
        content = vault.unseal(_NAME, path.read_bytes())
    except VaultError as error:
        raise VaultError(f"the earlier run cannot be used: {error}; leave out 'resume' to start anew") from error
    with np.load(io.BytesIO(content)) as kept:
        rows = zip(kept["frames"], kept["scores"], kept["landmarks"], kept["embeddings"], strict=True)
        return [
            Sample(int(frame), replace(make_face(landmarks, float(score)), embedding=embedding))
            for frame, score, landmarks, embedding in rows
        ]


def _last_before(keyframes: Sequence[int], index: int) -> int:
    """The last keyframe at or before `index`; 0 if there is none."""
    at = bisect_left(keyframes, index + 1)
    return keyframes[at - 1] if at else 0
