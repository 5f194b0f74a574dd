import os
import zipfile
from pathlib import Path

import numpy as np
import onnx
import pytest

from mien.errors import ModelError
from mien.models.catalogue import bundled
from mien.models.families.arcface import ArcFace
from mien.models.families.codeformer import CodeFormer
from mien.models.families.deep_swapper import DeepSwapper
from mien.models.families.gfpgan import Gfpgan
from mien.models.families.hyperswap import HyperSwap
from mien.models.families.inspection import check_family, inspect
from mien.models.families.inswapper import InSwapper
from mien.models.families.registry import FAMILIES
from mien.models.families.retinaface import RetinaFace
from mien.models.families.span import Span
from mien.models.families.yolo_face import YoloFace
from support import contract_networks
from support.contract_networks import emap_weight

TINT = np.zeros((512, 3), np.float32)
EMAP = np.random.default_rng(0).normal(0, 1, (512, 512)).astype(np.float32)


@pytest.fixture
def swapper(path: Path) -> Path:
    return contract_networks.swapper(path, 128, TINT, weights=[emap_weight(EMAP)])


def test_a_file_says_what_another_reader_finds(swapper: Path):
    file, theirs = inspect(swapper), onnx.load(swapper)
    assert [port.name for port in file.inputs] == [port.name for port in theirs.graph.input]
    assert [port.name for port in file.outputs] == [port.name for port in theirs.graph.output]
    for port, other in zip((*file.inputs, *file.outputs), (*theirs.graph.input, *theirs.graph.output), strict=True):
        tensor = other.type.tensor_type
        assert port.data_type == tensor.elem_type
        assert list(port.shape) == [side.dim_param or side.dim_value for side in tensor.shape.dim]
    assert file.opset == theirs.opset_import[0].version
    assert file.producer == "contract 1.0"
    assert file.weights == len(theirs.graph.initializer)
    np.testing.assert_array_equal(file.last_weight(), EMAP)


@pytest.mark.parametrize("entry", bundled().values(), ids=lambda entry: entry.id)
def test_bundled_files_too(entry):
    file, theirs = inspect(entry.path), onnx.load(entry.path)
    assert [port.name for port in file.inputs] == [port.name for port in theirs.graph.input]
    assert file.opset == theirs.opset_import[0].version
    assert file.weights == len(theirs.graph.initializer)
    last = onnx.numpy_helper.to_array(theirs.graph.initializer[-1])
    np.testing.assert_array_equal(file.last_weight(), last)


def test_weights_that_old_files_name_as_inputs_are_none(swapper: Path):
    model = onnx.load(swapper)
    for weight in model.graph.initializer:
        model.graph.input.append(onnx.helper.make_tensor_value_info(weight.name, weight.data_type, weight.dims))
    onnx.save(model, swapper)
    file = inspect(swapper)
    assert [port.name for port in file.inputs] == ["target", "source"]
    check_family(file, InSwapper)


def field(number: int, length: int) -> bytes:
    """What stands before a block of bytes in a protocol buffer."""
    coded = bytearray([number << 3 | 2])
    while length > 127:
        coded.append(length & 127 | 128)
        length >>= 7
    return bytes([*coded, length])


def resident_bytes() -> int:
    return int(Path("/proc/self/statm").read_text().split()[1]) * os.sysconf("SC_PAGE_SIZE")


