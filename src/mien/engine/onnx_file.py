"""ONNX files read in place: names, shapes and where each weight lies, without loading the weights.

An ONNX file is a protocol buffer (onnx.proto of the ONNX project; encoding: protobuf.dev/programming-guides/encoding).
Its readers take it in whole, which for a moment needs twice the size of the weights. Here the file is mapped, only the
graph is looked at, and weights are views of the mapping: the system reads their pages when they are used.

A mapped file must not be cut short in place, which would end the process; one that is replaced by renaming stays whole.
"""

from __future__ import annotations

import math
import mmap
from collections.abc import Collection, Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from mien.errors import ModelError

_DTYPES: dict[int, type[np.generic]] = {
    1: np.float32,
    2: np.uint8,
    3: np.int8,
    6: np.int32,
    7: np.int64,
    10: np.float16,
}
"""TensorProto.DataType to NumPy, of the types that weights have."""
_PRODUCER, _PRODUCER_VERSION, _GRAPH, _OPSETS = 2, 3, 7, 8  # of ModelProto
_NODE, _INITIALIZER, _INPUT, _OUTPUT = 1, 5, 11, 12  # of GraphProto
_NODE_INPUT, _OPERATOR = 1, 4  # of NodeProto
_DIMS, _DATA_TYPE, _FLOATS, _INTEGERS, _NAME, _RAW_DATA = 1, 2, 4, 5, 8, 9  # of TensorProto
_VARINT, _FIXED64, _LENGTH, _FIXED32 = 0, 1, 2, 5


@dataclass(frozen=True, slots=True)
class Port:
    """An input or output of the graph."""

    name: str
    data_type: int
    """TensorProto.DataType; 1 is float32."""
    shape: tuple[int | str, ...]
    """Open axes are strings: their names, or empty."""


@dataclass(frozen=True, slots=True)
class Weight:
    """An initializer whose data is one block of the file."""

    name: str
    data_type: int
    shape: tuple[int, ...]
    first: int
    """Of the data in the file."""
    end: int


@dataclass(frozen=True, slots=True)
class _Field:
    number: int
    tag: int
    """Where the field begins."""
    first: int
    """Where its value begins; of a varint, the value itself is in `value`."""
    end: int
    value: int
    packed: bool
    """Whether the value is a block of bytes: text, a message or several integers."""


