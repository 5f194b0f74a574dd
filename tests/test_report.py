"""The report as JSON."""

from __future__ import annotations

import dataclasses
import json
import math
from pathlib import Path

import pytest

from mien.errors import UnwritableError
from mien.report import FlaggedFrame, Marks, ModelUse, Quality, Report


def full_report() -> Report:
    report = Report(target="视频/in.mp4", output="out.mp4", version="1.2.3", frames=10, seconds=2.5)
    report.stages["decode"] = 0.5
    report.models.append(ModelUse("face_mesh_478", "openvino", "cpu", "bf16", calls=5, items=9, seconds=0.1))
    report.flagged.append(FlaggedFrame(frame=3, time_s=0.12, reason="profile", track=1))
    report.quality = Quality(identity_distance=0.4, flicker=1.01)
    return report


def test_json_holds_every_field(tmp_path: Path) -> None:
    report = full_report()
    report.save(tmp_path / "report.json")
    data = json.loads((tmp_path / "report.json").read_text(encoding="utf-8"))
    assert set(data) == {field.name for field in dataclasses.fields(Report)}
    data["models"] = [ModelUse(**model) for model in data["models"]]
    data["flagged"] = [FlaggedFrame(**frame) for frame in data["flagged"]]
    data["quality"] = Quality(**data["quality"])
    data["marks"] = Marks(**data["marks"])
    assert Report(**data) == report


def test_a_warning_is_said_once_and_in_order() -> None:
    report = full_report()
    for message in ("first", "second", "first"):
        report.warn(message)
    assert report.warnings == ["first", "second"]


def test_reports_share_nothing() -> None:
    full_report().stages["encode"] = 1.0
    assert full_report().stages == {"decode": 0.5}


@pytest.mark.parametrize("value", [math.nan, math.inf, -math.inf])
def test_a_figure_that_json_does_not_know_becomes_null(tmp_path: Path, value: float) -> None:
    report = full_report()
    report.frames_per_second = value
    report.quality.flicker = value
    report.save(tmp_path / "report.json")
    data = json.loads((tmp_path / "report.json").read_text(), parse_constant=lambda name: pytest.fail(name))
    assert data["frames_per_second"] is None
    assert data["quality"]["flicker"] is None


def test_a_file_name_that_is_not_unicode(tmp_path: Path) -> None:
    report = full_report()
    report.output = "out\udcff.mp4"
    report.save(tmp_path / "report.json")
    assert json.loads((tmp_path / "report.json").read_text(encoding="utf-8"))["output"] == "out\udcff.mp4"


def test_where_it_cannot_be_written(tmp_path: Path) -> None:
    with pytest.raises(UnwritableError, match=r"cannot write the report .*missing.*No such file"):
        full_report().save(tmp_path / "missing" / "report.json")
