"""The same job on another engine gives the same picture."""

from pathlib import Path

import numpy as np
import pytest

import mien
from mien.errors import EngineError
from mien.media.pictures import read_rgb

STILLS = Path(__file__).parents[1] / "stills"
SOURCE, TARGET = STILLS / "astronaut.png", STILLS / "grace_hopper.jpg"


def test_two_engines_give_the_same_picture(tmp_path: Path):
    pictures: list[np.ndarray] = []
    for device, engine in (("cpu", "openvino"), ("onnxruntime", "onnxruntime")):
        output = tmp_path / f"{device}.png"
        report = mien.swap(SOURCE, TARGET, output, device=device, precision="fp32", marks="none", gate="off")
        assert {(use.engine, use.precision) for use in report.models} == {(engine, "fp32")}
        assert all(use.device.startswith(device) and "asked for" in use.why for use in report.models)
        pictures.append(read_rgb(output).astype(int))
    difference = np.abs(pictures[0] - pictures[1])
    assert difference.max() <= 8
    assert difference.mean() < 0.01
    assert np.abs(pictures[0] - read_rgb(TARGET)).max() > 50


def test_a_device_that_is_not_there_ends_the_job_before_it_begins(tmp_path: Path):
    with pytest.raises(EngineError, match=r"'cuda:0' is not there.*pip install 'mien\[cuda\]'"):
        mien.swap(SOURCE, TARGET, tmp_path / "out.png", device="cuda:0")
    assert not list(tmp_path.iterdir())
