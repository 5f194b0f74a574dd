from pathlib import Path

import pytest

from mien.engine.cache import CACHE_VARIABLE
from mien.engine.device import Device
from mien.engine.verdicts import Verdict, checked_precisions, load_verdict, store_verdict

CPU = Device("cpu", "CPU", "A Processor", ("fp32", "bf16"))
PASSED, FAILED = Verdict(True, "45.0 dB"), Verdict(False, "31.0 dB")


@pytest.fixture(autouse=True)
def cache(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.setenv(CACHE_VARIABLE, str(tmp_path))
    return tmp_path


def test_a_verdict_is_remembered():
    assert load_verdict("ab", CPU, "bf16", "1") is None
    store_verdict("ab", CPU, "bf16", "1", PASSED)
    assert load_verdict("ab", CPU, "bf16", "1") == PASSED
    store_verdict("ab", CPU, "bf16", "1", FAILED)
    assert load_verdict("ab", CPU, "bf16", "1") == FAILED


def test_it_holds_for_its_network_machine_precision_and_engine_only():
    store_verdict("ab", CPU, "bf16", "1", PASSED)
    other = Device("cpu", "CPU", "Another Processor", ("fp32", "bf16"))
    assert load_verdict("cd", CPU, "bf16", "1") is None
    assert load_verdict("ab", other, "bf16", "1") is None
    assert load_verdict("ab", CPU, "fp16", "1") is None
    assert load_verdict("ab", CPU, "bf16", "2") is None


def test_a_second_card_of_a_kind_computes_as_the_first():
    first, second = (Device(f"cuda:{i}", "CUDA", "A Card", ("fp32", "fp16"), "onnxruntime") for i in range(2))
    store_verdict("ab", first, "fp16", "1", PASSED)
    assert load_verdict("ab", second, "fp16", "1") == PASSED


def test_all_verdicts_of_a_device_at_once():
    store_verdict("ab", CPU, "bf16", "1", FAILED)
    store_verdict("ab", CPU, "int8", "1", PASSED)
    assert checked_precisions("ab", CPU, "1") == {("cpu", "bf16"): False, ("cpu", "int8"): True}
    assert checked_precisions("cd", CPU, "1") == {}


def test_a_damaged_verdict_is_none(cache: Path):
    store_verdict("ab", CPU, "bf16", "1", PASSED)
    [file] = [path for path in cache.rglob("*") if path.is_file()]
    file.write_bytes(file.read_bytes()[:-3])
    assert load_verdict("ab", CPU, "bf16", "1") is None


def test_a_cache_that_takes_nothing_is_no_error(cache: Path, monkeypatch: pytest.MonkeyPatch):
    (cache / "file").write_text("in the way")
    monkeypatch.setenv(CACHE_VARIABLE, str(cache / "file"))
    store_verdict("ab", CPU, "bf16", "1", PASSED)
    assert load_verdict("ab", CPU, "bf16", "1") is None
