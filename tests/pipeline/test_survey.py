"""Where a survey looks, and that it is kept bit for bit."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest

from mien.errors import VaultError
from mien.faces.people import tell_apart
from mien.media.arrays import ArrayFrame
from mien.media.pictures import read_picture
from mien.media.profiles import space_of
from mien.media.video import VideoSource
from mien.pipeline.survey import LOOKS, frames_to_look_at, load_samples, plan_looks, save_samples, survey_frames
from mien.trust.vault import Vault
from support import jobs
from support.people import analyser, picture

FULL_HD = 1920 * 1080


@pytest.mark.parametrize(
    ("keyframes", "frames"),
    [
        ([0], 1),
        ([0], 5),
        ([0], 240),
        ([0, 50, 100, 150], 200),
        (list(range(0, 9000, 250)), 9000),
        (range(300), 300),
        ([], 40),
    ],
    ids=lambda value: str(value)[:30],
)
def test_looks_are_inside_in_order_and_bounded(keyframes: list[int], frames: int) -> None:
    looks = plan_looks(keyframes, frames, FULL_HD)
    seen = [index for look in looks for index in range(look.first, look.end, look.step)]
    assert seen == sorted(set(seen))
    assert 0 <= min(seen) <= max(seen) < frames
    assert min(frames, 4) <= len(seen) <= 2 * LOOKS
    assert sum(look.end - look.first for look in looks) <= 4 * LOOKS


def test_with_enough_keyframes_nothing_else_is_decoded() -> None:
    keyframes = list(range(0, 3000, 30))
    looks = plan_looks(keyframes, 3000, FULL_HD)
    assert len(looks) == LOOKS
    assert all(look.first in keyframes and look.end == look.first + 1 for look in looks)
    assert looks[-1].first > 2700


def test_small_frames_are_decoded_further() -> None:
    (small,), (large,) = plan_looks([0], 1000, 640 * 360), plan_looks([0], 1000, 3840 * 2160)
    assert small.end > 4 * large.end


def test_a_survey_is_kept_bit_for_bit(tmp_path: Path) -> None:
    samples = survey_frames([read_picture(jobs.couple(tmp_path / "couple.png"))], analyser())
    assert len(samples) == 2
    vault = Vault.passing()
    save_samples(samples, tmp_path / "people.sealed", vault)
    again = load_samples(tmp_path / "people.sealed", vault)
    for one, other in zip(tell_apart(samples).persons, tell_apart(again).persons, strict=True):
        assert np.array_equal(one.embedding, other.embedding)
        assert np.array_equal(one.neutral, other.neutral)
        assert (one.size, one.rank) == (other.size, other.rank)


def test_a_survey_without_faces_can_be_kept(tmp_path: Path) -> None:
    vault = Vault.passing()
    save_samples([], tmp_path / "people.sealed", vault)
    assert load_samples(tmp_path / "people.sealed", vault) == []


def test_no_face_can_be_read_in_what_is_kept(tmp_path):
    pixels = picture("astronaut")
    samples = survey_frames([ArrayFrame(pixels, space_of("rgb", 255, None))], analyser())
    save_samples(samples, tmp_path / "people.sealed", Vault.passing())
    kept = (tmp_path / "people.sealed").read_bytes()
    (sample,) = samples
    for numbers in (sample.embedding, sample.face.landmarks.ravel()):
        assert not any(numbers[at : at + 2].tobytes() in kept for at in range(len(numbers) - 1))


def test_a_survey_kept_with_another_key_is_not_used(tmp_path):
    save_samples([], tmp_path / "people.sealed", Vault.passing())
    with pytest.raises(VaultError, match="leave out 'resume' to start anew"):
        load_samples(tmp_path / "people.sealed", Vault.passing())


def test_a_clip_is_surveyed(tmp_path: Path) -> None:
    with VideoSource(jobs.talking_clip(tmp_path / "clip.mp4", seconds=1.0)) as source:
        samples = survey_frames(frames_to_look_at(source), analyser())
    (person,) = tell_apart(samples).persons
    assert person.seen == len({sample.frame for sample in samples}) >= 4
    assert jobs.distance(person.embedding, jobs.identity(jobs.HOPPER)) < 0.6
