"""Where an installation keeps what it is trusted with."""

from __future__ import annotations

import os
from pathlib import Path

from mien.models.places import settings_folder

POLICY_VARIABLE = "MIEN_POLICY"
"""The policy file that holds, instead of the one among the settings."""
TRUST_VARIABLE = "MIEN_TRUST"
"""The folder of keys, consents, denied faces and the audit log."""
POLICY_NAME = "mien.policy.toml"


def policy_file() -> Path:
    """Where the installation's policy lies. It need not exist."""
    return settings_folder() / POLICY_NAME


def trust_folder() -> Path:
    """`$MIEN_TRUST`, or `trust` in mien's folder of the user's settings. It may not exist yet."""
    if chosen := os.environ.get(TRUST_VARIABLE):
        return Path(chosen)
    return settings_folder() / "trust"
