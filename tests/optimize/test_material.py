"""Faces gathered from real pictures, and what is written down of them."""

import hashlib
import json
from pathlib import Path

import numpy as np
import pytest
from PIL import Image

from mien.errors import NoFaceError, UsageError
from mien.optimize.material import Material, gather, moved
from optimize.nets import STILLS
from support.people import analyser


def test_the_manifest_names_files_by_their_hashes(faces: Material):
    manifest = json.loads(faces.manifest.to_json())
    assert manifest["looked_at"] == 6
    assert len(manifest["calibration"]) == len(faces.calibration) == 4
    assert len(manifest["held_out"]) == len(faces.held_out) == 2
    for origin in (*manifest["calibration"], *manifest["held_out"]):
        assert origin["sha256"] == hashlib.sha256((STILLS / origin["file"]).read_bytes()).hexdigest()
    assert len({origin["pixels"] for origin in (*manifest["calibration"], *manifest["held_out"])}) == 6


def test_the_same_pictures_give_the_same_manifest_and_others_another(faces: Material):
    again = gather([STILLS], 6, "recogniser", analyser())
    assert again.manifest.sha256 == faces.manifest.sha256
    fewer = gather([STILLS], 4, "recogniser", analyser())
    assert fewer.manifest.sha256 != faces.manifest.sha256
    # A smaller choice holds the first of the larger one.
    assert {origin.file for origin in fewer.manifest.calibration[:3]} == {path.name for path in STILLS.iterdir()}


def test_a_face_keeps_its_place_where_the_rest_of_the_picture_is_left_out():
    around, whole = (gather([STILLS / "astronaut.png"], 2, role, analyser()) for role in ("recogniser", "detector"))
    near, far = around.calibration[0], whole.calibration[0]
    assert near.picture.size < far.picture.size
    rows, columns = (slice(int(near.points[:, axis].min()), int(near.points[:, axis].max())) for axis in (1, 0))
    shift = np.round(far.points[0] - near.points[0]).astype(int)
    there = far.picture[
        rows.start + shift[1] : rows.stop + shift[1], columns.start + shift[0] : columns.stop + shift[0]
    ]
    np.testing.assert_array_equal(near.picture[rows, columns], there)


def test_what_is_neither_picture_nor_clip_is_left_out_and_said(tmp_path: Path):
    (tmp_path / "notes.txt").write_text("no picture")
    (tmp_path / "a.png").write_bytes((STILLS / "astronaut.png").read_bytes())
    assert gather([tmp_path], 2, "recogniser", analyser()).manifest.left_out == ("notes.txt",)


def test_frames_of_a_clip_are_told_apart():
    clip = Path(__file__).parents[2] / "samples" / "target.mp4"
    found = gather([clip], 3, "recogniser", analyser())
    origins = (*found.manifest.calibration, *found.manifest.held_out)
    assert len({origin.frame for origin in origins}) == 3
    assert not any(origin.mirrored for origin in origins)


def test_a_slide_is_by_fractions_of_a_pixel(faces: Material):
    sample = faces.calibration[0]
    np.testing.assert_array_equal(moved(sample, 0).picture, sample.picture)
    np.testing.assert_array_equal(moved(sample, 1).picture[:, 1:], sample.picture[:, :-1])
    assert moved(sample, 0.3).face is sample.face


def test_pictures_without_faces_are_refused(tmp_path: Path):
    Image.new("RGB", (64, 64)).save(tmp_path / "black.png")
    (tmp_path / "nothing").mkdir()
    with pytest.raises(NoFaceError, match="1 files were looked at and 0 faces found"):
        gather([tmp_path], 4, "recogniser", analyser())
    with pytest.raises(NoFaceError, match="0 files"):
        gather([tmp_path / "nothing"], 4, "recogniser", analyser())


def test_what_makes_no_sense_is_an_error(tmp_path: Path):
    with pytest.raises(UsageError, match="is missing"):
        gather([tmp_path / "nowhere"], 4, "recogniser", analyser())
    with pytest.raises(UsageError, match="1 samples are too few"):
        gather([STILLS], 1, "recogniser", analyser())
