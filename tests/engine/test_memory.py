import mmap
import subprocess
import sys
from pathlib import Path

import pytest

from mien.engine import memory
from mien.engine.memory import Memory, ProcessMeter, format_bytes, machine_memory, parse_budget, trim_heap
from mien.errors import UsageError

GIB = 1024**3
MACHINE = Memory(total_bytes=16 * GIB, free_bytes=10 * GIB)
linux = pytest.mark.skipif(sys.platform != "linux", reason="only Linux tells the memory of a process")


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("4GiB", 4 * GIB),
        ("800MB", 800_000_000),
        ("1.5 gib", 3 * GIB // 2),
        ("512KiB", 512 * 1024),
        ("7000B", 7000),
        ("50%", 8 * GIB),
        ("100%", 16 * GIB),
        ("auto", int(0.7 * 10 * GIB)),
        (" AUTO ", int(0.7 * 10 * GIB)),
    ],
)
def test_budgets(text: str, expected: int):
    assert parse_budget(text, MACHINE) == expected


@pytest.mark.parametrize(
    ("text", "complaint"),
    [
        ("", "not an amount"),
        ("4", "not an amount"),
        ("-4GiB", "not an amount"),
        ("much", "not an amount"),
        ("nanGiB", "not an amount"),
        ("1e3MB", "not an amount"),
        ("4Gi", "unknown unit 'Gi'"),
        ("4 parsecs", "unknown unit 'parsecs'"),
        ("0GiB", "is nothing"),
        ("0%", "is nothing"),
        ("17GiB", "more than there is"),
        ("101%", "more than there is"),
    ],
)
def test_what_is_no_budget_is_refused_with_examples(text: str, complaint: str):
    with pytest.raises(UsageError, match=rf"'{text}'.*{complaint}.*give e\.g\. 4GiB, 800MB, 50% or auto"):
        parse_budget(text, MACHINE)


def test_without_a_known_memory_only_plain_amounts_make_sense():
    assert parse_budget("4GiB", None) == 4 * GIB
    for share in ("50%", "auto"):
        with pytest.raises(UsageError, match=r"unknown here: give e\.g\. 4GiB"):
            parse_budget(share, None)


@pytest.mark.parametrize("count", [1, 1023, 1024, 1025, 10**6, 554 * 1024**2 + 1, 10**9, 3 * GIB, 123456789012])
def test_amounts_read_back_as_no_less_and_hardly_more(count: int):
    again = parse_budget(format_bytes(count), None)
    assert count <= again <= count * 1.1 + 1


@pytest.mark.alone
@linux
def test_the_process_meter_sees_pages_come_and_go():
    meter = ProcessMeter()
    before = meter.used_bytes()
    with mmap.mmap(-1, 64 * 1024**2) as block:
        block.write(b"\1" * len(block))
        assert meter.used_bytes() - before > 60 * 1024**2
    assert meter.used_bytes() - before < 8 * 1024**2


@linux
def test_trimming_gives_back_what_the_heap_keeps():
    # Small blocks below one that stays lie in the heap, which cannot shrink by itself.
    program = """
import ctypes
from mien.engine.memory import ProcessMeter, trim_heap
c = ctypes.CDLL(None)
c.malloc.restype = ctypes.c_void_p
c.malloc.argtypes = [ctypes.c_size_t]
c.free.argtypes = [ctypes.c_void_p]
blocks = [c.malloc(65536) for _ in range(1024)]
for block in blocks:
    ctypes.memset(block, 1, 65536)
last = c.malloc(65536)
meter = ProcessMeter()
full = meter.used_bytes()
for block in blocks:
    c.free(block)
kept = meter.used_bytes()
trim_heap()
print(full - kept, full - meter.used_bytes())
"""
    done = subprocess.run([sys.executable, "-c", program], check=True, capture_output=True, text=True)
    freed, trimmed = (int(word) for word in done.stdout.split())
    assert freed < 32 * 1024**2
    assert trimmed > 60 * 1024**2


@linux
def test_the_machine_is_what_the_system_says():
    found = machine_memory()
    assert found is not None
    assert 0 < found.free_bytes <= found.total_bytes
    said = int(Path("/proc/meminfo").read_text().split("MemTotal:")[1].split()[0]) * 1024
    assert found.total_bytes <= said


def test_the_nearest_limits_count_in_both_kinds_of_control_groups(tmp_path: Path):
    membership = tmp_path / "cgroup"
    membership.write_text("4:cpu,memory:/outer/inner\n0::/outer/inner\n")
    for version, names in (
        ("", ("memory.max", "memory.current", "inactive_file")),
        ("memory", ("memory.limit_in_bytes", "memory.usage_in_bytes", "total_inactive_file")),
    ):
        inner = tmp_path / "fs" / version / "outer" / "inner"
        inner.mkdir(parents=True)
        for folder, limit, used, idle in ((inner, 1000, 700, 200), (inner.parent, 800, 750, 100)):
            (folder / names[0]).write_text(f"{limit}\n")
            (folder / names[1]).write_text(f"{used}\n")
            (folder / "memory.stat").write_text(f"anon 5\n{names[2]} {idle}\n")
    found = list(memory._control_groups(membership, tmp_path / "fs"))
    assert found == [(1000, 500), (800, 650)] * 2


def test_groups_without_a_limit_or_a_folder_do_not_count(tmp_path: Path):
    membership = tmp_path / "cgroup"
    membership.write_text("0::/of/the/host\n")
    root = tmp_path / "fs"
    root.mkdir()
    assert list(memory._control_groups(membership, root)) == []
    (root / "memory.max").write_text("max\n")
    assert list(memory._control_groups(membership, root)) == []
    assert list(memory._control_groups(tmp_path / "nowhere", root)) == []


def test_trimming_does_no_harm_elsewhere(monkeypatch: pytest.MonkeyPatch):
    monkeypatch.setattr(sys, "platform", "darwin")
    trim_heap()
