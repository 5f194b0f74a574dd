"""How good swaps are: the ordered pairs of the stills, pairs with invented people, and clips animated from stills.

Everything goes through files, as a user's work does: pictures as PNG, clips as H.264 with the encoder's own settings.
Writes the figures as JSON and a contact sheet (source, target, result) as a picture.
"""

from __future__ import annotations

import itertools
from collections.abc import Sequence
from pathlib import Path
from typing import Any

import av
import cv2
import numpy as np
from numpy.typing import NDArray
from PIL import Image

import mien
from _measure import RESULTS, arguments, output, save
from support.animate import Clip, write_clip
from support.people import INVENTED, NAMES, analyser, invented, picture, still, stranger
from support.scenes import talking_head
from support.scoring import Score, score_clip, score_pair, summary

Pixels = NDArray[np.uint8]
Pair = tuple[str, str]

SAME_PERSON = 0.6
CELL = 128
"""Side of a picture on the contact sheet."""


def portrait(name: str) -> Pixels:
    """A still or an invented person."""
    return picture(name) if name in NAMES else invented(name)


def portrait_file(name: str) -> Path:
    """The same as a PNG file."""
    path = output(f"{name}.png")
    Image.fromarray(portrait(name)).save(path)
    return path


def frames(path: Path) -> list[Pixels]:
    """All frames of a clip, RGB."""
    with av.open(str(path)) as container:
        return [frame.to_ndarray(format="rgb24") for frame in container.decode(video=0)]


def swap_pictures(pairs: Sequence[Pair], **options: Any) -> dict[Pair, Pixels]:
    """Result of each pair, by (source, target)."""
    results: dict[Pair, Pixels] = {}
    for source, group in itertools.groupby(sorted(pairs), key=lambda pair: pair[0]):
        with mien.Swapper(portrait_file(source), overwrite=True, marks="none", **options) as swapper:
            for _, target in group:
                swapper.run(portrait_file(target), output("result.png"))
                results[source, target] = np.asarray(Image.open(output("result.png")).convert("RGB"))
    return results


def scored(results: dict[Pair, Pixels]) -> dict[str, Any]:
    """Figures of each pair, and all together."""
    scores = {
        pair: score_pair(portrait(pair[0]), portrait(pair[1]), result, analyser()) for pair, result in results.items()
    }
    return {
        "pairs": len(scores),
        "under_0.60": share(score["identity"] < SAME_PERSON for score in scores.values()),
        "nearer_to_source": share(score["identity"] < score["target_identity"] for score in scores.values()),
        "all": rounded(summary(list(scores.values()))),
        "each": {f"{source} on {target}": rounded(score) for (source, target), score in scores.items()},
    }


def share(truths: Any) -> float:
    """Fraction that is true."""
    return round(float(np.mean(list(truths))), 3)


def rounded(score: Score) -> Score:
    """Three digits are what the figures are worth."""
    return {name: round(value, 3) for name, value in score.items()}


def swapped_clip(source: str, target: str, seconds: float) -> Score:
    """Figures of a talking head."""
    puppet = still(target) if target in NAMES else stranger(target)
    before = write_clip(Clip(talking_head(puppet, seconds=seconds)), output("talking.mp4"), options={"crf": "12"})
    # Without marks: a watermark stays where it is while the face moves.
    mien.swap(portrait_file(source), before, output("talking_result.mp4"), overwrite=True, crf=12, marks="none")
    return score_clip(portrait(source), frames(before), frames(output("talking_result.mp4")), analyser())


def contact_sheet(results: dict[Pair, Pixels]) -> Pixels:
    """Source, target and result side by side, three pairs in a row."""
    tiles = [
        np.hstack([square(portrait(source)), square(portrait(target)), square(result, portrait(target))])
        for (source, target), result in results.items()
    ]
    tiles += [np.full_like(tiles[0], 255)] * (-len(tiles) % 3)
    return np.vstack([np.hstack(tiles[i : i + 3]) for i in range(0, len(tiles), 3)])


def square(image: Pixels, whose: Pixels | None = None) -> Pixels:
    """The face of a picture with some surroundings; `whose` says where it is, if not the picture itself."""
    left, top, right, bottom = analyser().find(image if whose is None else whose)[0].box
    side = 1.6 * max(right - left, bottom - top)
    scale = CELL / side
    shift = CELL / 2 - scale * np.array([(left + right) / 2, (top + bottom) / 2 - 0.05 * side])
    matrix = np.array([[scale, 0, shift[0]], [0, scale, shift[1]]])
    flags = cv2.INTER_AREA if scale < 1 else cv2.INTER_CUBIC
    return cv2.warpAffine(image, matrix, (CELL, CELL), flags=flags, borderMode=cv2.BORDER_REPLICATE)


def main() -> None:
    full = arguments(__doc__ or "").full
    stills = list(itertools.permutations(NAMES, 2))
    people = [*NAMES, *(INVENTED if full else list(INVENTED)[:1])]
    others = [pair for pair in itertools.permutations(people, 2) if pair not in stills]
    swapped = swap_pictures(stills)
    more = swap_pictures(others)
    clips = stills if full else stills[:1]
    results = {
        "stills": scored(swapped),
        "invented": scored(more),
        "stills_without_shape": scored(swap_pictures(stills, shape=0.0)),
        "clips": {
            f"{source} on {target}": rounded(swapped_clip(source, target, 4 if full else 2)) for source, target in clips
        },
    }
    for name in ("stills", "invented", "stills_without_shape"):
        figures = results[name]["all"]
        print(f"{name}: identity {figures['identity']}, ring {figures['ring']} (90th percentile {figures['ring_p90']})")
    save("quality", results)
    sheet = contact_sheet({**swapped, **(more if full else {})})
    Image.fromarray(sheet).save(RESULTS / "quality.jpg", quality=88)


if __name__ == "__main__":
    main()
