import subprocess
import sys

import pytest

from mien.engine.device import devices, find_device
from mien.errors import EngineError


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


def test_the_engine_comes_without_its_converter_and_telemetry():
    script = "import sys, mien.engine.openvino; print([name for name in sys.modules if 'telemetry' in name])"
    told = subprocess.run([sys.executable, "-c", script], capture_output=True, text=True, check=True)
    assert told.stdout.strip() == "[]"


def test_others_in_the_process_can_still_have_the_converter():
    script = "import mien.engine.openvino; from openvino.tools.ovc import convert_model; print(callable(convert_model))"
    told = subprocess.run([sys.executable, "-c", script], capture_output=True, text=True, check=True)
    assert told.stdout.strip() == "True"
