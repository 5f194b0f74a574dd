"""How a job's progress is shown: one live line on a terminal, a plain line every few seconds elsewhere."""

from __future__ import annotations

import shutil
import sys
import time
import unicodedata
from collections.abc import Callable, Generator
from contextlib import contextmanager
from typing import TYPE_CHECKING, Protocol, TextIO

from mien.cli.console import format_duration

if TYPE_CHECKING:
    from mien.pipeline.progress import Progress, ProgressCallback

LIVE_INTERVAL_S = 0.1
"""Time between two drawings of the line: as fast as an eye follows."""

PLAIN_INTERVAL_S = 5.0
"""Time between two plain lines: a log of an hour stays under a thousand lines."""

_BAR_MIN = 10
_BAR_MAX = 40


class Display(Protocol):
    """Shows progress. `label` names what is being worked on."""

    def show(self, label: str, progress: Progress) -> None:
        """Take note of a moment of the job called `label`."""
        ...

    def clear(self) -> None:
        """Leave the place free for other output."""
        ...


def make_display(*, quiet: bool) -> Display:
    """The display that fits standard error."""
    if quiet:
        return Silence()
    return LiveLine(sys.stderr) if sys.stderr.isatty() else PlainLines(sys.stderr)


@contextmanager
def progress_of(label: str, *, quiet: bool) -> Generator[ProgressCallback]:
    """A callback that shows the progress of one job while the block runs."""
    display = make_display(quiet=quiet)
    try:
        yield lambda progress: display.show(label, progress)
    finally:
        display.clear()


class Silence:
    """Shows nothing."""

    def show(self, label: str, progress: Progress) -> None:
        """Nothing."""

    def clear(self) -> None:
        """Nothing."""


class LiveLine:
    """One line that is written over and over, as wide as the terminal."""

    def __init__(self, stream: TextIO, clock: Callable[[], float] = time.monotonic) -> None:
        self._stream = stream
        self._clock = clock
        self._solid = "utf" in (stream.encoding or "").lower()
        self._stage = ""
        self._due_s = 0.0

    def show(self, label: str, progress: Progress) -> None:
        """Draw the line anew, unless that was done a moment ago."""
        now_s = self._clock()
        if progress.stage == self._stage and now_s < self._due_s:
            return
        self._stage, self._due_s = progress.stage, now_s + LIVE_INTERVAL_S
        # The last column stays free: some terminals wrap as soon as it is written.
        width = shutil.get_terminal_size().columns - 1
        self._write(f"\r{live_line(label, progress, width, solid=self._solid)}\x1b[K")

    def clear(self) -> None:
        """Wipe the line."""
        self._write("\r\x1b[K")

    def _write(self, text: str) -> None:
        self._stream.write(text)
        self._stream.flush()


class PlainLines:
    """A line when something new is worked on, every few seconds, and when all frames of it are done."""

    def __init__(self, stream: TextIO, clock: Callable[[], float] = time.monotonic) -> None:
        self._stream = stream
        self._clock = clock
        self._label = ""
        self._due_s = 0.0
        self._told_end = False

    def show(self, label: str, progress: Progress) -> None:
        """Print a line if one is due."""
        now_s = self._clock()
        ends = 1 < progress.total <= progress.done
        if label != self._label or now_s >= self._due_s or (ends and not self._told_end):
            print(plain_line(label, progress), file=self._stream, flush=True)
            self._due_s = now_s + PLAIN_INTERVAL_S
        self._label, self._told_end = label, ends

    def clear(self) -> None:
        """Nothing: lines stay."""


def live_line(label: str, progress: Progress, width: int, *, solid: bool = True) -> str:
    """The line for a terminal of `width` columns; `solid` draws the bar with block characters instead of `#`.

    What does not fit goes in this order: the bar, the stage, the end of the label.
    """
    percent = f"{min(100 * progress.done // progress.total, 100):3d} %" if progress.total else ""
    figures = "  ".join(part for part in (percent, *_pace(progress)) if part)
    for parts in ([label, progress.stage], [label]):
        head = "  ".join(parts)
        room = width - display_width(head) - len(figures) - 4
        if room >= _BAR_MIN and progress.total:
            return f"{head}  {bar(progress.done / progress.total, min(room, _BAR_MAX), solid=solid)}  {figures}"
        if room >= -2:
            return f"{head}  {figures}"
    label = shorten(label, width - len(figures) - 2)
    return (f"{label}  {figures}" if label else figures)[:width]


def plain_line(label: str, progress: Progress) -> str:
    """The line for a log."""
    count = [f"frame {progress.done} of {progress.total}"] if progress.total else []
    return ", ".join([f"{label}: {progress.stage}", *count, *_pace(progress)])


def bar(fraction: float, width: int, *, solid: bool = True) -> str:
    """A bar of `width` columns of which `fraction` (0..1) is filled."""
    filled = round(min(max(fraction, 0.0), 1.0) * width)
    full, empty = ("█", "░") if solid else ("#", "-")
    return full * filled + empty * (width - filled)


def display_width(text: str) -> int:
    """Columns that `text` takes on a terminal: two for wide characters, none for combining ones."""
    return sum(
        0 if unicodedata.combining(character) else 2 if unicodedata.east_asian_width(character) in "WF" else 1
        for character in text
    )


def shorten(text: str, width: int) -> str:
    """`text` if it fits in `width` columns, else its beginning and `~`."""
    if display_width(text) <= width:
        return text
    while text and display_width(text) >= width:
        text = text[:-1]
    return f"{text}~" if width > 0 else ""


def _pace(progress: Progress) -> list[str]:
    parts: list[str] = []
    if progress.frames_per_second > 0:
        parts.append(f"{progress.frames_per_second:.1f} frames/s")
    if progress.seconds_left is not None and progress.done < progress.total:
        parts.append(f"{format_duration(progress.seconds_left, decimals=0)} left")
    return parts
