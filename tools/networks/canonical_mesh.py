"""The canonical face of the npm package @mediapipe/face_mesh -> arrays.

Its packed assets hold a protocol-buffer message: field 1 = mesh (3 = vertices of 5 floats: x, y, z in cm, u, v;
4 = triangle indices), field 2, repeated = Procrustes basis (1 = vertex, 2 = weight).
"""

from __future__ import annotations

import struct
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

MESSAGE = slice(3_737_848, 3_757_224)
"""Where the message lies in face_mesh_solution_packed_assets.data of version 0.4.1657299874."""


def read_varint(data: bytes, position: int) -> tuple[int, int]:
    """Seven bits a byte, low ones first; the high bit says that more follow."""
    value = shift = 0
    while True:
        byte = data[position]
        position += 1
        value |= (byte & 0x7F) << shift
        shift += 7
        if byte < 0x80:
            return value, position


def fields(data: bytes) -> Iterator[tuple[int, Any]]:
    """Number and value of each field of a message."""
    position = 0
    while position < len(data):
        key, position = read_varint(data, position)
        match key & 7:
            case 0:
                value, position = read_varint(data, position)
            case 2:
                size, position = read_varint(data, position)
                value, position = data[position : position + size], position + size
            case 5:
                (value,), position = struct.unpack_from("<f", data, position), position + 4
            case wire:
                raise ValueError(f"protocol-buffer wire type {wire} is not expected here")
        yield key >> 3, value


def numbers(data: bytes) -> Iterator[int]:
    """Packed varints."""
    position = 0
    while position < len(data):
        value, position = read_varint(data, position)
        yield value


def extract(assets: Path) -> dict[str, NDArray[Any]]:
    """xyz (468,3) cm, uv (468,2), tri (898,3), procrustes_idx (33,), procrustes_w (33,)."""
    message = list(fields(assets.read_bytes()[MESSAGE]))
    (mesh,) = (value for number, value in message if number == 1)
    basis = [dict(fields(value)) for number, value in message if number == 2]
    vertices: list[float] = []
    triangles: list[int] = []
    for number, value in fields(mesh):
        if number == 3:
            vertices += np.frombuffer(value, "<f4").tolist() if isinstance(value, bytes) else [value]
        elif number == 4:
            triangles += numbers(value) if isinstance(value, bytes) else [value]
    table = np.array(vertices, np.float32).reshape(-1, 5)
    return {
        "xyz": table[:, :3],
        "uv": table[:, 3:],
        "tri": np.array(triangles, np.int32).reshape(-1, 3),
        "procrustes_idx": np.array([entry.get(1, 0) for entry in basis], np.int32),
        "procrustes_w": np.array([entry.get(2, 0.0) for entry in basis], np.float32),
    }
