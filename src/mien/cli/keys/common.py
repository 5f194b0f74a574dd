"""What the commands about keys share."""

from __future__ import annotations

import argparse
import time
from datetime import UTC, datetime
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from mien.service.keys import ApiKey


def moment(seconds: float | None) -> str:
    """A Unix time for a table."""
    return "-" if seconds is None else datetime.fromtimestamp(seconds, UTC).strftime("%Y-%m-%d %H:%M")


def to_mapping(key: ApiKey) -> dict[str, Any]:
    """A key for JSON, without what is kept of its secret."""
    return {**{name: value for name, value in key.to_mapping().items() if name != "digest"}, "state": state_of(key)}


def state_of(key: ApiKey) -> str:
    """Whether it can be used now."""
    return key.state(time.time())


def add_json(parser: argparse.ArgumentParser) -> None:
    """Declare `--json`."""
    parser.add_argument("--json", action="store_true", help="print JSON")
