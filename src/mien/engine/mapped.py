"""Networks for OpenVINO whose weights stay in their file.

The engine's own reader copies the weights, which for a moment takes twice their size, and keeps the copy beside the
packed weights that it runs on. Mapped ones are only read when they are packed, and their pages can go meanwhile
(`giving_back_pages`). A network of 529 MB takes 30 ms to read instead of 2.5 s, and in bf16 it then holds 0.5 times its
size instead of 1.5 times.
"""

from __future__ import annotations

import threading
from collections.abc import Generator
from contextlib import contextmanager
from pathlib import Path

from mien.engine.device import core
from mien.engine.onnx_file import OnnxFile
from mien.engine.runtime import ov

MAPPED_BYTES = 64 * 1024
"""Weights from this size on are mapped; small ones may be shapes and axes that the reader has to know."""

_GIVE_BACK_S = 0.05


def read_mapped(path: Path) -> tuple[ov.Model, OnnxFile]:
    """The network of an ONNX file and the mapping that its weights are views of.

    The mapping has to outlive the network and everything compiled from it.

    Raises:
        ModelError: the file is missing, truncated or not an ONNX network.
        RuntimeError: the engine cannot read it so; perhaps it can the usual way.
    """
    file = OnnxFile(path)
    names = {weight.name for weight in file.weights if weight.end - weight.first >= MAPPED_BYTES}
    network = core().read_model(file.without(names), b"")
    for parameter in list(network.get_parameters()):
        name = next((name for name in parameter.output(0).get_names() if name in names), None)
        if name is not None:
            constant = ov.op.Constant(ov.Tensor(file.values(name), shared_memory=True))
            constant.set_friendly_name(name)
            parameter.output(0).replace(constant.output(0))
            network.remove_parameter(parameter)
    return network, file


@contextmanager
def giving_back_pages(file: OnnxFile) -> Generator[None]:
    """While the engine compiles and packs, have the system drop the file's pages over and over, and once at the end.

    The engine does not say which weights it is done with. What it comes back to is mapped again, at little cost.
    """
    done = threading.Event()

    def give_back() -> None:
        while not done.wait(_GIVE_BACK_S):
            file.forget_pages()

    thread = threading.Thread(target=give_back, name="mien-pages", daemon=True)
    thread.start()
    try:
        yield
    finally:
        done.set()
        thread.join()
        file.forget_pages()
