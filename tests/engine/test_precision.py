from pathlib import Path

import pytest

from mien.engine.device import find_device
from mien.engine.openvino import OpenVinoSession
from mien.engine.precision import file_precision
from mien.errors import EngineError, ModelError
from mien.models.catalogue import bundled
from support.graphs import convolution, half_convolution, quantised_convolution


def test_a_file_is_known_by_what_its_products_take(tmp_path: Path):
    assert file_precision(convolution(tmp_path / "whole.onnx")) == "fp32"
    assert file_precision(half_convolution(tmp_path / "half.onnx")) == "fp16"
    assert file_precision(quantised_convolution(tmp_path / "bytes.onnx")) == "int8"


def test_files_that_only_store_halves_compute_in_float32():
    assert {file_precision(entry.path) for entry in bundled().values()} == {"fp32"}


def test_what_is_no_network_is_an_error(tmp_path: Path):
    with pytest.raises(ModelError):
        file_precision(tmp_path / "nowhere.onnx")


def test_openvino_runs_a_quantised_file_and_no_other_as_int8(tmp_path: Path):
    options = {"model": "net", "device": find_device("cpu"), "precision": "int8"}
    assert OpenVinoSession(quantised_convolution(tmp_path / "bytes.onnx"), **options).ran.precision == "int8"
    with pytest.raises(EngineError, match="net is no int8 network"):
        OpenVinoSession(convolution(tmp_path / "whole.onnx"), **options)
