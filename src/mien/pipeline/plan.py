"""What a job would do, from the headers of its target alone."""

from __future__ import annotations

import dataclasses
import os
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from mien.engine.choose import Choice
from mien.faces.analyser import MODELS
from mien.media.animation import AnimationSource
from mien.media.encoding import Encoding
from mien.media.probe import Kind, probe
from mien.media.stills.formats import format_of_suffix
from mien.models.catalogue import CatalogueEntry, find_model
from mien.models.opening import Wish
from mien.pipeline.effects import check_effects
from mien.pipeline.networks import enlargement, locate_all, share
from mien.pipeline.output import check_output
from mien.pipeline.video_job import encoding_for, open_target
from mien.pipeline.workshop import Workshop
from mien.recipe import Recipe

# Measured on two cores of an AMD EPYC at 720p and 1080p, x264 at crf 18; other machines differ by a factor of two.
_START_S = 2.0
"""Loading, source pictures and survey."""
_FOLLOW_S = 0.011
"""Processor time of following one face through a frame."""
_EDIT_S, _EDIT_S_PER_MEGAPIXEL = 0.011, 0.0145
"""Processor time of editing it, for a face of half the frame's height."""
_DECODE_S_PER_MEGAPIXEL = 0.0025
_ENCODE_S_PER_MEGAPIXEL = {"h264": 0.03, "hevc": 0.12, "vp9": 0.18, "av1": 0.1}
_OTHER_ENCODE_S_PER_MEGAPIXEL = 0.03
_PRESET_SHARE = {"ultrafast": 0.15, "superfast": 0.25, "veryfast": 0.35, "faster": 0.6, "fast": 0.8, "slow": 1.6}
"""Time of an x264 or x265 preset as a share of the default's."""
_BASE_BYTES = 270_000_000
"""Program, engine and networks."""
_FRAMES_HELD, _FRAMES_PER_LOOKAHEAD = 52, 3
"""Frames' worth of memory of the pipeline, and of each frame that the encoder looks ahead."""
_LOOKAHEAD = {"ultrafast": 0, "superfast": 0, "veryfast": 10, "faster": 20, "fast": 30, "slow": 50}
"""Frames, by x264's presets."""
_DEFAULT_LOOKAHEAD = 40


@dataclass(frozen=True, slots=True)
class PlannedModel:
    """A network that would run."""

    model: str
    """Catalogue id."""
    role: str
    engine: str
    device: str
    precision: str
    why: str
    """Why this device and precision."""
    expected_bytes: int
    """What it will hold, as far as its file tells."""


@dataclass(frozen=True, slots=True)
class Plan:
    """What a job would do. Times and memory are estimates for one face in the picture."""

    target: str
    output: str
    kind: Kind
    width: int
    height: int
    frames: int
    media_seconds: float
    stages: tuple[str, ...]
    models: tuple[PlannedModel, ...]
    encoding: str | None
    """Encoder, pixel format and options; None for pictures."""
    enlarged: int
    """How many times as wide and high the result is."""
    segments: int
    """Independent parts; 0 for pictures."""
    turns: tuple[tuple[str, ...], ...]
    """Groups of networks that are loaded in turn for each chunk of frames; empty where all fit together."""
    chunk_frames: int
    expected_memory_bytes: int
    estimated_seconds: float
    guessed: tuple[str, ...]
    """The field's networks that have not run on this machine yet: how long they take is guessed, of others measured."""
    warnings: tuple[str, ...]

    def rows(self) -> list[tuple[str, str]]:
        """Name and value of each line of a table for people."""
        size = f"{self.width}x{self.height}, {_count(self.frames, 'frame')}"
        length = f", {self.media_seconds:.1f} s" if self.media_seconds else ""
        rows = [("target", f"{self.target} ({self.kind}, {size}{length})"), ("output", self.output)]
        if self.enlarged > 1:
            rows.append(("size", f"{self.width * self.enlarged}x{self.height * self.enlarged}"))
        rows.append(("stages", " > ".join(self.stages)))
        for number, model in enumerate(self.models):
            words = f"{model.model} ({model.role}): {model.engine} {model.precision} on {model.device}"
            rows.append(("models" if number == 0 else "", words))
        if self.encoding:
            rows.append(("encoding", self.encoding))
        if self.segments:
            rows.append(("segments", str(self.segments)))
        if self.turns:
            groups = " > ".join(" + ".join(group) for group in self.turns)
            rows.append(("turns", f"{groups}, over chunks of {_count(self.chunk_frames, 'frame')}"))
        rows.append(("memory", f"about {self.expected_memory_bytes / 1e6:.0f} MB"))
        basis = f"; how long {', '.join(self.guessed)} takes here is guessed until it has run" if self.guessed else ""
        rows.append(("time", f"about {self.estimated_seconds:.0f} s with one face in the picture (an estimate{basis})"))
        return rows + [("warning", warning) for warning in self.warnings]

    def to_mapping(self) -> dict[str, Any]:
        """Plain data, ready for JSON."""
        return dataclasses.asdict(self)


