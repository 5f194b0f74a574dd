"""What marking does to the pixels of finished frames: the label and the invisible watermark."""

from __future__ import annotations

from dataclasses import dataclass
from typing import cast

from mien.media.frame import Frame
from mien.recipe import Recipe
from mien.trust.label import make_label
from mien.trust.watermark import Watermark, mark_of_job
from mien.trust.watermark.embedding import Markable


@dataclass(slots=True)
class Stamp:
    """Marks the frames of one job or stream, each once. For one thread at a time."""

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
    return None if watermark is None and recipe.label == "none" else Stamp(recipe.label, watermark, opening_frames)
