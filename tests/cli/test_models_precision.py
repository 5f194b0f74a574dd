"""`mien models check` and `mien models compile`."""

import json
import re
from pathlib import Path

import pytest

from mien.cli import main
from mien.engine.device import find_device

PORTRAIT = Path(__file__).parents[1] / "stills" / "astronaut.png"
HAS_BF16 = pytest.mark.skipif("bf16" not in find_device("cpu").precisions, reason="this processor has no bf16")


@pytest.fixture(autouse=True)
def bare(monkeypatch: pytest.MonkeyPatch, tmp_path: Path):
    monkeypatch.delenv("MIEN_MODELS", raising=False)
    monkeypatch.setenv("MIEN_CACHE", str(tmp_path / "cache"))
    monkeypatch.setenv("MIEN_REGISTER", str(tmp_path / "models.toml"))


@HAS_BF16
def test_check_prints_figures_and_a_verdict(capsys: pytest.CaptureFixture[str]):
    arguments = ["models", "check", "dlib_face_recognition", "--precision", "bf16", "--pictures", str(PORTRAIT)]
    assert main(arguments) == 0
    shown = capsys.readouterr().out
    assert "openvino bf16 on cpu" in shown
    assert "passed: cosine 0.9999" in shown
    assert main([*arguments, "--json"]) == 0
    told = json.loads(capsys.readouterr().out)
    assert told["passed"]
    assert 0.999 < told["cosine"] < 1
    assert told["psnr_db"] is None
    assert told["items"] == 2


@HAS_BF16
def test_a_check_that_fails_has_an_exit_code(capsys: pytest.CaptureFixture[str]):
    portrait = PORTRAIT.with_name("grace_hopper.jpg")
    assert main(["models", "check", "span_x2", "--precision", "bf16", "--pictures", str(portrait)]) == 1
    assert "failed: PSNR" in capsys.readouterr().out


def test_pictures_have_to_be_given(capsys: pytest.CaptureFixture[str]):
    with pytest.raises(SystemExit) as end:
        main(["models", "check", "span_x2", "--precision", "bf16"])
    assert end.value.code == 2
    assert "--pictures" in capsys.readouterr().err


def test_compile_says_what_it_wrote(capsys: pytest.CaptureFixture[str]):
    assert main(["models", "compile", "face_detection_short_range"]) == 0
    assert re.match(r"face_detection_short_range: openvino fp32 on cpu: \d+ kB written, ", capsys.readouterr().out)
    assert main(["models", "compile", "face_detection_short_range"]) == 0
    assert "nothing to do" in capsys.readouterr().out


def test_compiling_for_what_is_not_there_names_the_extra(capsys: pytest.CaptureFixture[str]):
    assert main(["models", "compile", "face_mesh_478", "--device", "tensorrt:0"]) == 1
    assert "pip install 'mien[tensorrt]'" in capsys.readouterr().err
