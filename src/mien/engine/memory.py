"""Memory: how much there is, how much the process holds, and what a user means by a budget.

Linux tells all of it, cgroup limits (v1 and v2) included. Elsewhere sizes are unknown: an explicit budget in bytes
still works, a share of the machine is refused.
"""

from __future__ import annotations

import ctypes
import re
import sys
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Protocol

from mien.errors import UsageError

AUTO_SHARE = 0.7
"""Share of the free memory that models may take unasked: the rest is for frames, encoders and the neighbours."""

SMAPS = Path("/proc/self/smaps_rollup")
"""See proc(5); Linux 4.14 and later."""

_UNITS = {
    "b": 1,
    **{f"{letter}b": 1000**power for power, letter in enumerate("kmgt", 1)},
    **{f"{letter}ib": 1024**power for power, letter in enumerate("kmgt", 1)},
}
_AMOUNT = re.compile(r"(\d+(?:\.\d+)?)\s*([a-z]+|%)", re.IGNORECASE)
_FORMS = "give e.g. 4GiB, 800MB, 50% or auto"


@dataclass(frozen=True, slots=True)
class Memory:
    """What this process may use, the limits of its control groups included."""

    total_bytes: int
    """The most it could ever have."""
    free_bytes: int
    """What it could take now without pushing anything out; page cache counts as free."""


class Meter(Protocol):
    """Tells how many bytes are in use where models live: in a process, or on a device."""

    def used_bytes(self) -> int:
        """Bytes in use now."""
        ...


class ProcessMeter:
    """The memory of this process: its own pages, and its share of those it has in common with others (PSS)."""

    def used_bytes(self) -> int:
        """PSS of the process.

        Raises:
            OSError: the system does not tell (only Linux does).
        """
        return _kibibytes(SMAPS)["Pss"]


class SumMeter:
    """Several meters as one, e.g. the process and a device."""

    def __init__(self, *meters: Meter) -> None:
        self._meters = meters

    def used_bytes(self) -> int:
        """The sum of what they tell."""
        return sum(meter.used_bytes() for meter in self._meters)


def process_meter() -> ProcessMeter | None:
    """The meter of this process; None where the system does not tell."""
    return ProcessMeter() if SMAPS.exists() else None


def machine_memory() -> Memory | None:
    """Memory of the machine or of the container, whichever is less; None where the system does not tell."""
    try:
        told = _kibibytes(Path("/proc/meminfo"))
    except OSError:
        return None
    total, free = told["MemTotal"], told["MemAvailable"]
    for limit, used in _control_groups(Path("/proc/self/cgroup"), Path("/sys/fs/cgroup")):
        total = min(total, limit)
        free = min(free, max(0, limit - used))
    return Memory(total, free)


def parse_budget(text: str, memory: Memory | None) -> int:
    """Bytes meant by `4GiB`, `800MB`, `50%` (of all memory) or `auto` (`AUTO_SHARE` of what is free).

    Args:
        text: As the user wrote it. Units: B, KB ... TB are powers of 1000, KiB ... TiB powers of 1024.
        memory: What there is, or None if that is unknown.

    Raises:
        UsageError: it is none of these, is nothing, or is more than there is.
    """
    wanted = text.strip()
    if wanted.lower() == "auto":
        return int(AUTO_SHARE * _known(memory, text).free_bytes)
    matched = _AMOUNT.fullmatch(wanted)
    if matched is None:
        raise UsageError(f"memory budget '{text}' is not an amount of memory: {_FORMS}")
    amount, unit = float(matched[1]), matched[2].lower()
    if unit != "%" and unit not in _UNITS:
        raise UsageError(f"memory budget '{text}' has an unknown unit '{matched[2]}': {_FORMS}")
    budget = int(amount / 100 * _known(memory, text).total_bytes) if unit == "%" else int(amount * _UNITS[unit])
    if budget < 1:
        raise UsageError(f"memory budget '{text}' is nothing: {_FORMS}")
    if memory is not None and budget > memory.total_bytes:
        raise UsageError(f"memory budget '{text}' is more than there is ({format_bytes(memory.total_bytes)}): {_FORMS}")
    return budget


def format_bytes(count: int) -> str:
    """As people and `parse_budget` read it, rounded up so that it is never too little: `3.6GiB`, `554MiB`."""
    for power, unit in ((3, "GiB"), (2, "MiB"), (1, "KiB")):
        if count >= 100 * 1024**power:
            return f"{-(-count // 1024**power)}{unit}"
        if count >= 1024**power:
            return f"{-(-count * 10 // 1024**power) / 10:g}{unit}"
    return f"{count}B"


def trim_heap() -> None:
    """Have the C library give freed memory back to the system, where it can (glibc)."""
    if sys.platform == "linux":
        trim = getattr(ctypes.CDLL(None), "malloc_trim", None)
        if trim is not None:
            trim(0)


def _known(memory: Memory | None, text: str) -> Memory:
    if memory is None:
        raise UsageError(f"memory budget '{text}' is a share of a memory whose size is unknown here: give e.g. 4GiB")
    return memory


def _kibibytes(path: Path) -> dict[str, int]:
    """The `Name:  123 kB` lines of a file of /proc, in bytes."""
    lines = (line.split() for line in path.read_text().splitlines())
    return {words[0].rstrip(":"): int(words[1]) * 1024 for words in lines if len(words) == 3 and words[2] == "kB"}


def _control_groups(membership: Path, root: Path) -> Iterator[tuple[int, int]]:
    """Limit and unreclaimable use, bytes, of every control group around this process that has a limit."""
    if not membership.exists():
        return
    for line in membership.read_text().splitlines():
        _, controllers, inside = line.split(":", 2)
        if not controllers:
            names = ("memory.max", "memory.current", "inactive_file")
            yield from _limits(root, inside, *names)
        elif "memory" in controllers.split(","):
            names = ("memory.limit_in_bytes", "memory.usage_in_bytes", "total_inactive_file")
            yield from _limits(root / "memory", inside, *names)


def _limits(root: Path, inside: str, limit: str, usage: str, reclaimable: str) -> Iterator[tuple[int, int]]:
    # In a container the path is often that of the host and not there: the container's own group is the root.
    group = root / inside.strip("/")
    for folder in (group, *group.parents):
        if (folder / limit).exists():
            said = (folder / limit).read_text().strip()
            if said != "max":
                stat = dict(line.split() for line in (folder / "memory.stat").read_text().splitlines())
                used = int((folder / usage).read_text()) - int(stat.get(reclaimable, 0))
                yield int(said), used
        if folder == root:
            return
