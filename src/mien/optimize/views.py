"""What a network sees of faces: its own adapter prepares them, and what the network is then given is kept."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
from numpy.typing import NDArray

from mien.engine.session import Ran, Session, Tensors, Usage
from mien.errors import UsageError
from mien.models.store import Located
from mien.optimize.graph import Inputs
from mien.quality.fidelity import Answers
from mien.quality.trial import Sample, try_out


class Recorder:
    """A session that keeps what it is given."""

    def __init__(self, session: Session) -> None:
        self._session = session
        self.given: list[Tensors] = []
        """One for each call."""

    @property
    def ran(self) -> Ran:
        """Of the session that runs."""
        return self._session.ran

    @property
    def usage(self) -> Usage:
        """Of the session that runs."""
        return self._session.usage

    def run(self, inputs: Tensors) -> dict[str, NDArray[np.float32]]:
        """Run, and keep a copy of the inputs.

        Raises:
            EngineError: the engine failed.
        """
        self.given.append({name: np.array(value) for name, value in inputs.items()})
        return self._session.run(inputs)


def see(located: Located, session: Session, faces: Sequence[Sample]) -> tuple[Answers, list[Inputs]]:
    """What the network says of the faces, and what it was given for it, item by item.

    Raises:
        UsageError: networks of its family do not run alone, or it was given nothing.
        EngineError: the engine failed.
    """
    recorder = Recorder(session)
    answers = try_out(located.entry, located.path, recorder, faces)
    items: list[Inputs] = [
        {name: value[number : number + 1] for name, value in call.items()}
        for call in recorder.given
        for number in range(len(next(iter(call.values()))))
    ]
    # Adapters look at a black tile to learn a network's scale: it shows nothing.
    shown = [item for item in items if any(np.ptp(value) > 0 for value in item.values())]
    if not shown:
        raise UsageError(f"{located.entry.id} is shown nothing but black: give other pictures")
    return answers, shown
