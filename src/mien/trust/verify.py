"""Reads every mark of a file and says what each of them means, and whether they agree."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, Literal

from mien.errors import VaultError
from mien.media.description import Description, read_description
from mien.media.probe import probe
from mien.trust import aigc
from mien.trust.aigc import LABELS, Aigc
from mien.trust.aigc_reading import find_object
from mien.trust.carriers import Carrier, carrier_of_content
from mien.trust.certificates import own_anchor
from mien.trust.claim import SYNTHETIC, TRAINED
from mien.trust.credentials import Credentials, read
from mien.trust.ledger import find_results
from mien.trust.watermark import Detection, detect_file
from mien.trust.watermark.embedding import UNFIT, fits
from mien.trust.watermark.ids import to_text

Mark = Literal["AI-content metadata", "content credentials", "watermark"]
State = Literal["ok", "missing", "broken", "impossible"]
"""Impossible: files of this kind have no place for it."""

_CHANGES: Mapping[str, str] = {
    "assertion.dataHash.mismatch": "the picture or its metadata was changed after signing",
    "assertion.bmffHash.mismatch": "pictures, sound or metadata were changed after signing",
    "assertion.hashedURI.mismatch": "a statement in the credentials was changed after signing",
    "assertion.missing": "a statement was taken out of the credentials",
    "claimSignature.mismatch": "the signature is not of this claim: it was changed, or signed by another",
    "signingCredential.expired": "the signer's certificate had run out",
    "signingCredential.revoked": "the signer's certificate was revoked",
    "signingCredential.invalid": "the signer's certificate is none for this use",
    "unreadable": "the credentials are damaged",
}
"""By code of the C2PA specification (2.x, chapter 15)."""

_SOURCE_TYPES = {
    TRAINED: "edited with pixels that a trained network made",
    SYNTHETIC: "edited with pixels that were computed, by no trained network",
}


@dataclass(frozen=True, slots=True)
class Finding:
    """What became of one mark."""

    mark: Mark
    state: State
    words: tuple[str, ...]
    """For people, one sentence each."""
    facts: Mapping[str, Any] = field(default_factory=dict[str, Any])
    """For programs."""


def verify(path: Path, folder: Path, anchors: Sequence[bytes] = ()) -> tuple[Finding, ...]:
    """Look for every mark.

    Args:
        path: Picture, animation or video.
        folder: The installation's trust folder: its own signer counts as known, its results are looked up.
        anchors: PEM certificates of further issuers whose signers count as known.

    Raises:
        UnreadableError, UnsupportedMediaError: the file cannot be read at all.
    """
    about = probe(path)
    carrier = carrier_of_content(path, about.format)
    room = carrier.watermarked and about.mode != "P" and fits(about.width, about.height)
    own = own_anchor(folder)
    credentials = read(path, carrier.form, [*anchors, *([own] if own else [])]) if carrier.signed else None
    look_up = _Ledger(folder).look_up
    return (
        judge_metadata(read_description(path), carrier, credentials),
        judge_credentials(credentials, carrier),
        judge_watermark(detect_file(path), credentials, look_up, room=room),
    )


def judge_metadata(description: Description, carrier: Carrier, credentials: Credentials | None) -> Finding:
    """What the AI-content object says, and whether it is the one that was signed."""
    place, text = find_object(description)
    if text is None:
        if carrier.place is None:
            return Finding("AI-content metadata", "impossible", (f"{carrier.name} has no place for it",))
        return Finding("AI-content metadata", "missing", ("there is no AIGC object",))
    try:
        found = aigc.parse(text)
    except ValueError as error:
        return Finding("AI-content metadata", "broken", (f"the AIGC object in {place} is broken: {error}",))
    words = [_told(found, place)]
    signed = credentials.edit.get("produceId") if credentials else None
    agrees = signed is None or signed == found.produce_id
    if not agrees:
        words.append(f"the credentials name the result {signed}: the object was replaced")
    return Finding("AI-content metadata", "ok" if agrees else "broken", tuple(words), found.to_mapping())


def judge_credentials(credentials: Credentials | None, carrier: Carrier) -> Finding:
    """Who claims what, and what was changed since."""
    if credentials is None:
        if not carrier.signed:
            return Finding("content credentials", "impossible", (f"{carrier.name} has no place for them",))
        return Finding("content credentials", "missing", ("there are no content credentials",))
    facts = {
        "state": credentials.state,
        "problems": [{"code": code, "explanation": words} for code, words in credentials.problems],
        "signer": credentials.signer,
        "software": credentials.software,
        "actions": list(credentials.actions),
        "edit": credentials.edit,
        "watermark": credentials.watermark,
        "ingredients": list(credentials.ingredients),
    }
    state: State = "broken" if credentials.state == "invalid" else "ok"
    return Finding("content credentials", state, tuple(_explained(credentials)), facts)


def judge_watermark(
    detection: Detection, credentials: Credentials | None, look_up: Callable[[str], Iterable[str]], *, room: bool
) -> Finding:
    """What the invisible watermark says, and whether it is the one that the credentials name.

    Args:
        detection: What was found in the pixels.
        credentials: Of the same file.
        look_up: What this installation knows of an id, in sentences.
        room: Whether a picture of this size and kind can carry one.
    """
    facts: dict[str, Any] = {"score": round(detection.score, 2), "id": None}
    if not detection.present:
        if not room:
            return Finding("watermark", "impossible", (UNFIT,), facts)
        return Finding("watermark", "missing", (f"no watermark was found (score {detection.score:.1f})",), facts)
    if detection.mark_id is None:
        words = "there is a watermark, but it is too faint or too damaged for its id to be read"
        return Finding("watermark", "broken", (words,), facts)
    name = to_text(detection.mark_id)
    said = [f"it carries the id {name} (score {detection.score:.1f})", *look_up(name)]
    agrees = credentials is None or credentials.watermark in (None, name)
    if not agrees and credentials is not None:
        said.append(f"the credentials name the id {credentials.watermark}: the two are not of one result")
    return Finding("watermark", "ok" if agrees else "broken", tuple(said), {**facts, "id": name})


def _told(found: Aigc, place: str) -> str:
    told = f"{LABELS[found.label]}, says {place}; producer {found.producer}, number {found.produce_id}"
    if (found.propagator, found.propagate_id) != (found.producer, found.produce_id):
        told += f"; passed on by {found.propagator} as {found.propagate_id}"
    return told


def _explained(credentials: Credentials) -> Iterator[str]:
    if credentials.signer:
        known = {"trusted": "whom this installation knows", "valid": "who is not known here"}
        yield f"signed by {credentials.signer}" + (
            f", {known[credentials.state]}" if credentials.state in known else ""
        )
    if credentials.state != "invalid":
        yield "nothing was changed since"
    for code, explanation in credentials.problems:
        yield _CHANGES.get(code, explanation or code)
    if action := credentials.edited:
        made = _SOURCE_TYPES.get(str(action.get("digitalSourceType")), "edited")
        yield f"{made}, by {credentials.software} on {action.get('when', 'an unknown day')}"
    if models := credentials.edit.get("models"):
        yield "networks: " + ", ".join(f"{model.get('id')} ({model.get('licence')})" for model in models)
    if target := credentials.edit.get("targetAigc"):
        yield f"of its target, this was said: {target}"
    if consents := credentials.edit.get("consents"):
        yield f"permitted by consent {', '.join(consents)}"
    for ingredient in credentials.ingredients:
        own = "with credentials of its own" if ingredient.get("active_manifest") else "without credentials"
        yield f"made from a file ({ingredient.get('format', 'of unknown kind')}) {own}"


class _Ledger:
    """What the installation has noted of its results."""

    def __init__(self, folder: Path) -> None:
        self._folder = folder

    def look_up(self, watermark: str) -> Iterator[str]:
        """Sentences about an id."""
        try:
            entries = find_results(self._folder, watermark=watermark)
        except VaultError as error:
            yield f"it cannot be looked up: {error}"
            return
        for entry in entries:
            yield f"made here on {entry.time[:16].replace('T', ' ')} UTC as number {entry.facts['produceId']}"
        if not entries:
            yield "this installation has no record of it"
