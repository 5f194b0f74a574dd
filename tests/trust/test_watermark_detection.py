"""The mark is found after all that happens to pictures and clips, and where there is none, none is found."""

from __future__ import annotations

from functools import cache
from pathlib import Path

import numpy as np
import pytest
from PIL import Image

from mien.errors import UnreadableError
from mien.media.recoding import through_video
from mien.trust.watermark import Watermark, detect, detect_file, mark_of_job
from mien.trust.watermark.attacks import CLIP_ATTACKS, PICTURE_ATTACKS
from mien.trust.watermark.detection import THRESHOLD
from support.drawn import DRAWN, drawing, gradient
from support.people import NAMES, picture
from support.video import ffmpeg
from support.watermarked import MARK, SCENES, bits_right, clip, marked, marked_clip, unmarked

Pixels = np.ndarray


@cache
def marked_scene(scene: str) -> tuple[Pixels, ...]:
    """A clip with the mark, as the product writes it."""
    return tuple(through_video(marked_clip(clip(scene)), "libx264", 18))


@pytest.mark.parametrize("attack", PICTURE_ATTACKS)
@pytest.mark.parametrize("name", [*NAMES, *DRAWN])
def test_a_picture_keeps_it(name: str, attack: str) -> None:
    original = DRAWN[name]() if name in DRAWN else picture(name)
    found = detect([PICTURE_ATTACKS[attack](marked(original))])
    assert found.present
    assert found.mark_id == MARK
    assert bits_right(found) == 1


@pytest.mark.parametrize("attack", CLIP_ATTACKS)
@pytest.mark.parametrize("scene", SCENES[:2])
def test_a_clip_of_two_seconds_keeps_it(scene: str, attack: str) -> None:
    found = detect(CLIP_ATTACKS[attack](marked_scene(scene))[::2])
    assert found.mark_id == MARK
    assert found.scale == pytest.approx(0.95 if "crop" in attack else 1, abs=0.01)


@pytest.mark.parametrize("codec", ["libx264", "libx265"])
def test_nearly_all_bits_are_right_before_any_vote_at_crf_23(codec: str) -> None:
    right = [
        bits_right(detect([frame]))
        for scene in SCENES[:2]
        for frame in through_video(marked_scene(scene), codec, 23)[4::9]
    ]
    assert np.mean(right) >= 0.995


def test_a_crop_tells_how_much_is_left() -> None:
    whole = marked(picture("astronaut"))
    found = detect([whole[40:424, 30:414]])
    assert found.mark_id == MARK
    assert found.scale == pytest.approx(384 / 512, abs=0.005)


def test_borders_do_not_hide_it() -> None:
    framed = np.pad(marked(drawing()), ((60, 60), (80, 20), (0, 0)))
    assert detect([framed]).mark_id == MARK


def test_two_marks_are_told_apart() -> None:
    """The one put on last is the stronger, or neither is read; a mixture of both never passes."""
    other = mark_of_job("another job")
    found = detect([marked(marked(picture("astronaut")), Watermark(other))])
    assert found.present
    assert found.mark_id in (MARK, other, None)


def test_nothing_is_found_where_there_is_nothing() -> None:
    pictures = [*unmarked(20), gradient(), np.zeros((200, 300, 3), np.uint8)]
    scores = [detect([one]).score for one in pictures]
    # The best of 3 million alignments of noise is about 5.2 and exceeds 7 once in 200,000 pictures.
    assert max(scores) < THRESHOLD - 1


def test_nothing_is_found_in_unmarked_clips() -> None:
    for scene in SCENES[:2]:
        found = detect(clip(scene)[::2])
        assert not found.present
        assert found.mark_id is None


@pytest.fixture(scope="module")
def video(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A file with a marked clip."""
    path = tmp_path_factory.mktemp("video") / "marked.mp4"
    frames = np.stack(marked_scene(SCENES[0]))
    raw = path.with_suffix(".rgb")
    raw.write_bytes(frames.tobytes())
    size = f"{frames.shape[2]}x{frames.shape[1]}"
    samples = ("-f", "rawvideo", "-pix_fmt", "rgb24", "-s", size, "-r", "25", "-i", raw)
    ffmpeg(*samples, "-c:v", "libx264", "-crf", "20", "-pix_fmt", "yuv420p", path)
    return path


class TestFiles:
    def test_a_video_is_read(self, video: Path) -> None:
        found = detect_file(video)
        assert found.mark_id == MARK
        assert 16 <= found.frames <= 40

    @pytest.mark.parametrize("suffix", ["mkv", "mov", "ts"])
    def test_another_container_changes_nothing(self, video: Path, suffix: str, tmp_path: Path) -> None:
        again = tmp_path / f"again.{suffix}"
        ffmpeg("-i", video, "-c", "copy", again)
        assert detect_file(again).mark_id == MARK

    def test_a_part_of_a_video_is_enough(self, video: Path, tmp_path: Path) -> None:
        part = tmp_path / "part.mp4"
        ffmpeg("-ss", "0.7", "-i", video, "-t", "1", "-c:v", "libx264", "-crf", "26", part)
        assert detect_file(part).mark_id == MARK

    def test_an_animation_is_read(self, tmp_path: Path) -> None:
        path = tmp_path / "animation.png"
        first, *rest = (Image.fromarray(frame) for frame in marked_scene(SCENES[0])[:20:4])
        first.save(path, save_all=True, append_images=rest, duration=80)
        found = detect_file(path)
        assert found.mark_id == MARK
        assert found.frames == 5

    def test_what_is_no_picture_is_said(self, tmp_path: Path) -> None:
        path = tmp_path / "words.jpg"
        path.write_text("no picture")
        with pytest.raises(UnreadableError, match=r"words\.jpg"):
            detect_file(path)


def test_no_picture_at_all_is_a_mistake_of_the_caller() -> None:
    with pytest.raises(ValueError, match="no picture"):
        detect([])
