"""What is left of a video job beside its output so that an interrupted one can go on.

.<output name>.mien/
    manifest.json     the job this belongs to, and what was found before its first frame
    people.sealed     the survey, encrypted
    0003.json         what was counted in segment 3, written just before its packets are published
    0003.packets      the encoded packets of segment 3, there only when complete
"""

from __future__ import annotations

import dataclasses
import hashlib
import json
import os
import shutil
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Protocol

from mien.errors import UnreadableError, UnwritableError, UsageError
from mien.recipe import Recipe

_MANIFEST = "manifest.json"
_SAMPLE_BYTES = 1 << 20
"""Head and tail of the target that are hashed: containers keep their tables there."""

_NOT_COMPARED = {
    # No segment depends on them.
    *("output", "resume", "overwrite", "price_per_hour", "audio", "allow_no_face"),
    *("licence_profile", "strict", "memory_budget"),
    *("producer", "consent", "purpose", "certificate", "private_key"),
    # Compared by content.
    *("target", "sources", "reference", "map"),
}


@dataclass(frozen=True, slots=True)
class Identity:
    """What has to be equal for finished segments to be used again."""

    recipe: str
    """Digest of the recipe's fields that matter and of its pictures' content."""
    target: str
    """Size, time of change and a hash of head and tail."""
    encoding: str
    """Everything the encoder was told."""
    version: str
    """Of mien."""

    @classmethod
    def of(cls, recipe: Recipe, encoding: object, version: str) -> Identity:
        """The identity of a job.

        Raises:
            UnreadableError: the target or a picture cannot be read.
        """
        return cls(_recipe_digest(recipe), _target_digest(Path(recipe.target)), repr(encoding), version)

    def difference(self, other: Identity) -> str | None:
        """What differs, in a user's words, or None if nothing does."""
        words = {
            "recipe": "another recipe or other source pictures",
            "target": "another target, or the target has changed since",
            "encoding": "other encoder settings",
            "version": "another version of mien",
        }
        return next((text for name, text in words.items() if getattr(self, name) != getattr(other, name)), None)


class _Numbered(Protocol):
    @property
    def number(self) -> int: ...


class Checkpoint:
    """The folder of one job. Make it with `open_checkpoint`."""

    def __init__(self, folder: Path) -> None:
        self.folder = folder

    @property
    def survey_path(self) -> Path:
        """Where the survey is kept."""
        return self.folder / "people.sealed"

    @property
    def parts(self) -> int:
        """Number of finished segments."""
        return len(list(self.folder.glob("*.packets")))

    def packets_path(self, segment: _Numbered) -> Path:
        """Where the packets of a segment are published when they are complete."""
        return self.folder / f"{segment.number:04d}.packets"

    def is_finished(self, segment: _Numbered) -> bool:
        """True if the segment need not be made again."""
        return self.packets_path(segment).exists()

    def save_counts(self, segment: _Numbered, counts: Mapping[str, Any]) -> None:
        """Keep what was counted in a segment; call it before its packets are published.

        Raises:
            UnwritableError: no space, no permission.
        """
        write_atomically(self.counts_path(segment), json.dumps(counts).encode())

    def load_counts(self, segment: _Numbered) -> dict[str, Any]:
        """What was counted in a finished segment."""
        return json.loads(self.counts_path(segment).read_text(encoding="utf-8"))

    def remove(self) -> None:
        """Delete the folder: the job is done, or nothing in it is of use."""
        shutil.rmtree(self.folder)

    def counts_path(self, segment: _Numbered) -> Path:
        """Where the counts of a segment are."""
        return self.folder / f"{segment.number:04d}.json"


def checkpoint_folder(output: Path) -> Path:
    """Where the parts of `output` are kept while it is made."""
    return output.with_name(f".{output.name}.mien")


