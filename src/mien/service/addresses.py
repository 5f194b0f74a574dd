"""Addresses that users give to the service: which may be called, and which storage links may be read.

A service inside a network must not be made to call that network: a webhook may go to public addresses only, unless
the operator names the host, and a link is read only from places that the operator names.
"""

from __future__ import annotations

import ipaddress
import socket
from collections.abc import Sequence
from dataclasses import dataclass
from urllib.parse import SplitResult, unquote, urlsplit

from mien.service.problems import refuse


@dataclass(frozen=True, slots=True)
class Endpoint:
    """Where a webhook goes: the address that was checked is the one that is called."""

    url: str
    host: str
    address: str
    """IP address."""
    port: int


def resolve(url: str, trusted_hosts: Sequence[str]) -> Endpoint:
    """Look up where a webhook would go.

    Args:
        url: as the user gave it.
        trusted_hosts: names that may resolve to anything and be called without TLS.

    Raises:
        Problem: usage, if it is no address that may be called; unavailable, if its name cannot be looked up.
    """
    parts = parse_webhook(url, trusted_hosts)
    host = parts.hostname or ""
    port = parts.port or (443 if parts.scheme == "https" else 80)
    try:
        found = socket.getaddrinfo(host, port, type=socket.SOCK_STREAM)
    except OSError as error:
        refuse("unavailable", f"the webhook's host '{host}' cannot be looked up ({error.strerror}): check its name")
    addresses = [str(entry[4][0]) for entry in found]
    if host not in trusted_hosts and any(not ipaddress.ip_address(one).is_global for one in addresses):
        refuse("usage", f"the webhook's host '{host}' is no public address: only those are called", field="webhook")
    return Endpoint(url, host, addresses[0], port)


def parse_webhook(url: str, trusted_hosts: Sequence[str]) -> SplitResult:
    """The parts of a webhook's address, without looking its name up.

    Raises:
        Problem: usage, if it is none that may be called.
    """
    try:
        parts = urlsplit(url)
        _ = parts.port  # Reading it is what checks it.
    except ValueError:
        refuse("usage", f"'{url:.200}' is no web address: give one such as https://example.com/hook", field="webhook")
    trusted = parts.hostname in trusted_hosts
    if not parts.hostname or parts.scheme not in (("https", "http") if trusted else ("https",)):
        refuse("usage", f"the webhook '{url:.200}' must be an https:// address", field="webhook")
    if parts.username or parts.password:
        refuse("usage", "a webhook's address may hold no password: the signature tells who calls", field="webhook")
    return parts


def is_link(name: str) -> bool:
    """Whether a recipe names a file by its address instead of an asset's id."""
    return "://" in name


def check_link(link: str, allowed: Sequence[str]) -> None:
    """Refuse a link that does not lie below one of the places that the operator allows.

    Raises:
        Problem: policy_refused.
    """
    try:
        parts = urlsplit(link)
        _ = parts.port
    except ValueError:
        refuse("policy_refused", f"'{link:.200}' is no web address: upload the file as an asset", field="recipe")
    plain = not parts.username and not parts.password and not parts.fragment
    steps = unquote(parts.path).split("/")
    if not plain or ".." in steps or "." in steps or not any(link.startswith(_folder(place)) for place in allowed):
        places = ", ".join(allowed) or "nothing"
        refuse("policy_refused", f"links may be read from {places}, not '{link:.200}': upload the file as an asset")


def _folder(place: str) -> str:
    return place if place.endswith("/") else f"{place}/"