@dataclass(frozen=True, slots=True)
class _Target:
    """What the header says."""

    kind: Kind
    width: int
    height: int
    frames: int = 1
    seconds: float = 0.0
    segments: int = 0
    encoding: Encoding | None = None
    warnings: tuple[str, ...] = ()


def make_plan(recipe: Recipe) -> Plan:
    """What running `recipe` would do; nothing is decoded but the first frame, and no network is loaded.

    Raises:
        MienError: the job cannot be done as the recipe says; see `mien.errors`.
    """
    check_effects(recipe)
    check_output(recipe)
    workshop = Workshop(recipe.device, recipe.precision)
    loader = workshop.loader(recipe)
    located = locate_all(recipe, loader)
    sharing = share(recipe, located, loader, workshop.budget_bytes(recipe))
    sharing.fit()  # Refuses a budget that is too small before anything is loaded.
    enlarged = enlargement(recipe, located, loader)
    target = _read_header(recipe, enlarged)
    shared, choices = sharing.fit(target.width * target.height, enlarged), sharing.choices
    marked = ("mark",) if recipe.marks == "all" or recipe.label != "none" else ()
    joined = ("join",) if target.kind == "video" else ()
    stages = ("decode", "follow", "edit", "measure", *marked, "encode", *joined)
    return Plan(
        target=recipe.target,
        output=recipe.output,
        kind=target.kind,
        width=target.width,
        height=target.height,
        frames=target.frames,
        media_seconds=target.seconds,
        stages=stages,
        models=_bundled(recipe) + tuple(_planned(one.entry, one.path, choices[role]) for role, one in located.items()),
        encoding=_describe(target.encoding) if target.encoding else None,
        enlarged=enlarged,
        segments=target.segments,
        turns=shared.in_turns.groups if shared.in_turns else (),
        chunk_frames=shared.in_turns.chunk_frames if shared.in_turns else 1,
        expected_memory_bytes=_expected_memory(target) + shared.peak_bytes,
        estimated_seconds=_estimated_seconds(target)
        + target.frames * sharing.frame_seconds(target.width * target.height),
        guessed=sharing.guessed,
        warnings=(*target.warnings, *shared.warnings),
    )


def _read_header(recipe: Recipe, enlarged: int) -> _Target:
    found = probe(recipe.target)
    if found.kind == "picture":
        format_of_suffix(Path(recipe.output).suffix)  # Refuses what cannot be written.
        return _Target(found.kind, found.width, found.height)
    if found.kind == "animation":
        with AnimationSource(recipe.target) as animation:
            info = animation.info
            return _Target(found.kind, info.width, info.height, info.frame_count, info.duration_s)
    with open_target(recipe) as video:
        encoding = encoding_for(recipe, video, enlarged)
        return _Target(
            found.kind,
            video.info.width,
            video.info.height,
            video.info.frame_count,
            video.info.duration_s,
            len(video.segments(recipe.segment_seconds)),
            encoding,
            (*encoding.warnings, *video.warnings),
        )


def _bundled(recipe: Recipe) -> tuple[PlannedModel, ...]:
    wish = Wish(recipe.device, recipe.precision)
    entries = [find_model(name) for name in MODELS]
    return tuple(_planned(entry, entry.path, wish.choose(entry, entry.path)) for entry in entries)


def _planned(entry: CatalogueEntry, path: Path, choice: Choice) -> PlannedModel:
    return PlannedModel(
        model=entry.id,
        role=entry.role,
        engine=choice.engine,
        device=f"{choice.device.name} ({choice.device.full_name})",
        precision=choice.precision,
        why=choice.why,
        expected_bytes=path.stat().st_size,
    )


def _describe(encoding: Encoding) -> str:
    options = ", ".join(f"{name} {value}" for name, value in encoding.options)
    return f"{encoding.encoder} {encoding.pixel_format} in {encoding.container}" + (f" ({options})" if options else "")


def _expected_memory(target: _Target) -> int:
    frame_bytes = target.width * target.height * 3 // 2
    lookahead = _LOOKAHEAD.get(_preset(target.encoding), _DEFAULT_LOOKAHEAD) if target.encoding else 0
    return _BASE_BYTES + frame_bytes * (_FRAMES_HELD + _FRAMES_PER_LOOKAHEAD * lookahead)


def _estimated_seconds(target: _Target) -> float:
    megapixels = target.width * target.height / 1e6
    frame_s = _FOLLOW_S + _EDIT_S + _EDIT_S_PER_MEGAPIXEL * megapixels
    if target.encoding is not None:
        encode_s = _ENCODE_S_PER_MEGAPIXEL.get(target.encoding.codec, _OTHER_ENCODE_S_PER_MEGAPIXEL)
        encode_s *= _PRESET_SHARE.get(_preset(target.encoding), 1.0)
        frame_s += (_DECODE_S_PER_MEGAPIXEL + encode_s) * megapixels
    return _START_S + target.frames * frame_s / min(os.cpu_count() or 1, 2)


def _preset(encoding: Encoding) -> str:
    return dict(encoding.options).get("preset", "")


def _count(number: int, word: str) -> str:
    return f"{number} {word}" if number == 1 else f"{number} {word}s"
