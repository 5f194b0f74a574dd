"""Embeddings kept to save time: encrypted, for a time, and gone when told."""

from __future__ import annotations

import os
from datetime import UTC, datetime, timedelta
from pathlib import Path

import numpy as np
import pytest

from mien.trust import kept
from mien.trust.kept import KeptEmbeddings, delete_all

KEY = "a" * 64
FACE = np.random.default_rng(3).normal(size=128).astype(np.float32)


class Later(datetime):
    """The clock, forty days on."""

    @classmethod
    def now(cls, tz=None):
        return datetime.now(tz) + timedelta(days=40)


def test_what_is_kept_is_found_by_another_process(tmp_path: Path) -> None:
    KeptEmbeddings(tmp_path, 30).put(KEY, FACE)
    assert np.array_equal(KeptEmbeddings(tmp_path, 30).get(KEY), FACE)
    assert KeptEmbeddings(tmp_path, 30).get("b" * 64) is None


def test_it_cannot_be_read_on_the_disk(tmp_path: Path) -> None:
    KeptEmbeddings(tmp_path, 30).put(KEY, FACE)
    patterns = [FACE[at : at + 2].tobytes() for at in range(127)]
    for path in tmp_path.rglob("*"):
        assert path.is_dir() or not any(pattern in path.read_bytes() for pattern in patterns)


def test_it_goes_when_its_time_is_over(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    cache = KeptEmbeddings(tmp_path, 30)
    cache.put(KEY, FACE)
    monkeypatch.setattr(kept, "datetime", Later)
    assert cache.get(KEY) is None
    assert list((tmp_path / "embeddings").iterdir()) == []


def test_what_is_old_goes_unasked(tmp_path: Path) -> None:
    KeptEmbeddings(tmp_path, 30).put(KEY, FACE)
    (path,) = (tmp_path / "embeddings").iterdir()
    old_s = (datetime.now(UTC) - timedelta(days=31)).timestamp()
    os.utime(path, (old_s, old_s))
    KeptEmbeddings(tmp_path, 30)
    assert not path.exists()


def test_a_damaged_one_is_computed_again(tmp_path: Path) -> None:
    cache = KeptEmbeddings(tmp_path, 30)
    cache.put(KEY, FACE)
    (path,) = (tmp_path / "embeddings").iterdir()
    path.write_bytes(b"?" + path.read_bytes())
    assert cache.get(KEY) is None


def test_all_go_when_told(tmp_path: Path) -> None:
    cache = KeptEmbeddings(tmp_path, 30)
    for letter in "abc":
        cache.put(letter * 64, FACE)
    assert delete_all(tmp_path) == 3
    assert delete_all(tmp_path) == 0
    assert cache.get(KEY) is None
