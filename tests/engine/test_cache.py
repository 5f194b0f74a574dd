from pathlib import Path

import pytest

from mien.engine.cache import CACHE_VARIABLE, cache_root, open_cache


def test_the_variable_names_the_folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch):
    monkeypatch.setenv(CACHE_VARIABLE, str(tmp_path / "here"))
    cache = open_cache()
    assert cache.warning is None
    assert cache.folder is not None
    assert cache.folder.is_dir()
    assert cache.folder.is_relative_to(tmp_path / "here")


def test_without_it_the_user_has_one(monkeypatch: pytest.MonkeyPatch):
    monkeypatch.delenv(CACHE_VARIABLE, raising=False)
    assert cache_root().name == "mien"
    assert cache_root().is_absolute()


def test_a_folder_that_cannot_be_made_is_a_warning(tmp_path: Path, monkeypatch: pytest.MonkeyPatch):
    (tmp_path / "file").write_text("in the way")
    monkeypatch.setenv(CACHE_VARIABLE, str(tmp_path / "file" / "cache"))
    cache = open_cache()
    assert cache.folder is None
    assert cache.warning is not None
    assert "file" in cache.warning
    assert CACHE_VARIABLE in cache.warning
