"""The networks of a job: found by the store, compared with their family, run under the budget of a pool."""

from __future__ import annotations

import hashlib
import os
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path

from mien.engine.cache import open_cache
from mien.engine.choose import Choice
from mien.engine.opening import open_session
from mien.engine.openvino import OpenVinoSession
from mien.engine.pool import Pool
from mien.engine.session import Session
from mien.errors import EngineError, UsageError
from mien.models.catalogue import CatalogueEntry, families
from mien.models.families.batches import runs_in_batches
from mien.models.families.family import Family, Role
from mien.models.families.inspection import NetworkFile, check_family, inspect
from mien.models.families.registry import FAMILIES
from mien.models.opening import Wish, sha256_of
from mien.models.store import Located, ModelStore

BATCHES = (1, 2, 4, 8, 16)
"""Sizes in which requests run: up to the tiles of a crop that is boosted fourfold."""
_SUFFIXES = (".onnx", ".dfm")


@dataclass(frozen=True, slots=True)
class Wanted:
    """A network that a job asks for."""

    role: Role
    model: str
    """Its id, or the path of its file."""
    family: str | None = None
    """Of a file that is named by its path."""

    @property
    def is_path(self) -> bool:
        """Whether `model` is a path rather than an id."""
        return self.model.lower().endswith(_SUFFIXES) or Path(self.model).name != self.model


class NetworkLoader:
    """Opens networks. Safe to use from several threads; weights are read at the first run."""

    def __init__(self, store: ModelStore, pool: Pool, wish: Wish) -> None:
        """Set up.

        Args:
            store: Where files are found.
            pool: Shares them among jobs.
            wish: Where they are to run.
        """
        self._store = store
        self._pool = pool
        self._wish = wish

    def locate(self, wanted: Wanted) -> Located:
        """The file of a network, whose content has not been looked at.

        Raises:
            ModelError: it is unknown or nowhere; the message says where it was looked for.
            UsageError: it does not fill the role, or its family is not said.
            PolicyError: its licence is not permitted.
        """
        if wanted.is_path:
            return self._by_path(wanted)
        if wanted.family is not None:
            raise UsageError(
                f"the family '{wanted.family}' is given for '{wanted.model}', which is no file: of a network that is "
                "named by its id the family is known; leave it out, or give the path of an ONNX file"
            )
        entry = self._store.entry(wanted.model)
        _check_role(entry, wanted.role)
        return self._store.locate(wanted.model)

    def open(self, located: Located, job: str, *, batched: bool = False) -> tuple[Family, Session]:
        """The adapter of a file and its session, for one job.

        Args:
            located: The file.
            job: Whose it is.
            batched: The job will run several items at once.

        Raises:
            ModelError: the file is not what its family says; the message names what is different.
            EngineError: the machine has not what is asked for.
        """
        family = FAMILIES.find(located.entry.family)
        file = inspect(located.path)
        check_family(file, family)
        choice = self.choose(located)
        # On a CPU batches take as long as single items, so they are not worth the test whether the file bears them.
        batched = family.batches and (batched or choice.device.kind != "cpu" or not _takes_one(file))
        session = self._pool.session(
            job,
            key=_key(located, choice, batched),
            loader=lambda: _load(located, file, choice, batched),
            expected_bytes=located.path.stat().st_size,
            buckets=BATCHES if batched else (1,),
        )
        return family.open(session, file), session

    def choose(self, located: Located) -> Choice:
        """Where a network will run.

        Raises:
            ModelError: its file is no ONNX network.
            EngineError: the machine has not what is asked for.
        """
        return self._wish.choose(located.entry, located.path)

    def _by_path(self, wanted: Wanted) -> Located:
        names = [name for name, facts in families().items() if facts.role == wanted.role]
        family = names[0] if wanted.family is None and len(names) == 1 else wanted.family
        if family is None:
            raise UsageError(
                f"the family of {wanted.model} is not said: it is one of {', '.join(names)}; give it with "
                f"'{wanted.role}_family', or name the file once with `mien models add`"
            )
        located = self._store.locate_file(Path(wanted.model).expanduser(), family)
        _check_role(located.entry, wanted.role)
        return located


def release(session: Session) -> None:
    """Have a session that leaves let go of its memory, where it can."""
    if isinstance(session, OpenVinoSession):
        session.release()


def load_alone(located: Located, choice: Choice) -> Session:
    """A network as jobs load it, without a pool.

    Raises:
        ModelError: the file is no ONNX network.
        EngineError: the engine cannot run it.
    """
    return _load(located, inspect(located.path), choice, batched=True)


def _check_role(entry: CatalogueEntry, role: Role) -> None:
    if entry.role != role:
        like: Mapping[str, str] = {name: facts.role for name, facts in families().items()}
        names = ", ".join(name for name, its_role in like.items() if its_role == role)
        raise UsageError(f"{entry.id} is no {role} but a {entry.role}: name a network of the families {names}")


def _processors() -> int:
    """Processors that this process may use."""
    return len(os.sched_getaffinity(0)) if hasattr(os, "sched_getaffinity") else os.cpu_count() or 1


def _key(located: Located, choice: Choice, batched: bool) -> str:
    state = located.path.stat()
    parts = (located.path, state.st_size, state.st_mtime_ns, choice.device.name, choice.precision, batched)
    return f"{located.entry.id} #{hashlib.sha256(repr(parts).encode()).hexdigest()[:8]}"


def _takes_one(file: NetworkFile) -> bool:
    """Whether the file was exported for one item."""
    return any(port.shape[:1] == (1,) for port in file.inputs)


def _load(located: Located, file: NetworkFile, choice: Choice, batched: bool) -> Session:
    if batched and not _takes_one(file):
        return _compile(located, choice, BATCHES[-1])
    if batched:
        try:
            session = _compile(located, choice, BATCHES[-1])
            if runs_in_batches(session, file):
                return session
        except EngineError:
            pass  # It is compiled for single items, which the file promises.
    return _compile(located, choice, 1)


def _compile(located: Located, choice: Choice, most: int) -> Session:
    return open_session(
        located.path,
        located.entry.id,
        choice,
        sha256=sha256_of(located.entry, located.path) if choice.device.kind == "tensorrt" else "",
        threads=_processors(),
        max_batch=most,
        cache=open_cache().folder,
    )
