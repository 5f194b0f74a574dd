"""Large networks stay mapped: same answers, and memory that comes and goes with them."""

import sys
import time
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

import numpy as np
import pytest

import mien.models
from mien.engine import openvino
from mien.engine.device import find_device
from mien.engine.mapped import giving_back_pages
from mien.engine.memory import ProcessMeter
from mien.engine.onnx_file import OnnxFile
from mien.engine.openvino import OpenVinoSession
from mien.engine.residency import Residency
from mien.errors import ModelError

CPU = find_device("cpu")
DLIB = Path(mien.models.__file__).parent / "bundled" / "dlib_face_recognition_resnet_v1_fp16w.onnx"


def session(path: Path = DLIB, **options) -> OpenVinoSession:
    return OpenVinoSession(path, model="net", device=CPU, precision="fp32", **options)


@pytest.fixture
def all_are_large(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(openvino, "LARGE_BYTES", 0)


def faces(count: int) -> dict[str, np.ndarray]:
    [(name, shape)] = session()._inputs.items()
    sides = [side.get_length() for side in list(shape)[1:]]
    return {name: np.random.default_rng(0).random((count, *sides), np.float32)}


@pytest.mark.parametrize("count", [1, 3, 11])
def test_large_networks_answer_alike(monkeypatch: pytest.MonkeyPatch, count: int):
    batch = faces(count)
    expected = session().run(batch)
    monkeypatch.setattr(openvino, "LARGE_BYTES", 0)
    large = session()
    found = large.run(batch)
    assert found.keys() == expected.keys()
    for name, value in expected.items():
        np.testing.assert_allclose(found[name], value, atol=1e-5)
    assert large.usage.calls == 1


@pytest.mark.usefixtures("all_are_large")
def test_a_released_network_runs_again():
    batch = faces(1)
    large = session()
    before = large.run(batch)
    large.release()
    for name, value in large.run(batch).items():
        np.testing.assert_array_equal(value, before[name])


@pytest.mark.usefixtures("all_are_large")
def test_large_networks_are_not_put_into_the_cache(tmp_path: Path):
    session(cache=tmp_path)
    assert not any(tmp_path.iterdir())


@pytest.mark.usefixtures("all_are_large")
def test_a_damaged_large_network_is_named(tmp_path: Path):
    path = tmp_path / "damaged.onnx"
    path.write_bytes(DLIB.read_bytes()[:-1000])
    with pytest.raises(ModelError, match=r"damaged\.onnx is not an ONNX network, or only part of one"):
        session(path)


@pytest.mark.usefixtures("all_are_large")
def test_a_network_whose_reader_has_to_see_the_weights_is_read_whole(monkeypatch: pytest.MonkeyPatch):
    batch = faces(1)
    expected = session().run(batch)

    def refuse(path: Path):
        raise RuntimeError(f"{path}: a weight has to be constant")

    monkeypatch.setattr(openvino, "read_mapped", refuse)
    for name, value in session().run(batch).items():
        np.testing.assert_array_equal(value, expected[name])


@pytest.mark.parametrize("style", ["weights among the inputs", "weights in a file beside"])
@pytest.mark.usefixtures("all_are_large")
def test_other_styles_of_onnx_files_give_the_same(tmp_path: Path, style: str):
    onnx = pytest.importorskip("onnx")
    from support.networks import residual_network

    plain, other = tmp_path / "plain.onnx", tmp_path / "other.onnx"
    residual_network(plain, channels=96, blocks=2)
    model = onnx.load(plain)
    if style == "weights among the inputs":
        for weight in model.graph.initializer:
            model.graph.input.append(onnx.helper.make_tensor_value_info(weight.name, 1, list(weight.dims)))
        onnx.save(model, other)
    else:
        onnx.save(model, other, save_as_external_data=True, location="weights.bin")
    inputs = {"x": np.random.default_rng(0).random((2, 3, 16, 16), np.float32)}
    np.testing.assert_array_equal(session(other).run(inputs)["y"], session(plain).run(inputs)["y"])


@pytest.fixture(scope="module")
def network(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A network of 43 MB."""
    pytest.importorskip("onnx")
    from support.networks import residual_network

    path = tmp_path_factory.mktemp("networks") / "net.onnx"
    residual_network(path, channels=768, blocks=2)
    return path


@pytest.mark.alone
@pytest.mark.usefixtures("all_are_large")
@pytest.mark.skipif(sys.platform != "linux", reason="only Linux tells the memory of a process")
def test_a_budget_is_kept_by_a_real_network_that_comes_and_goes(network: Path):
    size = network.stat().st_size
    meter = ProcessMeter()
    residency: Residency[OpenVinoSession] = Residency(2 * size, meter=meter, release=OpenVinoSession.release)
    inputs = {"x": np.ones((1, 3, 16, 16), np.float32)}
    session().release()  # What the engine itself takes, once.
    answers = []
    for round_number in range(3):
        before = meter.used_bytes()
        with residency.lease("net", lambda: session(network)) as loaded:
            answers.append(loaded.run(inputs)["y"])
            [resident] = residency.residents
            # Once packed, the weights are held once: what the file's own pages took is given back.
            assert 0.9 * size < resident.held_bytes < 1.3 * size
        residency.clear()
        if round_number:
            assert abs(meter.used_bytes() - before) < 0.1 * size
    assert residency.warnings == []
    assert residency.retained_bytes == 0
    np.testing.assert_array_equal(answers[0], answers[2])


@pytest.mark.alone
@pytest.mark.skipif(sys.platform != "linux", reason="only Linux tells the memory of a process")
def test_pages_leave_while_the_weights_are_in_use(network: Path):
    file = OnnxFile(network)
    before = status_bytes("RssFile")
    with giving_back_pages(file):
        first = [file.values(weight.name).sum() for weight in file.weights]
        give_up = time.monotonic() + 20
        while status_bytes("RssFile") > before + 0.1 * network.stat().st_size:
            assert time.monotonic() < give_up
        assert [file.values(weight.name).sum() for weight in file.weights] == first
    assert status_bytes("RssFile") < before + 0.1 * network.stat().st_size


@pytest.mark.alone
@pytest.mark.usefixtures("all_are_large")
@pytest.mark.skipif(not Path("/proc/self/clear_refs").exists(), reason="only Linux resets the peak of a process")
def test_eight_threads_that_ask_at_once_peak_little_above_the_weights(network: Path):
    """Six networks of one file: 258 MB of weights."""
    keys = "abcdef"
    residency: Residency[OpenVinoSession] = Residency(1 << 40, meter=ProcessMeter(), release=OpenVinoSession.release)
    session(network).release()  # What the engine itself takes, once.
    before = status_bytes("VmRSS")
    Path("/proc/self/clear_refs").write_text("5")

    def ask_for_all(first: int) -> None:
        for place in range(len(keys)):
            with residency.lease(keys[(first + place) % len(keys)], lambda: session(network)):
                pass

    with ThreadPoolExecutor(8) as pool:
        list(pool.map(ask_for_all, range(8)))
    peak = status_bytes("VmHWM") - before
    assert sorted(resident.key for resident in residency.residents) == list(keys)
    assert peak < 1.4 * len(keys) * network.stat().st_size
    residency.clear()


def status_bytes(name: str) -> int:
    lines = Path("/proc/self/status").read_text().splitlines()
    return next(int(line.split()[1]) * 1024 for line in lines if line.startswith(f"{name}:"))
