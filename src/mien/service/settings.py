"""What an operator sets for the API."""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path

from mien.service.records import TierName


@dataclass(frozen=True, slots=True, kw_only=True)
class Settings:
    """Of one installation."""

    data: Path
    """Folder for files on their way and the audit log."""
    price_per_hour: float | None = None
    """Of a worker, in any currency; None = jobs have no price."""
    allowed_links: tuple[str, ...] = ()
    """Beginnings of the addresses that recipes may name instead of assets."""
    webhook_hosts: tuple[str, ...] = ()
    """Hosts that webhooks may go to although they are not public, also without TLS."""
    link_valid_s: float = 3600.0
    """How long a result link opens, unless it is asked for a shorter time."""
    asset_kept_s: float | None = 30 * 86_400.0
    """Uploads that are older are deleted; None = never."""
    job_kept_s: float | None = 30 * 86_400.0
    """Jobs that ended so long ago are deleted with their results; None = never."""
    public_url: str | None = None
    """The API's address as users see it, for result links; None = the one that was called."""
    ready_with: TierName | None = None
    """It takes work only while a worker of this tier has its networks loaded; None = others see to workers."""
    inspectors: int = 1
    """Processes that look into uploads."""
