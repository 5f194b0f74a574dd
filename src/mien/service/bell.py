"""What the state calls out: that there is work in a queue, that a job has stopped, that a file is to be forgotten."""

from __future__ import annotations

import logging
import threading
from collections.abc import Callable, Mapping
from types import TracebackType
from typing import Any, Self, cast

import redis

from mien.errors import JobError
from mien.service.state import State

_LOOK_EVERY_S = 1.0
_LOG = logging.getLogger(__name__)


class Bell:
    """Listens on a thread. What is called while nobody listens is not heard: it only makes things quicker."""

    def __init__(self, state: State, hear: Mapping[str, Callable[[str], None]]) -> None:
        """Args:
        state: whose calls.
        hear: by channel, without the prefix: what to do with what is called.
        """
        self._state = state
        self._hear = {state.key(channel): action for channel, action in hear.items()}
        self._ending = threading.Event()
        self._thread = threading.Thread(target=self._run, name="mien-bell", daemon=True)

    def __enter__(self) -> Self:
        self._thread.start()
        return self

    def __exit__(self, kind: type[BaseException] | None, error: BaseException | None, at: TracebackType | None) -> None:
        self._ending.set()
        self._thread.join()

    def _run(self) -> None:
        while not self._ending.is_set():
            try:
                self._listen()
            except (redis.RedisError, JobError) as error:
                _LOG.warning("not listening to the queue's server for a moment: %s", error)
                self._ending.wait(_LOOK_EVERY_S)

    def _listen(self) -> None:
        with self._state.client.pubsub(ignore_subscribe_messages=True) as channel:
            channel.subscribe(*self._hear)
            while not self._ending.is_set():
                message = cast(dict[str, Any] | None, channel.get_message(timeout=_LOOK_EVERY_S))
                if message is not None:
                    self._hear[message["channel"]](message["data"])
