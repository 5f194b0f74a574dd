"""What `mien doctor` looks at of policy, content gate and records."""

from __future__ import annotations

from collections.abc import Iterator
from typing import TYPE_CHECKING

from mien.cli.checks import Check
from mien.errors import PolicyError, VaultError
from mien.installing import install_command

if TYPE_CHECKING:
    from mien.trust.policy import Policy


def trust_checks() -> Iterator[Check]:
    """The policy that holds, the classifiers that vote, and whether key, records and log can be used."""
    from mien.models import opennsfw
    from mien.trust.policy import Policy

    try:
        policy = Policy.find()
    except PolicyError as error:
        yield Check("trust", "policy", "broken", str(error), "mend or remove the file")
        return
    yield Check("trust", "policy", "ok", str(policy.path or "none: recipes decide"))
    if opennsfw.installed() is None:
        detail = "the bundled classifier votes alone"
        yield Check("trust", "second classifier", "absent", detail, install_command("mien[gate]"))
    else:
        yield Check("trust", "second classifier", "ok", f"{opennsfw.ENTRY.id}, {opennsfw.ENTRY.licence}")
    yield _records(policy)


def _records(policy: Policy) -> Check:
    from mien.trust.consent import ConsentStore

    store = ConsentStore(policy.folder)
    try:
        records, entries = len(store.all()), store.audit.verify()
    except VaultError as error:
        return Check("trust", "records", "broken", str(error), f"put {policy.folder} back from a copy")
    return Check("trust", "records", "ok", f"{records}, and a sound log of {entries}, in {policy.folder}")
