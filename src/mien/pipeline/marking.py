"""How a job's result is marked: what its frames and its file are given, and what the report says of that."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field
from datetime import UTC, datetime
from pathlib import Path
from typing import TYPE_CHECKING

import mien
from mien.errors import PolicyError, UnwritableError, VaultError
from mien.faces.analyser import MODELS
from mien.media.description import read_description
from mien.media.inscription import NOTHING, Inscription
from mien.media.probe import probe
from mien.models.catalogue import CatalogueEntry, find_model
from mien.models.families.family import Role
from mien.models.store import Located
from mien.pipeline.checkpoint import job_number
from mien.pipeline.stamp import Stamp, make_stamp
from mien.recipe import Recipe
from mien.report import Marks, Report
from mien.trust import xmp
from mien.trust.aigc import KEY, Aigc
from mien.trust.aigc_reading import find_object
from mien.trust.carriers import Carrier, carrier_of, carrier_of_content
from mien.trust.claim import SYNTHETIC, TRAINED, Claim, UsedModel
from mien.trust.label import TEXTS
from mien.trust.ledger import note_result
from mien.trust.permission import named_consents
from mien.trust.policy import Policy
from mien.trust.watermark import mark_of_job
from mien.trust.watermark.embedding import UNFIT, fits
from mien.trust.watermark.ids import to_text

if TYPE_CHECKING:
    from mien.trust.certificates import Signer

_MAKERS: tuple[Role, ...] = ("swapper", "restorer", "upscaler")
"""Networks of these roles make pixels."""


@dataclass(slots=True)
class Marking:
    """The marks of one job."""

    recipe: Recipe
    report: Report
    networks: Mapping[Role, Located]
    """Those of the field that the job uses, by role."""
    policy: Policy
    """Says where the installation keeps its signer and notes its results, and which marks it asks for."""
    carrier: Carrier = field(init=False)
    """What the output can carry."""
    _signer: Signer | None = field(init=False, default=None)
    _stamp: Stamp | None = field(init=False, default=None)
    _target_aigc: str | None = field(init=False, default=None)
    """The target's own AI-content object."""

    def __post_init__(self) -> None:
        """Look before any work whether the marks can be made.

        Raises:
            UnreadableError, UsageError: the user's certificate, or the installation's, cannot be used.
        """
        self.carrier = carrier_of(self.recipe.output)
        self.report.marks = Marks(self.recipe.marks)
        if self.recipe.marks == "none":
            return
        for what, possible in (
            ("AI-content metadata", self.carrier.place is not None),
            ("content credentials", self.carrier.signed),
            ("the watermark", self.carrier.watermarked or self.recipe.marks != "all"),
        ):
            if not possible:
                self.report.warn(f"{self.carrier.name} has no place for {what}: the result goes without")
        if self.carrier.signed:
            self._signer = self._find_signer()

    def _find_signer(self) -> Signer:
        from mien.trust.certificates import own_signer, passing_signer, signer_of

        if self.recipe.certificate and self.recipe.private_key:
            return signer_of(Path(self.recipe.certificate), Path(self.recipe.private_key))
        try:
            return own_signer(self.policy.folder)
        except UnwritableError as error:
            self.report.warn(f"the result is signed with a certificate that nobody will know again: {error}")
            return passing_signer()

    @property
    def keeps_credentials(self) -> bool:
        """Whether credentials of the target live on in the result's."""
        return self.recipe.marks != "none" and self.carrier.signed

    def stamp(self, opening_frames: int | None = None) -> Stamp | None:
        """Puts what can be seen, or found, into finished frames; None where nothing is asked for.

        Args:
            opening_frames: How many frames from the first one on show the label; None = all.

        Raises:
            UnreadableError: the target or a picture cannot be read any more.
        """
        if self.recipe.marks == "none" and self.recipe.label == "none":
            return None
        self._stamp = make_stamp(
            self.recipe,
            job_number(self.recipe, mien.__version__),
            watermarked=self.carrier.watermarked,
            opening_frames=opening_frames,
        )
        return self._stamp

    def inscription(self, width: int, height: int) -> Inscription:
        """What the result says about itself. Ask when it is written: the report then says so.

        Args:
            width: Columns of the result.
            height: Rows.

        Raises:
            UnreadableError: the target or a picture cannot be read any more.
            PolicyError: it cannot carry the marks that the policy asks for.
        """
        recipe, marks = self.recipe, self.report.marks
        marks.label = None if recipe.label == "none" else TEXTS[recipe.label]
        if recipe.marks == "none":
            return NOTHING
        marks.produce_id = job_number(recipe, mien.__version__)
        marks.metadata = self.carrier.place
        if recipe.marks == "all" and self.carrier.watermarked:
            # Others may have made the frames of a video that is only joined here.
            if fits(width, height) and not (self._stamp and self._stamp.refused):
                marks.watermark = to_text(mark_of_job(marks.produce_id))
            elif self.policy.marks == "all":
                raise PolicyError(f"{recipe.output} is refused: {UNFIT}, which {self.policy.path} asks for")
            else:
                self.report.warn(f"{UNFIT}: the result goes without")
        if self.carrier.place != "XMP" and self.carrier.signed:  # A video; a picture's XMP comes with the picture.
            self._target_aigc = find_object(read_description(Path(recipe.target)))[1]
        text = Aigc.made_by(recipe.producer, marks.produce_id).to_json()
        return Inscription(
            xmp=(lambda packet: self._extended(packet, text)) if self.carrier.place == "XMP" else None,
            tags={} if self.carrier.place in (None, "XMP") else {KEY: text},
            finish=self._finish,
        )

    def _extended(self, packet: bytes | None, text: str) -> bytes:
        try:
            self._target_aigc = xmp.read_aigc(packet) if packet else None
            return xmp.with_aigc(packet, text)
        except ValueError as error:
            self.report.warn(f"the target's XMP cannot be read ({error}): it is left out")
            return xmp.with_aigc(None, text)

    def _finish(self, path: Path) -> None:
        """The last that is done to the file.

        Raises:
            UnwritableError: it cannot be signed.
        """
        marks = self.report.marks
        if marks.watermark is not None and self._stamp and self._stamp.watermark:
            marks.watermark_psnr_db = self._stamp.watermark.psnr_db
        if self.carrier.signed:
            self._sign(path)
        try:
            note_result(
                self.policy.folder, marks.produce_id or "", marks.watermark, named_consents(self.recipe.consent)
            )
        except (UnwritableError, VaultError) as error:
            self.report.warn(f"the result could not be noted, so its marks will not lead back to it: {error}")

    def _sign(self, path: Path) -> None:
        from mien.trust.credentials import Origin, sign

        signer = self._signer
        assert signer is not None
        target = Path(self.recipe.target)
        origin = Origin(target, carrier_of_content(target, probe(target).format).form)
        try:
            sign(path, self.carrier.form, origin, self._claim(), signer)
        except UnwritableError as error:
            raise UnwritableError(f"{self.recipe.output} cannot be written: {error}") from error
        self.report.marks.signer, self.report.marks.own_signer = signer.name, signer.own

    def _claim(self) -> Claim:
        return Claim(
            software="mien",
            version=mien.__version__,
            when=datetime.now(UTC),
            source_type=TRAINED if any(role in self.networks for role in _MAKERS) else SYNTHETIC,
            produce_id=self.report.marks.produce_id or "",
            models=[*_used(find_model(name) for name in MODELS), *_used(one.entry for one in self.networks.values())],
            consents=named_consents(self.recipe.consent),
            target_aigc=self._target_aigc,
            watermark=self.report.marks.watermark,
        )


def _used(entries: Iterable[CatalogueEntry]) -> list[UsedModel]:
    return [UsedModel(entry.id, entry.sha256 or "", entry.licence) for entry in entries]
