"""What a machine has, with the packages that would see its GPUs played by doubles."""

import sys
from collections.abc import Iterator
from pathlib import Path
from types import SimpleNamespace

import pytest

from mien.engine import machine, opening
from mien.engine.built import make_room, seal
from mien.engine.cache import CACHE_VARIABLE
from mien.engine.choose import ModelFacts, choose
from mien.engine.machine import all_devices, devices_for, nvidia_gpus, onnxruntime_devices
from mien.engine.onnx_file import Port
from mien.engine.opening import MOST, built_engines, engines_of, open_session, profile_for
from mien.errors import EngineError
from support.graphs import convolution


class NvmlError(Exception):
    """What NVML raises without a driver."""


def nvml(cards: list[tuple[str, int, int]], *, driver: bool = True) -> SimpleNamespace:
    def start() -> None:
        if not driver:
            raise NvmlError

    return SimpleNamespace(
        NVMLError=NvmlError,
        nvmlInit=start,
        nvmlShutdown=lambda: None,
        nvmlDeviceGetCount=lambda: len(cards),
        nvmlDeviceGetHandleByIndex=lambda number: cards[number],
        nvmlDeviceGetName=lambda card: card[0],
        nvmlDeviceGetCudaComputeCapability=lambda card: card[1:],
    )


@pytest.fixture(autouse=True)
def forget() -> Iterator[None]:
    """Devices are looked for once; here the machine changes."""
    for look in (nvidia_gpus, onnxruntime_devices):
        look.cache_clear()
    yield
    for look in (nvidia_gpus, onnxruntime_devices):
        look.cache_clear()


@pytest.fixture
def two_cards(monkeypatch: pytest.MonkeyPatch) -> None:
    """A machine with two GPUs of NVIDIA and what mien[tensorrt] brings."""
    monkeypatch.setitem(sys.modules, "pynvml", nvml([("A Card", 9, 0), ("Another Card", 8, 9)]))
    there = ["TensorrtExecutionProvider", "CUDAExecutionProvider", "CPUExecutionProvider"]
    runtime = SimpleNamespace(get_available_providers=lambda: there, __version__="1.31.0")
    for module in (machine, opening):
        monkeypatch.setattr(module, "load_runtime", lambda *_: runtime)
    monkeypatch.setattr(machine, "_is_accelerated", lambda: True)


def test_no_package_and_no_driver_are_no_gpus(monkeypatch: pytest.MonkeyPatch):
    monkeypatch.setitem(sys.modules, "pynvml", None)
    assert nvidia_gpus() == ()
    nvidia_gpus.cache_clear()
    monkeypatch.setitem(sys.modules, "pynvml", nvml([], driver=False))
    assert nvidia_gpus() == ()


@pytest.mark.usefixtures("two_cards")
def test_cards_have_a_name_and_an_architecture():
    assert nvidia_gpus() == (("A Card", "sm_90"), ("Another Card", "sm_89"))


@pytest.mark.usefixtures("two_cards")
def test_every_provider_and_card_is_a_device():
    found = {device.name: device for device in all_devices()}
    assert {"cpu", "onnxruntime", "cuda:0", "cuda:1", "tensorrt:0", "tensorrt:1"} <= set(found)
    assert (found["cuda:1"].full_name, found["cuda:1"].engine) == ("Another Card", "onnxruntime")
    assert found["tensorrt:0"].engine_name == "TensorrtExecutionProvider"


@pytest.mark.usefixtures("two_cards")
def test_auto_takes_the_first_card():
    choice = choose(ModelFacts("net", ("fp32", "bf16")), "auto", "auto", devices_for("auto"))
    assert (choice.device.name, choice.precision, choice.engine) == ("cuda:0", "fp32", "onnxruntime")
    assert "no engine is built for tensorrt:0" in choice.why


def test_for_the_cpu_no_other_engine_is_asked(monkeypatch: pytest.MonkeyPatch):
    monkeypatch.setitem(sys.modules, "onnxruntime", None)
    assert [device.name for device in devices_for("cpu")] == ["cpu"]
    assert [device.name for device in devices_for("auto")] == ["cpu"]


@pytest.mark.usefixtures("two_cards")
def test_an_engine_that_lies_ready_makes_tensorrt_the_fastest(tmp_path: Path, monkeypatch: pytest.MonkeyPatch):
    monkeypatch.setenv(CACHE_VARIABLE, str(tmp_path / "cache"))
    path = convolution(tmp_path / "net.onnx")
    devices = devices_for("auto")
    [card] = [device for device in devices if device.name == "tensorrt:0"]
    assert built_engines(path, "ab", card) == set()
    engines = engines_of(path, "ab", card, "bf16")
    (make_room(engines.folder) / "net.engine").write_bytes(b"engine")
    seal(engines.folder)
    built = built_engines(path, "ab", card)
    assert built == {("tensorrt:0", "bf16")}
    choice = choose(ModelFacts("net", ("fp32", "bf16"), built=frozenset(built)), "auto", "auto", devices)
    assert (choice.device.name, choice.precision) == ("tensorrt:0", "bf16")
    # Another file, and a card of another architecture, have an engine of their own.
    [other] = [device for device in devices if device.name == "tensorrt:1"]
    assert built_engines(path, "cd", card) == set()
    assert built_engines(path, "ab", other) == set()
    (engines.folder / "net.engine").write_bytes(b"engime")
    assert built_engines(path, "ab", card) == set()


@pytest.mark.usefixtures("two_cards")
def test_a_file_is_never_said_to_run_in_what_it_is_not(tmp_path: Path):
    devices = devices_for("cuda:0")
    whole = choose(ModelFacts("net"), "cuda:0", "auto", devices)
    halves = choose(ModelFacts("net", file="fp16"), "cuda:0", "auto", devices)
    with pytest.raises(
        EngineError, match=r"net cannot run in fp16 on cuda:0 \(A Card\), which takes this file as fp32"
    ):
        open_session(convolution(tmp_path / "whole.onnx"), "net", halves, sha256="")
    assert (whole.precision, halves.precision) == ("fp32", "fp16")


@pytest.mark.parametrize(
    ("shapes", "inner"),
    [
        ([("n", 3, 128, 128), ("", 512)], (("input0", (3, 128, 128)), ("input1", (512,)))),
        ([(1, 3, 128, 128)], ()),
        ([("n", 3, 64, 64), (1,)], (("input0", (3, 64, 64)),)),
    ],
)
def test_a_profile_holds_the_inputs_whose_batch_is_open(shapes, inner):
    profile = profile_for([Port(f"input{number}", 1, shape) for number, shape in enumerate(shapes)])
    assert (profile.inner, profile.most) == (inner, MOST)


def test_open_sides_have_no_profile():
    with pytest.raises(EngineError, match="input x has open sides"):
        profile_for([Port("x", 1, ("n", 3, "height", "width"))])
