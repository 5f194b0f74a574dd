"""Structured logs: one JSON object a line on standard error, with the ids of the request or job that it is about."""

from __future__ import annotations

import json
import logging
import sys
from contextvars import ContextVar
from datetime import UTC, datetime

TRACE: ContextVar[str | None] = ContextVar("mien_trace", default=None)
JOB: ContextVar[str | None] = ContextVar("mien_job", default=None)

_OWN = frozenset(vars(logging.makeLogRecord({}))) | {"message", "asctime", "color_message", "taskName"}


class JsonLines(logging.Formatter):
    """Formats a record as JSON; what is given as `extra` becomes members of its own."""

    def format(self, record: logging.LogRecord) -> str:
        """One line."""
        members: dict[str, object] = {
            "time": datetime.fromtimestamp(record.created, UTC).isoformat(timespec="milliseconds"),
            "level": record.levelname.lower(),
            "logger": record.name,
            "message": record.getMessage(),
        }
        members |= {name: value for name, value in (("trace", TRACE.get()), ("job", JOB.get())) if value is not None}
        members |= {name: value for name, value in vars(record).items() if name not in _OWN}
        if record.exc_info:
            members["error"] = self.formatException(record.exc_info)
        return json.dumps(members, default=str, ensure_ascii=False)


def log_as_json(level: int = logging.INFO) -> None:
    """Let the whole process log like this."""
    handler = logging.StreamHandler(sys.stderr)
    handler.setFormatter(JsonLines())
    logging.basicConfig(level=level, handlers=[handler], force=True)
    logging.getLogger("uvicorn").setLevel(logging.WARNING)
