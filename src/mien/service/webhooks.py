"""Webhooks: one signed message when a job ends, tried again until it is taken or given up."""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any, Literal

from mien.service.addresses import Endpoint, resolve
from mien.service.problems import Problem
from mien.service.signing import SIGNATURE_HEADER, sign

WAITS_S: Sequence[float] = (5, 30, 120, 600, 3600, 4 * 3600, 12 * 3600)
"""Before the second, third, ... try: soon after a hiccup, and still there after a night without the receiver."""
TIMEOUT_S = 10.0

Verdict = Literal["taken", "again", "given up"]


@dataclass(frozen=True, slots=True)
class Delivery:
    """One message on its way."""

    id: str
    """The same at each try, so that receivers can tell a repetition."""
    url: str
    body: bytes
    secret: str


def make_body(delivery_id: str, kind: str, job: Mapping[str, Any], now_s: float) -> bytes:
    """The message: what happened, when, and the job as the API shows it."""
    message = {"id": delivery_id, "type": kind, "created_at": now_s, "job": job}
    return json.dumps(message, ensure_ascii=False, separators=(",", ":"), allow_nan=False).encode()


def judge(status: int | None, tries: int) -> Verdict:
    """What follows from a try.

    Args:
        status: of the answer; None = there was none.
        tries: how many there were, with this one.
    """
    if status is not None and 200 <= status < 300:
        return "taken"
    # 410 is the receiver's way to say that it wants no more.
    return "given up" if status == 410 or tries > len(WAITS_S) else "again"


def wait_before(tries: int) -> float:
    """Seconds before the next try after so many."""
    return WAITS_S[tries - 1]


def deliver(delivery: Delivery, trusted_hosts: Sequence[str], now_s: float) -> int | None:
    """Try once; the status of the answer, or None if there was none."""
    import httpx

    try:
        endpoint = resolve(delivery.url, trusted_hosts)
    except Problem:
        return None
    headers = {
        "Content-Type": "application/json",
        "User-Agent": "mien",
        "Mien-Delivery": delivery.id,
        SIGNATURE_HEADER: sign(delivery.secret, delivery.body, now_s),
        "Host": httpx.URL(delivery.url).netloc.decode(),
    }
    try:
        # Without the environment's proxies and without following anyone elsewhere.
        with httpx.Client(timeout=TIMEOUT_S, trust_env=False, follow_redirects=False) as client:
            request = client.build_request(
                "POST",
                _at_address(endpoint),
                content=delivery.body,
                headers=headers,
                extensions={"sni_hostname": endpoint.host},
            )
            response = client.send(request, stream=True)
            response.close()
            return response.status_code
    except (httpx.HTTPError, httpx.InvalidURL):
        return None


def _at_address(endpoint: Endpoint) -> str:
    """The address with the host's number in the place of its name, so that no second look-up can lead elsewhere."""
    import httpx

    return str(httpx.URL(endpoint.url).copy_with(host=endpoint.address))
