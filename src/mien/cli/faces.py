"""`mien faces`: who is to be seen in a picture or video."""

from __future__ import annotations

import argparse
from pathlib import Path

from mien.cli.console import STDOUT, complain, write_json
from mien.cli.progress import progress_of
from mien.cli.stop import stop_on_signal
from mien.errors import UsageError

USAGE = "mien faces [options] FILE"
DESCRIPTION = """\
List the faces in a picture or a video: when and where they are seen, how sure that is, how the head is turned, and
which are the same person. A video is looked at about once a second."""
EXAMPLES = """\
  mien faces party.mp4
  mien faces party.mp4 -o sheet.jpg
  mien faces photo.jpg --json"""

EVERY_SECONDS = 1.0


def add_arguments(parser: argparse.ArgumentParser) -> None:
    """Declare the options."""
    parser.add_argument("file", metavar="FILE", help="picture or video")
    parser.add_argument("-o", "--output", metavar="SHEET", help="contact sheet to write: a picture of every face")
    parser.add_argument("--overwrite", action="store_true", help="replace a sheet that exists")
    parser.add_argument(
        "--every", type=float, default=EVERY_SECONDS, metavar="SECONDS", help="how often to look at a video (1)"
    )
    parser.add_argument("--device", default="auto", help="auto, cpu, gpu, cuda:0, tensorrt:0, ... (auto)")
    parser.add_argument("--precision", default="auto", help="auto, fp32, bf16, fp16 or int8 (auto)")
    parser.add_argument("--json", action="store_true", help="print the list as JSON")
    parser.add_argument("--quiet", action="store_true", help="no progress; errors are still told")


def run(options: argparse.Namespace) -> int:
    """Find, list and draw."""
    if not options.every > 0:
        raise UsageError(f"--every {options.every:g}: give a number of seconds above 0")

    from mien.cli.findings import find_faces
    from mien.cli.found_faces import draw, format_list, to_mapping
    from mien.cli.output import check_output, check_picture_name, save_picture
    from mien.faces.analyser import FaceAnalyser

    file = Path(options.file)
    sheet = Path(options.output) if options.output is not None else None
    if sheet:
        check_picture_name(sheet)
        check_output(sheet, [file], overwrite=options.overwrite)
    analyser = FaceAnalyser(options.device, options.precision)
    with stop_on_signal() as stopped, progress_of(file.name, quiet=options.quiet) as progress:
        findings = find_faces(file, analyser, every_s=options.every, progress=progress, cancelled=stopped)
    for warning in findings.warnings:
        complain(f"warning: {warning}")
    if options.json:
        write_json(to_mapping(findings), STDOUT)
    else:
        print(format_list(findings))
    if sheet and findings.sightings:
        save_picture(draw(findings), sheet)
    elif sheet:
        complain(f"{sheet} is not written: there is no face to show")
    return 0
