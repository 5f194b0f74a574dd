"""Where files have the AI-content object: wherever writers put it."""

from __future__ import annotations

from mien.media.description import USER_COMMENT, Description
from mien.trust import aigc, xmp


def find_object(description: Description) -> tuple[str, str | None]:
    """Where the AI-content object is, for people, and its text; None if there is none."""
    if description.xmp is not None:
        try:
            if (text := xmp.read_aigc(description.xmp)) is not None:
                return "XMP", text
        except ValueError:
            pass  # XMP that cannot be read holds nothing; another place may.
    for name, text in description.tags.items():
        if name.upper() == aigc.KEY:
            return "the metadata", text
    comment = description.tags.get(USER_COMMENT, "")
    return "EXIF", comment if aigc.KEY in comment else None
