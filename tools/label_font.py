"""Makes the font of the visible label: the few characters that it needs of Noto Sans CJK SC Bold (OFL 1.1).

    uv run --with fonttools tools/label_font.py /usr/share/fonts/opentype/noto/NotoSansCJK-Bold.ttc

That file is in Debian's package fonts-noto-cjk. The result is the same each time, byte for byte.
"""

from __future__ import annotations

import sys
from pathlib import Path

from fontTools.subset import Options, Subsetter
from fontTools.ttLib import TTCollection

RESULT = Path(__file__).resolve().parent.parent / "src" / "mien" / "trust" / "fonts" / "label.otf"
FAMILY, FAMILY_NAME = "Noto Sans CJK SC", 1
KEPT_NAMES = [0, 1, 2, 3, 4, 5, 6, 13, 14]
"""Copyright, names, version and licence."""
CHARACTERS = "".join(map(chr, range(0x20, 0x7F))) + "人工智能生成合视频图像由制作修改内容"
"""ASCII, and what labels in Chinese are worded with."""


def main(collection: str) -> None:
    fonts = TTCollection(collection).fonts
    (font,) = (font for font in fonts if font["name"].getDebugName(FAMILY_NAME) == FAMILY)
    subsetter = Subsetter(Options(layout_features=["kern"], name_IDs=KEPT_NAMES, hinting=False, notdef_outline=True))
    subsetter.populate(text=CHARACTERS)
    subsetter.subset(font)
    font.recalcTimestamp = False
    font.save(RESULT)


if __name__ == "__main__":
    main(sys.argv[1])
