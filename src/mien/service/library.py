"""The files of tenants: looked into before they are kept, counted, laid out for a look, and really deleted."""

from __future__ import annotations

import json
import tempfile
from collections.abc import Generator, Sequence
from contextlib import contextmanager
from dataclasses import asdict, dataclass, field
from pathlib import Path
from typing import Any, cast

from mien.errors import MediaError
from mien.service.folder import FolderStorage
from mien.service.inspection.process import Inspector
from mien.service.keys import ApiKey, KeyId
from mien.service.problems import refuse
from mien.service.records import Asset, AssetId, TenantId
from mien.service.remote_recipe import asset_id
from mien.service.sniff import HEAD_BYTES, FileType, file_type
from mien.service.state import State
from mien.service.storage import Storage
from mien.service.usage import Usage

FORGET = "forget"
"""Channel on which workers hear the SHA-256 of a deleted file, to drop what they made of it."""


@dataclass(frozen=True, slots=True)
class Facts:
    """What looking into a file told."""

    kind: str
    """`picture`, `animation` or `video`."""
    width: int
    height: int
    frames: int
    seconds: float
    """0 for a picture."""
    faces: int | None = None
    """In a picture; None = not looked for."""
    unfit: str | None = None
    """Why the largest of them cannot be a source; None = it can."""
    warnings: Sequence[str] = field(default_factory=list[str])


@dataclass(frozen=True, slots=True)
class Kept:
    """An asset and all that is known of it."""

    asset: Asset
    facts: Facts
    key: KeyId
    """Whose bytes they are."""

    @property
    def file_name(self) -> str:
        """What it is called where it is looked at, and so in messages."""
        return f"{self.asset.id}{Path(self.asset.key).suffix}"


@dataclass(frozen=True, slots=True)
class Upload:
    """A file that has arrived."""

    path: Path
    name: str
    """As its owner calls it."""
    size_bytes: int
    sha256: str


class Library:
    """All assets. Safe to use from several threads."""

    def __init__(self, state: State, storage: Storage, usage: Usage, inspector: Inspector, folder: Path) -> None:
        """Args:
        state: What is known of them.
        storage: Where they lie.
        usage: Who has how many bytes.
        inspector: Looks into them.
        folder: For files on their way.
        """
        self._state = state
        self._storage = storage
        self._usage = usage
        self._inspector = inspector
        self.folder = folder
        folder.mkdir(parents=True, exist_ok=True, mode=0o700)

    def keep(self, key: ApiKey, upload: Upload, new_id: AssetId, now_s: float) -> Kept:
        """Look into an upload and keep it. One that is kept already under this id stays as it is.

        Raises:
            Problem: it is no picture or video, cannot be read, is too large, or the key's bytes are used up.
            UnwritableError: the storage does not take it.
        """
        if (known := self._find(TenantId(key.tenant), new_id)) is not None:
            return known
        kind = type_of(upload.path)
        facts = self._look(upload, f"{new_id}{kind.suffix}")
        asset = Asset(
            id=new_id,
            tenant=TenantId(key.tenant),
            name=upload.name,
            key=f"assets/{key.tenant}/{new_id}{kind.suffix}",
            size_bytes=upload.size_bytes,
            sha256=upload.sha256,
            media_type=kind.media_type,
            created_s=now_s,
        )
        self._usage.store(key, asset.id, asset.size_bytes)
        try:
            self._storage.put(upload.path, asset.key)
        except MediaError:
            self._usage.release(key.id, asset.id)
            raise
        self._state.client.set(self._facts_name(asset.id), json.dumps({"facts": asdict(facts), "key": key.id}))
        self._state.add_asset(asset)
        return Kept(asset, facts, key.id)

    def find(self, tenant: TenantId, name: str) -> Kept:
        """A tenant's asset by its id.

        Raises:
            Problem: not_found, also for what belongs to somebody else.
        """
        kept = self._find(tenant, AssetId(asset_id(name)))
        if kept is None:
            refuse("not_found", f"there is no asset '{name:.100}': upload the file first, or check the id")
        return kept

    def all(self, tenant: TenantId, *, first: int, count: int) -> list[Kept]:
        """Some of a tenant's, newest first."""
        newest = self._state.assets(tenant)[::-1]
        return [kept for asset in newest[first : first + count] if (kept := self._find(tenant, asset.id)) is not None]

    def delete(self, kept: Kept) -> None:
        """Delete an asset and what was made of it.

        Raises:
            Problem: wrong_state, while a job that has not ended uses it.
            UnwritableError: the storage does not let it go.
        """
        asset = kept.asset
        if (job := self._user_of(asset)) is not None:
            refuse("wrong_state", f"the job {job} uses {asset.id}: wait until it ends, or cancel it", job=job)
        # Last what remembers where the file lies: a deletion that was broken off can be asked for again.
        self._storage.delete(asset.key)
        self._state.client.publish(self._state.key(FORGET), asset.sha256)
        self._usage.release(kept.key, asset.id)
        self._state.client.delete(self._facts_name(asset.id))
        self._state.forget_asset(asset)

    @contextmanager
    def laid_out(self, files: Sequence[Kept]) -> Generator[Path]:
        """A folder in which assets lie under their file names, as long as the block runs.

        Raises:
            UnreadableError: one is not in storage.
        """
        with tempfile.TemporaryDirectory(dir=self.folder) as name:
            for kept in files:
                self._lay_out(kept, Path(name) / kept.file_name)
            yield Path(name)

    def _lay_out(self, kept: Kept, at: Path) -> None:
        if isinstance(self._storage, FolderStorage):
            at.symlink_to(self._storage.path(kept.asset.key))
            return
        with at.open("wb") as file:
            for piece in self._storage.read(kept.asset.key):
                file.write(piece)

    def _look(self, upload: Upload, name: str) -> Facts:
        with tempfile.TemporaryDirectory(dir=self.folder) as folder:
            # A link under another name: messages then name the asset, and decoders see the right ending.
            (Path(folder) / name).symlink_to(upload.path.absolute())
            return Facts(**self._inspector.media(folder, name))

    def _find(self, tenant: TenantId, asset_id: AssetId) -> Kept | None:
        asset = self._state.asset(asset_id)
        if asset is None or asset.tenant != tenant:
            return None
        text = cast("str | None", self._state.client.get(self._facts_name(asset_id)))
        if text is None:
            return None
        known: dict[str, Any] = json.loads(text)
        return Kept(asset, Facts(**known["facts"]), KeyId(known["key"]))

    def _user_of(self, asset: Asset) -> str | None:
        """A job that has not ended and needs the file."""
        names = cast("list[str]", self._state.client.zrange(self._state.key("open", asset.tenant), 0, -1))
        for name in names:
            recipe = cast("str | None", self._state.client.hget(self._state.key("job", name), "recipe"))
            if recipe is not None and asset.id in recipe:
                return name
        return None

    def _facts_name(self, asset: AssetId) -> str:
        return self._state.key("facts", asset)


