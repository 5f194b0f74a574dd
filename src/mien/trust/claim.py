"""What is claimed of a result in its content credentials, as a C2PA manifest (specification 2.x)."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import asdict, dataclass
from datetime import datetime
from typing import Any

EDIT_ASSERTION = "mien.edit"
"""Label of our own assertion: networks, consents, and the number that the AI-content metadata has as well."""
SOFT_BINDING = "c2pa.soft-binding"
WATERMARK = "mien.watermark.1"
"""What the soft binding calls the algorithm of `mien.trust.watermark`."""
ACTIONS = "c2pa.actions.v2"
EDITED = "c2pa.edited"

_SOURCE_TYPES = "http://cv.iptc.org/newscodes/digitalsourcetype/"
TRAINED = _SOURCE_TYPES + "compositeWithTrainedAlgorithmicMedia"
"""A trained network made pixels of the result."""
SYNTHETIC = _SOURCE_TYPES + "compositeSynthetic"
"""Pixels were made, but by geometry and light."""


@dataclass(frozen=True, slots=True)
class UsedModel:
    """A network behind a result."""

    id: str
    version: str
    """SHA-256 of its file, or empty if nobody vouches for it."""
    licence: str


@dataclass(frozen=True, slots=True, kw_only=True)
class Claim:
    """What is claimed."""

    software: str
    version: str
    when: datetime
    """Aware."""
    source_type: str
    """IPTC's name of how the pixels came about."""
    produce_id: str
    models: Sequence[UsedModel] = ()
    consents: Sequence[str] = ()
    target_aigc: str | None = None
    """What the target's AI-content object said, which the result's own replaces."""
    watermark: str | None = None
    """What the invisible watermark says, in hexadecimal; None = there is none."""


def definition(claim: Claim) -> dict[str, Any]:
    """The manifest, without actions and ingredients."""
    edit: dict[str, Any] = {"produceId": claim.produce_id, "models": [asdict(model) for model in claim.models]}
    if claim.consents:
        edit["consents"] = list(claim.consents)
    if claim.target_aigc is not None:
        edit["targetAigc"] = claim.target_aigc
    assertions: list[dict[str, Any]] = [{"label": EDIT_ASSERTION, "data": edit}]
    if claim.watermark is not None:
        block = {"scope": {}, "value": claim.watermark}
        data = {"alg": WATERMARK, "blocks": [block]}
        assertions.append({"label": SOFT_BINDING, "data": data})
    return {"claim_generator_info": [{"name": claim.software, "version": claim.version}], "assertions": assertions}


def edited(claim: Claim) -> dict[str, Any]:
    """The action that made the result of what was opened."""
    return {
        "action": EDITED,
        "when": claim.when.isoformat(timespec="seconds").replace("+00:00", "Z"),
        "softwareAgent": {"name": claim.software, "version": claim.version},
        "digitalSourceType": claim.source_type,
    }
