"""The policy of an installation, `mien.policy.toml`: what no recipe may go below.

    marks = "all"                     # at least these marks on every result: metadata or all
    label = "en"                      # every result carries a label that people see; this language unless told
    consent = "required"              # every job names consent records that match its source faces
    gate = "on"                       # nobody may turn the content gate off
    gate_threshold = 0.85             # score from which a classifier votes against a frame
    gate_share = 0.1                  # share of refused frames above which a job is refused
    gate_votes = 1                    # classifiers that have to agree; left out: half of those installed
    licence_profile = "commercial"    # networks whose licence does not permit this are refused
    retention_days = 30               # how long embeddings of faces are kept
    embedding_cache = "on"            # embeddings of source pictures are kept, to save time
    folder = "/srv/mien/trust"        # keys, consents, denied faces, audit log

Every key may be left out. A recipe that says nothing is given what the policy asks for; one that asks for less is
refused.
"""

from __future__ import annotations

import dataclasses
import os
import tomllib
from collections.abc import Callable, Mapping
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any, Literal, NamedTuple

from mien.errors import PolicyError
from mien.models.licence import Profile
from mien.recipe import Recipe
from mien.trust.carriers import carrier_of
from mien.trust.places import POLICY_VARIABLE, policy_file, trust_folder

GATE_THRESHOLD = 0.85
"""Score from which a classifier votes against a frame; see `mien.trust.gate` for what it was chosen by."""
GATE_SHARE = 0.1
"""Of the frames looked at; FaceFusion's rule as well."""
RETENTION_DAYS = 30


@dataclass(frozen=True, slots=True, kw_only=True)
class Policy:
    """What an installation asks of every job. The default asks for nothing that a recipe could go below."""

    path: Path | None = None
    """The file that says so; None = there is none."""
    marks: Literal["metadata", "all"] | None = None
    """The least of marks; None = the recipe decides."""
    label: Literal["en", "zh"] | None = None
    """A label is required, in this language unless the recipe names another; None = the recipe decides."""
    consent: Literal["required"] | None = None
    """Whether jobs need consent records; None = only what a recipe names is checked."""
    gate: Literal["on"] | None = None
    """Whether the content gate is locked; None = a recipe may turn it off."""
    gate_threshold: float = GATE_THRESHOLD
    """Score, 0..1, from which a classifier votes against a frame."""
    gate_share: float = GATE_SHARE
    """Share of refused frames, 0..1, above which a job is refused."""
    gate_votes: int | None = None
    """Classifiers that have to agree on a frame; None = half of those that are installed."""
    licence_profile: Profile | None = None
    """The least that the licences of networks must permit; None = the recipe decides."""
    retention_days: int = RETENTION_DAYS
    """How long embeddings are kept."""
    embedding_cache: Literal["on"] | None = None
    """Whether embeddings of source and reference pictures are kept beyond the process; None = no."""
    folder: Path = dataclasses.field(default_factory=trust_folder)
    """Keys, consents, denied faces, audit log."""

    @classmethod
    def find(cls, given: str | Path | None = None) -> Policy:
        """The policy that holds: of the file given, of the one that `$MIEN_POLICY` names, of the installation's own.

        Raises:
            PolicyError: the file cannot be read or says what makes no sense, or a file that is named is missing:
                no job is done then.
        """
        named = given or os.environ.get(POLICY_VARIABLE)
        if named:
            return cls.load(Path(named))
        path = policy_file()
        return cls.load(path) if path.exists() else cls()

    @classmethod
    def load(cls, path: Path) -> Policy:
        """Read a policy file.

        Raises:
            PolicyError: it cannot be read, a key is unknown or its value makes no sense.
        """
        try:
            fields = tomllib.loads(path.read_text(encoding="utf-8"))
        except OSError as error:
            raise PolicyError(
                f"the policy {path} cannot be read ({error.strerror}): no job is done without it"
            ) from error
        except ValueError as error:
            raise PolicyError(f"the policy {path} is no TOML in UTF-8 ({error}): no job is done without it") from error
        for key, value in fields.items():
            if (problem := _problem(key, value)) is not None:
                raise PolicyError(f"the policy {path} makes no sense: {problem}")
        if "folder" in fields:
            fields["folder"] = path.parent / Path(fields["folder"]).expanduser()
        return cls(path=path, **fields)

    def apply(self, recipe: Recipe) -> Recipe:
        """The recipe with what the policy asks for where it says nothing itself.

        Raises:
            PolicyError: the recipe asks for less; the message says what is locked, and by which file.
        """
        given = recipe.to_mapping()
        changes: dict[str, Any] = {}
        for field, order in _ORDERS.items():
            least = getattr(self, field)
            if least is None or order.reaches(getattr(recipe, field), least):
                continue
            if field in given:
                raise PolicyError(
                    f"{field} = {given[field]} is refused: {self.path} asks for {order.words(least)}; leave it out"
                )
            changes[field] = least
        if self.label is not None and recipe.label == "none":
            changes["label"] = self.label
        if self.consent is not None and recipe.consent is None and "swap" in recipe.effects:
            raise PolicyError(
                f"the job names no consent, which {self.path} asks for: add one with `mien consent add`, "
                "and name it in 'consent'"
            )
        return replace(recipe, **changes)

    def check_output(self, recipe: Recipe) -> None:
        """Refuse a kind of file that cannot carry the marks that the policy asks for.

        Raises:
            PolicyError: it cannot.
        """
        carrier = carrier_of(recipe.output)
        carries = carrier.place is not None and (carrier.watermarked or self.marks != "all")
        if self.marks is not None and not carries:
            raise PolicyError(
                f"{recipe.output} is refused: {carrier.name} cannot carry the marks ({self.marks}) that {self.path} "
                "asks for; name a JPEG, PNG, WebP, TIFF, MP4 or MOV file"
            )

    def check_stream(self) -> None:
        """Refuse streams, whose frames carry no marks, where the policy asks for marks or a label.

        Raises:
            PolicyError: it does.
        """
        if self.marks is not None or self.label is not None:
            raise PolicyError(f"frames of a stream are refused: they carry no marks, which {self.path} asks for")


