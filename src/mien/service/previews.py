"""Where the frame that a job finished last is found while it runs."""

from __future__ import annotations

from mien.service.records import JobId
from mien.service.state import job_folder


def preview_key(job: JobId) -> str:
    """Key in storage of a small JPEG picture, which is replaced from time to time."""
    return f"{job_folder(job)}preview.jpg"
