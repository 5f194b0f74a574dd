"""Checks of mixed precision on a real portrait, and what they decide."""

from pathlib import Path

import numpy as np
import pytest

from mien.engine.device import find_device
from mien.engine.onnxruntime import load_runtime
from mien.engine.openvino import OpenVinoSession
from mien.errors import EngineError, ModelError, UsageError
from mien.models.catalogue import bundled, find_model
from mien.models.families.alignment import cut_faces
from mien.models.families.templates import ARCFACE_112_V2
from mien.models.opening import Wish, open_entry
from mien.models.store import Located, ModelStore
from mien.quality.precision import check_precision
from mien.quality.trial import Sample, samples, try_out
from support import contract_networks as networks
from support.graphs import quantised_convolution

PORTRAIT = Path(__file__).parents[1] / "stills" / "grace_hopper.jpg"
CPU = find_device("cpu")
HAS_BF16 = pytest.mark.skipif("bf16" not in CPU.precisions, reason="this processor has no bf16")
RNG = np.random.default_rng(0)


@pytest.fixture(autouse=True)
def cache(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.setenv("MIEN_CACHE", str(tmp_path / "cache"))
    return tmp_path / "cache"


@pytest.fixture(scope="module")
def faces() -> list[Sample]:
    return samples([PORTRAIT])


def own(path: Path, family: str) -> Located:
    return ModelStore(downloads=path.parent).locate_file(path, family)


def test_every_face_comes_twice_once_mirrored(faces: list[Sample]):
    assert len(faces) == 2
    width = faces[0].picture.shape[1]
    np.testing.assert_array_equal(faces[1].picture, faces[0].picture[:, ::-1])
    assert faces[0].points[:, 0].mean() + faces[1].points[:, 0].mean() == pytest.approx(width, abs=4)


@HAS_BF16
def test_a_network_that_keeps_its_quality_passes_and_runs_so_from_then_on(tmp_path: Path):
    located = own(networks.arcface(tmp_path / "net.onnx", RNG.normal(size=(588, 512))), "arcface")
    before = Wish().choose(located.entry, located.path)
    assert (before.precision, "known to be safe" in before.why) == ("fp32", True)
    check = check_precision(located, "bf16", [PORTRAIT])
    assert (check.ran.precision, check.fidelity.kind, check.fidelity.items) == ("bf16", "embedding", 2)
    assert check.fidelity.passed
    assert check.fidelity.cosine < 1
    after = Wish().choose(located.entry, located.path)
    assert after.precision == "bf16"
    assert "passed the check" in after.why
    assert Wish(precision="fp32").choose(located.entry, located.path).precision == "fp32"


@HAS_BF16
def test_a_network_that_does_not_is_refused_even_when_asked_for(tmp_path: Path):
    # In bf16 this one puts white specks into the dark ground of the portrait.
    path = tmp_path / "net.onnx"
    path.write_bytes(find_model("span_x2").path.read_bytes())
    located = own(path, "span")
    check = check_precision(located, "bf16", [PORTRAIT])
    assert not check.fidelity.passed
    assert check.fidelity.max_error > 0.5
    for wish in (Wish(), Wish(precision="bf16")):
        choice = wish.choose(located.entry, located.path)
        assert choice.precision == "fp32"
        assert "bf16 failed the check" in choice.why
    # Another file, with the same name, has not been checked.
    path.write_bytes(find_model("span_x4").path.read_bytes())
    assert "failed" not in Wish(precision="bf16").choose(located.entry, path).why


@HAS_BF16
def test_of_a_bundled_network_a_check_only_takes_away():
    entry = find_model("face_detection_short_range")
    located = Located(entry, entry.path, "bundled", True, False, "")
    assert check_precision(located, "bf16", [PORTRAIT]).fidelity.passed
    assert Wish().choose(entry, entry.path).precision == "fp32"


TRIED = {"blazeface", "face_mesh", "dlib_identity", "selfie", "span"}


@pytest.mark.parametrize("entry", bundled().values(), ids=bundled())
def test_bundled_networks_run_on_real_faces(entry, faces: list[Sample]):
    session = OpenVinoSession(entry.path, model=entry.id, device=CPU, precision="fp32", max_batch=1)
    if entry.family not in TRIED:
        with pytest.raises(UsageError, match=f"{entry.id} cannot be checked"):
            try_out(entry, entry.path, session, faces)
        return
    answers = try_out(entry, entry.path, session, faces)
    assert len(answers.values) == 2
    assert np.isfinite(answers.values).all()
    assert answers.values.std() > 0


FIELD = {
    "2dfan4": lambda path: networks.fan(path, RNG.random((68, 2)) * 4, RNG.random(68)),
    "fan_68_5": lambda path: networks.fan_68_5(path, RNG.random((11, 136))),
    "arcface": lambda path: networks.arcface(path, RNG.normal(size=(588, 512))),
    "crossface": lambda path: networks.crossface(path, RNG.normal(size=(512, 512))),
    "fairface": lambda path: networks.fairface(path, [RNG.normal(size=(3, n)) for n in (7, 2, 9)]),
    "gfpgan": lambda path: networks.restorer(path, 512, 0.9, (0.1, 0, 0)),
    "real_esrgan": lambda path: networks.upscaler(path, 2, np.full((3, 3), 1 / 9)),
    "xseg": networks.xseg,
    "bisenet": lambda path: networks.bisenet(path, {1: (1, 0, 0), 4: (0, 1, 0), 10: (0, 0, 1)}),
}
KINDS = {
    "2dfan4": "landmarks",
    "fan_68_5": "landmarks",
    "arcface": "embedding",
    "crossface": "embedding",
    "fairface": "labels",
    "bisenet": "labels",
}


@pytest.mark.parametrize("family", FIELD)
def test_networks_of_the_field_run_on_real_faces(family: str, tmp_path: Path, faces: list[Sample]):
    located = own(FIELD[family](tmp_path / "net.onnx"), family)
    choice = Wish("cpu").choose(located.entry, located.path)
    session = open_entry(located.entry, located.path, choice, cpu_batch=1)
    answers = try_out(located.entry, located.path, session, faces)
    assert answers.kind == KINDS.get(family, "picture")
    assert len(answers.values) == (1 if family == "crossface" else 2)
    assert session.usage.items >= len(answers.values)


def test_a_network_that_needs_others_is_said_not_to_run_alone(tmp_path: Path, faces: list[Sample]):
    located = own(networks.feature_extractor(tmp_path / "net.onnx"), "live_portrait_feature_extractor")
    session = open_entry(located.entry, located.path, Wish().choose(located.entry, located.path), cpu_batch=1)
    with pytest.raises(UsageError, match="do not run alone"):
        try_out(located.entry, located.path, session, faces)


@pytest.mark.parametrize(
    ("precision", "device", "error", "message"),
    [
        ("fp32", "cpu", UsageError, "'fp32' cannot be checked: give bf16, fp16 or int8"),
        ("fp8", "cpu", UsageError, "'fp8' cannot be checked"),
        ("fp16", "cpu", EngineError, r"fp16 is not there: cpu \("),
        ("bf16", "tpu", EngineError, "'tpu' is not there"),
        ("int8", "cpu", EngineError, "is no int8 network"),
    ],
)
def test_what_cannot_be_checked_is_an_error(precision: str, device: str, error: type[Exception], message: str):
    entry = find_model("face_detection_short_range")
    located = Located(entry, entry.path, "bundled", True, False, "")
    with pytest.raises(error, match=message):
        check_precision(located, precision, [PORTRAIT], device=device)


def test_an_int8_network_is_checked_against_another(tmp_path: Path):
    located = own(quantised_convolution(tmp_path / "net.onnx"), "arcface")
    with pytest.raises(UsageError, match="net is int8 itself: name its float32 network with --against"):
        check_precision(located, "int8", [PORTRAIT])


def test_pictures_without_faces_are_refused(tmp_path: Path):
    from PIL import Image

    Image.new("RGB", (64, 64)).save(tmp_path / "black.png")
    with pytest.raises(UsageError, match=r"no face in .*black\.png"):
        samples([tmp_path / "black.png"])


@pytest.mark.parametrize("precision", [name for name in CPU.precisions if name != "fp32"])
def test_a_damaged_file_is_named(tmp_path: Path, precision: str):
    (tmp_path / "net.onnx").write_bytes(b"nothing")
    with pytest.raises(ModelError):
        check_precision(own(tmp_path / "net.onnx", "arcface"), precision, [PORTRAIT])


def test_an_int8_network_that_keeps_its_quality_passes_against_its_float32_one(tmp_path: Path, faces: list[Sample]):
    load_runtime()
    from onnxruntime import quantization

    exact = own(networks.arcface(tmp_path / "exact.onnx", RNG.normal(size=(588, 512))), "arcface")
    crops = cut_faces(faces[0].picture, [faces[0].points], ARCFACE_112_V2, 112)[0].transpose(0, 3, 1, 2)

    class Calibration(quantization.CalibrationDataReader):
        def __init__(self) -> None:
            self.batches = iter([{"input": crops.astype(np.float32) / 127.5 - 1}])

        def get_next(self):
            return next(self.batches, None)

    quantization.quantize_static(exact.path, tmp_path / "int8.onnx", Calibration(), per_channel=True)
    located = own(tmp_path / "int8.onnx", "arcface")
    assert Wish().choose(located.entry, located.path).precision == "int8"
    check = check_precision(located, "int8", [PORTRAIT], exact=exact)
    assert check.ran.precision == "int8"
    assert 0.99 < check.fidelity.cosine < 1
