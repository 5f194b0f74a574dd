import pytest

from mien.engine.choose import Choice, ModelFacts, choose, find, safe_precisions
from mien.engine.device import Device
from mien.errors import EngineError

OLD = Device("cpu", "CPU", "An Old Processor", ("fp32", "int8"))
CPU = Device("cpu", "CPU", "A New Processor", ("fp32", "bf16", "int8"))
IRIS = Device("gpu", "GPU", "A Graphics Unit", ("fp32", "fp16", "int8"))
CUDA = Device("cuda:0", "CUDAExecutionProvider", "A Card", ("fp32", "fp16", "int8"), "onnxruntime")
SECOND = Device("cuda:1", "CUDAExecutionProvider", "Another Card", ("fp32", "fp16", "int8"), "onnxruntime")
TENSORRT = Device("tensorrt:0", "TensorrtExecutionProvider", "A Card", ("fp32", "bf16", "fp16", "int8"), "onnxruntime")
APPLE = Device("coreml:0", "CoreMLExecutionProvider", "CoreML", ("fp32", "fp16"), "onnxruntime")

QNN = Device("qnn:0", "QNNExecutionProvider", "QNN", ("fp16", "int8"), "onnxruntime")

ALL = ("fp32", "bf16", "fp16")


def facts(safe=("fp32",), file="fp32", checked=None, built=()) -> ModelFacts:
    return ModelFacts("net", safe, file, checked or {}, frozenset(built))


def chosen(choice: Choice) -> tuple[str, str]:
    return choice.device.name, choice.precision


@pytest.mark.parametrize(
    ("network", "device", "precision", "devices", "expected"),
    [
        # The fastest precision that is safe and that the device has.
        (facts(), "auto", "auto", [CPU], ("cpu", "fp32")),
        (facts(ALL), "auto", "auto", [CPU], ("cpu", "bf16")),
        (facts(ALL), "auto", "auto", [OLD], ("cpu", "fp32")),
        (facts(ALL), "gpu", "auto", [CPU, IRIS], ("gpu", "fp16")),
        # What is asked for holds where it is safe.
        (facts(ALL), "auto", "fp32", [CPU], ("cpu", "fp32")),
        (facts(ALL), "cpu", "bf16", [CPU], ("cpu", "bf16")),
        (facts(), "cpu", "bf16", [CPU], ("cpu", "fp32")),
        (facts(ALL), "cpu", "int8", [CPU], ("cpu", "fp32")),
        # Quantised files run as they are, halves where the device has them.
        (facts(file="int8"), "auto", "auto", [CPU], ("cpu", "int8")),
        (facts(file="int8"), "auto", "fp32", [CPU], ("cpu", "int8")),
        (facts(file="fp16"), "auto", "auto", [CPU], ("cpu", "fp32")),
        (facts(("fp32", "bf16"), file="fp16"), "auto", "auto", [CPU], ("cpu", "bf16")),
        (facts(file="fp16"), "cuda", "auto", [CPU, CUDA], ("cuda:0", "fp16")),
        # CUDA runs files as they are: halves take a file of halves.
        (facts(ALL), "cuda:0", "fp16", [CPU, CUDA], ("cuda:0", "fp32")),
        # Accelerators go first, in the order of their speed; TensorRT only with an engine that is there.
        (facts(ALL), "auto", "auto", [CPU, SECOND, CUDA], ("cuda:1", "fp32")),
        (facts(ALL), "auto", "auto", [CPU, CUDA, TENSORRT], ("cuda:0", "fp32")),
        (facts(ALL, built=[("tensorrt:0", "fp16")]), "auto", "auto", [CPU, CUDA, TENSORRT], ("tensorrt:0", "fp16")),
        (facts(ALL, built=[("tensorrt:0", "bf16")]), "auto", "auto", [CPU, CUDA, TENSORRT], ("cuda:0", "fp32")),
        (facts(ALL, built=[("tensorrt:0", "bf16")]), "auto", "bf16", [CPU, CUDA, TENSORRT], ("tensorrt:0", "bf16")),
        # CUDA has no bf16: the CPU has.
        (facts(ALL), "auto", "bf16", [CPU, CUDA], ("cpu", "bf16")),
        # Kinds that are as often slower are taken when asked for.
        (facts(ALL), "auto", "auto", [CPU, IRIS, APPLE], ("cpu", "bf16")),
        (facts(ALL), "coreml", "auto", [CPU, APPLE], ("coreml:0", "fp16")),
        # Names find devices with or without the number, in any case.
        (facts(), "CUDA:1", "auto", [CPU, CUDA, SECOND], ("cuda:1", "fp32")),
        (facts(ALL), "tensorrt", "auto", [CPU, CUDA, TENSORRT], ("tensorrt:0", "fp16")),
        # Checks on this machine go before the catalogue, both ways.
        (facts(ALL, checked={("cpu", "bf16"): False}), "auto", "auto", [CPU], ("cpu", "fp32")),
        (facts(ALL, checked={("cpu", "bf16"): False}), "cpu", "bf16", [CPU], ("cpu", "fp32")),
        (facts(checked={("cpu", "bf16"): True}), "auto", "auto", [CPU], ("cpu", "bf16")),
        (facts(checked={("gpu", "fp16"): True}), "auto", "auto", [CPU], ("cpu", "fp32")),
    ],
)
def test_the_fastest_that_is_safe_and_there(network, device, precision, devices, expected):
    assert chosen(choose(network, device, precision, devices)) == expected


