"""Segments do not depend on how the run came to them."""

from __future__ import annotations

import itertools
from collections.abc import Callable, Sequence
from typing import Any

import pytest

from mien.errors import Interrupted
from mien.pipeline.samples import Monitor, SamplePlan
from mien.pipeline.scene import Scene
from mien.pipeline.segmented import REHEARSAL_FRAMES, Wiring, run_segments, stretches
from mien.pipeline.tally import Tally
from support.doubles import MemoryVideo, MemoryWriter, RecallingEffect, RecallingFollower, Span, spans

Packets = dict[int, list[bytes]]
NO_SAMPLES = SamplePlan(frozenset(), frozenset())


class NoMeasures:
    def embed(self, *_: object) -> None:
        raise AssertionError("nothing is to be measured")

    landmarks = embed


def wiring(
    video: MemoryVideo, packets: Packets, tallies: dict[int, Tally], *, memory: int = REHEARSAL_FRAMES
) -> Wiring:
    return Wiring(
        frames=video.frames,
        scene=lambda: Scene(RecallingFollower(memory), {0: [RecallingEffect(memory)]}, lambda _face, _all: 0),
        monitor=lambda: Monitor(NoMeasures(), {}),
        samples=NO_SAMPLES,
        writer=lambda span: MemoryWriter(packets, span.number),
        counted=lambda span, tally: tallies.__setitem__(span.number, tally),
    )


def run(segments: Sequence[Span], length: int, **options: object) -> tuple[Packets, dict[int, Tally], MemoryVideo]:
    packets: Packets = {}
    tallies: dict[int, Tally] = {}
    video = MemoryVideo(length)
    run_segments(segments, wiring(video, packets, tallies, **options))
    return packets, tallies, video


@pytest.mark.parametrize("lengths", [(30, 30, 30, 17), (40, 3, 5, 4, 40), (13, 12, 11)], ids=str)
def test_any_remainder_gives_the_packets_of_the_whole(lengths: tuple[int, ...]) -> None:
    segments = spans(*lengths)
    whole, tallies, _ = run(segments, sum(lengths))
    assert sorted(whole) == [span.number for span in segments]
    for size in range(1, len(segments)):
        for rest in itertools.combinations(segments, size):
            packets, counts, _ = run(rest, sum(lengths))
            for span in rest:
                assert packets[span.number] == whole[span.number]
                assert counts[span.number] == tallies[span.number]


def test_the_doubles_can_tell_a_wrong_rehearsal() -> None:
    """A memory longer than the rehearsal shows at the seam: the test above would see a rehearsal that is too short."""
    segments = spans(60, 30)
    longer = 4 * REHEARSAL_FRAMES
    whole, _, _ = run(segments, 90, memory=longer)
    untouched, _, _ = run([Span(0, 0, 90)], 90, memory=longer)
    assert whole[1] != untouched[0][60:]


def test_a_seam_cannot_be_seen_when_the_memory_fits_the_rehearsal() -> None:
    """The effect recalls patches whose places recall frames: their memories add up."""
    whole, _, _ = run(spans(30, 30), 60, memory=REHEARSAL_FRAMES // 2)
    unbroken, _, _ = run([Span(0, 0, 60)], 60, memory=REHEARSAL_FRAMES // 2)
    assert whole[0] + whole[1] == unbroken[0]


def test_every_frame_is_decoded_once_and_little_is_decoded_again_when_resuming() -> None:
    segments = spans(50, 50, 50, 50)
    _, _, video = run(segments, 200)
    assert video.ranges == [(0, 200)]
    _, _, video = run([segments[1], segments[3]], 200)
    assert video.ranges == [(50 - REHEARSAL_FRAMES, 100), (150 - REHEARSAL_FRAMES, 200)]


def test_close_segments_are_decoded_in_one_go() -> None:
    segments = spans(20, REHEARSAL_FRAMES, 20)
    assert stretches([segments[0], segments[2]]) == [[segments[0], segments[2]]]
    assert stretches([]) == []


def test_a_target_that_ends_early_gives_what_there_is() -> None:
    packets, tallies, _ = run(spans(30, 30, 30), 41)
    assert [len(packets[number]) for number in sorted(packets)] == [30, 11]
    assert [tallies[number].frames for number in sorted(tallies)] == [30, 11]


def test_a_segment_that_failed_is_not_published() -> None:
    packets: Packets = {}
    video = MemoryVideo(90)

    class Failing(RecallingEffect):
        def edit(self, *arguments: Any) -> Any:
            self.calls = getattr(self, "calls", 0) + 1
            if self.calls > 45:
                raise ValueError("the effect broke")
            return super().edit(*arguments)

    plan = wiring(video, packets, {})
    scene: Callable[[], Scene] = lambda: Scene(RecallingFollower(1), {0: [Failing(1)]}, lambda _f, _a: 0)  # noqa: E731
    broken = Wiring(plan.frames, scene, plan.monitor, plan.samples, plan.writer, plan.counted)
    with pytest.raises(ValueError, match="the effect broke"):
        run_segments(spans(30, 60), broken)
    assert list(packets) == [0]


def test_cancelled_segments_are_not_published_but_finished_ones_are() -> None:
    packets: Packets = {}
    with pytest.raises(Interrupted):
        run_segments(
            spans(30, 100_000),
            wiring(MemoryVideo(100_030), packets, {}),
            cancelled=lambda: 0 in packets,
        )
    assert list(packets) == [0]


def test_progress_counts_written_frames_only() -> None:
    told: list[int] = []
    packets: Packets = {}
    run_segments(spans(50, 50)[1:], wiring(MemoryVideo(100), packets, {}), tick=told.append)
    assert told[-1] == 50


def test_the_tally_knows_frames_faces_and_times() -> None:
    _, tallies, _ = run(spans(25, 25), 50)
    assert (tallies[1].frames, tallies[1].faces, tallies[1].frames_with_faces) == (25, 25, 25)
    assert tallies[1].tracks == [0]
