"""What the commands that make artefacts share."""

from __future__ import annotations

import argparse
import sys
from pathlib import Path
from typing import TYPE_CHECKING

from mien.cli.console import STDOUT, format_bytes, table, write_json
from mien.cli.models.common import add_folders, add_json, add_profile, open_store

if TYPE_CHECKING:
    from mien.models.store import Located
    from mien.optimize.card import Card
    from mien.optimize.making import Made
    from mien.optimize.metrics import Metric


def add_common(parser: argparse.ArgumentParser, samples: int) -> None:
    """Declare what all of them take; `samples` is the default."""
    parser.add_argument("model", metavar="MODEL", help="a network's id as `mien models list` names it, or an ONNX file")
    parser.add_argument("--family", help="of an ONNX file: whose contract it keeps, such as inswapper or gfpgan")
    parser.add_argument(
        "--calibration",
        required=True,
        nargs="+",
        type=Path,
        metavar="PLACE",
        help="folders of pictures and clips, or single ones, with faces as in your jobs",
    )
    parser.add_argument(
        "--samples",
        type=int,
        default=samples,
        metavar="N",
        help=f"faces to take, of which every third only measures ({samples})",
    )
    parser.add_argument("-o", "--output", required=True, type=Path, metavar="OUT", help="the artefact: NAME.onnx")
    parser.add_argument("--device", default="cpu", help="where it is measured: cpu, cuda:0, ... (cpu)")
    parser.add_argument("--overwrite", action="store_true", help="replace an artefact that is there")
    add_folders(parser)
    add_profile(parser)
    add_json(parser)


def locate(options: argparse.Namespace) -> Located:
    """The network that is named.

    Raises:
        UsageError: a file without its family, or a family for an id.
        ModelError, PolicyError: see `ModelStore.locate`.
    """
    from mien.errors import UsageError

    store, model = open_store(options), options.model
    if not model.lower().endswith(".onnx"):
        if options.family:
            raise UsageError(f"--family is for ONNX files, and {model} is an id: leave it out")
        return store.locate(model)
    if not options.family:
        raise UsageError(f"{model} is a file of which nothing is known: say with --family whose contract it keeps")
    return store.locate_file(Path(model), options.family)


def show_step(what: str) -> None:
    """Progress, on standard error."""
    print(f"  {what}", file=sys.stderr, flush=True)


def show(made: Made, *, as_json: bool) -> int:
    """Print the card; exit code 1 if the gate refuses the artefact."""
    from mien.optimize.card import to_mapping

    card = made.card
    if as_json:
        write_json(to_mapping(card), STDOUT)
    else:
        print(table(_rows(made, card)))
    return 0 if card.verdict.passed else 1


def _rows(made: Made, card: Card) -> list[tuple[str, str]]:
    memory, before = card.cost.memory_bytes, card.parent_cost.memory_bytes
    return [
        ("artefact", f"{made.path}: {format_bytes(card.bytes)}, {card.shrinking:.1f} times smaller"),
        ("device", card.device),
        ("speed", f"{card.speed.value:.2f} times its parent's ({card.speed.low:.2f} to {card.speed.high:.2f})"),
        ("latency", f"{card.cost.latency_ms:.1f} ms, {card.parent_cost.latency_ms:.1f} ms before"),
        ("memory", "-" if memory is None else f"{format_bytes(memory)}, {format_bytes(before or 0)} before"),
        *((metric.name, _words(metric)) for metric in card.metrics),
        ("card", str(made.card_file)),
        ("verdict", f"{card.verdict.outcome}: {'; '.join(card.verdict.reasons)}"),
    ]


def _words(metric: Metric) -> str:
    unit = f" {metric.unit}" if metric.unit else ""
    return (
        f"{metric.value:.4g}{unit} ({metric.low:.4g} to {metric.high:.4g}), worst of {metric.items}: {metric.worst:.4g}"
    )
