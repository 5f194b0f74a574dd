from pathlib import Path

import pytest

from mien.engine.cache import CACHE_VARIABLE, cache_root, load_blob, open_cache, store_blob


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


def test_what_was_kept_comes_back(tmp_path: Path):
    assert load_blob(tmp_path, "key") is None
    for content in (b"compiled", b""):
        store_blob(tmp_path, "key", content)
        assert load_blob(tmp_path, "key") == content
    assert len(list(tmp_path.iterdir())) == 1


def test_damage_is_noticed_wherever_it_is(tmp_path: Path):
    store_blob(tmp_path, "key", bytes(range(100)))
    [file] = tmp_path.iterdir()
    whole = file.read_bytes()
    for damaged in (b"", whole[:10], whole[:-1], whole + b"x", whole[:50] + b"!" + whole[51:], b"!" + whole[1:]):
        file.write_bytes(damaged)
        assert load_blob(tmp_path, "key") is None


def test_a_folder_that_is_gone_keeps_nothing_and_says_nothing(tmp_path: Path):
    store_blob(tmp_path / "gone", "key", b"compiled")
    assert load_blob(tmp_path / "gone", "key") is None
