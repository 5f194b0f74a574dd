"""Colours of pictures with a profile: LittleCMS says how they look, and what is stored stays in their own space."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest
from PIL import Image

from mien.geometry import Rect
from mien.media.profiles import space_of
from support import pictures as support
from support.pictures import brighten, edit_file, outside, shown, stored_pixels

RECT = Rect(30, 20, 33, 25)
STEP = 25.5
"""What `brighten` adds, in 8-bit levels."""


@pytest.mark.parametrize("profile", [support.display_p3(), support.adobe_rgb()], ids=["display-p3", "adobe-rgb"])
def test_wide_colours_are_shown_as_littlecms_shows_them(tmp_path: Path, profile: bytes) -> None:
    source = tmp_path / "a.png"
    support.photograph().save(source, icc_profile=profile)
    assert np.abs(shown(source) - support.to_srgb_by_lcms(support.photograph(), profile)).max() <= 2
    assert np.abs(shown(source) - np.asarray(support.photograph())).max() > 5


@pytest.mark.parametrize("profile", [support.display_p3(), support.adobe_rgb()], ids=["display-p3", "adobe-rgb"])
def test_an_edit_of_wide_colours_is_stored_in_their_own_space(tmp_path: Path, profile: bytes) -> None:
    source, output = tmp_path / "a.png", tmp_path / "b.png"
    support.photograph().save(source, icc_profile=profile)
    edit_file(source, output, RECT)
    assert np.array_equal(stored_pixels(output)[outside(RECT)], stored_pixels(source)[outside(RECT)])
    with Image.open(output) as image:
        assert image.info["icc_profile"] == profile
        after = support.to_srgb_by_lcms(image, profile)
    before = support.to_srgb_by_lcms(support.photograph(), profile)
    inner = (before > 8) & (before < 220)
    assert np.abs((after - before - STEP)[RECT.slices][inner[RECT.slices]]).max() <= 4


def test_deep_wide_colours_are_edited_at_full_precision() -> None:
    stored = support.deep("RGB")
    space = space_of("rgb", 65535, support.display_p3())
    before = space.to_working(stored)
    after = space.to_working(space.add(stored, before, before + np.float32(0.01)))
    inner = ((before > 0.001) & (before < 0.98)).all(axis=2)
    assert np.abs(after - before - 0.01)[inner].max() < 1e-4


def test_grey_with_a_gamma_of_its_own(tmp_path: Path) -> None:
    source, output = tmp_path / "a.png", tmp_path / "b.png"
    profile = support.grey_profile(1.8)
    support.picture("L").save(source, icc_profile=profile)
    assert np.abs(shown(source) - support.to_srgb_by_lcms(support.picture("L"), profile)).max() <= 2
    edit_file(source, output, RECT)
    assert np.array_equal(stored_pixels(output)[outside(RECT)], stored_pixels(source)[outside(RECT)])
    assert (shown(output) - shown(source))[RECT.slices].mean() == pytest.approx(STEP, abs=1.5)


def test_inks_are_shown_and_edited_through_their_profile(tmp_path: Path) -> None:
    source, output = tmp_path / "a.tif", tmp_path / "b.tif"
    profile = support.cmyk_profile()
    support.picture("CMYK").save(source, icc_profile=profile, compression="tiff_lzw")
    before = support.to_srgb_by_lcms(support.picture("CMYK"), profile)
    assert np.abs(shown(source) - before).max() <= 1
    edit_file(source, output, RECT)
    assert np.array_equal(stored_pixels(output)[outside(RECT)], stored_pixels(source)[outside(RECT)])
    with Image.open(output) as image:
        assert image.info["icc_profile"] == profile
        after = support.to_srgb_by_lcms(image, profile)
    inner = (before > 20) & (before < 200)
    assert (after - before)[RECT.slices][inner[RECT.slices]].mean() == pytest.approx(STEP, abs=3)


@pytest.mark.parametrize("profile", [b"nonsense", support.grey_profile(2.2), support.display_p3()[:300]])
def test_a_profile_that_cannot_be_used_is_kept_and_said(tmp_path: Path, profile: bytes) -> None:
    source, output = tmp_path / "a.png", tmp_path / "b.png"
    support.photograph().save(source, icc_profile=profile)
    warnings = edit_file(source, output, RECT)
    assert len(warnings) == 1
    assert "profile" in warnings[0]
    with Image.open(output) as image:
        assert image.info["icc_profile"] == profile


def test_an_unchanged_patch_leaves_even_a_lookup_profile_bit_equal(tmp_path: Path) -> None:
    source, output = tmp_path / "a.tif", tmp_path / "b.tif"
    support.picture("CMYK").save(source, icc_profile=support.cmyk_profile())
    edit_file(source, output, RECT, lambda frame, rect: brighten(frame, rect, 0.0))
    assert np.array_equal(stored_pixels(output), stored_pixels(source))
