"""What is taken next: a pure function of what waits.

Between tenants, work done decides: who was given the least of it, by their weight, comes first, so nobody's thousand
jobs keep another's only one waiting. Within a tenant, moments decide: each task is due some time after its job was
created, soon for `high` and late for `low` priority, and the first one due comes first. As time goes on everything
becomes the first one due, so nothing starves.
"""

from __future__ import annotations

from collections.abc import Sequence

from mien.service.state import Head


def choose(heads: Sequence[Head]) -> Head | None:
    """Whose task is taken next; nothing if nothing waits."""
    return min(heads, key=lambda head: (head.served, head.due_s, head.tenant), default=None)


def share(waiting: int, slots: int, most: int) -> int:
    """How many small pictures a slot takes at once: what is its own part of those that wait, at least one.

    Args:
        waiting: tasks in the queue.
        slots: of the worker.
        most: that a slot takes.
    """
    return min(max(1 + waiting // (slots + 1), 1), most)
