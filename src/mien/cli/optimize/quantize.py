"""`mien optimize quantize`: an INT8 form of a network."""

from __future__ import annotations

import argparse

from mien.cli.optimize.common import add_common, locate, show, show_step

USAGE = "mien optimize quantize [options] MODEL --calibration PLACE [PLACE ...] -o OUT"
DESCRIPTION = """\
Make a network whose layers compute in bytes. Ranges are taken on your faces, prepared as the network sees them; the
first and the last layers, and every layer that a search finds harmful, stay in float32 until the bar is met. Where
INT8 is no faster than float32 on this device, that is said and nothing is searched. Exit code 1 if the artefact did not
pass."""
EXAMPLES = """\
  mien optimize quantize dlib_face_recognition --calibration portraits/ -o identity_int8.onnx
  mien optimize quantize inswapper_128 --calibration clip.mp4 --samples 500 --method entropy -o inswapper_int8.onnx"""


def add_arguments(parser: argparse.ArgumentParser) -> None:
    """Declare the options."""
    add_common(parser, samples=128)
    parser.add_argument(
        "--even-if-slower",
        action="store_true",
        help="search even where INT8 is no faster here: the file is for elsewhere",
    )
    parser.add_argument(
        "--method",
        choices=("minmax", "percentile", "entropy"),
        default="minmax",
        metavar="METHOD",
        help="how ranges of activations are taken: minmax, percentile or entropy (minmax)",
    )


def run(options: argparse.Namespace) -> int:
    """Quantise and print the card."""
    from mien.optimize.quantise import quantise

    made = quantise(
        locate(options),
        options.calibration,
        options.output,
        samples=options.samples,
        method=options.method,
        device=options.device,
        even_if_slower=options.even_if_slower,
        overwrite=options.overwrite,
        on_step=show_step,
    )
    return show(made, as_json=options.json)
