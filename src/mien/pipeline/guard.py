"""What stands between a job and its result: content, consent, barred faces, and whoever may say no while it runs."""

from __future__ import annotations

import threading
from collections.abc import Callable, Generator, Iterable, Sequence
from contextlib import contextmanager, suppress
from dataclasses import dataclass, field
from datetime import UTC, datetime

import numpy as np
from numpy.typing import NDArray

from mien.errors import ConsentError, ContentRefused, PolicyError, UnwritableError, UsageError, VaultError
from mien.faces.face import TrackedFace
from mien.faces.people import People
from mien.media.frame import Frame
from mien.pipeline.casting import RoleOf
from mien.pipeline.tally import Tally
from mien.recipe import Recipe
from mien.report import ContentCheck, Report
from mien.trust.consent import ConsentStore
from mien.trust.gate import VIEW, Ballot, Gate
from mien.trust.people import Embedding
from mien.trust.permission import check_barred, check_faces, check_records, named_consents
from mien.trust.places import TRUST_VARIABLE
from mien.trust.policy import Policy
from mien.trust.records import FaceRecord
from mien.trust.vault import Vault, open_vault

Look = tuple[float, bool]
"""Time of a frame in seconds, and whether the gate refuses it."""
Permit = Callable[[], None]
"""Asked before each segment and before the result is written; raises to stop the job."""


