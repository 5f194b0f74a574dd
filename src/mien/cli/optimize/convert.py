"""`mien optimize convert`: a float16 form of a network."""

from __future__ import annotations

import argparse

from mien.cli.optimize.common import add_common, locate, show, show_step

USAGE = "mien optimize convert [options] MODEL --to fp16 --calibration PLACE [PLACE ...] -o OUT"
DESCRIPTION = """\
Make a network whose nodes compute in float16, as GPUs do at twice the speed. Nodes that halves harm stay in float32:
they are found by measuring on your faces. Where the device has no float16 the quality is that of every tensor rounded
to a half. Exit code 1 if the artefact did not pass."""
EXAMPLES = """\
  mien optimize convert inswapper_128 --to fp16 --calibration portraits/ --models ~/facefusion -o inswapper_fp16.onnx
  mien optimize convert gfpgan.onnx --family gfpgan --to fp16 --calibration clip.mp4 -o gfpgan_fp16.onnx"""


def add_arguments(parser: argparse.ArgumentParser) -> None:
    """Declare the options."""
    parser.add_argument("--to", required=True, metavar="FORM", help="fp16; bf16 is no form of a file, see the message")
    add_common(parser, samples=32)


def run(options: argparse.Namespace) -> int:
    """Convert and print the card."""
    from mien.optimize.convert import convert

    made = convert(
        locate(options),
        options.calibration,
        options.output,
        to=options.to,
        samples=options.samples,
        device=options.device,
        overwrite=options.overwrite,
        on_step=show_step,
    )
    return show(made, as_json=options.json)
