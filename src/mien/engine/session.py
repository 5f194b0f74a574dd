"""What an engine has to offer: run a network, and say what really ran."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Protocol

import numpy as np
from numpy.typing import NDArray

Tensors = Mapping[str, NDArray[np.float32]]
"""Named tensors, first axis = batch."""


@dataclass(frozen=True, slots=True)
class Ran:
    """What really ran a network."""

    model: str
    """Catalogue id."""
    engine: str
    """`openvino`, `onnxruntime`, ..."""
    device: str
    """`cpu`, `gpu:0`, ... with the device's own name in brackets."""
    precision: str
    """`fp32`, `bf16`, `fp16` or `int8`."""
    why: str = ""
    """Why it was this device and precision."""


@dataclass(slots=True)
class Usage:
    """Running totals of a session."""

    calls: int = 0
    items: int = 0
    seconds: float = 0.0


class Session(Protocol):
    """A loaded network. Safe to call from several threads."""

    @property
    def ran(self) -> Ran:
        """Engine, device and precision that really run."""
        ...

    @property
    def usage(self) -> Usage:
        """Calls, batch items and seconds so far."""
        ...

    def run(self, inputs: Tensors) -> dict[str, NDArray[np.float32]]:
        """Run one batch. Output arrays are the caller's to keep; they come in the graph's order.

        Raises:
            EngineError: the engine failed, or an input has the wrong name or shape.
        """
        ...
