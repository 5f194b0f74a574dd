"""Whether faces may be used: by the consents that a job names, and by the faces that are barred."""

from __future__ import annotations

from collections.abc import Sequence
from datetime import datetime

from mien.errors import ConsentError
from mien.trust.people import BARRED_DISTANCE, CONSENT_DISTANCE, Embedding, nearest
from mien.trust.records import FaceRecord, State


def named_consents(text: str | None) -> tuple[str, ...]:
    """The ids that a recipe's `consent` names."""
    return tuple(name.strip() for name in (text or "").split(",") if name.strip())


def check_records(records: Sequence[FaceRecord], purpose: str | None, now: datetime) -> None:
    """Refuse records that do not permit a job.

    Raises:
        ConsentError: one is no consent, does not hold now, or is not for this purpose.
    """
    for record in records:
        if record.kind != "consent":
            raise ConsentError(f"{record.id} is no consent but bars a face: name the consent of whoever is shown")
        if (state := record.state(now)) != "valid":
            raise ConsentError(f"the consent {record.id} is {state}{_when(record, state)}: it has to be valid now")
        if not record.permits(purpose):
            asked = f"'{purpose}'" if purpose else "a job that names no 'purpose'"
            raise ConsentError(f"the consent {record.id} is for {', '.join(record.scope)}, not for {asked}")


def check_faces(faces: Sequence[Embedding | None], records: Sequence[FaceRecord]) -> None:
    """Refuse source faces that none of the consents is of.

    Args:
        faces: Of the people who appear; None = known only to a network, from no picture.
        records: The consents, valid ones.

    Raises:
        ConsentError: a face is not of any of them.
    """
    consented = [face for record in records for face in record.embeddings]
    for face in faces:
        if face is None:
            raise ConsentError("a swapper that knows a person by itself needs no source picture, so no consent fits it")
        if (gap := nearest(face, consented)) >= CONSENT_DISTANCE:
            raise ConsentError(
                f"the source's face is not the one that consented in {', '.join(record.id for record in records)}: "
                f"its distance is {gap:.2f}, and has to be below {CONSENT_DISTANCE}; name the consent of this person, "
                "or give a clearer picture"
            )


def check_barred(faces: Sequence[Embedding], barred: Sequence[tuple[str, Sequence[Embedding]]], whose: str) -> None:
    """Refuse faces that are barred.

    Args:
        faces: To look at.
        barred: Id and faces of each bar.
        whose: For the message: `source` or `target`.

    Raises:
        ConsentError: one is.
    """
    for id, others in barred:
        if any(nearest(face, others) < BARRED_DISTANCE for face in faces):
            raise ConsentError(f"a face of the {whose} is barred in this installation (record {id}): it is never used")


def _when(record: FaceRecord, state: State) -> str:
    moment = record.valid_from if state == "not yet valid" else record.ended_at()
    return f" ({moment:%Y-%m-%d %H:%M} UTC)" if moment else ""
