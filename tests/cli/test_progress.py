"""The progress line fits any terminal; the log stays short."""

import io

import pytest

from mien.cli.progress import LiveLine, PlainLines, bar, display_width, live_line, plain_line, shorten
from mien.pipeline.progress import Progress

HALF = Progress("swapping", 150, 300, 28.14, 5.4)


def test_a_wide_terminal_shows_everything():
    line = live_line("clip.mp4", HALF, 79)
    assert line.startswith("clip.mp4  swapping  ")
    assert line.endswith("  50 %  28.1 frames/s  5 s left")
    assert abs(line.count("█") - line.count("░")) <= 1
    assert line.count("█") >= 5


def test_a_terminal_without_block_characters_gets_a_bar_as_well():
    line = live_line("clip.mp4", HALF, 79, solid=False)
    assert line.isascii()
    assert abs(line.count("#") - line.count("-")) <= 1


@pytest.mark.parametrize("width", [1, 5, 20, 35, 50, 79, 200])
@pytest.mark.parametrize(
    "label", ["a.mp4", "a very long name of a clip from a long holiday.mp4", "影片影片影片影片影片.mp4"]
)
@pytest.mark.parametrize("progress", [HALF, Progress("looking", 12, 0), Progress("joining", 300, 300, 9999.9, 0.0)])
def test_no_line_is_wider_than_the_terminal(width, label, progress):
    assert display_width(live_line(label, progress, width)) <= width


def test_what_matters_most_stays_longest():
    widths = {
        part: min(w for w in range(1, 120) if part in live_line("clip.mp4", HALF, w))
        for part in ("50 %", "clip.mp4", "swapping", "░")
    }
    assert widths["50 %"] < widths["clip.mp4"] < widths["swapping"] < widths["░"]


def test_time_left_is_not_shown_when_done_or_unknown():
    assert "left" not in live_line("a", Progress("swapping", 300, 300, 30.0, 0.0), 79)
    assert "left" not in live_line("a", Progress("swapping", 0, 300), 79)


def test_long_times_are_in_hours():
    assert "2:03:20 left" in live_line("a", Progress("swapping", 1, 300, 1.0, 7400.0), 79)


def test_without_a_total_only_the_stage_is_named():
    assert plain_line("a.mp4", Progress("reading", 0, 0)) == "a.mp4: reading"
    assert live_line("a.mp4", Progress("reading", 0, 0), 79).rstrip() == "a.mp4  reading"


@pytest.mark.parametrize(("fraction", "filled"), [(-1, 0), (0, 0), (0.5, 5), (1, 10), (2, 10)])
def test_the_bar_fills(fraction, filled):
    assert bar(fraction, 10) == "█" * filled + "░" * (10 - filled)


def test_shortening_counts_columns_not_characters():
    assert shorten("影片影片", 8) == "影片影片"
    assert display_width(shorten("影片影片", 7)) <= 7
    assert shorten("abcdef", 4) == "abc~"


def test_a_log_gets_start_end_and_one_line_every_few_seconds():
    stream, now = io.StringIO(), [0.0]
    lines = PlainLines(stream, clock=lambda: now[0])
    for frame in range(1, 301):
        now[0] = frame / 30
        lines.show("clip.mp4", Progress("swapping", frame, 300, 30.0, (300 - frame) / 30))
    shown = stream.getvalue().splitlines()
    assert [line.split(",")[1] for line in shown] == [" frame 1 of 300", " frame 151 of 300", " frame 300 of 300"]


def test_a_log_of_many_small_jobs_has_a_line_for_each():
    stream = io.StringIO()
    lines = PlainLines(stream, clock=lambda: 0.0)
    for label in ("[1/2] a.png", "[2/2] b.png"):
        for stage in ("reading", "finding faces"):
            lines.show(label, Progress(stage, 0, 0))
        lines.show(label, Progress("swapping", 1, 1))
    assert stream.getvalue().splitlines() == ["[1/2] a.png: reading", "[2/2] b.png: reading"]


class Terminal(io.StringIO):
    encoding = "utf-8"


def test_a_live_line_is_written_over_itself_and_wiped():
    stream, now = Terminal(), [0.0]
    line = LiveLine(stream, clock=lambda: now[0])
    for frame in range(100):
        now[0] = frame / 100
        line.show("clip.mp4", Progress("swapping", frame, 100))
    line.clear()
    drawn = stream.getvalue().split("\r")
    assert 8 <= len(drawn) - 2 <= 12
    assert "\n" not in stream.getvalue()
    assert all(part.endswith("\x1b[K") for part in drawn[1:])
    assert drawn[-1] == "\x1b[K"


def test_a_live_line_shows_a_new_stage_at_once():
    stream = Terminal()
    line = LiveLine(stream, clock=lambda: 0.0)
    line.show("clip.mp4", Progress("opening", 0, 0))
    line.show("clip.mp4", Progress("swapping", 0, 10))
    assert "swapping" in stream.getvalue()
