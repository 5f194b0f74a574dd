"""Signing does not read a video into memory."""

from __future__ import annotations

import resource
import sys
from datetime import UTC, datetime
from pathlib import Path

import pytest

from mien.trust.certificates import own_signer
from mien.trust.claim import SYNTHETIC, Claim
from mien.trust.credentials import Origin, read, sign
from support.video import ffmpeg

FORM = "video/quicktime"


def peak_mib() -> float:
    return resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 1024


def uncompressed(path: Path, frames: int) -> Path:
    """A MOV of 0.9 MB a frame."""
    coded = ["-c:v", "rawvideo", "-pix_fmt", "uyvy422"]
    ffmpeg("-f", "lavfi", "-i", "testsrc2=s=640x720", "-frames:v", str(frames), *coded, path)
    return path


@pytest.mark.alone
@pytest.mark.skipif(sys.platform != "linux", reason="other systems count in other units")
def test_a_long_video_takes_no_more_memory_than_a_short_one(tmp_path: Path) -> None:
    claim = Claim(software="mien", version="1", when=datetime.now(UTC), source_type=SYNTHETIC, produce_id="0")
    signer = own_signer(tmp_path / "trust")
    peaks: list[float] = []
    for name, frames in (("short.mov", 2), ("long.mov", 120)):
        path = uncompressed(tmp_path / name, frames)
        sign(path, FORM, Origin(path, FORM), claim, signer)
        found = read(path, FORM)
        assert found is not None
        assert found.state == "valid"
        peaks.append(peak_mib())
    assert (tmp_path / "long.mov").stat().st_size > 80 * 2**20
    assert peaks[1] - peaks[0] < 30
