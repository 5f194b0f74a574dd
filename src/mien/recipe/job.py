"""What a job is."""

from __future__ import annotations

import dataclasses
import json
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Literal

from mien.errors import RecipeError, UnwritableError
from mien.recipe.files import field_to_plain, is_json, load_fields, plain_to_field, to_toml
from mien.recipe.rules import problems
from mien.recipe.terms import DEFAULT_REFERENCE_DISTANCE, GEOMETRIC, PersonMap


@dataclass(frozen=True, slots=True, kw_only=True)
class Recipe:
    """One job. Paths are text, as given; nothing is opened before the job is planned.

    Raises:
        RecipeError: a field has a wrong type or range, or two fields are at odds.
    """

    target: str
    """Picture or video whose faces are replaced."""
    output: str
    """File that is written."""
    sources: tuple[str, ...] = ()
    """Pictures of the person whose face appears (several are averaged)."""
    faces: str = "all"
    """Who is replaced: `all`, `largest`, or a number counted from the left, starting at 0."""
    reference: str | None = None
    """Picture of the only person in the target to be replaced."""
    reference_distance: float = DEFAULT_REFERENCE_DISTANCE
    """Identity distance under which a face counts as the reference's, 0..2."""
    map: tuple[PersonMap, ...] = ()
    """Several people at once; instead of `sources`."""
    start: str | None = None
    """First moment to keep (see `Position.parse`)."""
    end: str | None = None
    """First moment no longer kept."""
    codec: str = "auto"
    """Video encoder; `auto` keeps the target's codec where an encoder for it exists."""
    crf: int | None = None
    """Constant quality of the encoder; None = visually lossless for the codec."""
    preset: str | None = None
    """Speed preset of the encoder; None = the encoder's own default."""
    audio: Literal["keep", "none"] = "keep"
    """Copy the target's audio, or leave it out."""
    effects: tuple[str, ...] = ("swap",)
    """Effects in the order they are applied."""
    shape: float = 1.0
    """How much of the source's proportions is carried, 0 = none, 1 = all; of the geometric swapper."""
    swapper: str = GEOMETRIC
    """Who puts on the face: `geometric`, the id of a network, or the path of an ONNX file."""
    swapper_family: str | None = None
    """Family of a swapper that is a file."""
    swapper_weight: float = 0.5
    """How much of the source's identity a network is given: 0.5 plainly; less adds the target's, more takes it off."""
    pixel_boost: int | None = None
    """Side of the crop that is swapped in pixels, a multiple of the network's own; None = that."""
    detector: str | None = None
    """Network that finds the target's faces; None = those that come with mien."""
    landmarker: str | None = None
    """Network by whose points faces are aligned for networks; None = the mesh that comes with mien."""
    recogniser: str = "arcface_w600k_r50"
    """Network that tells a swapper who the source is: that with which the field's swappers were trained."""
    restorer: str | None = None
    """Who gives faces more detail: the id of a network, or the path of an ONNX file. Adds the effect `restore`."""
    restorer_family: str | None = None
    """Family of a restorer that is a file."""
    restorer_blend: float = 0.8
    """How much of the restorer's change shows, 0..1."""
    restorer_weight: float = 0.5
    """How faithful a restorer that can be told is to be, 0..1."""
    expression_strength: float = 0.8
    """How much of the target's expression the effect `expression` brings back onto a swapped face, 0..1."""
    mask: tuple[str, ...] = ("box",)
    """Where a network's face is seen: each pixel takes the least of `box`, `occlusion`, `area` and `region`."""
    mask_blur: float = 0.3
    """Soft border of the box, 0..1 of half its side."""
    mask_padding: tuple[float, float, float, float] = (0, 0, 0, 0)
    """Top, right, bottom and left border of the box in percent of its side."""
    mask_areas: tuple[str, ...] = ()
    """Parts of the face that `area` shows; none named = all."""
    mask_regions: tuple[str, ...] = ()
    """Parts of the face that `region` shows; none named = all."""
    occluder: str = "xseg_1"
    """Network behind the mask `occlusion`."""
    parser: str = "bisenet_resnet_34"
    """Network behind the mask `region`."""
    upscale: int | None = None
    """How much larger the result is: 2, 4, ...; None = not at all, or as much as `upscaler` makes it."""
    upscaler: str | None = None
    """Network that enlarges; None = one that comes with mien, if `upscale` says how much."""
    models: tuple[str, ...] = ()
    """Folders with networks, before those of the environment."""
    licence_profile: Literal["any", "non-commercial", "commercial"] = "any"
    """What the result is for: networks whose licence does not permit it are refused."""
    strict: bool = False
    """Refuse networks whose SHA-256 is not known or is another."""
    memory_budget: str = "auto"
    """The most that the field's networks may hold: `4GiB`, `50%`, or `auto` for a safe share of what is free."""
    device: str = "auto"
    """`auto`, `cpu`, `gpu`, `cuda:0`, `tensorrt:0`, ..."""
    precision: str = "auto"
    """`auto`, `fp32`, `bf16`, `fp16` or `int8`."""
    marks: Literal["none", "metadata", "all"] = "all"
    """What says that the result is made: `metadata` (signed), or `all`, the invisible watermark as well."""
    label: Literal["none", "en", "zh"] = "none"
    """Language of a text that everyone sees in a corner."""
    producer: str = "mien"
    """Who answers for the result, as the metadata names them."""
    consent: str | None = None
    """Id of the consent record that permits the job; several, one for each person, with commas between."""
    purpose: str | None = None
    """What the result is for, in a word; consent records may be limited to some purposes."""
    gate: Literal["on", "off"] = "on"
    """Whether sources, target and result are looked at for sexual content, which is refused."""
    certificate: str | None = None
    """PEM file with the signer's certificate, its issuers after it; None = one made for this installation."""
    private_key: str | None = None
    """PEM file with the certificate's key."""
    segment_seconds: float = 10.0
    """Length of the independent parts a video is processed in."""
    resume: bool = False
    """Go on with the finished parts of an earlier run."""
    overwrite: bool = False
    """Replace an output that exists."""
    allow_no_face: bool = False
    """A target without any face to replace is copied instead of an error."""
    price_per_hour: float | None = None
    """Price of an hour of this machine, in any currency, for the report."""

    def __post_init__(self) -> None:
        for problem in problems(self):
            raise RecipeError(problem)

    @classmethod
    def from_mapping(cls, fields: Mapping[str, Any]) -> Recipe:
        """Build from plain data, as read from TOML or JSON. Lists become tuples.

        Raises:
            RecipeError: a field is unknown, missing, of the wrong type, or fields are at odds.
        """
        known = {field.name for field in dataclasses.fields(cls)}
        if unknown := sorted(set(fields) - known):
            raise RecipeError(f"unknown recipe field '{unknown[0]}': the fields are {', '.join(sorted(known))}")
        if missing := [name for name in ("target", "output") if name not in fields]:
            raise RecipeError(f"the recipe has no '{missing[0]}'")
        return cls(**{name: plain_to_field(name, value) for name, value in fields.items()})

    @classmethod
    def load(cls, path: str | Path, **changes: Any) -> Recipe:
        """Read a `.toml` or `.json` recipe; `changes` win over the file.

        Raises:
            UnreadableError: the file cannot be read or parsed.
            RecipeError: what it says does not hold together.
        """
        return cls.from_mapping({**load_fields(path), **changes})

    def to_mapping(self) -> dict[str, Any]:
        """Plain data with the fields that differ from their defaults, in field order."""
        result: dict[str, Any] = {}
        for field in dataclasses.fields(self):
            value = getattr(self, field.name)
            if value != field.default:
                result[field.name] = field_to_plain(value)
        return result

    def save(self, path: str | Path) -> None:
        """Write as TOML, or as JSON if the name ends in `.json`.

        Raises:
            UnwritableError: the file cannot be written.
            RecipeError: a file name is not Unicode and so cannot stand in TOML.
        """
        path, fields = Path(path), self.to_mapping()
        try:
            if is_json(path):
                # What is left to replace are lone surrogates; the replacement is JSON's own escape.
                text = json.dumps(fields, indent=2, ensure_ascii=False) + "\n"
                path.write_text(text, encoding="utf-8", errors="backslashreplace")
            else:
                path.write_text(to_toml(fields), encoding="utf-8")
        except OSError as error:
            raise UnwritableError(f"cannot write the recipe {path}: {error.strerror}") from error
        except UnicodeEncodeError as error:
            raise RecipeError(
                f"the recipe {path} names a file that is not Unicode ({error.object!r:.80}): save it as .json instead"
            ) from error
