"""Counts of segments add up to the report of the whole."""

from __future__ import annotations

import dataclasses
import json

import pytest

from mien.pipeline.tally import Tally, overlap, summarise
from mien.report import Report
from support.doubles import tracked


def _tally(frames: list[list[tuple[int, float]]], first: int = 0) -> Tally:
    tally = Tally()
    for number, faces in enumerate(frames):
        tally.add(first + number, (first + number) / 25, [tracked(x, 50, track=track, size=20) for track, x in faces])
    return tally


def _report(*tallies: Tally) -> Report:
    report = Report(target="t", output="o", version="0")
    summarise(tallies, report)
    return report


def test_frames_and_faces_are_summed() -> None:
    report = _report(_tally([[], [(0, 30)], [(0, 30), (1, 90)]]), _tally([[(0, 30)]], first=3))
    assert (report.frames, report.frames_with_faces, report.faces) == (4, 3, 4)


def test_a_track_that_goes_on_over_a_seam_is_one() -> None:
    one = _tally([[(0, 30), (1, 90)]] * 3)
    other = _tally([[(0, 91), (1, 31)]] * 3, first=3)  # The same two, found in the other order.
    assert _report(one, other).tracks == 2


def test_faces_elsewhere_after_a_seam_are_new_tracks() -> None:
    assert _report(_tally([[(0, 30)]]), _tally([[(0, 60)]], first=1)).tracks == 2


def test_a_face_that_comes_later_in_a_segment_is_a_new_track() -> None:
    assert _report(_tally([[(0, 30)]]), _tally([[], [(0, 30)]], first=1)).tracks == 2


def test_flags_carry_the_number_of_the_whole_job() -> None:
    one, other = _tally([[(0, 30)]]), Tally()
    other.add(1, 0.04, [tracked(80, 50, track=0, size=20, flags=("profile",))])
    flagged = _report(one, other).flagged
    assert [(flag.frame, flag.reason, flag.track) for flag in flagged] == [(1, "profile", 1)]


def test_quality_is_the_mean_over_all_samples() -> None:
    one, other = _tally([[(0, 30)]]), _tally([[(0, 30)]], first=1)
    one.source_distances, one.target_distances = [0.4], [0.8]
    other.source_distances, other.target_distances = [0.3, 0.2], [0.7, 0.6]
    one.jitter_before, one.jitter_after, other.jitter_before, other.jitter_after = 1.0, 2.0, 3.0, 2.0
    quality = _report(one, other).quality
    assert quality.identity_distance == pytest.approx(0.3)
    assert quality.target_distance == pytest.approx(0.7)
    assert quality.flicker == pytest.approx(1.0)


def test_without_samples_quality_is_unknown() -> None:
    assert dataclasses.astuple(_report(_tally([[]])).quality) == (None, None, None)


def test_a_tally_survives_json() -> None:
    tally = _tally([[(3, 30)], [(3, 31), (4, 90)]])
    tally.add(2, 0.08, [tracked(40, 50, track=3, flags=("lost",))])
    assert Tally.from_mapping(json.loads(json.dumps(tally.to_mapping()))) == tally


def test_overlap() -> None:
    assert overlap((0, 0, 2, 2), (0, 0, 2, 2)) == 1
    assert overlap((0, 0, 2, 2), (1, 0, 3, 2)) == pytest.approx(1 / 3)
    assert overlap((0, 0, 2, 2), (2, 0, 4, 2)) == 0
