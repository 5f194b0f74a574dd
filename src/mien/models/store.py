"""Where each network's file is, and whether it is the one the catalogue means."""

from __future__ import annotations

import difflib
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property
from pathlib import Path
from typing import Literal, Self

from mien.errors import ModelError, PolicyError, UsageError
from mien.models import places
from mien.models.catalogue import BundledEntry, CatalogueEntry, catalogue
from mien.models.checksum import Checksum, checksum_of, leave_beside, parse_sha256, stated_beside
from mien.models.download import PATIENCE, OnBytes, Patience, download
from mien.models.licence import Profile, check_licence
from mien.models.mirror import source_at
from mien.models.register import UserEntry, read_register
from mien.models.unlisted import persons, unlisted

Place = Literal["added", "folder", "cache", "bundled"]
"""The user's own catalogue, one of the user's folders, mien's downloads, or mien itself."""


@dataclass(frozen=True, slots=True)
class Located:
    """A network's file."""

    entry: CatalogueEntry
    path: Path
    place: Place
    verified: bool
    """Whether its SHA-256 is the one that is known of it."""
    differs: bool
    """Whether a checksum of it is known and is another."""
    why: str
    """What was compared, or why nothing was."""


@dataclass(frozen=True, slots=True)
class Found:
    """A file that bears a network's name; its content has not been looked at."""

    path: Path
    place: Place


