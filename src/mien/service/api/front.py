"""All that the API works with, in one place."""

from __future__ import annotations

import time
from collections.abc import Callable
from dataclasses import dataclass

from mien.service.acceptance import Acceptance
from mien.service.api.metrics import Metrics
from mien.service.api.postman import Postman
from mien.service.cleaning import Cleaner
from mien.service.idempotency import Idempotency
from mien.service.inspection.process import Inspector
from mien.service.keyring import Keyring
from mien.service.library import Library
from mien.service.linked import Links
from mien.service.settings import Settings
from mien.service.state import State
from mien.service.storage import Storage
from mien.service.trail import audit_log
from mien.service.usage import Usage
from mien.trust.audit import AuditLog


@dataclass(frozen=True, slots=True, kw_only=True)
class Front:
    """Parts of one API process; all are safe to use from several threads."""

    settings: Settings
    state: State
    storage: Storage
    keyring: Keyring
    usage: Usage
    idempotency: Idempotency
    inspector: Inspector
    library: Library
    acceptance: Acceptance
    audit: AuditLog
    metrics: Metrics
    cleaner: Cleaner
    postman: Postman
    secret: bytes
    """The installation's own; see `signing`."""
    clock: Callable[[], float] = time.time
    """Unix time in seconds."""


def open_front(settings: Settings, state: State, storage: Storage, inspector: Inspector) -> Front:
    """Put the parts together.

    Raises:
        redis.RedisError: the queue's server does not answer.
    """
    usage, keyring, metrics = Usage(state), Keyring(state), Metrics(state)
    secret = keyring.secret()
    library = Library(state, storage, usage, inspector, settings.data / "incoming")
    return Front(
        settings=settings,
        state=state,
        storage=storage,
        keyring=keyring,
        usage=usage,
        idempotency=Idempotency(state),
        inspector=inspector,
        library=library,
        acceptance=Acceptance(library, Links(library, settings), inspector, settings),
        audit=audit_log(settings.data),
        metrics=metrics,
        cleaner=Cleaner(state, storage, library, keyring, settings),
        postman=Postman(state, secret, settings.webhook_hosts, metrics.webhook, time.time),
        secret=secret,
    )