@dataclass(slots=True)
class Guard:
    """Refuses what is not to be done. One for each job."""

    recipe: Recipe
    policy: Policy
    gate: Gate | None
    """None = the recipe turns it off, which the policy allows."""
    report: Report
    ask: Permit
    """Whoever runs the job may stop it as well."""
    _store: ConsentStore = field(init=False)
    _barred: Sequence[tuple[str, Sequence[Embedding]]] = ()
    """Id and faces of each bar, as of the last `permit`."""
    _vault: Vault | None = None
    _lock: threading.Lock = field(default_factory=threading.Lock)
    _faces: tuple[Embedding | None, ...] = ()

    def __post_init__(self) -> None:
        self._store = ConsentStore(self.policy.folder)
        self.report.policy = str(self.policy.path) if self.policy.path else None
        self.report.consents = list(named_consents(self.recipe.consent))
        self.report.purpose = self.recipe.purpose

    @contextmanager
    def noted(self) -> Generator[None]:
        """Enter into the log that consent, or the lack of it, ends what is done here."""
        try:
            yield
        except PolicyError as refusal:
            if self.report.consents or isinstance(refusal, ConsentError):
                with suppress(UnwritableError, VaultError):  # The refusal matters more than the log's own trouble.
                    self._store.audit.append("job.refused", consents=self.report.consents, problem=refusal.problem)
            raise

    def begin(self) -> None:
        """Before any work: records that do not exist or hold cost nothing but this.

        Raises:
            PolicyError: the job is refused.
            VaultError: the records cannot be read.
        """
        self.ask()
        now = datetime.now(UTC)
        check_records(self._consents(), self.recipe.purpose, now)
        self._store.expire(self.policy.retention_days, now)

    def source(self, picture: str, refuses: Callable[[str, Gate], bool]) -> None:
        """Look at a source picture.

        Args:
            picture: Its path.
            refuses: Whether the gate refuses it.

        Raises:
            ContentRefused: it is refused, or cannot be looked at.
        """
        if self.gate is None:
            return
        if refuses(picture, self.gate):
            raise ContentRefused(f"{picture} is refused: it shows sexual content")
        self._checked.sources += 1

    def people(self, faces: Sequence[Embedding | None]) -> None:
        """Take note of the source faces; None = one that only a network knows.

        Raises:
            PolicyError: the job is refused.
            VaultError: the records cannot be read.
        """
        self._faces = tuple(faces)
        self.permit()
        if self.report.consents:
            self._store.audit.append("job.permitted", consents=self.report.consents)

    def target_people(self, people: People) -> None:
        """Look for barred faces in the target.

        Raises:
            ConsentError: there is one.
            VaultError: the records cannot be read.
        """
        check_barred([person.embedding for person in people.persons], self._store.barred(), "target")

    def permit(self) -> None:
        """Whether the job may go on: asked before each segment and before the result is written.

        Raises:
            PolicyError: a consent was revoked or has run out, a face was barred, or whoever runs the job says so.
            VaultError: the records cannot be read.
        """
        self.ask()
        records = self._consents()
        check_records(records, self.recipe.purpose, datetime.now(UTC))
        if records:
            check_faces(self._faces, records)
        self._barred = self._store.barred()
        check_barred([face for face in self._faces if face is not None], self._barred, "source")

    def cast(self, role_of: RoleOf) -> RoleOf:
        """The same roles; a barred face, also one that appears late, ends the job instead of playing one.

        Its errors are those of `target_people`.
        """

        def permitted(face: TrackedFace, faces: Sequence[TrackedFace]) -> int | None:
            if face.fresh and face.face.embedding is not None:
                check_barred([face.face.embedding], self._barred, "target")
            return role_of(face, faces)

        return permitted

    def view(self, frame: Frame) -> NDArray[np.uint8]:
        """What the gate is shown of a frame."""
        return frame.display(max_side=VIEW)

    def look(self, time_s: float, view: NDArray[np.uint8]) -> Look:
        """Whether the gate refuses a view of a frame.

        Raises:
            ContentRefused: it cannot be looked at.
        """
        return time_s, self.gate is not None and self.gate.refuses(view)

    def target(self, looks: Iterable[Look]) -> None:
        """Refuse a target of which too many frames are; all are looked at, so that a refusal names every time.

        Raises:
            ContentRefused: it is refused, or cannot be looked at.
        """
        if self.gate is None:
            return
        ballot = Ballot.of(looks)
        ballot.check(self.recipe.target, self.gate.share)
        self._checked.target = max(self._checked.target, ballot.looked)

    def target_frames(self, frames: Iterable[Frame]) -> None:
        """As `target`, of frames that have not been looked at.

        Raises:
            ContentRefused: it is refused, or cannot be looked at.
        """
        self.target(self.look(frame.time_s, self.view(frame)) for frame in frames)

    def examine(self, frame: Frame, tally: Tally) -> None:
        """Look at a frame of the result, and count it."""
        if self.gate is not None:
            tally.content.add(*self.look(frame.time_s, self.view(frame)))

    def result(self, tallies: Iterable[Tally], planned: int = 0) -> None:
        """Refuse a result whose frames showed too much; `planned` is how many will have been looked at in the end.

        Raises:
            ContentRefused: it is refused.
        """
        if self.gate is None:
            return
        whole = Ballot()
        for tally in tallies:
            whole.looked += tally.content.looked
            whole.refused_s += tally.content.refused_s
        whole.check(f"the result for {self.recipe.target}", self.gate.share, planned=planned)
        self._checked.result, self._checked.refused = whole.looked, len(whole.refused_s)

    @property
    def vault(self) -> Vault:
        """For what a job keeps of faces while it is not done.

        Raises:
            VaultError: the installation's key is damaged, or others may read it.
        """
        if self._vault is None:
            try:
                self._vault = open_vault(self.policy.folder)
            except UnwritableError as error:
                self._vault = Vault.passing()
                self.report.warn(f"an interrupted job cannot be resumed: {error}; set {TRUST_VARIABLE} to a folder")
        return self._vault

    @property
    def _checked(self) -> ContentCheck:
        """What the report says of the gate; its classifiers are loaded by the time it does."""
        assert self.gate is not None
        with self._lock:  # Sources and target are looked at side by side.
            if self.report.content is None:
                self.report.content = ContentCheck(self.gate.names(), self.gate.threshold, self.gate.share)
            return self.report.content

    def _consents(self) -> list[FaceRecord]:
        """The records that the recipe names."""
        try:
            return [self._store.get(name) for name in named_consents(self.recipe.consent)]
        except UsageError as error:
            raise ConsentError(str(error)) from error
