"""`mien models check`: does a network keep its quality in another precision on this machine?"""

from __future__ import annotations

import argparse
import math
from pathlib import Path

from mien.cli.console import STDOUT, table, write_json
from mien.cli.models.common import add_folders, add_json, add_profile, open_store

USAGE = "mien models check [options] ID --precision PRECISION --pictures FILE [FILE ...]"
DESCRIPTION = """\
Run a network on the faces of your pictures in float32 and in another precision, and compare. The verdict is kept: from
then on --precision auto uses the precision on this machine if it passed, and never if it failed. Of networks that come
with mien a check can only take a precision away. Exit code 1 if it failed."""
EXAMPLES = """\
  mien models check inswapper_128 --precision bf16 --pictures me.jpg friends.jpg --models ~/facefusion
  mien models check inswapper_int8 --precision int8 --against inswapper_128 --pictures me.jpg"""


def add_arguments(parser: argparse.ArgumentParser) -> None:
    """Declare the options."""
    parser.add_argument("id", metavar="ID", help="the network, as `mien models list` names it")
    parser.add_argument("--precision", required=True, help="bf16, fp16 or int8")
    parser.add_argument(
        "--pictures", required=True, nargs="+", type=Path, metavar="FILE", help="pictures with faces, as in your jobs"
    )
    parser.add_argument("--device", default="cpu", help="where to check it: cpu, gpu, cuda:0, ... (cpu)")
    parser.add_argument("--against", metavar="ID", help="the float32 network of one that is int8 or float16 itself")
    add_folders(parser)
    add_profile(parser)
    add_json(parser)


def run(options: argparse.Namespace) -> int:
    """Check, print and keep the verdict."""
    from mien.quality.precision import check_precision

    store = open_store(options)
    located = store.locate(options.id)
    exact = store.locate(options.against) if options.against else None
    check = check_precision(located, options.precision, options.pictures, device=options.device, exact=exact)
    fidelity = check.fidelity
    facts = {
        "model": check.model,
        "precision": check.ran.precision,
        "device": check.ran.device,
        "engine": check.ran.engine,
        "items": fidelity.items,
        "psnr_db": fidelity.psnr_db,
        "cosine": fidelity.cosine,
        "max_error": fidelity.max_error if math.isfinite(fidelity.max_error) else None,
        "speed": check.speed,
        "passed": fidelity.passed,
    }
    if options.json:
        write_json({**facts, "verdict": str(fidelity)}, STDOUT)
    else:
        rows = [
            ("model", check.model),
            ("ran", f"{check.ran.engine} {check.ran.precision} on {check.ran.device}"),
            ("PSNR", "-" if fidelity.psnr_db is None else f"{fidelity.psnr_db:.1f} dB (worst of {fidelity.items})"),
            ("cosine", f"{fidelity.cosine:.6f} (worst of {fidelity.items})"),
            ("largest error", f"{fidelity.max_error:.4f}{' px' if fidelity.kind == 'landmarks' else ''}"),
            ("speed", f"{check.speed:.1f} times that of float32"),
            ("verdict", f"{'passed' if fidelity.passed else 'failed'}: {fidelity}"),
        ]
        print(table(rows))
    return 0 if fidelity.passed else 1
