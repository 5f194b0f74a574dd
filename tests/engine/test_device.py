import subprocess
import sys

import pytest

from mien.engine.device import Device, choose_precision, devices, find_device
from mien.errors import EngineError

PLAIN = Device("cpu", "CPU", "An Old Processor", ("fp32", "int8"))
MODERN = Device("cpu", "CPU", "A New Processor", ("fp32", "bf16", "int8"))


def test_auto_is_the_cpu():
    assert find_device("auto") == find_device("cpu") == find_device("CPU")
    assert find_device("auto").name == "cpu"
    assert find_device("auto").full_name


def test_every_device_is_found_by_its_name():
    for device in devices():
        assert find_device(device.name) == device


@pytest.mark.parametrize("name", ["tpu", "cpu:7", ""])
def test_a_device_that_is_not_there_is_an_error_that_names_what_is(name):
    with pytest.raises(EngineError, match="this machine has cpu") as error:
        find_device(name)
    assert find_device("cpu").full_name in str(error.value)


@pytest.mark.parametrize(
    ("asked", "safe", "device", "chosen"),
    [
        ("auto", ("fp32", "bf16"), MODERN, "bf16"),
        ("auto", ("fp32",), MODERN, "fp32"),
        ("auto", ("fp32", "bf16"), PLAIN, "fp32"),
        ("fp32", ("fp32", "bf16"), MODERN, "fp32"),
        ("bf16", ("fp32", "bf16"), MODERN, "bf16"),
        ("bf16", ("fp32",), MODERN, "fp32"),
    ],
)
def test_precision_follows_the_wish_the_network_and_the_device(asked, safe, device, chosen):
    assert choose_precision(asked, safe, device, "net") == chosen


def test_bf16_on_a_device_without_it_is_an_error_that_names_what_is_there():
    with pytest.raises(EngineError, match=r"bf16 is not there: cpu \(An Old Processor\) computes in fp32, int8"):
        choose_precision("bf16", ("fp32", "bf16"), PLAIN, "net")


def test_an_unknown_precision_is_an_error():
    with pytest.raises(EngineError, match=r"'fp8' is unknown.*auto, fp32 or bf16"):
        choose_precision("fp8", ("fp32",), MODERN, "net")


def test_the_engine_comes_without_its_converter_and_telemetry():
    script = "import sys, mien.engine.openvino; print([name for name in sys.modules if 'telemetry' in name])"
    told = subprocess.run([sys.executable, "-c", script], capture_output=True, text=True, check=True)
    assert told.stdout.strip() == "[]"


def test_others_in_the_process_can_still_have_the_converter():
    script = "import mien.engine.openvino; from openvino.tools.ovc import convert_model; print(callable(convert_model))"
    told = subprocess.run([sys.executable, "-c", script], capture_output=True, text=True, check=True)
    assert told.stdout.strip() == "True"
