"""`mien models compile`: prepare networks before they are needed."""

from __future__ import annotations

import argparse
import sys

from mien.cli.console import format_bytes, format_duration
from mien.cli.models.common import add_folders, add_profile, open_store

USAGE = "mien models compile [options] ID [ID ...]"
DESCRIPTION = """\
Compile networks for this machine, each in a process of its own, so that the first job starts at once. TensorRT runs
only networks that have been compiled: that takes minutes, and holds for this file, kind of GPU, precision and version.
What is there and whole is not done again."""
EXAMPLES = """\
  mien models compile face_mesh_478 dlib_face_recognition
  mien models compile inswapper_128 --device tensorrt:0 --precision fp16 --models ~/facefusion"""


def add_arguments(parser: argparse.ArgumentParser) -> None:
    """Declare the options."""
    parser.add_argument("ids", metavar="ID", nargs="+", help="networks, as `mien models list` names them")
    parser.add_argument("--device", default="auto", help="auto, cpu, gpu, cuda:0, tensorrt:0, ... (auto)")
    parser.add_argument("--precision", default="auto", help="auto, fp32, bf16, fp16 or int8 (auto)")
    add_folders(parser)
    add_profile(parser)


def run(options: argparse.Namespace) -> int:
    """Compile one after the other."""
    from mien.models.compiling import compile_apart
    from mien.models.opening import Wish

    store, wish = open_store(options), Wish(options.device, options.precision)
    for model in options.ids:
        located = store.locate(model)
        choice = wish.choose(located.entry, located.path)
        try:
            compiled = compile_apart(located, choice, _show if sys.stderr.isatty() else _ignore)
        finally:
            _clear()
        what = f"{format_bytes(compiled.bytes)} written" if compiled.bytes else "nothing to do"
        took = format_duration(compiled.seconds)
        print(f"{model}: {choice.engine} {choice.precision} on {choice.device.name}: {what}, {took}")
    return 0


def _show(seconds: float, written: int) -> None:
    sys.stderr.write(f"\r\x1b[Kcompiling for {format_duration(seconds)}, {format_bytes(written)} written")
    sys.stderr.flush()


def _ignore(_seconds: float, _written: int) -> None:
    pass


def _clear() -> None:
    if sys.stderr.isatty():
        sys.stderr.write("\r\x1b[K")