def open_checkpoint(output: Path, identity: Identity, *, resume: bool) -> tuple[Checkpoint, bool]:
    """The checkpoint of a job, and whether parts of an earlier run were thrown away for it.

    Args:
        output: what the job writes.
        identity: of this job; the folder's own has to be equal when resuming.
        resume: go on with what is there. Without it, what is there is discarded.

    Raises:
        UsageError: there is a checkpoint, but of a different job.
        UnwritableError: the folder cannot be made.
    """
    folder = checkpoint_folder(output)
    discarded = False
    if (folder / _MANIFEST).exists() and resume:
        _check(folder / _MANIFEST, identity, output)
        return Checkpoint(folder), False
    try:
        if folder.exists():
            discarded = any(folder.glob("*.packets"))
            shutil.rmtree(folder)
        folder.mkdir()
        write_atomically(folder / _MANIFEST, json.dumps(dataclasses.asdict(identity), indent=2).encode())
    except OSError as error:
        raise UnwritableError(f"cannot keep the parts of {output} in {folder}: {error.strerror}") from error
    return Checkpoint(folder), discarded


def write_atomically(path: Path, content: bytes) -> None:
    """Write so that `path` holds either all of `content` or what it held before, even after a power cut.

    Raises:
        UnwritableError: no space, no permission.
    """
    beside = path.with_name(path.name + ".part")
    try:
        with beside.open("wb") as file:
            file.write(content)
            file.flush()
            os.fsync(file.fileno())
        beside.replace(path)
    except OSError as error:
        raise UnwritableError(f"cannot keep parts of the job in {path.parent}: {error.strerror}") from error


def content_digest(path: Path) -> str:
    """SHA-256 of a file's bytes.

    Raises:
        UnreadableError: the file cannot be read.
    """
    try:
        with path.open("rb") as file:
            return hashlib.file_digest(file, "sha256").hexdigest()
    except OSError as error:
        raise UnreadableError(f"cannot read {path}: {error.strerror}") from error


def job_number(recipe: Recipe, version: str) -> str:
    """32 hexadecimal digits that a job has wherever and whenever it is done: from the content of its files.

    Raises:
        UnreadableError: the target or a picture cannot be read.
    """
    size, _, sample = _target_state(Path(recipe.target))
    words = f"{_recipe_digest(recipe)} {size} {sample} {version}"
    return hashlib.sha256(words.encode()).hexdigest()[:32]


def _check(manifest: Path, identity: Identity, output: Path) -> None:
    try:
        kept = Identity(**json.loads(manifest.read_text(encoding="utf-8")))
    except (OSError, ValueError, TypeError) as error:
        raise UsageError(
            f"the parts of {output} from an earlier run are not readable ({error}): leave out 'resume' to start anew"
        ) from error
    if difference := identity.difference(kept):
        raise UsageError(
            f"the parts of {output} from an earlier run were made with {difference}: "
            "leave out 'resume' to start anew, or give the job as it was"
        )


def _recipe_digest(recipe: Recipe) -> str:
    fields: dict[str, Any] = {name: value for name, value in recipe.to_mapping().items() if name not in _NOT_COMPARED}
    fields["sources"] = [content_digest(Path(source)) for source in recipe.sources]
    fields["reference"] = content_digest(Path(recipe.reference)) if recipe.reference else None
    fields["map"] = [
        [content_digest(Path(picture)) for picture in (*entry.sources, entry.reference)] for entry in recipe.map
    ]
    return hashlib.sha256(json.dumps(fields, sort_keys=True).encode()).hexdigest()


def _target_digest(target: Path) -> str:
    return "-".join(str(part) for part in _target_state(target))


def _target_state(target: Path) -> tuple[int, int, str]:
    """Size in bytes, time of change in ns, and a hash of head and tail."""
    try:
        state = target.stat()
        with target.open("rb") as file:
            head = file.read(_SAMPLE_BYTES)
            file.seek(max(state.st_size - _SAMPLE_BYTES, 0))
            tail = file.read(_SAMPLE_BYTES)
    except OSError as error:
        raise UnreadableError(f"cannot read the target {target}: {error.strerror}") from error
    return state.st_size, state.st_mtime_ns, hashlib.sha256(head + tail).hexdigest()