@pytest.mark.parametrize(
    ("network", "device", "precision", "devices", "why"),
    [
        (
            facts(ALL),
            "auto",
            "auto",
            [CPU],
            "cpu: the fastest that is there; bf16: the fastest that is known to be safe",
        ),
        (facts(), "cpu", "bf16", [CPU], "cpu: asked for; fp32: bf16 is not known to be safe"),
        (facts(checked={("cpu", "bf16"): True}), "auto", "auto", [CPU], "bf16: the fastest that passed the check"),
        (facts(ALL, checked={("cpu", "bf16"): False}), "auto", "auto", [CPU], "fp32: bf16 failed the check"),
        (facts(ALL, checked={("cpu", "bf16"): False}), "auto", "bf16", [CPU], "fp32: bf16 failed the check"),
        (facts(file="int8"), "auto", "fp32", [CPU], "int8: the file's own"),
        (facts(ALL), "cuda", "fp16", [CPU, CUDA], "fp32: fp16 takes a file of that precision"),
        (facts(ALL), "auto", "auto", [CPU, CUDA, TENSORRT], "no engine is built for tensorrt:0"),
        (facts(ALL), "auto", "bf16", [CPU, CUDA], "cuda:0 has no bf16"),
    ],
)
def test_the_reason_is_said(network, device, precision, devices, why):
    assert why in choose(network, device, precision, devices).why


@pytest.mark.parametrize(
    ("device", "message"),
    [
        ("cuda", r"'cuda' .* has cpu \(A New Processor\); bring its engine \(.*pip install 'mien\[cuda\]'"),
        ("tensorrt:0", r"pip install 'mien\[tensorrt\]'"),
        ("onnxruntime", r"pip install 'mien\[onnxruntime\]'"),
        ("directml", r"pip install onnxruntime-directml"),
        ("tpu", r"'tpu' is not there: this machine has cpu \(A New Processor\); give one of these or auto"),
        ("cpu:7", "'cpu:7' is not there"),
        ("", "'' is not there"),
    ],
)
def test_a_device_that_is_not_there_is_an_error_that_says_what_brings_it(device, message):
    with pytest.raises(EngineError, match=message):
        find(device, [CPU])


def test_a_precision_that_is_not_there_is_an_error_that_names_what_is():
    with pytest.raises(EngineError, match=r"bf16 is not there: cpu \(An Old Processor\) computes in fp32, int8"):
        choose(facts(ALL), "auto", "bf16", [OLD])


def test_a_device_without_float32_is_refused_for_a_network_that_needs_it():
    assert chosen(choose(facts(ALL), "qnn", "auto", [CPU, QNN])) == ("qnn:0", "fp16")
    with pytest.raises(EngineError, match=r"net is not known to keep its quality in fp16, int8, all that qnn:0"):
        choose(facts(), "qnn", "auto", [CPU, QNN])


def test_an_unknown_precision_is_an_error():
    with pytest.raises(EngineError, match=r"'fp8' is unknown.*auto, fp32, bf16, fp16, int8"):
        choose(facts(), "auto", "fp8", [CPU])


def test_float32_is_always_safe_and_comes_last():
    for device in (OLD, CPU, IRIS, CUDA, TENSORRT, APPLE):
        for network in (facts(()), facts(ALL), facts(file="int8"), facts(file="fp16")):
            assert safe_precisions(network, device)[-1] == "fp32"