class OnnxFile:
    """A mapped ONNX file. Views of weights keep the mapping alive."""

    def __init__(self, path: Path) -> None:
        """Map the file and look at its graph.

        Raises:
            ModelError: it is missing, truncated or not an ONNX network.
        """
        try:
            with path.open("rb") as file:
                self._bytes = mmap.mmap(file.fileno(), 0, access=mmap.ACCESS_COPY)
        except (OSError, ValueError) as error:
            raise ModelError(f"{path} cannot be read: {error}") from error
        try:
            self._model = list(_fields(self._bytes, 0, len(self._bytes)))
            [graph] = [field for field in self._model if field.number == _GRAPH]
            self._graph = list(_fields(self._bytes, graph.first, graph.end))
            self.inputs = tuple(self._port(field) for field in self._graph if field.number == _INPUT)
            """The graph's inputs. Old files name their weights here, too."""
            self.outputs = tuple(self._port(field) for field in self._graph if field.number == _OUTPUT)
            self._weights = self._find_weights()
        except (ValueError, IndexError) as error:
            raise ModelError(f"{path} is not an ONNX network, or only part of one") from error

    @property
    def producer(self) -> str:
        """The program that wrote the file, and its version; empty if it does not say."""
        wanted = (_PRODUCER, _PRODUCER_VERSION)
        return " ".join(
            self._text(field) for field in self._model if field.number in wanted and field.end > field.first
        )

    @property
    def opset(self) -> int:
        """Version of ONNX's own operators; 0 if the file does not say."""
        for field in self._model:
            if field.number == _OPSETS:
                parts = {part.number: part for part in _fields(self._bytes, field.first, field.end)}
                if 2 in parts and (1 not in parts or self._text(parts[1]) in ("", "ai.onnx")):
                    return parts[2].value
        return 0

    @property
    def initializers(self) -> tuple[str, ...]:
        """Names of all weights, in the file's order, however they are stored."""
        tensors = (field for field in self._graph if field.number == _INITIALIZER)
        names = ((part for part in self._parts(tensor) if part.number == _NAME) for tensor in tensors)
        return tuple("".join(self._text(name) for name in name_fields) for name_fields in names)

    @property
    def nodes(self) -> Iterator[tuple[str, tuple[str, ...]]]:
        """Operator and names of the inputs of each node."""
        for field in self._graph:
            if field.number == _NODE:
                parts = list(self._parts(field))
                operator = "".join(self._text(part) for part in parts if part.number == _OPERATOR)
                yield operator, tuple(self._text(part) for part in parts if part.number == _NODE_INPUT)

    def last_weight(self) -> NDArray[Any]:
        """The last initializer, however it is stored; of the others nothing is read.

        Raises:
            ModelError: there is none, or its values are not in the file.
        """
        tensors = [field for field in self._graph if field.number == _INITIALIZER]
        weight = self._weight(tensors[-1]) if tensors else None
        if weight is not None:
            return np.frombuffer(
                self._bytes, np.dtype(_DTYPES[weight.data_type]), math.prod(weight.shape), weight.first
            ).reshape(weight.shape)
        try:
            return self._listed_values(tensors[-1])
        except (ValueError, IndexError) as error:
            raise ModelError("the file's last weight is missing, or its values are in another file") from error

    @property
    def weights(self) -> tuple[Weight, ...]:
        """Initializers whose data is one block of the file, in the file's order."""
        return tuple(weight for weight, _ in self._weights.values())

    def values(self, name: str) -> NDArray[Any]:
        """A weight as a view of the file."""
        weight, _ = self._weights[name]
        dtype = np.dtype(_DTYPES[weight.data_type])
        return np.frombuffer(self._bytes, dtype, math.prod(weight.shape), weight.first).reshape(weight.shape)

    def without(self, names: Collection[str]) -> bytes:
        """The network with these weights as inputs of their type and shape instead."""
        dropped = {self._weights[name][1].tag for name in names}
        kept = [self._bytes[field.tag : field.end] for field in self._graph if field.tag not in dropped]
        known = {port.name for port in self.inputs}
        added = [_input(self._weights[name][0]) for name in names if name not in known]
        graph = b"".join(kept + added)
        around = [self._bytes[field.tag : field.end] for field in self._model if field.number != _GRAPH]
        return b"".join([*around, _length_field(_GRAPH, graph)])

    def forget_pages(self) -> None:
        """Have the system drop the pages of this file that the process holds; they are read again when used."""
        if hasattr(mmap, "MADV_DONTNEED"):
            self._bytes.madvise(mmap.MADV_DONTNEED)

    def _find_weights(self) -> dict[str, tuple[Weight, _Field]]:
        found: dict[str, tuple[Weight, _Field]] = {}
        for field in self._graph:
            weight = self._weight(field) if field.number == _INITIALIZER else None
            if weight is not None:
                found[weight.name] = weight, field
        return found

    def _weight(self, tensor: _Field) -> Weight | None:
        shape: list[int] = []
        name, data_type, raw = "", 0, None
        for field in self._parts(tensor):
            if field.number == _DIMS:
                shape += _varints(self._bytes, field)
            elif field.number == _DATA_TYPE:
                data_type = field.value
            elif field.number == _NAME:
                name = self._text(field)
            elif field.number == _RAW_DATA:
                raw = field
        if raw is None or data_type not in _DTYPES:
            return None
        if math.prod(shape) * np.dtype(_DTYPES[data_type]).itemsize != raw.end - raw.first:
            raise ValueError(name)
        return Weight(name, data_type, tuple(shape), raw.first, raw.end)

    def _listed_values(self, tensor: _Field) -> NDArray[Any]:
        """Values of a weight that is stored as a list of numbers; float16 ones are listed as integers."""
        shape, floats, integers = list[int](), list[NDArray[Any]](), list[int]()
        for field in self._parts(tensor):
            if field.number == _DIMS:
                shape += _varints(self._bytes, field)
            elif field.number == _FLOATS:
                floats.append(np.frombuffer(self._bytes, np.float32, (field.end - field.first) // 4, field.first))
            elif field.number == _INTEGERS:
                integers += _varints(self._bytes, field)
        values = np.concatenate(floats) if floats else np.array(integers, np.uint16).view(np.float16)
        return values.reshape(shape)

    def _port(self, port: _Field) -> Port:
        name, data_type, shape = "", 0, list[int | str]()
        for field in _fields(self._bytes, port.first, port.end):  # ValueInfoProto
            if field.number == 1:
                name = self._text(field)
            elif field.number == 2:
                for tensor in self._inside(field, 1):  # TypeProto.tensor_type
                    if tensor.number == 1:
                        data_type = tensor.value
                    elif tensor.number == 2:
                        shape = [self._axis(axis) for axis in _fields(self._bytes, tensor.first, tensor.end)]
        return Port(name, data_type, tuple(shape))

    def _axis(self, axis: _Field) -> int | str:
        for field in _fields(self._bytes, axis.first, axis.end):
            if field.number == 1:
                return field.value
            if field.number == 2:
                return self._text(field)
        return ""

    def _parts(self, field: _Field) -> Iterator[_Field]:
        return _fields(self._bytes, field.first, field.end)

    def _inside(self, outer: _Field, number: int) -> Iterator[_Field]:
        for field in _fields(self._bytes, outer.first, outer.end):
            if field.number == number:
                yield from _fields(self._bytes, field.first, field.end)

    def _text(self, field: _Field) -> str:
        return self._bytes[field.first : field.end].decode()


def _fields(data: mmap.mmap, place: int, end: int) -> Iterator[_Field]:
    """The fields of a message.

    Raises:
        ValueError: it is no message.
    """
    while place < end:
        tag = place
        key, place = _varint(data, place)
        number, wire_type = key >> 3, key & 7
        first, value = place, 0
        if wire_type == _VARINT:
            value, place = _varint(data, place)
        elif wire_type == _LENGTH:
            length, first = _varint(data, place)
            place = first + length
        elif wire_type in (_FIXED32, _FIXED64):
            place += 4 if wire_type == _FIXED32 else 8
        else:
            raise ValueError(f"wire type {wire_type}")
        if place > end or not number:
            raise ValueError("truncated")
        yield _Field(number, tag, first, place, value, wire_type == _LENGTH)


def _varints(data: mmap.mmap, field: _Field) -> list[int]:
    """Of a repeated integer: those in this field, packed or a single one."""
    if not field.packed:
        return [field.value]
    values: list[int] = []
    place = field.first
    while place < field.end:
        value, place = _varint(data, place)
        values.append(value)
    return values


def _varint(data: mmap.mmap, place: int) -> tuple[int, int]:
    """An integer and where the next thing begins."""
    value = shift = 0
    while True:
        byte = data[place]
        value |= (byte & 127) << shift
        place += 1
        if byte < 128:
            return value, place
        shift += 7
        if shift > 63:
            raise ValueError("no integer")


def _input(weight: Weight) -> bytes:
    """A ValueInfoProto in a field of the graph's inputs."""
    axes = b"".join(_length_field(1, _varint_field(1, side)) for side in weight.shape)
    tensor = _varint_field(1, weight.data_type) + _length_field(2, axes)
    info = _length_field(1, weight.name.encode()) + _length_field(2, _length_field(1, tensor))
    return _length_field(_INPUT, info)


def _length_field(number: int, value: bytes) -> bytes:
    return _encode(number << 3 | _LENGTH) + _encode(len(value)) + value


def _varint_field(number: int, value: int) -> bytes:
    return _encode(number << 3 | _VARINT) + _encode(value)


def _encode(value: int) -> bytes:
    coded = bytearray()
    while value > 127:
        coded.append(value & 127 | 128)
        value >>= 7
    return bytes([*coded, value])
