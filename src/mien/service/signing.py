"""Signatures of the service: of webhooks, for those who receive them, and of result links, for itself."""

from __future__ import annotations

import hashlib
import hmac
import re

SIGNATURE_HEADER = "Mien-Signature"
TOLERANCE_S = 300.0
"""How old a webhook's signature may be: longer than clocks differ, shorter than anyone needs to record and replay."""

_SIGNATURE = re.compile(r"t=([0-9]{1,12}),v1=([0-9a-f]{64})")


def derive(secret: bytes, purpose: str) -> bytes:
    """A key of its own for each purpose from the installation's one secret."""
    return hmac.digest(secret, f"mien {purpose}".encode(), hashlib.sha256)


def webhook_secret(secret: bytes, tenant: str) -> str:
    """What a tenant checks webhooks with; shown when a key of theirs is made."""
    return derive(secret, f"webhook {tenant}").hex()


def sign(secret: str, body: bytes, now_s: float) -> str:
    """Value of the signature header: when it was signed, and HMAC-SHA-256 of that moment, a dot, and the body."""
    moment = int(now_s)
    return f"t={moment},v1={_hex(secret, moment, body)}"


def verify(secret: str, body: bytes, header: str, now_s: float, tolerance_s: float = TOLERANCE_S) -> bool:
    """Whether a received body is the service's own and fresh; for receivers."""
    match = _SIGNATURE.fullmatch(header)
    if match is None or abs(now_s - int(match[1])) > tolerance_s:
        return False
    return hmac.compare_digest(_hex(secret, int(match[1]), body), match[2])


def sign_link(secret: bytes, job: str, expires_s: int) -> str:
    """What permits anyone who has it to fetch the result of a job until `expires_s` (Unix time)."""
    return hmac.new(derive(secret, "result link"), f"{job}.{expires_s}".encode(), hashlib.sha256).hexdigest()


def opens_link(secret: bytes, job: str, expires_s: int, signature: str) -> bool:
    """Whether a link's signature is the service's own. Whether it has expired is another question."""
    return hmac.compare_digest(sign_link(secret, job, expires_s).encode(), signature.encode())


def _hex(secret: str, moment: int, body: bytes) -> str:
    return hmac.new(secret.encode(), f"{moment}.".encode() + body, hashlib.sha256).hexdigest()
