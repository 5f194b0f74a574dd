"""The command line, one module a command, imported when its command is given.

A command's module has `USAGE`, `DESCRIPTION`, `EXAMPLES`, `add_arguments(parser)` and `run(options) -> exit code`, and
imports what is heavy inside `run`, so that every `--help` answers at once. A group of commands is a package, like this
one, with `DESCRIPTION`, `EXAMPLES` and `COMMANDS`.
"""

from __future__ import annotations

import argparse
import os
import shutil
import sys
import traceback
from collections.abc import Sequence
from importlib import import_module
from types import ModuleType
from typing import NamedTuple

from mien import __version__
from mien.cli.console import complain, make_streams_lenient
from mien.errors import Interrupted, MienError, UsageError

DESCRIPTION = """\
Replace faces in pictures and video, and say what was done and what it cost. `mien COMMAND --help` lists the options of
a command."""
EXAMPLES = """\
  mien swap me.jpg clip.mp4 -o out.mp4
  mien faces clip.mp4
  mien doctor"""
COMMANDS = {
    "swap": "replace faces in a picture, a video, or many of them",
    "faces": "list the faces in a picture or video and draw a contact sheet",
    "compare": "put before and after side by side, as a picture or clip",
    "verify": "read the marks of pictures and videos, and say whether they hold",
    "plan": "say what a swap would run, without running it",
    "consent": "record who has agreed, and whose face is never used",
    "models": "list, add, check and download networks",
    "optimize": "make networks cheaper, and prove that they stayed good",
    "ledger": "list what was tried to make networks cheaper",
    "bench": "say whether networks became slower, bigger or worse",
    "doctor": "check engines, devices, codecs, formats and models",
    "serve": "serve the HTTP API, with a queue and a worker",
    "worker": "do the jobs of a queue",
    "remote": "let a service do a swap",
    "keys": "make, list and revoke the API keys of a service",
    "jobs": "list and requeue jobs that failed for good",
    "rollout": "let a share of the jobs try a new network",
}
"""Name of each command (also of its module) and what it does."""

_EXAMPLES = "examples:"

FAULT = 1
"""Exit code of what is no error of mien's own tree."""


def main(arguments: Sequence[str] | None = None) -> int:
    """Run one command and return its exit code (0 done, 1 failed, 2 wrong use, 3 refused, 4 interrupted).

    Raises:
        SystemExit: by argparse, after `--help` (0) or a usage error (2).
    """
    make_streams_lenient()
    command, program, arguments = find_command(sys.argv[1:] if arguments is None else arguments)
    if command is None:
        return UsageError.exit_code
    parser = argparse.ArgumentParser(
        prog=program,
        usage=command.USAGE,
        description=command.DESCRIPTION,
        epilog=f"{_EXAMPLES}\n{command.EXAMPLES}",
        formatter_class=_Formatter,
        allow_abbrev=False,
    )
    command.add_arguments(parser)
    parser.add_argument("--debug", action="store_true", help="show the traceback of an error")
    options = parser.parse_intermixed_args(arguments)
    try:
        code = command.run(options)
        sys.stdout.flush()
    except KeyboardInterrupt:
        complain("error: interrupted")
        return Interrupted.exit_code
    except BrokenPipeError:
        # Whoever read our output has gone; Python must not complain again when it closes the stream.
        os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())
        return FAULT
    except Exception as error:
        # The last line of defence: what is no MienError was not foreseen.
        from mien.cli.wording import explain

        if options.debug:
            traceback.print_exc()
        complain(f"error: {explain(error)}")
        return error.exit_code if isinstance(error, MienError) else FAULT
    return code


class Call(NamedTuple):
    """A command line, taken apart."""

    command: ModuleType | None
    """None if no command was given, and help was shown instead."""
    program: str
    """What names the command, as in `mien swap`."""
    arguments: list[str]
    """What is left for the command."""


def find_command(arguments: Sequence[str]) -> Call:
    """Find the module of the command that a command line gives.

    Raises:
        SystemExit: by argparse, after `--help` or `--version` (0), or if there is no such command (2).
    """
    group, program, rest = sys.modules[__name__], "mien", list(arguments)
    while hasattr(group, "COMMANDS"):
        parser = _group_parser(group, program)
        if not rest:
            parser.print_help()
            return Call(None, program, rest)
        if rest[0] not in group.COMMANDS:
            # --help and --version exit here; whatever else it is, argparse refuses it.
            parser.parse_args(rest)
        name = rest.pop(0)
        group, program = import_module(f"{group.__name__}.{name}"), f"{program} {name}"
    return Call(group, program, rest)


class _Formatter(argparse.HelpFormatter):
    """Wraps descriptions, leaves the examples as they are, and does not fill wide terminals to the edge."""

    def __init__(self, prog: str) -> None:
        super().__init__(prog, max_help_position=30, width=min(shutil.get_terminal_size().columns - 2, 110))

    def _fill_text(self, text: str, width: int, indent: str) -> str:
        return text if text.startswith(_EXAMPLES) else super()._fill_text(text, width, indent)


def _group_parser(group: ModuleType, program: str) -> argparse.ArgumentParser:
    parser = argparse.ArgumentParser(
        prog=program,
        description=group.DESCRIPTION,
        epilog=f"{_EXAMPLES}\n{group.EXAMPLES}",
        formatter_class=_Formatter,
        allow_abbrev=False,
    )
    parser.add_argument("--version", action="version", version=f"mien {__version__}")
    commands = parser.add_subparsers(metavar="COMMAND", title="commands", required=True)
    for name, summary in group.COMMANDS.items():
        commands.add_parser(name, help=summary)
    return parser
