"""Tests that measure the memory of their own process run in one that is theirs.

In the process of a whole run, others' freed pages are used again unseen, and others' threads come and go.
"""

from __future__ import annotations

import os
import subprocess
import sys

import pytest

_INSIDE = "MIEN_TEST_ALONE"


def is_alone() -> bool:
    """Whether this process was started for a single test."""
    return _INSIDE in os.environ


def run_alone(test: pytest.Item) -> None:
    """Run `test` again, fixtures included, in a fresh process; fails with what that says if it does not pass."""
    command = [sys.executable, "-m", "pytest", "-q", "-p", "no:cacheprovider", "--no-header", test.nodeid]
    environment = {**os.environ, _INSIDE: "1"}
    done = subprocess.run(command, cwd=test.config.rootpath, env=environment, capture_output=True, text=True)
    # A test that was skipped or not found there ends well, too, or with 5: neither has shown anything.
    if done.returncode or "1 passed" not in done.stdout:
        pytest.fail(f"alone in a fresh process:\n{done.stdout}{done.stderr}", pytrace=False)
