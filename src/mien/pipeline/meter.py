"""What a run costs: wall time, CPU time, peak memory and the use of networks, as differences over the run."""

from __future__ import annotations

import sys
import time
from collections.abc import Sequence
from pathlib import Path

from mien.engine.session import Session, Usage
from mien.report import ModelUse, Report

_STATUS = Path("/proc/self/status")
_RESET_PEAK = Path("/proc/self/clear_refs")


class Meter:
    """Started when a run starts; `fill` writes what the run cost into its report."""

    def __init__(self, sessions: Sequence[Session]) -> None:
        self._before = {id(session): _copy(session.usage) for session in sessions}
        self._began = time.perf_counter()
        self._cpu_began = time.process_time()
        _reset_peak_memory()

    @property
    def began(self) -> float:
        """`time.perf_counter()` at the start."""
        return self._began

    def fill(self, report: Report, sessions: Sequence[Session], frames_made: int) -> None:
        """Set time, memory, models and cost of `report` (media seconds and price are already there)."""
        report.seconds = time.perf_counter() - self._began
        report.cpu_seconds = time.process_time() - self._cpu_began
        report.peak_memory_bytes = peak_memory_bytes()
        report.frames_per_second = frames_made / report.seconds
        report.models = [self._use(session) for session in sessions if self._calls(session)]
        if report.price_per_hour is not None:
            report.cost = report.seconds / 3600 * report.price_per_hour
            if report.media_seconds > 0:
                report.cost_per_media_minute = report.cost / (report.media_seconds / 60)

    def _calls(self, session: Session) -> int:
        return session.usage.calls - self._before.get(id(session), Usage()).calls

    def _use(self, session: Session) -> ModelUse:
        before, now, ran = self._before.get(id(session), Usage()), session.usage, session.ran
        return ModelUse(
            model=ran.model,
            engine=ran.engine,
            device=ran.device,
            precision=ran.precision,
            calls=now.calls - before.calls,
            items=now.items - before.items,
            seconds=now.seconds - before.seconds,
            why=ran.why,
        )


def peak_memory_bytes() -> int:
    """Largest resident size of the process so far (on Linux: since the last `Meter` was started); 0 if unknown."""
    if _STATUS.exists():
        for line in _STATUS.read_text().splitlines():
            if line.startswith("VmHWM:"):
                return int(line.split()[1]) * 1024
    if sys.platform == "win32":
        return 0
    import resource

    peak = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss
    return peak if sys.platform == "darwin" else peak * 1024  # macOS counts bytes, others KiB.


def _reset_peak_memory() -> None:
    # A process that runs several jobs reports each job's own peak where the kernel allows it (proc(5): value 5).
    if _RESET_PEAK.exists():
        try:
            _RESET_PEAK.write_text("5")
        except OSError:
            return


def _copy(usage: Usage) -> Usage:
    return Usage(usage.calls, usage.items, usage.seconds)