def type_of(path: Path) -> FileType:
    """The kind of an upload by its first bytes.

    Raises:
        Problem: unsupported_media.
    """
    with path.open("rb") as file:
        head = file.read(HEAD_BYTES)
    if not head:
        refuse("unsupported_media", "the upload is empty: send the file's bytes as the body of the request")
    if (kind := file_type(head)) is None:
        refuse(
            "unsupported_media",
            "the upload is neither a picture (JPEG, PNG, WebP, TIFF, BMP, AVIF, HEIC, GIF) nor a video (MP4, MOV, "
            "Matroska, WebM, AVI, MPEG, FLV, Ogg, WMV): convert it",
        )
    return kind


def check_sources(groups: Sequence[Sequence[Kept]]) -> None:
    """Refuse sources that show nobody who could be put on.

    Raises:
        Problem: no_face or unfit_source.
    """
    for group in groups:
        if any(kept.facts.kind != "picture" for kept in group):
            names = ", ".join(kept.asset.id for kept in group if kept.facts.kind != "picture")
            refuse("unsupported_media", f"a source is a picture, but {names} is not one", field="sources")
        if not any(kept.facts.faces for kept in group):
            faceless = "; ".join(f"{kept.asset.id} shows no face" for kept in group)
            refuse("no_face", f"no usable source picture: {faceless}", field="sources")
        if all(not kept.facts.faces or kept.facts.unfit for kept in group):
            reasons = "; ".join(f"{kept.asset.id}: {kept.facts.unfit or 'no face'}" for kept in group)
            refuse("unfit_source", f"no usable source picture: {reasons}", field="sources")


def check_references(pictures: Sequence[Kept]) -> None:
    """Refuse reference pictures that show nobody.

    Raises:
        Problem: no_face.
    """
    for kept in pictures:
        if not kept.facts.faces:
            refuse("no_face", f"the reference picture {kept.asset.id} shows no face: give another one")
