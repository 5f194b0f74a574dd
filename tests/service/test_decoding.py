from pathlib import Path

import av
import numpy as np
import pytest
from PIL import Image

from mien.errors import UnreadableError
from mien.service.decoding import Bounds, Part, check
from support.jobs import ASTRONAUT

SMALL = Bounds(memory_bytes=60_000_000)


def bomb(path: Path, side: int = 5000) -> Path:
    """A picture of some kilobytes that takes 75 MB when it is decoded."""
    Image.new("RGB", (side, side)).save(path)
    return path


def test_what_can_be_decoded_passes(talking: Path) -> None:
    check(Path(ASTRONAUT), SMALL)
    check(talking, Bounds())
    check(talking, Bounds(), Part("00:00:01", None, (0, 20)))


@pytest.mark.parametrize(
    ("bounds", "words"),
    [
        pytest.param(SMALL, "make it smaller|or broke the decoder", id="memory"),
        pytest.param(Bounds(pixels=10_000_000), "at most 10000000 are taken", id="pixels"),
    ],
)
def test_a_decompression_bomb_is_refused_and_the_caller_lives(tmp_path: Path, bounds: Bounds, words: str) -> None:
    with pytest.raises(UnreadableError, match=words):
        check(bomb(tmp_path / "bomb.png"), bounds)


def test_a_video_of_huge_frames_is_refused(tmp_path: Path) -> None:
    path = tmp_path / "huge.mkv"
    with av.open(str(path), "w") as container:
        stream = container.add_stream("mjpeg", rate=25)
        stream.width, stream.height, stream.pix_fmt = 8000, 8000, "yuvj420p"
        container.mux(stream.encode(av.VideoFrame.from_ndarray(np.zeros((12000, 8000), np.uint8), format="yuvj420p")))
        container.mux(stream.encode())
    with pytest.raises(UnreadableError):
        check(path, SMALL, Part(frames=(0, 1)))


def test_the_decoders_own_words_come_through(tmp_path: Path) -> None:
    path = tmp_path / "broken.png"
    path.write_bytes(Path(ASTRONAUT).read_bytes()[:5000])
    with pytest.raises(UnreadableError, match=r"broken\.png"):
        check(path, Bounds())
