"""The client of a mien service.

    from mien.client import Client

    with Client("https://mien.example", key) as client:
        report = client.swap("portrait.jpg", "clip.mp4", "result.mp4")

Errors are those of the local call: a source without a face is a `NoFaceError` here as well.
"""

from mien.client.client import Client
from mien.client.things import Asset, Estimate, Event, Job, Link

__all__ = ["Asset", "Client", "Estimate", "Event", "Job", "Link"]
