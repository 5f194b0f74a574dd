"""Bounds that the system keeps on the inspecting process."""

from __future__ import annotations

import resource

_FILE_BYTES = 64_000_000
"""It writes nothing but the caches of its own networks."""
_OPEN_FILES = 256


def bound_process(memory_bytes: int) -> None:
    """From here on: no more private memory than this, no large files, no core dump."""
    # Private memory, not address space: engines reserve much more of that than they use.
    resource.setrlimit(resource.RLIMIT_DATA, (memory_bytes, memory_bytes))
    resource.setrlimit(resource.RLIMIT_FSIZE, (_FILE_BYTES, _FILE_BYTES))
    resource.setrlimit(resource.RLIMIT_NOFILE, (_OPEN_FILES, _OPEN_FILES))
    resource.setrlimit(resource.RLIMIT_CORE, (0, 0))
