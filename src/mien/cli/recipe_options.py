"""The options of a job: every field of the recipe can be given on the command line, and wins over a recipe file."""

from __future__ import annotations

import argparse
import dataclasses
from collections.abc import Callable
from typing import Any

from mien.errors import UnwritableError, UsageError
from mien.recipe import GEOMETRIC, PersonMap, Recipe, load_fields


def add_job_arguments(parser: argparse.ArgumentParser) -> None:
    """Declare the positionals, `-o` and one option for each field of the recipe.

    Options that are not given leave no trace in the namespace, so that a recipe file's value stands.
    """
    parser.add_argument(
        "paths",
        nargs="*",
        metavar="SOURCE... TARGET",
        help="pictures of the person whose face appears, then the picture or video to change; a target that is a "
        "folder or a pattern in quotes ('clips/*.mp4') means many",
    )
    _add(parser, "-o", "--output", metavar="OUT", help="file to write; a folder if there are many targets")

    who = parser.add_argument_group("who is replaced")
    _add(who, "--faces", metavar="WHO", help="all, largest, or a number counted from the left, 0 first (all)")
    _add(who, "--reference", metavar="PICTURE", help="replace only the person in this picture")
    _add(
        who, "--reference-distance", type=float, metavar="D", help="how unlike the reference a face may be, 0..2 (0.6)"
    )
    _add(
        who,
        "--map",
        action="append",
        type=parse_person_map,
        metavar="SOURCE[,SOURCE]=REFERENCE",
        help="put SOURCE's face on the person in REFERENCE; once for each person, with no SOURCE before TARGET",
    )
    _add(who, "--allow-no-face", action=argparse.BooleanOptionalAction, help="copy a target without a face")

    look = parser.add_argument_group("what is done")
    _add(look, "--effects", type=_names, metavar="A,B", help="effects in order, of swap, restore and expression (swap)")
    _add(look, "--shape", type=float, metavar="S", help="how much of the source's proportions to carry, 0..1 (1)")

    networks = parser.add_argument_group(
        "swapping and restoring by networks of your own",
        "A network is an id that `mien models list` shows, or the path of an ONNX file together with its family.",
    )
    _add(networks, "--swapper", metavar="MODEL", help="who puts on the face (geometric, which needs no network)")
    _add(networks, "--swapper-family", metavar="FAMILY", help="family of a swapper that is a file")
    _add(networks, "--swapper-weight", type=float, metavar="W", help="source's identity, 0..1; 0.5 is plain (0.5)")
    _add(networks, "--pixel-boost", type=int, metavar="PIXELS", help="side of the swapped crop (the network's own)")
    _add(networks, "--detector", metavar="MODEL", help="who finds the target's faces (those that come with mien)")
    _add(networks, "--landmarker", metavar="MODEL", help="by whose points faces are aligned (mien's own mesh)")
    _add(networks, "--recogniser", metavar="MODEL", help="who tells a swapper who the source is (arcface_w600k_r50)")
    _add(networks, "--restorer", metavar="MODEL", help="give faces more detail (no restorer)")
    _add(networks, "--restorer-family", metavar="FAMILY", help="family of a restorer that is a file")
    _add(networks, "--restorer-blend", type=float, metavar="B", help="how much of its change shows, 0..1 (0.8)")
    _add(networks, "--restorer-weight", type=float, metavar="W", help="how faithful codeformer is to be, 0..1 (0.5)")
    _add(networks, "--expression-strength", type=float, metavar="S", help="how much of the target's, 0..1 (0.8)")
    _add(networks, "--models", action="append", metavar="DIR", help="folder with networks; may be given several times")
    _add(networks, "--licence-profile", metavar="P", help="what for: any, non-commercial or commercial (any)")
    _add(networks, "--strict", action=argparse.BooleanOptionalAction, help="refuse files that nobody vouches for")
    _add(networks, "--memory-budget", metavar="SIZE", help="most that these networks may hold: 4GiB, 50%%, auto (auto)")

    mask = parser.add_argument_group("where a network's face is seen")
    _add(mask, "--mask", type=_names, metavar="A,B", help="the least of box, occlusion, area and region (box)")
    _add(mask, "--mask-blur", type=float, metavar="B", help="soft border of the box, 0..1 (0.3)")
    _add(mask, "--mask-padding", type=_numbers, metavar="T,R,B,L", help="border of the box in percent of it (0,0,0,0)")
    _add(mask, "--mask-areas", type=_names, metavar="A,B", help="of upper-face, lower-face, mouth (all)")
    _add(mask, "--mask-regions", type=_names, metavar="A,B", help="such as skin, nose, glasses, mouth (all)")
    _add(mask, "--occluder", metavar="MODEL", help="network of the mask occlusion (xseg_1)")
    _add(mask, "--parser", metavar="MODEL", help="network of the mask region (bisenet_resnet_34)")

    size = parser.add_argument_group("how large the result is")
    _add(size, "--upscale", type=int, metavar="N", help="enlarge 2 or 4 times (not at all)")
    _add(size, "--upscaler", metavar="MODEL", help="network that enlarges (span_x2 or span_x4, which come with mien)")

    part = parser.add_argument_group("which part of a video", "TIME is seconds, hh:mm:ss.mmm, or frames such as 120f.")
    _add(part, "--start", metavar="TIME", help="first moment to keep")
    _add(part, "--end", metavar="TIME", help="first moment no longer kept")

    encoding = parser.add_argument_group("how a video is written")
    _add(encoding, "--codec", help="video encoder (auto: the target's codec)")
    _add(encoding, "--crf", type=int, metavar="N", help="constant quality of the encoder (visually lossless)")
    _add(encoding, "--preset", metavar="NAME", help="speed preset of the encoder (its own default)")
    audio = encoding.add_mutually_exclusive_group()
    _add(audio, "--keep-audio", dest="audio", action="store_const", const="keep", help="copy the sound (default)")
    _add(audio, "--no-audio", dest="audio", action="store_const", const="none", help="leave the sound out")
    _add(encoding, "--overwrite", action=argparse.BooleanOptionalAction, help="replace an output that exists")

    marks = parser.add_argument_group("how the result is marked as made")
    _add(marks, "--marks", metavar="M", help="none, metadata (signed), or all: the watermark as well (all)")
    _add(marks, "--label", metavar="LANGUAGE", help="text that everyone sees in a corner: none, en or zh (none)")
    _add(marks, "--producer", metavar="NAME", help="who answers for the result, in the metadata (mien)")
    _add(marks, "--certificate", metavar="PEM", help="signer's certificate and its issuers (this installation's own)")
    _add(marks, "--private-key", metavar="PEM", help="key of the certificate")

    right = parser.add_argument_group("what permits it")
    _add(right, "--consent", metavar="ID[,ID]", help="consent record that permits the job, one for each person")
    _add(right, "--purpose", metavar="WORD", help="what the result is for, which a consent record may limit")
    _add(right, "--gate", metavar="G", help="on or off: refuse sexual content in sources, target and result (on)")

    right.add_argument("--policy", metavar="FILE", help="the policy that holds (that of MIEN_POLICY, or of mien here)")

    run = parser.add_argument_group("how it runs")
    _add(run, "--device", help="auto, cpu, gpu, cuda:0, tensorrt:0, ... (auto)")
    _add(run, "--precision", help="auto, fp32, bf16, fp16 or int8 (auto)")
    _add(run, "--segment-seconds", type=float, metavar="S", help="length of the independent parts of a video (10)")
    _add(run, "--resume", action=argparse.BooleanOptionalAction, help="go on with the finished parts of an earlier run")
    _add(run, "--price-per-hour", type=float, metavar="PRICE", help="price of this machine, for the report")

    files = parser.add_argument_group("recipe")
    files.add_argument("--recipe", metavar="FILE", help="read the job from a TOML or JSON file; options given here win")
    files.add_argument("--save-recipe", metavar="FILE", help="write the job as TOML, or JSON by its name")


