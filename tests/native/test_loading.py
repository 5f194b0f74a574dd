"""The library of kernels: the best variant for the processor, loaded once; what is missing is said."""

from __future__ import annotations

import ctypes
import platform
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from threading import Barrier
from types import SimpleNamespace

import pytest

from mien.errors import InstallationError
from mien.native import loading
from mien.native.loading import FOLDER, Kernel, library, open_variant, runnable, variant

CPUINFO = Path("/proc/cpuinfo")
LINUX_FLAGS_OF_V3 = {"avx", "avx2", "bmi1", "bmi2", "f16c", "fma", "abm", "movbe"}
"""The x86-64 psABI's level 3 by Linux's names; `abm` is LZCNT."""


@pytest.mark.skipif(platform.machine() != "x86_64" or not CPUINFO.exists(), reason="asks Linux about an x86-64")
def test_the_processor_is_seen_as_the_system_sees_it():
    flags = next(line for line in CPUINFO.read_text().splitlines() if line.startswith("flags")).split()
    assert ("x86-64-v3" in runnable()) == (set(flags) >= LINUX_FLAGS_OF_V3)


def test_every_variant_is_what_its_file_is_called():
    assert [variant(open_variant(name)) for name in runnable()] == list(runnable())


def test_the_variants_agree():
    asks = Kernel("mien_has_x86_64_v3")
    assert {asks.of(open_variant(name))() for name in runnable()} == {int("x86-64-v3" in runnable())}


def test_the_best_variant_is_loaded_once_whichever_thread_asks_first():
    loading._best.cache_clear()
    together = Barrier(8)

    def ask(_: int) -> ctypes.CDLL:
        together.wait()
        return library()

    with ThreadPoolExecutor(8) as pool:
        (loaded,) = set(pool.map(ask, range(8)))
    assert variant(loaded) == runnable()[-1]
    assert library() is loaded


def test_a_missing_library_is_said_with_what_brings_it(tmp_path):
    with pytest.raises(InstallationError, match=r"kernels-baseline\S* is missing; install it again: .*pip install"):
        open_variant("baseline", tmp_path)


def test_a_damaged_library_is_said_with_what_mends_it(tmp_path):
    (whole,) = FOLDER.glob("kernels-baseline.*")
    (tmp_path / whole.name).write_bytes(whole.read_bytes()[:500])
    with pytest.raises(InstallationError, match=r"kernels-baseline\S* does not load \(.*; install it again: "):
        open_variant("baseline", tmp_path)


def test_a_kernel_that_the_library_lacks_is_named():
    with pytest.raises(InstallationError, match="lacks mien_none, it is of another version; install it again: "):
        Kernel("mien_none")()


def test_arguments_of_the_wrong_type_do_not_reach_a_kernel():
    with pytest.raises(ctypes.ArgumentError):
        Kernel("mien_has_x86_64_v3", ctypes.c_int)(0.5)


@pytest.mark.parametrize("result", [0, -1])
def test_a_kernel_without_memory_is_an_error(monkeypatch, result):
    seen: list[int] = []

    def work(number: int) -> int:
        seen.append(number)
        return result

    fake = SimpleNamespace(mien_work=ctypes.CFUNCTYPE(ctypes.c_int, ctypes.c_int)(work))
    monkeypatch.setattr(loading, "library", lambda: fake)
    kernel = Kernel("mien_work", ctypes.c_int)
    if result:
        with pytest.raises(MemoryError, match="no memory left for mien_work"):
            kernel(7)
    else:
        kernel(7)
    assert seen == [7]
