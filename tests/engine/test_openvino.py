import threading
from pathlib import Path

import numpy as np
import pytest

from mien.engine.cache import load_blob
from mien.engine.device import find_device
from mien.engine.openvino import OpenVinoSession
from mien.errors import EngineError, ModelError
from mien.models.catalogue import find_model
from support.moving import still

SELFIE = find_model("selfie_segmentation")
CPU = find_device("cpu")
PORTRAIT = still("astronaut")


def session(precision: str = "fp32", **options) -> OpenVinoSession:
    return OpenVinoSession(SELFIE.path, model=SELFIE.id, device=CPU, precision=precision, **options)


def pictures(count: int, seed: int = 0) -> np.ndarray:
    """Different cuttings of a portrait: the masks are neither empty nor alike."""
    starts = np.random.default_rng(seed).integers(0, 200, (count, 2))
    cuttings = [PORTRAIT[y : y + 256, x : x + 256] for y, x in starts]
    return np.array(cuttings, np.float32).reshape(-1, 256, 256, 3) / 255


@pytest.fixture(scope="module")
def fp32() -> OpenVinoSession:
    return session()


def run(loaded: OpenVinoSession, batch: np.ndarray) -> np.ndarray:
    return loaded.run({"input_1": batch})["activation_10"]


def test_says_what_ran(fp32: OpenVinoSession):
    assert fp32.ran.model == "selfie_segmentation"
    assert fp32.ran.engine == "openvino"
    assert fp32.ran.precision == "fp32"
    assert CPU.full_name in fp32.ran.device


def test_bf16_really_runs_in_bf16(fp32: OpenVinoSession):
    if "bf16" not in CPU.precisions:
        pytest.skip("this processor has no bf16")
    bf16 = session("bf16")
    assert bf16.ran.precision == "bf16"
    batch = pictures(1)
    difference = np.abs(run(bf16, batch) - run(fp32, batch))
    # bf16 keeps 8 bits: the answers are close, and cannot be equal.
    assert difference.max() > 1e-3
    assert difference.mean() < 0.01


def test_a_batch_is_the_same_as_one_by_one_also_beyond_the_largest(fp32: OpenVinoSession):
    batch = pictures(11)
    together = run(fp32, batch)
    assert together.shape == (11, 256, 256, 1)
    alone = np.concatenate([run(fp32, batch[i : i + 1]) for i in range(len(batch))])
    np.testing.assert_allclose(together, alone, atol=1e-4)


def test_outputs_are_the_callers_to_keep(fp32: OpenVinoSession):
    first = run(fp32, pictures(1, seed=1))
    kept = first.copy()
    run(fp32, pictures(1, seed=2))
    np.testing.assert_array_equal(first, kept)


def test_usage_adds_up():
    loaded = session()
    run(loaded, pictures(3))
    run(loaded, pictures(9))
    assert (loaded.usage.calls, loaded.usage.items) == (2, 12)
    assert loaded.usage.seconds > 0


def test_several_threads_get_their_own_answers(fp32: OpenVinoSession):
    batches = [pictures(1, seed) for seed in range(4)]
    expected = [run(fp32, batch) for batch in batches]
    found: dict[int, list[np.ndarray]] = {}

    def work(number: int) -> None:
        found[number] = [run(fp32, batches[number]) for _ in range(5)]

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
    [
        {},
        {"image": pictures(1)},
        {"input_1": pictures(1)[:, :200]},
        {"input_1": pictures(1)[0]},
        {"input_1": pictures(0)},
    ],
)
def test_wrong_inputs_are_named(fp32: OpenVinoSession, inputs: dict):
    with pytest.raises(EngineError, match=r"selfie_segmentation.* takes .*, got"):
        fp32.run(inputs)


def test_a_missing_file_is_named(tmp_path: Path):
    with pytest.raises(ModelError, match=r"net is missing: .*nowhere\.onnx"):
        OpenVinoSession(tmp_path / "nowhere.onnx", model="net", device=CPU, precision="fp32")


@pytest.mark.parametrize("content", [b"", b"not a network", SELFIE.path.read_bytes()[:5000]])
def test_a_damaged_file_is_named(tmp_path: Path, content: bytes):
    path = tmp_path / "damaged.onnx"
    path.write_bytes(content)
    with pytest.raises(ModelError, match=r"net cannot be read: .*damaged\.onnx"):
        OpenVinoSession(path, model="net", device=CPU, precision="fp32")


def test_compiled_networks_are_kept_and_give_the_same(tmp_path: Path, fp32: OpenVinoSession):
    first = session(cache=tmp_path)
    assert any(tmp_path.iterdir())
    again = session(cache=tmp_path)
    batch = pictures(1)
    np.testing.assert_allclose(run(again, batch), run(fp32, batch), atol=1e-5)
    assert again.ran == first.ran


@pytest.mark.parametrize("damage", ["cut off", "changed", "emptied"])
def test_a_damaged_cache_is_made_anew(tmp_path: Path, fp32: OpenVinoSession, damage: str):
    session(cache=tmp_path)
    [blob] = tmp_path.iterdir()
    whole = blob.read_bytes()
    middle = len(whole) // 2  # Among the weights, where the engine notices nothing.
    changed = whole[:middle] + bytes(255 - byte for byte in whole[middle : middle + 4000]) + whole[middle + 4000 :]
    blob.write_bytes({"cut off": whole[:1000], "changed": changed, "emptied": b""}[damage])
    batch = pictures(1)
    np.testing.assert_allclose(run(session(cache=tmp_path), batch), run(fp32, batch), atol=1e-5)
    assert load_blob(tmp_path, blob.stem)


def test_warming_up_compiles_for_each_batch(tmp_path: Path):
    session(cache=tmp_path).warm((1, 4))
    kept = {path.name for path in tmp_path.iterdir()}
    assert len(kept) == 2
    loaded = session(cache=tmp_path)
    run(loaded, pictures(3))
    assert {path.name for path in tmp_path.iterdir()} == kept


def test_the_reason_for_the_choice_is_kept():
    assert session(why="cpu: asked for").ran.why == "cpu: asked for"