def read_recipe(options: argparse.Namespace, *, default_output: Callable[[str], str] | None = None) -> Recipe:
    """The job that the options and the recipe file, if any, describe.

    Args:
        options: what `add_job_arguments` declares.
        default_output: from the target to the output where none is named; without it one has to be named.

    Raises:
        UsageError: no target or no output is named.
        RecipeError: the fields do not hold together.
        UnreadableError: the recipe file cannot be read.
    """
    given = _given_fields(options)
    fields: dict[str, Any] = load_fields(options.recipe) if options.recipe is not None else {}
    # 'map' and 'sources' exclude each other: what is given here replaces the other one in the file as well.
    if "map" in given:
        fields.pop("sources", None)
        fields.pop("reference", None)
    elif "sources" in given:
        fields.pop("map", None)
    fields |= given
    if "target" not in fields and options.recipe is None:
        raise UsageError("no target: name the picture or video to change after the source pictures")
    if "output" not in fields and "target" in fields:
        if default_output is None:
            raise UsageError("no output: name the file to write with -o OUT")
        fields["output"] = default_output(fields["target"])
    if (
        options.recipe is None
        and not fields.get("map")
        and not fields.get("sources")
        and "swap" in fields.get("effects", ("swap",))
        and fields.get("swapper", GEOMETRIC) == GEOMETRIC
    ):
        raise UsageError(
            f"only one file is named ({fields['target']}): name a source picture before the target, or use --map"
        )
    return Recipe.from_mapping(fields)


