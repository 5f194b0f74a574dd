"""Content credentials (C2PA): signing what is claimed of a file into it, and reading what a file claims."""

from __future__ import annotations

import json
import secrets
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Literal, cast

import c2pa

from mien.errors import UnwritableError
from mien.trust.certificates import Signer
from mien.trust.claim import ACTIONS, EDIT_ASSERTION, EDITED, SOFT_BINDING, Claim, definition, edited

State = Literal["trusted", "valid", "invalid"]
"""Trusted: nothing was changed and the signer is known; valid: nothing was changed; invalid: something was."""

_UNTRUSTED = "signingCredential.untrusted"

_SETTINGS: Mapping[str, Any] = {
    # A video is hashed in blocks and goes through a temporary file: otherwise it is in memory, twice as a whole.
    "core": {"merkle_tree_chunk_size_in_kb": 1024, "backing_store_memory_threshold_in_mb": 16},
    # A preview takes ten times the time and fifty times the bytes of all the rest.
    "builder": {"thumbnail": {"enabled": False}},
    # Nobody is asked over the network.
    "verify": {"remote_manifest_fetch": False, "ocsp_fetch": False},
}


@dataclass(frozen=True, slots=True)
class Origin:
    """The file that a result was made of."""

    path: Path
    form: str
    """Media type, such as `image/png`."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Credentials:
    """What a file claims of itself, and whether that holds."""

    state: State
    problems: tuple[tuple[str, str], ...]
    """Code (C2PA specification, chapter 15) and explanation of whatever does not hold."""
    signer: str
    software: str
    actions: tuple[Mapping[str, Any], ...]
    edit: Mapping[str, Any]
    """Our own assertion; empty in files of others."""
    watermark: str | None
    ingredients: tuple[Mapping[str, Any], ...]

    @property
    def edited(self) -> Mapping[str, Any]:
        """The action of an edit; empty if there is none."""
        return next((action for action in self.actions if action.get("action") == EDITED), {})


def sign(path: Path, form: str, origin: Origin, claim: Claim, signer: Signer) -> None:
    """Sign a finished file, which is replaced by the same with credentials: the last that may be done to it.

    Args:
        path: The file.
        form: Its media type.
        origin: What it was made of; credentials of that one are kept.
        claim: What is claimed.
        signer: Who claims it.

    Raises:
        UnwritableError: it cannot be signed, or there is no space.
    """
    beside = path.with_name(f".{secrets.token_hex(4)}.signed")
    try:
        with c2pa.Context.from_dict(dict(_SETTINGS)) as context, c2pa.Builder(definition(claim), context) as builder:
            builder.set_intent(c2pa.C2paBuilderIntent.EDIT)
            with origin.path.open("rb") as file:
                builder.add_ingredient(json.dumps({"relationship": "parentOf"}), origin.form, file)
            builder.add_action(json.dumps(edited(claim)))
            info = c2pa.C2paSignerInfo(signer.algorithm, signer.chain, signer.key, None)
            with (
                c2pa.Signer.from_info(info) as native,
                path.open("rb") as unsigned,
                beside.open("w+b") as signed,
            ):
                builder.sign(native, form, unsigned, signed)
        beside.replace(path)
    except c2pa.C2paError as error:
        raise UnwritableError(f"the content credentials cannot be written: {error}") from error
    except OSError as error:
        raise UnwritableError(f"the content credentials cannot be written: {error.strerror or error}") from error
    finally:
        beside.unlink(missing_ok=True)


def can_hold(form: str) -> bool:
    """Whether files of this media type can be signed."""
    return form in c2pa.Builder.get_supported_mime_types()


def read(path: Path, form: str, anchors: Sequence[bytes] = ()) -> Credentials | None:
    """The credentials of a file, or None if it has none.

    Args:
        path: The file, which exists.
        form: Its media type, one that can hold credentials.
        anchors: PEM certificates of issuers whose signers count as known.
    """
    settings: dict[str, Any] = dict(_SETTINGS)
    if anchors:
        settings["trust"] = {"user_anchors": b"\n".join(anchors).decode("ascii")}
    try:
        with (
            c2pa.Context.from_dict(settings) as context,
            path.open("rb") as file,
        ):
            reader = c2pa.Reader.try_create(form, file, None, context)
            if reader is None:
                return None
            with reader:
                return _credentials(json.loads(reader.json()))
    except c2pa.C2paError as error:
        problems = (("unreadable", str(error)),)
        return Credentials(
            state="invalid", problems=problems, signer="", software="", actions=(), edit={}, watermark=None,
            ingredients=(),
        )  # fmt: skip


def _credentials(store: Mapping[str, Any]) -> Credentials:
    manifest = cast(Mapping[str, Any], store["manifests"].get(store.get("active_manifest"), {}))
    problems = tuple(
        (failure["code"], failure.get("explanation", ""))
        for failure in _failures(store.get("validation_results", {}))
        if failure["code"] != _UNTRUSTED
    )
    generator = next(iter(manifest.get("claim_generator_info", [])), {})
    signature = manifest.get("signature_info", {})
    return Credentials(
        state=cast(State, str(store.get("validation_state", "Invalid")).lower()),
        problems=problems,
        signer=signature.get("issuer") or signature.get("common_name") or "",
        software=f"{generator.get('name', '')} {generator.get('version', '')}".strip(),
        actions=tuple(_assertion(manifest, ACTIONS).get("actions", ())),
        edit=_assertion(manifest, EDIT_ASSERTION),
        watermark=_watermark(_assertion(manifest, SOFT_BINDING)),
        ingredients=tuple(manifest.get("ingredients", ())),
    )


def _failures(results: Mapping[str, Any]) -> Iterator[Mapping[str, Any]]:
    yield from results.get("activeManifest", {}).get("failure", ())
    for delta in results.get("ingredientDeltas", ()):
        yield from delta.get("validationDeltas", {}).get("failure", ())


def _assertion(manifest: Mapping[str, Any], label: str) -> Mapping[str, Any]:
    return next((entry["data"] for entry in manifest.get("assertions", ()) if entry["label"] == label), {})


def _watermark(binding: Mapping[str, Any]) -> str | None:
    return next((str(block.get("value")) for block in binding.get("blocks", ())), None)
