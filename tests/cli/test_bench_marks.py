"""mien bench marks: a table of attacks, and whether the watermark survived each."""

from __future__ import annotations

import json
from pathlib import Path

import pytest
from PIL import Image

from mien.cli import main
from mien.trust.watermark.attacks import CLIP_ATTACKS, PICTURE_ATTACKS
from support import jobs

TARGET = Path(__file__).parents[2] / "samples" / "target.mp4"


def test_pictures_and_clips_are_tried_and_the_table_is_kept(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    output = tmp_path / "marks.json"
    assert main(["bench", "marks", jobs.LUIS, str(TARGET), "-o", str(output)]) == 0
    rows = json.loads(output.read_text(encoding="utf-8"))
    assert [row["attack"] for row in rows] == [*PICTURE_ATTACKS, *CLIP_ATTACKS]
    assert all(row["found"] and row["bits_right"] == 32 and row["psnr_db"] >= 40 for row in rows)
    printed = capsys.readouterr().out
    assert printed.count("found") == len(rows)
    assert "lost" not in printed


def test_what_cannot_carry_a_mark_is_wrong_use(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    small = tmp_path / "small.png"
    Image.new("RGB", (100, 100), "grey").save(small)
    assert main(["bench", "marks", str(small)]) == 2
    assert "cannot carry a watermark" in capsys.readouterr().err