def save_recipe(recipe: Recipe, options: argparse.Namespace) -> None:
    """Write the recipe where `--save-recipe` says, if it was given.

    Raises:
        UnwritableError: the file cannot be written.
    """
    if options.save_recipe is None:
        return
    try:
        recipe.save(options.save_recipe)
    except OSError as error:
        raise UnwritableError(f"cannot write the recipe {options.save_recipe}: {error.strerror or error}") from error


def parse_person_map(text: str) -> PersonMap:
    """Read `SOURCE[,SOURCE2...]=REFERENCE`.

    Raises:
        argparse.ArgumentTypeError: it is not of that form.
    """
    sources, equals, reference = text.partition("=")
    pictures = tuple(sources.split(","))
    if not equals or not reference or "=" in reference or not all(pictures):
        raise argparse.ArgumentTypeError(
            f"'{text}' is not SOURCE[,SOURCE2...]=REFERENCE (names with a comma or an equals sign: use --recipe)"
        )
    return PersonMap(pictures, reference)


def _add(to: argparse._ActionsContainer, *names: str, **settings: Any) -> None:  # pyright: ignore[reportPrivateUsage]
    to.add_argument(*names, default=argparse.SUPPRESS, **settings)


def _names(text: str) -> tuple[str, ...]:
    return tuple(name.strip() for name in text.split(",") if name.strip())


def _numbers(text: str) -> tuple[float, ...]:
    try:
        return tuple(float(number) for number in _names(text))
    except ValueError:
        raise argparse.ArgumentTypeError(f"'{text}' is no list of numbers, such as 0,0,10,0") from None


def _given_fields(options: argparse.Namespace) -> dict[str, Any]:
    given = {field.name: getattr(options, field.name) for field in dataclasses.fields(Recipe) if field.name in options}
    if options.paths:
        *sources, given["target"] = options.paths
        if sources:
            if "map" in given:
                raise UsageError(
                    f"--map names its own sources, so only the target is expected, got {' '.join(options.paths)}"
                )
            given["sources"] = tuple(sources)
    for name in {"map", "models"} & given.keys():
        given[name] = tuple(given[name])
    return given
