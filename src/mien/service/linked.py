"""Files that recipes name by links: fetched from the places that the operator allows, and kept as assets."""

from __future__ import annotations

import hashlib
import tempfile
import time
from collections.abc import Iterator
from pathlib import Path
from urllib.parse import unquote, urlsplit

from mien.errors import MediaError
from mien.service.addresses import check_link
from mien.service.keys import ApiKey
from mien.service.library import Kept, Library, Upload
from mien.service.problems import refuse
from mien.service.quotas import check_upload
from mien.service.records import AssetId, new_id
from mien.service.settings import Settings

_CONNECT_S, _READ_S = 10.0, 30.0
_PIECE_BYTES = 1 << 20


class Links:
    """Fetches links. Safe to use from several threads."""

    def __init__(self, library: Library, settings: Settings) -> None:
        self._library = library
        self._settings = settings

    def fetch(self, key: ApiKey, link: str) -> Kept:
        """The file behind a link, as a new asset of the key's tenant.

        Raises:
            Problem: the link is not allowed, cannot be read, or is no picture or video.
        """
        check_link(link, self._settings.allowed_links)
        with tempfile.NamedTemporaryFile(dir=self._library.folder) as file:
            digest, size = hashlib.sha256(), 0
            for piece in _pieces(link):
                size += len(piece)
                check_upload(size, key.limits)
                digest.update(piece)
                file.write(piece)
            file.flush()
            name = unquote(urlsplit(link).path.rsplit("/", 1)[-1])[:200] or "file"
            upload = Upload(Path(file.name), name, size, digest.hexdigest())
            return self._library.keep(key, upload, AssetId(new_id("asset")), time.time())


def _pieces(link: str) -> Iterator[bytes]:
    if urlsplit(link).scheme == "s3":
        from mien.service.s3 import read_link

        try:
            yield from read_link(link)
        except MediaError as error:
            refuse("unreadable_media", str(error))
        return
    yield from _from_web(link)


def _from_web(link: str) -> Iterator[bytes]:
    import httpx

    timeout = httpx.Timeout(_READ_S, connect=_CONNECT_S)
    try:
        # Nobody is followed elsewhere: only this address is allowed.
        with httpx.stream("GET", link, timeout=timeout, follow_redirects=False, trust_env=False) as response:
            if response.status_code != 200:
                refuse("unreadable_media", f"'{link:.200}' answers {response.status_code}: is the link still valid?")
            yield from response.iter_bytes(_PIECE_BYTES)
    except (httpx.HTTPError, httpx.InvalidURL) as error:
        refuse("unreadable_media", f"'{link:.200}' cannot be read: {error or type(error).__name__}")
