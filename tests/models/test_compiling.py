import os
import signal
from pathlib import Path

import pytest

from mien.engine import openvino
from mien.engine.choose import Choice
from mien.engine.device import Device, find_device
from mien.engine.machine import devices_for
from mien.errors import EngineError, ModelError
from mien.models.catalogue import find_model
from mien.models.compiling import compile_apart
from mien.models.opening import Wish
from mien.models.shelf import ModelShelf
from mien.models.store import Located, ModelStore
from support.graphs import convolution

ENTRY = find_model("face_detection_short_range")
BUNDLED = Located(ENTRY, ENTRY.path, "bundled", True, False, "")


@pytest.fixture(autouse=True)
def cache(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.setenv("MIEN_CACHE", str(tmp_path / "cache"))
    return tmp_path / "cache"


def choice(device: str = "cpu") -> Choice:
    return Wish(device).choose(BUNDLED.entry, BUNDLED.path)


def test_a_job_finds_what_was_compiled(monkeypatch: pytest.MonkeyPatch):
    compiled = compile_apart(BUNDLED, choice())
    assert compiled.bytes > 100_000
    assert len(list(compiled.folder.iterdir())) == 1

    def refuse(*_: object) -> None:
        raise AssertionError("compiled again")

    monkeypatch.setattr(openvino.OpenVinoSession, "_compile", refuse)
    assert ModelShelf().session(ENTRY.id).ran.model == ENTRY.id


def test_what_is_there_is_not_done_again_and_damage_is_mended():
    first = compile_apart(BUNDLED, choice())
    assert compile_apart(BUNDLED, choice()).bytes == 0
    [blob] = first.folder.iterdir()
    blob.write_bytes(blob.read_bytes()[:1000])
    assert compile_apart(BUNDLED, choice()).bytes > 100_000
    assert compile_apart(BUNDLED, choice()).bytes == 0


def test_progress_is_told():
    told: list[tuple[float, int]] = []
    compiled = compile_apart(BUNDLED, choice(), lambda seconds, written: told.append((seconds, written)))
    assert told
    assert [seconds for seconds, _ in told] == sorted(seconds for seconds, _ in told)
    assert told[-1][1] == compiled.bytes
    assert told[-1][0] <= compiled.seconds


def test_an_error_in_the_process_comes_back(tmp_path: Path):
    path = convolution(tmp_path / "net.onnx")
    path.write_bytes(path.read_bytes().replace(b"Conv", b"Cnov"))
    located = ModelStore(downloads=tmp_path).locate_file(path, "arcface")
    with pytest.raises((EngineError, ModelError), match="net"):
        compile_apart(located, choice())


def test_a_process_that_is_killed_is_an_error():
    def kill(_seconds: float, _written: int) -> None:
        for child in multiprocessing_children():
            os.kill(child, signal.SIGKILL)

    with pytest.raises(EngineError, match=f"{ENTRY.id} could not be compiled: its process ended with code -9"):
        compile_apart(BUNDLED, choice(), kill)


def multiprocessing_children() -> list[int]:
    import multiprocessing

    return [child.pid for child in multiprocessing.active_children() if child.name == "mien-compile" and child.pid]


def test_networks_of_other_engines_are_compiled_too():
    [device] = [device for device in devices_for("onnxruntime") if device.name == "onnxruntime"]
    compiled = compile_apart(BUNDLED, Choice(device, "fp32", "asked for"))
    assert compiled.bytes == 0  # Its CPU keeps nothing.


def test_tensorrt_that_is_not_there_is_an_error_not_a_build(monkeypatch: pytest.MonkeyPatch, cache: Path):
    from mien.engine import opening

    monkeypatch.setattr(opening, "nvidia_gpus", lambda: (("A Card", "sm_90"),))
    card = Device("tensorrt:0", "TensorrtExecutionProvider", "A Card", ("fp32", "fp16"), "onnxruntime")
    with pytest.raises(EngineError):
        compile_apart(BUNDLED, Choice(card, "fp16", "asked for"))
    assert not [path for path in cache.rglob("*.json")]


def test_without_a_cache_there_is_nothing_to_compile_for(cache: Path):
    cache.parent.mkdir(exist_ok=True)
    cache.write_text("in the way")
    with pytest.raises(EngineError, match=f"{ENTRY.id} is not compiled: .*MIEN_CACHE"):
        compile_apart(BUNDLED, Choice(find_device("cpu"), "fp32", "asked for"))
