"""What the commands print: streams, numbers as people read them, aligned tables."""

from __future__ import annotations

import io
import json
import sys
from collections.abc import Sequence
from pathlib import Path
from typing import Any

from mien.errors import UnwritableError

STDOUT = "-"
"""The file name that means standard output."""


def make_streams_lenient() -> None:
    """Let file names that the terminal's encoding cannot show be printed with escapes instead of failing."""
    for stream in (sys.stdout, sys.stderr):
        if isinstance(stream, io.TextIOWrapper):
            stream.reconfigure(errors="backslashreplace")


def complain(message: str) -> None:
    """A line on standard error, with the program's name."""
    print(f"mien: {message}", file=sys.stderr, flush=True)


def check_folder(path: str | Path) -> None:
    """Make sure before long work that the folder of a file to write is there.

    Raises:
        UnwritableError: it is not.
    """
    if not Path(path).parent.is_dir():
        raise UnwritableError(f"{path} cannot be written: the folder {Path(path).parent} does not exist, make it first")


def write_json(value: Any, path: str) -> None:
    """Write `value` as JSON to the file `path`, or to standard output if it is `-`.

    Raises:
        UnwritableError: the file cannot be written.
    """
    text = json.dumps(value, indent=2, ensure_ascii=False) + "\n"
    if path == STDOUT:
        sys.stdout.write(text)
        return
    try:
        Path(path).write_text(text, encoding="utf-8")
    except OSError as error:
        raise UnwritableError(f"cannot write {path}: {error.strerror or error}") from error


def format_duration(seconds: float, *, decimals: int = 1) -> str:
    """`4.2 s`, `1:05`, `2:03:20`; `decimals` are those of less than a minute."""
    if round(seconds, decimals) < 60:
        return f"{seconds:.{decimals}f} s"
    minutes, rest = divmod(round(seconds), 60)
    hours, minutes = divmod(minutes, 60)
    return f"{hours}:{minutes:02}:{rest:02}" if hours else f"{minutes}:{rest:02}"


def format_moment(seconds: float) -> str:
    """A place in a clip: `0:04.20`, `12:05.00`, `1:00:05.00`."""
    hundredths = round(seconds * 100)
    minutes, rest = divmod(hundredths, 6000)
    hours, minutes = divmod(minutes, 60)
    tail = f"{rest // 100:02}.{rest % 100:02}"
    return f"{hours}:{minutes:02}:{tail}" if hours else f"{minutes}:{tail}"


def format_bytes(count: float) -> str:
    """`640 B`, `12.5 kB`, `431 MB`, `1.2 GB`: powers of 1000."""
    for unit in ("B", "kB", "MB", "GB"):
        if count < 999.5:
            return f"{count:.0f} {unit}" if unit == "B" or count >= 99.95 else f"{count:.1f} {unit}"
        count /= 1000
    return f"{count:.1f} TB"


def count_of(number: int, one: str, many: str) -> str:
    """`1 face`, `2 faces`."""
    return f"{number} {one if number == 1 else many}"


def table(rows: Sequence[Sequence[str]], *, right: Sequence[int] = (), indent: str = "") -> str:
    """Columns padded to the widest cell and two spaces apart; columns numbered in `right` are flush right."""
    widths = [max(len(row[column]) for row in rows) for column in range(len(rows[0]))] if rows else []
    lines: list[str] = []
    for row in rows:
        cells = [
            cell.rjust(width) if column in right else cell.ljust(width)
            for column, (cell, width) in enumerate(zip(row, widths, strict=True))
        ]
        lines.append((indent + "  ".join(cells)).rstrip())
    return "\n".join(lines)
