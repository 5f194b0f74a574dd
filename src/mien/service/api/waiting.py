"""Calls that need a process which looks into files: they wait in line, so that all others are answered meanwhile."""

from __future__ import annotations

from collections.abc import Callable
from typing import TypeVar

from anyio import CapacityLimiter
from anyio.to_thread import run_sync
from fastapi import Request

from mien.service.problems import refuse

LINE = 200
"""Calls that may wait; whoever comes then is told to come back."""
BESIDE = 3
"""More of them at work than there are processes: while one is looked at, others are stored or read."""

Answer = TypeVar("Answer")


async def in_line(request: Request, work: Callable[[], Answer]) -> Answer:
    """What `work` gives, when it is its turn.

    Raises:
        Problem: unavailable, if too many wait; whatever `work` raises.
    """
    limiter: CapacityLimiter = request.app.state.looking
    if limiter.statistics().tasks_waiting >= LINE:
        refuse("unavailable", "too many files are being looked at: try again in a moment", retry_after_s=5)
    return await run_sync(work, limiter=limiter)
