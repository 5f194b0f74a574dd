from pathlib import Path

import numpy as np

from mien.models.families.batches import runs_in_batches
from mien.models.families.gfpgan import Gfpgan
from mien.models.families.inspection import inspect
from support import contract_networks
from support.contract_networks import Graph


def one_item_only(path: Path) -> Path:
    """Exported for one item: a shape in the graph says so."""
    graph = Graph()
    flat = graph.add("Reshape", "input", np.array([1, 3 * 512 * 512], np.int64))
    graph.add("Reshape", flat, np.array([1, 3, 512, 512], np.int64), out="output")
    return graph.write(path, {"input": (1, 3, 512, 512)}, {"output": (1, 3, 512, 512)})


def mixing(path: Path) -> Path:
    """Items see each other."""
    graph = Graph()
    mean = graph.add("ReduceMean", "input", axes=[0], keepdims=1)
    graph.add("Add", "input", mean, out="output")
    return graph.write(path, {"input": (1, 3, 512, 512)}, {"output": (1, 3, 512, 512)})


def test_files_whose_items_see_each_other_are_told_apart(path: Path, record):
    good = contract_networks.restorer(path, 512, 0.8, (0.1, 0, 0))
    assert runs_in_batches(record(good), inspect(good))
    mixed = mixing(path.with_name("mixing.onnx"))
    assert not runs_in_batches(record(mixed), inspect(mixed))


def test_the_engine_runs_files_for_one_item_one_by_one(path: Path, record):
    """With an open batch axis the engine would crash on them."""
    session = record(one_item_only(path))
    items = np.random.default_rng(0).random((3, 3, 512, 512), np.float32)
    for _ in range(2):
        np.testing.assert_array_equal(session.run({"input": items})["output"], items)
    assert session.usage.items == 6
    assert runs_in_batches(session, inspect(path))


def test_open_axes_are_filled(path: Path, record):
    file = contract_networks.upscaler(path, 2, np.ones((3, 3)) / 9)
    assert runs_in_batches(record(file), inspect(file))


def test_an_adapter_runs_such_a_file_one_by_one(path: Path, open_adapter, crops):
    restorer, session = open_adapter(Gfpgan, mixing(path))
    faces = crops(3, 512)
    restorer.batches = False
    together = restorer.restore(faces)
    assert len(session.calls) == 3
    for face, restored in zip(faces, together, strict=True):
        np.testing.assert_array_equal(restorer.restore(face[None])[0], restored)
