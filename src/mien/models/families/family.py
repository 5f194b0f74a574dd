"""What all adapters have in common: facts, a session, and the ports that a file of the family must have."""

from __future__ import annotations

from abc import ABC
from dataclasses import dataclass
from typing import Any, ClassVar, Literal, Protocol, Self

import numpy as np
from numpy.typing import NDArray

from mien.engine.onnx_file import Port
from mien.engine.session import Session, Tensors
from mien.models.families.templates import Template

Floats = NDArray[np.float32]
Role = Literal[
    "detector",
    "landmarker",
    "recogniser",
    "classifier",
    "converter",
    "swapper",
    "restorer",
    "upscaler",
    "occluder",
    "parser",
    "expression",
    "expression_motion",
    "expression_generator",
]


class Network(Protocol):
    """What an adapter may ask of its file (see `inspection.NetworkFile`)."""

    @property
    def inputs(self) -> tuple[Port, ...]:
        """What the graph takes, weights aside."""
        ...

    @property
    def outputs(self) -> tuple[Port, ...]:
        """What the graph gives, in its order."""
        ...

    def last_weight(self) -> NDArray[Any]:
        """The graph's last initializer."""
        ...


@dataclass(frozen=True, slots=True)
class Rule:
    """What a port of the graph must look like."""

    name: str | None
    """None: any name."""
    shape: tuple[int | None, ...] | None
    """Sides, None for any; the first axis is the batch. None as a whole: any shape."""
    optional: bool = False

    def fits(self, port: Port) -> bool:
        """Whether a port keeps to the rule. Axes that the file leaves open fit every side."""
        if self.name not in (None, port.name):
            return False
        if self.shape is None or not port.shape:
            return True
        return len(port.shape) == len(self.shape) and all(
            want is None or isinstance(side, str) or side == want
            for want, side in zip(self.shape, port.shape, strict=True)
        )


class Family(ABC):
    """A model family: its facts as class attributes, its pre- and post-processing as methods."""

    name: ClassVar[str]
    """By which users and the catalogue call the family."""
    role: ClassVar[Role]
    inputs: ClassVar[tuple[Rule, ...]]
    """All inputs of the graph."""
    outputs: ClassVar[tuple[Rule, ...]]
    """The first outputs of the graph; it may have more."""
    batches: bool = True
    """False where the first axis of some input or output is not the batch: such a network runs item by item, and its
    requests must not be merged with others. Also set on an adapter whose file breaks with more (`runs_in_batches`)."""

    def __init__(self, session: Session) -> None:
        self._session = session

    @classmethod
    def open(cls, session: Session, network: Network) -> Self:
        """The adapter of a file, with what has to be read from the file itself.

        Raises:
            ModelError: the file lacks it.
        """
        del network
        return cls(session)

    def _run(self, inputs: Tensors) -> tuple[NDArray[Any], ...]:
        """The outputs in the graph's order, first axis = batch.

        Raises:
            EngineError: the engine failed.
        """
        items = len(next(iter(inputs.values())))
        if self.batches or items == 1:
            return tuple(self._session.run(inputs).values())
        single = [self._session.run({name: rows[i : i + 1] for name, rows in inputs.items()}) for i in range(items)]
        return tuple(np.concatenate([one[name] for one in single]) for name in single[0])


class CropFamily(Family):
    """A family whose networks take square crops of faces, aligned on a template."""

    template: ClassVar[Template]
    size: ClassVar[int]
    """Side of the crop where the file leaves it open, pixels."""
    crop_input: ClassVar[str] = "input"
    """Which input of the graph takes the crops, planes first."""

    def __init__(self, session: Session, side: int | None = None) -> None:
        """Set up.

        Args:
            session: The network.
            side: Of its crops, pixels.
        """
        super().__init__(session)
        self.side = side or self.size
        """Width and height of the network's crops, pixels."""

    @classmethod
    def open(cls, session: Session, network: Network) -> Self:
        """The adapter of a file, with the side of its crops."""
        return cls(session, side_of(network, 3, cls.size, cls.crop_input))


def side_of(network: Network, axis: int, usual: int, name: str | None = None) -> int:
    """Side of the crop an input takes: the file's own if it is fixed there, else `usual`."""
    for port in network.inputs:
        if name in (None, port.name) and len(port.shape) > max(axis, 0) and isinstance(port.shape[axis], int):
            return int(port.shape[axis])
    return usual
