from pathlib import Path

import pytest

from mien.engine.built import engine_key, is_sound, make_room, seal
from mien.engine.providers import (
    EXTRAS,
    PRECISIONS,
    PROVIDERS,
    Engines,
    Profile,
    cuda_options,
    providers,
    session_entries,
    tensorrt_options,
)
from mien.errors import EngineError

SWAPPER = Profile((("target", (3, 128, 128)), ("source", (512,))), most=16)
ENGINES = Engines(Path("/cache/key"), SWAPPER)


def test_every_kind_of_device_has_a_provider_precisions_and_an_extra():
    assert set(PROVIDERS) == set(PRECISIONS) == set(EXTRAS)


def test_a_profile_names_every_shape_from_one_to_the_most():
    assert SWAPPER.options() == {
        "trt_profile_min_shapes": "target:1x3x128x128,source:1x512",
        "trt_profile_opt_shapes": "target:1x3x128x128,source:1x512",
        "trt_profile_max_shapes": "target:16x3x128x128,source:16x512",
    }
    assert Profile(()).options() == {}


@pytest.mark.parametrize(
    ("precision", "memory", "expected"),
    [
        ("fp32", None, {"device_id": "2", "prefer_nhwc": "0", "use_tf32": "0"}),
        ("fp16", None, {"device_id": "2", "prefer_nhwc": "1", "use_tf32": "0"}),
        ("fp32", 1 << 30, {"gpu_mem_limit": "1073741824", "arena_extend_strategy": "kSameAsRequested"}),
    ],
)
def test_options_of_cuda(precision: str, memory: int | None, expected: dict[str, str]):
    options = cuda_options(2, precision, memory_bytes=memory)
    assert expected.items() <= options.items()
    assert ("gpu_mem_limit" in options) == (memory is not None)


@pytest.mark.parametrize(
    ("precision", "flags"),
    [("fp32", "000"), ("fp16", "100"), ("bf16", "010"), ("int8", "001")],
)
def test_options_of_tensorrt(precision: str, flags: str):
    options = tensorrt_options(1, precision, ENGINES, memory_bytes=4000)
    assert "".join(options[f"trt_{kind}_enable"] for kind in ("fp16", "bf16", "int8")) == flags
    expected = {
        "device_id": "1",
        "trt_engine_cache_enable": "1",
        "trt_engine_cache_path": "/cache/key",
        "trt_timing_cache_enable": "1",
        "trt_context_memory_sharing_enable": "1",
        "trt_max_workspace_size": "1000",
        **SWAPPER.options(),
    }
    assert expected.items() <= options.items()


@pytest.mark.parametrize("kind", sorted(PROVIDERS))
def test_the_wanted_provider_comes_first_and_options_are_text(kind: str):
    chosen = providers(kind, 0, "fp16", engines=ENGINES)
    assert chosen[0][0] == PROVIDERS[kind]
    assert all(isinstance(part, str) for _, options in chosen for pair in options.items() for part in pair)
    # Naming the CPU beside another provider would permit it to take parts over.
    assert ("CPUExecutionProvider" in dict(chosen)) == (kind == "onnxruntime")


def test_tensorrt_leaves_what_it_does_not_know_to_cuda_on_the_same_card():
    chosen = providers("tensorrt", 3, "fp16", engines=ENGINES)
    assert [name for name, _ in chosen] == ["TensorrtExecutionProvider", "CUDAExecutionProvider"]
    assert {options["device_id"] for _, options in chosen} == {"3"}


def test_an_unknown_kind_is_an_error():
    with pytest.raises(EngineError, match="'tpu' is unknown"):
        providers("tpu", 0, "fp32")


def test_no_thread_spins_and_no_part_moves_to_the_cpu():
    for kind in PROVIDERS:
        entries = session_entries(kind)
        assert entries["session.intra_op.allow_spinning"] == "0"
        assert entries.get("session.disable_cpu_ep_fallback") == (None if kind == "onnxruntime" else "1")
    assert "session.disable_cpu_ep_fallback" not in session_entries("cuda", strict=False)


KEY = {"sha256": "ab", "engine": "onnxruntime 1.31, TensorRT 10.16", "gpu": "sm_90", "precision": "fp16"}


@pytest.mark.parametrize(
    "change",
    [
        {"sha256": "cd"},
        {"engine": "onnxruntime 1.32, TensorRT 10.16"},
        {"gpu": "sm_89"},
        {"precision": "bf16"},
        {"profile": Profile(SWAPPER.inner, most=8)},
        {"profile": Profile((("target", (3, 256, 256)),), most=16)},
    ],
)
def test_whatever_an_engine_depends_on_changes_its_key(change: dict):
    assert engine_key(**{**KEY, "profile": SWAPPER, **change}) != engine_key(**KEY, profile=SWAPPER)


def test_an_engine_is_sound_once_sealed_and_until_a_file_changes(tmp_path: Path):
    folder = make_room(tmp_path / "key")
    assert not is_sound(folder)
    (folder / "net.engine").write_bytes(b"engine" * 100)
    (folder / "net.timing").write_bytes(b"times")
    assert not is_sound(folder)
    seal(folder)
    assert is_sound(folder)
    (folder / "net.engine").write_bytes(b"engine" * 99 + b"engime")
    assert not is_sound(folder)


@pytest.mark.parametrize("damage", ["no engine", "no seal", "bad seal", "empty seal", "list"])
def test_a_damaged_engine_is_told_and_built_anew(tmp_path: Path, damage: str):
    folder = make_room(tmp_path / "key")
    (folder / "net.engine").write_bytes(b"engine")
    seal(folder)
    [sealed] = [file for file in folder.iterdir() if file.suffix == ".json"]
    match damage:
        case "no engine":
            (folder / "net.engine").unlink()
        case "no seal":
            sealed.unlink()
        case "bad seal":
            sealed.write_text("{")
        case "empty seal":
            sealed.write_text("{}")
        case _:
            sealed.write_text("[1]")
    assert not is_sound(folder)
    assert list(make_room(folder).iterdir()) == []


def test_an_engine_that_is_not_there_is_not_sound(tmp_path: Path):
    assert not is_sound(tmp_path / "nowhere")
