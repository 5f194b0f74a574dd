import os
import subprocess
import sys
import threading
from pathlib import Path

import numpy as np
import pytest
from onnx import TensorProto, helper

from mien.engine.device import Device, find_device
from mien.engine.machine import all_devices, devices_for
from mien.engine.onnxruntime import OnnxRuntimeSession, computing_on_cpu
from mien.engine.openvino import OpenVinoSession
from mien.engine.providers import Engines, Profile
from mien.errors import EngineError, ModelError
from mien.models.catalogue import find_model
from support.graphs import convolution, half_convolution, quantised_convolution
from support.moving import still

SELFIE = find_model("selfie_segmentation")
[CPU] = [device for device in devices_for("onnxruntime") if device.name == "onnxruntime"]
PORTRAIT = still("astronaut")
CARD = Device("cuda:0", "CUDAExecutionProvider", "A Card", ("fp32", "fp16"), "onnxruntime")


def session(path: Path = SELFIE.path, device: Device = CPU, **options) -> OnnxRuntimeSession:
    return OnnxRuntimeSession(path, model="net", device=device, **options)


def pictures(count: int) -> np.ndarray:
    cuttings = [PORTRAIT[8 * i : 8 * i + 256, 120 : 120 + 256] for i in range(count)]
    return np.array(cuttings, np.float32) / 255


@pytest.fixture(scope="module")
def loaded() -> OnnxRuntimeSession:
    return session()


def run(network, batch: np.ndarray) -> np.ndarray:
    return network.run({"input_1": batch})["activation_10"]


def test_says_what_ran():
    ran = session(why="onnxruntime: asked for").ran
    assert (ran.model, ran.engine, ran.precision) == ("net", "onnxruntime", "fp32")
    assert find_device("cpu").full_name in ran.device
    assert ran.why == "onnxruntime: asked for"


def test_two_engines_agree(loaded: OnnxRuntimeSession):
    other = OpenVinoSession(SELFIE.path, model="net", device=find_device("cpu"), precision="fp32")
    batch = pictures(3)
    np.testing.assert_allclose(run(loaded, batch), run(other, batch), atol=2e-4)
    assert run(loaded, batch).std() > 0.1


def test_a_batch_is_the_same_as_one_by_one_also_beyond_the_largest():
    small = session(max_batch=4)
    batch = pictures(6)
    alone = np.concatenate([run(small, batch[i : i + 1]) for i in range(6)])
    np.testing.assert_allclose(run(small, batch), alone, atol=1e-5)
    assert (small.usage.calls, small.usage.items) == (7, 12)
    assert small.usage.seconds > 0


def test_a_file_that_takes_one_item_runs_item_by_item(tmp_path: Path):
    batch = np.random.default_rng(1).random((3, 3, 16, 16), np.float32)
    one = session(convolution(tmp_path / "one.onnx", batch=1)).run({"input": batch})["output"]
    many = session(convolution(tmp_path / "many.onnx")).run({"input": batch})["output"]
    assert one.shape == (3, 4, 16, 16)
    np.testing.assert_allclose(one, many, atol=1e-5)


def test_a_quantised_file_runs(tmp_path: Path):
    batch = np.random.default_rng(1).random((2, 3, 16, 16), np.float32)
    exact = session(convolution(tmp_path / "exact.onnx")).run({"input": batch})["output"]
    quantised = session(quantised_convolution(tmp_path / "quantised.onnx"), precision="int8")
    rounded = quantised.run({"input": batch})["output"]
    assert quantised.ran.precision == "int8"
    # Half a step of each input and each weight, 27 of which are added up.
    assert 0 < np.abs(rounded - exact).max() < 0.1