class _Ranked(NamedTuple):
    """Values of a recipe's field, the least first."""

    values: tuple[str, ...]

    def reaches(self, value: str, least: str) -> bool:
        """Whether a value is no less than the least."""
        return self.values.index(value) >= self.values.index(least)

    def words(self, least: str) -> str:
        """The least and what is above it."""
        return " or ".join(self.values[self.values.index(least) :])


_ORDERS: Mapping[str, _Ranked] = {
    "marks": _Ranked(("none", "metadata", "all")),
    "gate": _Ranked(("off", "on")),
    "licence_profile": _Ranked(("any", "non-commercial", "commercial")),
}


def _one_of(*values: str) -> tuple[Callable[[Any], bool], str]:
    return lambda value: value in values, " or ".join(values)


def _share(value: Any) -> bool:
    return isinstance(value, int | float) and not isinstance(value, bool) and 0 <= value <= 1


def _count(value: Any) -> bool:
    return isinstance(value, int) and not isinstance(value, bool) and value >= 1


_KEYS: Mapping[str, tuple[Callable[[Any], bool], str]] = {
    "marks": _one_of("metadata", "all"),
    "label": _one_of("en", "zh"),
    "consent": _one_of("required"),
    "gate": _one_of("on"),
    "gate_threshold": (_share, "a number from 0 to 1"),
    "gate_share": (_share, "a number from 0 to 1"),
    "gate_votes": (_count, "a whole number, 1 or more"),
    "licence_profile": _one_of("any", "non-commercial", "commercial"),
    "retention_days": (_count, "a whole number of days, 1 or more"),
    "embedding_cache": _one_of("on"),
    "folder": (lambda value: isinstance(value, str) and value != "", "the path of a folder"),
}


def _problem(key: str, value: Any) -> str | None:
    """What is wrong with a key of the file, or None."""
    if key not in _KEYS:
        return f"there is no key '{key}': there are {', '.join(_KEYS)}"
    fits, words = _KEYS[key]
    return None if fits(value) else f"{key} = {value!r}: give {words}, or leave it out"