class ModelStore:
    """Finds networks: among those the user has added, in the user's folders, among downloads, in mien itself.

    Nothing is downloaded unless `fetch` is called. Safe to use from several threads.
    """

    def __init__(
        self,
        folders: Sequence[Path] = (),
        *,
        added: Mapping[str, UserEntry] | None = None,
        downloads: Path,
        digests: Path | None = None,
        profile: Profile = "any",
        strict: bool = False,
        offline: bool = False,
    ) -> None:
        """Set up; no folder is read yet.

        Args:
            folders: The user's folders, first come first served.
            added: The user's own networks by id. They go before mien's of the same id.
            downloads: Folder of what was downloaded.
            digests: Folder that remembers checksums; None: files are read every time.
            profile: What the networks' results are for; those whose licence does not permit it are refused.
            strict: Refuse files whose SHA-256 is not known or differs.
            offline: Never touch the network.
        """
        self._folders = tuple(folders)
        self._added = dict(added or {})
        self._downloads = downloads
        self._digests = digests
        self._profile: Profile = profile
        self._strict = strict
        self._offline = offline

    @classmethod
    def of_user(
        cls, folders: Sequence[Path] = (), *, profile: Profile = "any", strict: bool = False, offline: bool = False
    ) -> Self:
        """The store of whoever runs mien: folders given, then those and the settings of the environment.

        Raises:
            UsageError: a folder is none.
            ModelError: the list of the user's own networks cannot be read.
        """
        return cls(
            places.model_folders(folders),
            added=read_register(places.register_file()),
            downloads=places.download_folder(),
            digests=places.digest_folder(),
            profile=profile,
            strict=strict,
            offline=offline or places.is_offline(),
        )

    @cached_property
    def entries(self) -> Mapping[str, CatalogueEntry]:
        """All known networks by id. An id that comes twice is the user's own, or else the catalogue's."""
        return {**persons(self._files.values()), **catalogue(), **self._added}

    @cached_property
    def _files(self) -> Mapping[str, Path]:
        """Files in the user's folders by name."""
        found: dict[str, Path] = {}
        for folder in self._folders:
            found = places.files_in(folder) | found
        return found

    def entry(self, model: str) -> CatalogueEntry:
        """The network with that id.

        Raises:
            ModelError: there is none; the message names those with a name like it.
        """
        if model in self.entries:
            return self.entries[model]
        like = difflib.get_close_matches(model, self.entries, n=3, cutoff=0.5)
        hint = f"did you mean {' or '.join(like)}?" if like else "`mien models list` names those that are known"
        raise ModelError(f"there is no network '{model}': {hint}")

    def find(self, entry: CatalogueEntry) -> Found | None:
        """Where a network's file lies, by its name alone."""
        if isinstance(entry, UserEntry):
            return Found(entry.path, "added") if entry.path.is_file() else None
        for name in entry.files:
            if name in self._files:
                return Found(self._files[name], "folder")
        if (self._downloads / entry.file).is_file():
            return Found(self._downloads / entry.file, "cache")
        if isinstance(entry, BundledEntry) and entry.path.is_file():
            return Found(entry.path, "bundled")
        return None

    def locate(self, model: str) -> Located:
        """The file of a network that is about to be used.

        Raises:
            ModelError: the network is unknown, its file is nowhere, or one that mien brought is damaged.
            PolicyError: its licence is not permitted, or the policy is strict and the file is not known to be right.
        """
        entry = self.entry(model)
        self._check_licence(entry)
        found = self.find(entry)
        if found is None:
            raise ModelError(self._missing(entry))
        return self._admit(self._compare(entry, found))

    def locate_file(self, path: Path, family: str) -> Located:
        """A file that is named by its path and family instead of an id.

        Raises:
            UsageError: there is no such family.
            ModelError: there is no such file.
            PolicyError: its licence, of which nothing is known, is not permitted, or the policy is strict.
        """
        entry = unlisted(path, family)
        if not path.is_file():
            raise ModelError(f"{path} is missing: there is no such file")
        self._check_licence(entry)
        return self._admit(self._compare(entry, Found(path, "folder")))

    def fetch(
        self,
        model: str,
        mirror: str,
        *,
        sha256: str | None = None,
        on_bytes: OnBytes = lambda _done, _total: None,
        patience: Patience = PATIENCE,
    ) -> Located:
        """Download a network to mien's folder of downloads, unless it is there already.

        Args:
            model: Its id.
            mirror: Where from; see `mirror.source_at`.
            sha256: What its content must sum up to, where the catalogue does not know it.
            on_bytes: Hears of the progress.
            patience: When to give up.

        Raises:
            ModelError: the network is unknown, its SHA-256 is unknown, or the download failed.
            PolicyError: its licence is not permitted, or the network may not be touched.
            UsageError: the mirror, or the SHA-256, makes no sense.
            UnwritableError: there is no room for the file.
        """
        entry = self.entry(model)
        self._check_licence(entry)
        if isinstance(entry, UserEntry):
            raise UsageError(f"'{model}' is your own file {entry.path}: it is not downloaded")
        expected = _expected(entry, sha256)
        source = source_at(mirror, entry.file)
        if source.remote and self._offline:
            raise PolicyError(f"{model} is not downloaded: the network is not to be touched; copy the file by hand")
        target = self._downloads / entry.file
        download(source, target, sha256=expected, size=entry.bytes, on_bytes=on_bytes, patience=patience)
        if entry.sha256 is None:
            leave_beside(target, expected)
        return self._compare(entry, Found(target, "cache"))

    def _admit(self, located: Located) -> Located:
        """Let verified files pass, and others of the user's unless the policy is strict."""
        if located.verified:
            return located
        if located.place == "bundled":
            raise ModelError(f"{located.entry.id} is damaged: {located.why}; install mien again")
        if located.place == "cache" and located.differs:
            raise ModelError(
                f"{located.entry.id} is damaged: {located.path}: {located.why}; "
                f"`mien models fetch {located.entry.id}` gets it again"
            )
        if self._strict:
            raise PolicyError(
                f"{located.entry.id} is refused, as only verified files are permitted: {located.path}: {located.why}; "
                "if the file is right, `mien models add` records its SHA-256"
            )
        return located

    def _check_licence(self, entry: CatalogueEntry) -> None:
        check_licence(entry, self._profile, self.entries.values())

    def _compare(self, entry: CatalogueEntry, found: Found) -> Located:
        known = Checksum("sha256", entry.sha256) if entry.sha256 else None
        origin = "it had when it was added" if isinstance(entry, UserEntry) else "in the catalogue"
        if known is None and (stated := stated_beside(found.path)):
            known, origin = stated[0], f"in {stated[1].name} beside it"
        if known is None:
            return Located(entry, found.path, found.place, False, False, "no checksum of it is known")
        value = checksum_of(found.path, known.algorithm, self._digests)
        same = value == known.value
        if not same:
            why = f"its {known.name} is {value}, not the one {origin}, {known.value}"
        elif known.algorithm == "sha256":
            why = f"its {known.name} is the one {origin}"
        else:
            why = f"its {known.name} is the one {origin}, which tells damage and no more"
        return Located(entry, found.path, found.place, same and known.algorithm == "sha256", not same, why)

    def _missing(self, entry: CatalogueEntry) -> str:
        if isinstance(entry, UserEntry):
            return f"{entry.id} is missing: {entry.path} is gone; add it again where it is now"
        if isinstance(entry, BundledEntry):
            return f"{entry.id} is missing: {entry.path} is gone; install mien again"
        looked = ", ".join(str(folder) for folder in (*self._folders, self._downloads))
        return (
            f"{entry.id} is missing: there is no {' or '.join(entry.files)} in {looked}; name the folder that has it "
            f"with --models or {places.MODELS_VARIABLE}, or `mien models fetch {entry.id}`"
        )


def _expected(entry: CatalogueEntry, given: str | None) -> str:
    """The SHA-256 that a download must have.

    Raises:
        ModelError: none is known and none is given.
        UsageError: another one is given than the known.
    """
    value = parse_sha256(given) if given is not None else None
    known = entry.sha256 or value
    if known is None:
        raise ModelError(
            f"{entry.id} is not downloaded: the catalogue knows no SHA-256 of it, so nothing could tell whether the "
            "right file arrives; give the one you trust with --sha256"
        )
    if value not in (None, known):
        raise UsageError(f"the SHA-256 of {entry.id} is {known} in the catalogue, not {value}")
    return known