def test_inputs_of_another_type_are_converted(loaded: OnnxRuntimeSession, tmp_path: Path):
    batch = pictures(1)
    np.testing.assert_array_equal(run(loaded, batch.astype(np.float64)), run(loaded, batch))
    np.testing.assert_array_equal(run(loaded, np.asfortranarray(batch)), run(loaded, batch))
    halves = session(half_convolution(tmp_path / "half.onnx"))
    assert halves.run({"input": np.ones((1, 3, 16, 16), np.float32)})["output"].dtype == np.float32


def test_several_threads_get_their_own_answers(loaded: OnnxRuntimeSession):
    batches = [pictures(4)[i : i + 1] for i in range(4)]
    expected = [run(loaded, batch) for batch in batches]
    found: dict[int, list[np.ndarray]] = {}

    def work(number: int) -> None:
        found[number] = [run(loaded, batches[number]) for _ in range(5)]

    threads = [threading.Thread(target=work, args=(number,)) for number in range(4)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    for number in range(4):
        for answer in found[number]:
            np.testing.assert_allclose(answer, expected[number], atol=1e-5)


@pytest.mark.parametrize(
    "inputs",
    [{}, {"image": pictures(1)}, {"input_1": pictures(1)[:, :200]}, {"input_1": pictures(1)[0]}],
)
def test_wrong_inputs_are_named(loaded: OnnxRuntimeSession, inputs: dict):
    with pytest.raises(EngineError, match=r"net.* takes .*, got"):
        loaded.run(inputs)


def test_warming_up_runs_each_batch(tmp_path: Path):
    network = session(convolution(tmp_path / "net.onnx"))
    network.warm((1, 4))
    assert (network.usage.calls, network.usage.items) == (2, 5)
    with pytest.raises(EngineError, match="open sides"):
        session(convolution(tmp_path / "open.onnx", side="side")).warm((1,))


def test_a_missing_file_is_named(tmp_path: Path):
    with pytest.raises(ModelError, match=r"net is missing: .*nowhere\.onnx"):
        session(tmp_path / "nowhere.onnx")


@pytest.mark.parametrize("content", [b"", b"not a network", SELFIE.path.read_bytes()[:5000]])
def test_a_damaged_file_is_named(tmp_path: Path, content: bytes):
    path = tmp_path / "damaged.onnx"
    path.write_bytes(content)
    with pytest.raises(ModelError, match=r"net cannot be read: .*damaged\.onnx"):
        session(path)


def test_what_the_engine_refuses_is_an_error_of_ours(tmp_path: Path):
    path = convolution(tmp_path / "net.onnx")
    path.write_bytes(path.read_bytes().replace(b"Conv", b"Cnov"))
    with pytest.raises(EngineError, match=r"net cannot be loaded on onnxruntime: .*Cnov"):
        session(path)


def test_running_on_the_cpu_in_place_of_a_card_is_an_error():
    with pytest.raises(EngineError, match=r"net would run on CPUExecutionProvider, not on cuda:0 \(A Card\)"):
        session(device=CARD)


def test_an_engine_of_tensorrt_is_never_built_on_a_request(tmp_path: Path):
    card = Device("tensorrt:0", "TensorrtExecutionProvider", "A Card", ("fp32", "fp16"), "onnxruntime")
    with pytest.raises(EngineError, match="mien models compile net --device tensorrt:0"):
        session(device=card, engines=Engines(tmp_path / "key", Profile(())))


@pytest.mark.parametrize(
    ("assigned", "moved"),
    [
        ([("CUDAExecutionProvider", ["Conv", "Resize"])], ()),
        ([("CUDAExecutionProvider", ["Conv"]), ("CPUExecutionProvider", ["Shape", "Gather", "Concat"])], ()),
        ([("CPUExecutionProvider", ["Shape", "Resize"]), ("CPUExecutionProvider", ["Conv"])], ("Conv", "Resize")),
    ],
)
def test_only_shapes_may_be_computed_beside_the_card(assigned, moved):
    assert computing_on_cpu(assigned) == moved


def test_the_device_is_among_those_of_the_machine():
    assert CPU in all_devices()
    assert CPU.engine_name == "CPUExecutionProvider"


@pytest.mark.parametrize(
    ("device", "extra"), [("cuda:0", "cuda"), ("tensorrt", "tensorrt"), ("onnxruntime", "onnxruntime")]
)
def test_without_the_package_the_extra_is_named(device: str, extra: str, monkeypatch: pytest.MonkeyPatch):
    monkeypatch.setitem(sys.modules, "onnxruntime", None)
    with pytest.raises(EngineError, match=rf"pip install 'mien\[{extra}\]'"):
        devices_for(device)


SCRIPT = """
import os, sys
from pathlib import Path
from mien.engine.machine import devices_for
from mien.engine.onnxruntime import OnnxRuntimeSession
import numpy as np
[device] = [device for device in devices_for("onnxruntime") if device.name == "onnxruntime"]
network = OnnxRuntimeSession(Path(sys.argv[1]), model="net", device=device)
network.run({"input": np.zeros((1, 3, 16, 16), np.float32)})
print(os.environ["ORT_DISABLE_TELEMETRY"])
"""


def test_telemetry_is_off_before_the_import_and_leaves_no_trace(tmp_path: Path):
    # Without the variable the import alone leaves a device id and a data base in the home folder.
    network = convolution(tmp_path / "net.onnx")
    home = tmp_path / "home"
    home.mkdir()
    clean = {name: value for name, value in os.environ.items() if not name.startswith(("XDG_", "ORT_"))}
    environment = {**clean, "HOME": str(home), "MIEN_CACHE": str(tmp_path / "cache")}
    told = subprocess.run(
        [sys.executable, "-c", SCRIPT, str(network)], env=environment, capture_output=True, text=True, check=True
    )
    assert told.stdout.strip() == "1"
    assert [path for path in home.rglob("*") if path.is_file()] == []


THREADS = """
import os, sys
from pathlib import Path
import numpy as np
from mien.engine.machine import devices_for
from mien.engine.onnxruntime import OnnxRuntimeSession
[device] = [device for device in devices_for("onnxruntime") if device.name == "onnxruntime"]
counts = []
for threads in (1, 3):
    before = len(os.listdir("/proc/self/task"))
    network = OnnxRuntimeSession(Path(sys.argv[1]), model="net", device=device, threads=threads)
    network.run({"input": np.zeros((4, 3, 16, 16), np.float32)})
    counts.append(len(os.listdir("/proc/self/task")) - before)
print(counts)
"""


@pytest.mark.skipif(sys.platform != "linux", reason="counts threads in /proc")
def test_a_session_has_no_more_threads_than_it_was_given(tmp_path: Path):
    network = convolution(tmp_path / "net.onnx")
    told = subprocess.run([sys.executable, "-c", THREADS, str(network)], capture_output=True, text=True, check=True)
    # The caller's own thread works, too.
    assert told.stdout.strip() == "[0, 2]"


def test_importing_mien_imports_no_onnxruntime():
    script = "import sys, mien.engine.machine, mien.models.shelf; mien.models.shelf.ModelShelf()\n"
    script += "print('onnxruntime' in sys.modules)"
    told = subprocess.run([sys.executable, "-c", script], capture_output=True, text=True, check=True)
    assert told.stdout.strip() == "False"


def test_an_input_of_a_strange_type_is_an_error_when_loading(tmp_path: Path):
    ports = [helper.make_tensor_value_info(name, TensorProto.STRING, ("n",)) for name in ("words", "same")]
    graph = helper.make_graph([helper.make_node("Identity", ["words"], ["same"])], "words", ports[:1], ports[1:])
    model = helper.make_model(graph, opset_imports=[helper.make_opsetid("", 17)], ir_version=8)
    (tmp_path / "net.onnx").write_bytes(model.SerializeToString())
    with pytest.raises(EngineError, match=r"net takes tensor\(string\)"):
        session(tmp_path / "net.onnx")
