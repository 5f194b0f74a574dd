import threading

import pytest

from mien.engine.cache import CACHE_VARIABLE
from mien.errors import EngineError, ModelError
from mien.models.shelf import ModelShelf


def test_nothing_is_loaded_before_it_is_asked_for():
    assert ModelShelf().sessions == []


def test_many_threads_load_a_network_once():
    shelf = ModelShelf()
    together = threading.Barrier(6)
    found: list[object] = []

    def ask() -> None:
        together.wait()
        found.append(shelf.session("selfie_segmentation"))

    threads = [threading.Thread(target=ask) for _ in range(6)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert len(found) == 6
    assert len(set(map(id, found))) == 1
    assert shelf.sessions == found[:1]


def test_warming_loads_what_is_named_once():
    shelf = ModelShelf(precision="fp32")
    shelf.warm(["face_detection_short_range", "selfie_segmentation", "selfie_segmentation"])
    assert {session.ran.model for session in shelf.sessions} == {"face_detection_short_range", "selfie_segmentation"}
    assert {session.ran.precision for session in shelf.sessions} == {"fp32"}


def test_warming_passes_errors_on():
    with pytest.raises(ModelError, match="no network 'nothing'"):
        ModelShelf().warm(["nothing"])


@pytest.mark.parametrize(("device", "precision"), [("gpu:9", "auto"), ("auto", "fp4")])
def test_what_is_not_there_is_an_error_at_once(device: str, precision: str):
    with pytest.raises(EngineError, match="give"):
        ModelShelf(device, precision)


def test_an_unusable_cache_is_a_warning_not_a_failure(tmp_path, monkeypatch: pytest.MonkeyPatch):
    (tmp_path / "file").write_text("in the way")
    monkeypatch.setenv(CACHE_VARIABLE, str(tmp_path / "file"))
    shelf = ModelShelf()
    assert len(shelf.warnings) == 1
    assert shelf.session("selfie_segmentation").ran.model == "selfie_segmentation"
