"""ONNX files of the user's own: what each says about itself, and whether it is what the user says it is."""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from mien.engine.onnx_file import OnnxFile, Port
from mien.errors import ModelError
from mien.models.families.family import Family, Rule

_TYPES = {1: "float32", 6: "int32", 7: "int64", 10: "float16", 11: "float64", 16: "bfloat16"}
"""Names of TensorProto.DataType."""
_IR_VERSION = 8
"""Key of a model's first field."""


@dataclass(frozen=True, slots=True)
class NetworkFile:
    """An ONNX file that has been looked at; its weights have not been read."""

    path: Path
    inputs: tuple[Port, ...]
    """What the graph takes, weights aside."""
    outputs: tuple[Port, ...]
    """What the graph gives, in its order."""
    opset: int
    """Version of ONNX's own operators; 0 if the file does not say."""
    producer: str
    """The program that wrote the file; empty if it does not say."""
    weights: int
    """Number of weights."""

    def last_weight(self) -> NDArray[Any]:
        """The graph's last initializer, a copy; of the others nothing is read.

        Raises:
            ModelError: there is none, or the file has changed meanwhile.
        """
        return np.array(OnnxFile(self.path).last_weight())


def inspect(path: Path) -> NetworkFile:
    """Look at an ONNX file without loading it.

    Raises:
        ModelError: it is missing, cut off or no ONNX file; the message says what it is instead.
    """
    head = _head(path)
    try:
        file = OnnxFile(path)
        weights = file.initializers
        inputs = tuple(port for port in file.inputs if port.name not in set(weights))
        return NetworkFile(path, inputs, file.outputs, file.opset, file.producer, len(weights))
    except (ModelError, ValueError, IndexError) as error:
        raise ModelError(f"{path} {_what_else(head)}") from error


def check_family(file: NetworkFile, family: type[Family]) -> None:
    """Compare a file's inputs and outputs with a family's.

    Raises:
        ModelError: they differ; the message says in what.
    """
    what = f"{file.path} is no network of the family {family.name}"
    for rule in family.inputs:
        port = _named(file.inputs, rule)
        if port is None:
            if rule.optional:
                continue
            raise ModelError(f"{what}: it takes {_ports(file.inputs)}, not {rule.name} {_sides(rule)}")
        if not rule.fits(port):
            raise ModelError(f"{what}: its input {_port(port)} should be {_sides(rule)}")
    known = {rule.name for rule in family.inputs}
    if further := [port for port in file.inputs if port.name not in known]:
        raise ModelError(f"{what}: it also takes {_ports(further)}")
    if len(file.outputs) < len(family.outputs):
        raise ModelError(f"{what}: it gives {_ports(file.outputs)}, not {len(family.outputs)} outputs")
    for rule, port in zip(family.outputs, file.outputs, strict=False):
        if not rule.fits(port):
            raise ModelError(f"{what}: its output {_port(port)} should be {rule.name or 'of shape'} {_sides(rule)}")


def _head(path: Path) -> bytes:
    try:
        with path.open("rb") as file:
            return file.read(64)
    except OSError as error:
        raise ModelError(f"{path} cannot be read: {error.strerror}") from error


def _what_else(head: bytes) -> str:
    """What a file that cannot be read as ONNX is, by its first bytes."""
    if not head:
        return "is empty: get it again"
    if head[0] == 0x80:
        return "is a Python pickle, which can run any program when it is read: convert the network to ONNX"
    if head.startswith(b"PK"):
        return "is a zip archive, as PyTorch writes: convert the network to ONNX"
    if head.startswith(b"version https://git-lfs"):
        return "is only a pointer of Git LFS: fetch the file itself"
    if head.lstrip()[:1] == b"<":
        return "is a web page, perhaps of a failed download: get it again"
    if head[0] == _IR_VERSION and (len(head) == 1 or 0 < head[1] < 32):
        return "begins as an ONNX network and is cut off or damaged: get it again"
    return "is not an ONNX network"


def _named(ports: tuple[Port, ...], rule: Rule) -> Port | None:
    return next((port for port in ports if port.name == rule.name), None)


def _sides(rule: Rule) -> str:
    return f"({', '.join('any' if side is None else str(side) for side in rule.shape or ())})"


def _port(port: Port) -> str:
    sides = ", ".join(str(side) or "any" for side in port.shape)
    return f"{port.name} ({sides}) {_TYPES.get(port.data_type, 'of another type')}"


def _ports(ports: tuple[Port, ...] | list[Port]) -> str:
    return " and ".join(_port(port) for port in ports) or "nothing"
