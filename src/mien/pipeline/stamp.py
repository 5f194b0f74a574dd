"""What marking does to the pixels of finished frames: the label and the invisible watermark."""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path
from typing import cast

from mien.media.frame import Frame
from mien.recipe import Recipe
from mien.trust.label import make_label
from mien.trust.ledger import note_result
from mien.trust.permission import named_consents
from mien.trust.watermark import Watermark, mark_of_job
from mien.trust.watermark.embedding import Markable
from mien.trust.watermark.ids import to_text


@dataclass(slots=True)
class Stamp:
    """Marks the frames of one job or stream, each once. For one thread at a time."""

    number: str
    """Of that job or stream."""
    language: str
    """Of the label; `none` = there is none."""
    watermark: Watermark | None
    opening_frames: int | None = None
    """How many frames from the first one on show the label; None = all."""
    refused: bool = False
    """Whether a frame could not take the watermark."""

    def __call__(self, frame: Frame) -> None:
        """Mark a frame in place."""
        if self.language != "none" and (self.opening_frames is None or frame.index < self.opening_frames):
            make_label(self.language, frame.width, frame.height, frame.step).draw(frame)
        if self.watermark is not None and not self.watermark.embed(cast(Markable, frame)):
            self.refused = True

    def note(self, folder: Path, recipe: Recipe) -> None:
        """Enter a stream into the installation's log, so that its watermark leads back to it.

        Raises:
            VaultError: the log was changed.
            UnwritableError: it cannot be written.
        """
        if self.watermark is not None:
            note_result(folder, self.number, to_text(self.watermark.mark_id), named_consents(recipe.consent))


def make_stamp(
    recipe: Recipe, number: str, *, watermarked: bool = True, opening_frames: int | None = None
) -> Stamp | None:
    """What a recipe asks for; None where it is nothing.

    Args:
        recipe: Says which marks, and in which language.
        number: Of the job or stream, from which the watermark has its id.
        watermarked: Whether the result has a place for the watermark.
        opening_frames: See `Stamp`.
    """
    watermark = Watermark(mark_of_job(number)) if recipe.marks == "all" and watermarked else None
    if watermark is None and recipe.label == "none":
        return None
    return Stamp(number, recipe.label, watermark, opening_frames)
