"""Who did what in the service: an append-only, hash-chained log in its folder."""

from __future__ import annotations

from pathlib import Path

from mien.trust.audit import AuditLog

AUDIT_NAME = "audit.jsonl"


def audit_log(data: Path) -> AuditLog:
    """The log of the service whose folder is `data`."""
    return AuditLog(data / AUDIT_NAME)
