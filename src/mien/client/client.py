"""A service as an object."""

from __future__ import annotations

import os
import secrets
from collections.abc import Callable, Iterator, Mapping, Sequence
from pathlib import Path
from types import TracebackType
from typing import TYPE_CHECKING, Any, Self

from mien.client.remote import swap_there
from mien.client.streams import read_events
from mien.client.things import Asset, Estimate, Event, Job, Link
from mien.client.transport import Transport
from mien.errors import JobError, UnreadableError
from mien.media.files import renaming, writing
from mien.recipe import Recipe

if TYPE_CHECKING:
    import httpx

    from mien.pipeline.progress import ProgressCallback
    from mien.report import Report

PathLike = str | os.PathLike[str]

_PIECE_BYTES = 1 << 20
_LOST_LIMIT = 5
"""Broken connections in a row, without anything new, after which a stream is given up."""


class Client:
    """A mien service, by its address and a key. A context manager; safe to use from several threads.

    Every method raises the errors of `mien.errors` that the service's problems stand for, and `JobError` if the
    service does not answer.
    """

    def __init__(self, url: str, key: str, *, transport: httpx.BaseTransport | None = None) -> None:
        """Choose the service; nothing is asked of it yet.

        Args:
            url: its address, such as `https://mien.example`.
            key: as `mien keys add` shows it.
            transport: instead of the network.

        Raises:
            UsageError: the address or the key makes no sense.
            InstallationError: the extra `mien[client]` is not installed.
        """
        self._transport = Transport(url, key, transport=transport)

    def close(self) -> None:
        """Close the connections."""
        self._transport.close()

    def __enter__(self) -> Self:
        return self

    def __exit__(self, kind: type[BaseException] | None, error: BaseException | None, at: TracebackType | None) -> None:
        self.close()

    # Assets

    def upload(self, path: PathLike, *, name: str | None = None) -> Asset:
        """Send a picture or video.

        Raises:
            UnreadableError: the file cannot be read here, or not there.
        """
        path = Path(path)
        headers = {"Idempotency-Key": secrets.token_hex(16), "Content-Type": "application/octet-stream"}
        params = {"name": (name or path.name).encode(errors="replace").decode()[:200]}
        try:
            headers["Content-Length"] = str(path.stat().st_size)
            answer = self._transport.call(
                "POST", "/v1/assets", body=lambda: _pieces(path), headers=headers, params=params
            )
        except OSError as error:
            raise UnreadableError(f"{path} cannot be read: {error.strerror or error}") from error
        return Asset.read(answer)

    def asset(self, asset: str) -> Asset:
        """What is known of an asset."""
        return Asset.read(self._transport.call("GET", f"/v1/assets/{asset}"))

    def assets(self, *, first: int = 0, count: int = 50) -> list[Asset]:
        """The tenant's, newest first."""
        answer = self._transport.call("GET", "/v1/assets", params={"first": first, "count": count})
        return [Asset.read(one) for one in answer["assets"]]

    def delete_asset(self, asset: str) -> None:
        """Delete an asset and what was made of it."""
        self._transport.call("DELETE", f"/v1/assets/{asset}")

    # Jobs

    def estimate(self, recipe: Mapping[str, Any], *, tier: str = "batch") -> Estimate:
        """What a job would take; its recipe names files by the ids of assets."""
        return Estimate.read(self._transport.call("POST", "/v1/estimates", json={"recipe": recipe, "tier": tier}))

    def create(
        self,
        recipe: Mapping[str, Any],
        *,
        tier: str = "batch",
        priority: str = "normal",
        webhook: str | None = None,
        review_above: float | None = None,
        idempotency_key: str | None = None,
    ) -> Job:
        """Ask for a job.

        Args:
            recipe: plain data; files are named by the ids of assets, or by links that the service allows.
            tier: `batch`, `realtime` or `preview`.
            priority: `high`, `normal` or `low`.
            webhook: address that is told when the job has ended.
            review_above: share of flagged frames, 0..1, above which the result needs a review.
            idempotency_key: the same one gives the same job for 24 hours; None = a new one.
        """
        body = {"recipe": recipe, "tier": tier, "priority": priority, "webhook": webhook, "review_above": review_above}
        headers = {"Idempotency-Key": idempotency_key or secrets.token_hex(16)}
        return Job.read(self._transport.call("POST", "/v1/jobs", json=body, headers=headers))

    def job(self, job: str) -> Job:
        """A job as it is now."""
        return Job.read(self._transport.call("GET", f"/v1/jobs/{job}"))

    def jobs(self, *, first: int = 0, count: int = 50) -> list[Job]:
        """The tenant's, newest first."""
        answer = self._transport.call("GET", "/v1/jobs", params={"first": first, "count": count})
        return [Job.read(one) for one in answer["jobs"]]

    def cancel(self, job: str) -> Job:
        """Stop a job."""
        return Job.read(self._transport.call("POST", f"/v1/jobs/{job}/cancel"))

    def retry(self, job: str) -> Job:
        """Do a job that failed or was cancelled once more."""
        return Job.read(self._transport.call("POST", f"/v1/jobs/{job}/retry"))

    def delete_job(self, job: str) -> None:
        """Stop a job and remove all that is kept of it."""
        self._transport.call("DELETE", f"/v1/jobs/{job}")

    def events(self, job: str, *, after: str | None = None) -> Iterator[Event | None]:
        """What happens to a job until it ends; None from time to time, so that the caller can do something else.

        A connection that breaks is taken up after the last event.
        """
        lost = 0
        while lost < _LOST_LIMIT:
            headers = {"Last-Event-ID": after} if after else {}
            try:
                with self._transport.stream(f"/v1/jobs/{job}/events", headers) as response:
                    for event in read_events(response.iter_lines()):
                        lost = 0
                        after = event.id if event else after
                        yield event
                    return
            except ConnectionError:
                lost += 1
        raise JobError(f"the service at {self._transport.url} does not answer any more: ask for the job {job} later")

    def wait(self, job: str, *, cancelled: Callable[[], bool] = lambda: False) -> Job:
        """Wait until a job ends, or `cancelled`, which is asked every few seconds, says so."""
        for _ in self.events(job):
            if cancelled():
                break
        return self.job(job)

    def preview(self, job: str) -> bytes:
        """A JPEG picture of the frame that was last finished."""
        return self._transport.bytes(f"/v1/jobs/{job}/preview")

    def download(self, job: str, path: PathLike) -> None:
        """Fetch the result; the file appears whole or not at all.

        Raises:
            UnwritableError: it cannot be written.
        """
        path = Path(path)
        with renaming(path) as part, writing(path), part.open("wb") as file:
            tag, size, lost = "", -1, 0
            while file.tell() != size:
                headers = {"Range": f"bytes={file.tell()}-", "If-Range": tag} if file.tell() else {}
                before = file.tell()
                try:
                    with self._transport.stream(f"/v1/jobs/{job}/result", headers) as response:
                        if response.status_code == 200:  # From the beginning, also if the result is another by now.
                            file.seek(0)
                            file.truncate()
                            tag, size = response.headers["etag"], int(response.headers["content-length"])
                        for piece in response.iter_bytes():
                            file.write(piece)
                except ConnectionError as error:
                    lost = 0 if file.tell() > before else lost + 1
                    if lost == _LOST_LIMIT:
                        raise JobError(f"the result of {job} cannot be fetched: the connection breaks") from error

    def link(self, job: str, *, valid_s: int | None = None) -> Link:
        """An address at which anyone can fetch the result for a while."""
        return Link.read(self._transport.call("POST", f"/v1/jobs/{job}/links", json={"valid_s": valid_s}))

    # Whole swaps

    def swap(
        self,
        sources: PathLike | Sequence[PathLike],
        target: PathLike,
        output: PathLike,
        *,
        progress: ProgressCallback | None = None,
        cancelled: Callable[[], bool] | None = None,
        **options: Any,
    ) -> Report:
        """As `mien.swap`, done by the service. See there; `options` are fields of `Recipe`."""
        names = (sources,) if isinstance(sources, str | os.PathLike) else sources
        fields = {"sources": [os.fspath(name) for name in names], "target": os.fspath(target)}
        recipe = Recipe.from_mapping({**options, **fields, "output": os.fspath(output)})
        return self.run(recipe, progress=progress, cancelled=cancelled)

    def run(
        self,
        recipe: Recipe,
        *,
        progress: ProgressCallback | None = None,
        cancelled: Callable[[], bool] | None = None,
        tier: str = "batch",
        priority: str = "normal",
    ) -> Report:
        """Do a local recipe there: its files are sent, its result is fetched, and nothing stays behind.

        Raises:
            MienError: as the local run; `Interrupted` if it was cancelled.
        """
        return swap_there(
            self,
            recipe,
            progress=progress or (lambda _progress: None),
            cancelled=cancelled or (lambda: False),
            tier=tier,
            priority=priority,
        )


def _pieces(path: Path) -> Iterator[bytes]:
    with path.open("rb") as file:
        while piece := file.read(_PIECE_BYTES):
            yield piece
