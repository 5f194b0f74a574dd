"""What is looked at in a file, and in a whole job. Runs in the inspecting process only: here decoders meet strangers.

Everything in and out is plain data. Files are named relative to the working folder, so that messages name them as
their users do.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import asdict
from pathlib import Path
from typing import Any

from mien.edit.fitness import trouble
from mien.errors import PolicyError, UnreadableError
from mien.faces.analyser import FaceAnalyser
from mien.media.animation import AnimationSource
from mien.media.pictures import read_rgb
from mien.media.probe import Probe, probe
from mien.media.video import VideoSource
from mien.pipeline.api import find_policy, plan
from mien.recipe import Recipe


class Looker:
    """Looks at one thing after the other, with networks that stay loaded."""

    def __init__(self) -> None:
        self._analyser = FaceAnalyser("cpu")

    def warm(self) -> None:
        """Load what finds faces before the first file comes."""
        self._analyser.warm()

    def media(self, name: str, max_pixels: int) -> dict[str, Any]:
        """Facts of a picture, an animation or a video, which is decoded as far as its first picture.

        Raises:
            MienError: it cannot be read, or is too large.
        """
        found = probe(name)
        # Before anything is decoded: a few bytes can stand for gigabytes of pixels.
        if found.width * found.height > max_pixels:
            raise UnreadableError(
                f"{name} has {found.width}x{found.height} pixels and {max_pixels} are taken: make it smaller"
            )
        facts = {"kind": found.kind, "width": found.width, "height": found.height}
        if found.kind == "picture":
            return {**facts, **self._faces(name)}
        return {**facts, **_length(name, found)}

    def _faces(self, name: str) -> dict[str, Any]:
        picture = read_rgb(name)
        faces = self._analyser.find(picture)
        unfit = trouble(picture, faces[0]) if faces else None
        return {"frames": 1, "seconds": 0.0, "faces": len(faces), "unfit": unfit, "warnings": []}

    def plan(self, recipe: Mapping[str, Any]) -> dict[str, Any]:
        """What a job would do.

        Raises:
            MienError: it cannot be done as the recipe says.
        """
        policy = find_policy(None)
        try:
            return asdict(plan(Recipe.from_mapping(recipe), policy=policy))
        except PolicyError as error:
            # Where the service keeps its policy is nobody's business.
            raise PolicyError(str(error).replace(str(policy.path), "the service's policy")) from error


def _length(name: str, found: Probe) -> dict[str, Any]:
    if found.kind == "animation":
        with AnimationSource(name) as animation:
            info = animation.info
            return {"frames": info.frame_count, "seconds": info.duration_s, "warnings": []}
    with VideoSource(Path(name)) as video:
        return {
            "frames": video.info.frame_count,
            "seconds": video.info.duration_s,
            "width": video.info.width,
            "height": video.info.height,
            "warnings": video.warnings,
        }
