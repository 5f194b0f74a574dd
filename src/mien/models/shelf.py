"""Loaded networks: each is read when first asked for, once, whoever asks."""

from __future__ import annotations

import threading
from collections.abc import Iterable
from concurrent.futures import ThreadPoolExecutor

from mien.engine.cache import open_cache
from mien.engine.session import Session
from mien.models.catalogue import find_model
from mien.models.opening import Wish, open_entry

CPU_BATCH = 1
"""Measured on one thread: items of a batch take as long as single ones, and each size of batch keeps 40 to 80 MB."""


class ModelShelf:
    """Sessions of catalogue networks on one device. Safe to use from several threads."""

    def __init__(self, device: str = "auto", precision: str = "auto") -> None:
        """Choose where networks run; none is loaded yet.

        Args:
            device: `auto`, `cpu`, `gpu`, `cuda:0`, ...
            precision: `auto`, `fp32`, `bf16`, `fp16` or `int8`; all but the first hold for every network for which
                they are safe.

        Raises:
            EngineError: the device or precision is not there.
        """
        self._wish = Wish(device, precision)
        self._wish.check()
        self._cache, self._warning = open_cache()
        self._sessions: dict[str, Session] = {}
        self._locks: dict[str, threading.Lock] = {}
        self._lock = threading.Lock()

    @property
    def sessions(self) -> list[Session]:
        """What is loaded, in the order of loading."""
        with self._lock:
            return list(self._sessions.values())

    @property
    def warnings(self) -> list[str]:
        """What the user may want to know, e.g. that compiled networks cannot be kept."""
        return [self._warning] if self._warning else []

    def session(self, model: str) -> Session:
        """The session of a catalogue id, loaded if it is not yet.

        Raises:
            ModelError: no such network, or its file is missing or damaged.
            EngineError: it cannot be compiled.
        """
        with self._lock:
            if model in self._sessions:
                return self._sessions[model]
            lock = self._locks.setdefault(model, threading.Lock())
        with lock:
            with self._lock:
                if model in self._sessions:
                    return self._sessions[model]
            session = self._load(model)
            with self._lock:
                self._sessions[model] = session
            return session

    def warm(self, models: Iterable[str]) -> None:
        """Load several networks side by side.

        Raises:
            ModelError: one is unknown, missing or damaged.
            EngineError: one cannot be compiled.
        """
        with ThreadPoolExecutor(max_workers=4, thread_name_prefix="mien-load") as pool:
            for loaded in [pool.submit(self.session, model) for model in models]:
                loaded.result()

    def _load(self, model: str) -> Session:
        entry = find_model(model)
        entry.check_size()
        choice = self._wish.choose(entry, entry.path)
        return open_entry(entry, entry.path, choice, cpu_batch=CPU_BATCH, cache=self._cache)