@pytest.mark.alone
@pytest.mark.skipif(not Path("/proc/self/statm").exists(), reason="this system does not say how much memory is in use")
def test_of_a_large_file_only_the_last_weight_is_read(swapper: Path, tmp_path: Path):
    gib = 2**30  # of weights in front, a hole in the file
    model = onnx.load(swapper)
    last = model.graph.initializer.pop().SerializeToString()
    first = onnx.TensorProto(name="large", data_type=onnx.TensorProto.FLOAT, dims=[gib // 4]).SerializeToString()
    first += field(9, gib)
    start = model.graph.SerializeToString() + field(5, len(first) + gib) + first
    end = field(5, len(last)) + last
    graph = field(7, len(start) + gib + len(end))
    model.ClearField("graph")
    path = tmp_path / "large.onnx"
    with path.open("wb") as stream:
        stream.write(model.SerializeToString() + graph + start)
        stream.seek(gib, os.SEEK_CUR)
        stream.write(end)
    before = resident_bytes()
    file = inspect(path)
    assert [port.name for port in file.inputs] == ["target", "source"]
    np.testing.assert_array_equal(file.last_weight(), EMAP)
    assert resident_bytes() - before < gib // 20


def test_the_last_weight_of_a_file_without_any(tmp_path: Path):
    graph = contract_networks.Graph()
    graph.add("Identity", "x", out="y")
    file = inspect(graph.write(tmp_path / "bare.onnx", {"x": (1,)}, {"y": (1,)}))
    assert file.weights == 0
    with pytest.raises(ModelError, match="last weight is missing"):
        file.last_weight()


def test_every_cut_is_noticed(swapper: Path, tmp_path: Path):
    whole = swapper.read_bytes()
    for length in (1, 2, 10, 100, len(whole) // 2, len(whole) - 1):
        part = tmp_path / "part.onnx"
        part.write_bytes(whole[:length])
        with pytest.raises(
            ModelError, match=r"part\.onnx (begins as an ONNX network and is cut off|is not an ONNX network)"
        ):
            inspect(part)


def test_random_damage_never_gives_another_error(swapper: Path, tmp_path: Path):
    whole = bytearray(swapper.read_bytes())
    rng = np.random.default_rng(0)
    part = tmp_path / "damaged.onnx"
    refused = 0
    for _ in range(200):
        damaged = whole.copy()
        for place in rng.integers(0, 400, 5):
            damaged[place] = rng.integers(0, 256)
        part.write_bytes(damaged)
        try:
            inspect(part)
        except ModelError:
            refused += 1
    assert refused > 50


def pickled(path: Path) -> None:
    path.write_bytes(b"\x80\x02}q\x00.")


def zipped(path: Path) -> None:
    with zipfile.ZipFile(path, "w") as archive:
        archive.writestr("archive/data.pkl", "")


@pytest.mark.parametrize(
    ("write", "reason"),
    [
        (pickled, "is a Python pickle, which can run any program when it is read: convert"),
        (zipped, "is a zip archive, as PyTorch writes"),
        (lambda path: path.write_bytes(b""), "is empty: get it again"),
        (lambda path: path.write_text("version https://git-lfs.github.com/spec/v1\n"), "is only a pointer of Git LFS"),
        (lambda path: path.write_text("<!DOCTYPE html><html>"), "is a web page, perhaps of a failed download"),
        (lambda path: path.write_bytes(bytes(range(256))), "is not an ONNX network"),
        (lambda path: path.write_bytes(b"\x08\x08\x12"), "begins as an ONNX network and is cut off or damaged"),
    ],
)
def test_other_files_are_refused_with_what_they_are(path: Path, write, reason: str):
    write(path)
    with pytest.raises(ModelError, match=reason):
        inspect(path)


def test_a_missing_file_is_refused(tmp_path: Path):
    with pytest.raises(ModelError, match=r"none\.onnx cannot be read: No such file"):
        inspect(tmp_path / "none.onnx")
    with pytest.raises(ModelError, match="cannot be read: Is a directory"):
        inspect(tmp_path)


def test_a_file_of_another_family_is_refused(swapper: Path):
    file = inspect(swapper)
    check_family(file, InSwapper)
    for family, reason in [
        (HyperSwap, r"its input target \(1, 3, 128, 128\) float32 should be \(any, 3, 256, 256\)"),
        (ArcFace, r"it takes target .* and source .*, not input \(any, 3, 112, 112\)"),
    ]:
        with pytest.raises(ModelError, match=f"is no network of the family {family.name}: {reason}"):
            check_family(file, family)


def test_further_inputs_and_missing_outputs_are_refused(path: Path):
    weighted = inspect(contract_networks.restorer(path, 512, 1, (0, 0, 0), weighted=True))
    check_family(weighted, CodeFormer)
    with pytest.raises(ModelError, match=r"gfpgan: it also takes weight \(1\) float64"):
        check_family(weighted, Gfpgan)
    detector = inspect(contract_networks.yolo_face(path, [], gain=0))
    with pytest.raises(ModelError, match=r"retinaface: it gives output0 \(1, 20, 8400\) float32, not 9 outputs"):
        check_family(detector, RetinaFace)
    check_family(detector, YoloFace)
    many = inspect(contract_networks.yunet(path, [], gain=0))
    with pytest.raises(
        ModelError, match=r"its output cls_8 \(1, 6400, 1\) float32 should be of shape \(any, 20, any\)"
    ):
        check_family(many, YoloFace)


def test_open_axes_and_optional_inputs_fit(path: Path):
    masks = [np.ones((64, 64), np.float32)] * 2
    for morphs in (True, False):
        check_family(inspect(contract_networks.deep_swapper(path, 64, masks, (0, 0, 0), morphs=morphs)), DeepSwapper)
    check_family(inspect(bundled()["span_x2"].path), Span)
    check_family(inspect(contract_networks.swapper(path, 128, TINT, batch="n")), InSwapper)


def test_only_the_right_family_takes_a_file(path: Path):
    file = inspect(contract_networks.crossface(path, np.eye(512, dtype=np.float32)))
    fitting = []
    for family in FAMILIES.families.values():
        try:
            check_family(file, family)
        except ModelError:
            continue
        fitting.append(family.name)
    assert fitting == ["crossface"]
