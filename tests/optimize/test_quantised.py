"""INT8 networks: what they are made of, and that a layer that bears no bytes is found."""

from pathlib import Path

import numpy as np
import onnx
import pytest
from onnx import TensorProto, numpy_helper

from mien.errors import UsageError
from mien.optimize.graph import clean, count, layers
from mien.optimize.making import Damage
from mien.optimize.quantised import METHODS, calibrate, neighbours, quantised
from mien.optimize.search import sensitivities
from optimize.nets import planted

RNG = np.random.default_rng(0)
ITEMS = [{"input": RNG.normal(size=(1, 3, 112, 112)).astype(np.float32)} for _ in range(6)]
INNER = ("before", "loud", "quiet", "after")


@pytest.fixture(scope="module")
def network(tmp_path_factory: pytest.TempPathFactory):
    return clean(planted(tmp_path_factory.mktemp("nets") / "net.onnx", loud=300))


@pytest.mark.parametrize("method", METHODS)
def test_layers_become_bytes_with_a_scale_for_each_channel(network, method, capsys: pytest.CaptureFixture[str]):
    ranges = calibrate(network, ITEMS, method)
    assert capsys.readouterr().out == ""  # --json is for programs.
    made = quantised(network, ranges, neighbours(network, INNER))
    onnx.checker.check_model(made, full_check=True)
    weights = {tensor.name: tensor for tensor in made.graph.initializer}
    signed = [tensor for tensor in weights.values() if tensor.data_type == TensorProto.INT8 and len(tensor.dims) == 4]
    assert len(signed) == len(INNER)
    scales = [weights[name] for name in weights if name.startswith("w_") and name.endswith("_scale")]
    assert {tuple(scale.dims) for scale in scales} == {(8,)}
    assert weights["w_first"].data_type == weights["w_last"].data_type == TensorProto.FLOAT
    assert count(made, ITEMS[0]) == count(network, ITEMS[0])


def test_the_layer_that_bears_no_bytes_is_the_most_harmful(network):
    ranges, damage = calibrate(network, ITEMS, "minmax"), Damage(network, ITEMS)
    order = sensitivities(INNER, lambda chosen: damage.of(quantised(network, ranges, chosen)))
    assert {one.node for one in order[:2]} == {"loud", "quiet"}
    assert order[1].damage > 5 * order[2].damage
    rest = quantised(network, ranges, {"before", "after"})
    assert damage.of(rest) < order[1].damage


def test_what_lies_between_layers_goes_along_only_if_all_that_it_takes_does(network):
    assert neighbours(network, ["first"]) == {"first", "relu"}
    assert neighbours(network, ["after"]) == {"after", "pool"}
    assert neighbours(network, []) == frozenset()
    assert set(layers(network)) <= neighbours(network, layers(network))


def test_weights_that_adapters_read_stay(tmp_path: Path):
    emap = RNG.normal(size=(512, 512)).astype(np.float32)
    network = clean(planted(tmp_path / "net.onnx", loud=1, unread={"emap": emap}))
    last = quantised(network, calibrate(network, ITEMS[:1], "minmax"), INNER).graph.initializer[-1]
    np.testing.assert_array_equal(numpy_helper.to_array(last), emap)


def test_ranges_are_those_of_what_was_seen(network):
    ranges = calibrate(network, ITEMS, "minmax").tensors["input"].range_value
    seen = np.stack([item["input"] for item in ITEMS])
    assert [float(np.ravel(side)[0]) for side in ranges] == pytest.approx([seen.min(), seen.max()])


def test_an_unknown_method_or_nothing_to_see_is_an_error(network):
    with pytest.raises(UsageError, match="'mean': it is one of minmax, percentile, entropy"):
        calibrate(network, ITEMS, "mean")  # type: ignore[arg-type]
    with pytest.raises(UsageError, match="nothing to calibrate"):
        calibrate(network, [], "minmax")
