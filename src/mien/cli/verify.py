"""`mien verify`: which marks does a file carry, what do they say, and was it changed since?"""

from __future__ import annotations

import argparse
from collections.abc import Sequence
from dataclasses import asdict
from pathlib import Path
from typing import TYPE_CHECKING

from mien.cli.console import STDOUT, complain, write_json
from mien.errors import JobError, UnreadableError

if TYPE_CHECKING:
    from mien.trust.verify import Finding

USAGE = "mien verify [options] FILE..."
DESCRIPTION = """\
Read the marks of pictures and videos: the AI-content metadata, the content credentials (C2PA) and the invisible
watermark; say what each means and what was changed after signing. Exit code 1 if a mark is missing or broken."""
EXAMPLES = """\
  mien verify result.mp4
  mien verify --marks metadata results/*.jpg
  mien verify --trust issuer.pem --json result.mp4"""


def add_arguments(parser: argparse.ArgumentParser) -> None:
    """Declare the options."""
    parser.add_argument("files", metavar="FILE", nargs="+", type=Path, help="picture or video")
    parser.add_argument(
        "--marks",
        choices=("metadata", "all"),
        default="all",
        metavar="M",
        help="which marks have to be there: metadata (with credentials), or all, the watermark as well (all)",
    )
    parser.add_argument(
        "--trust",
        action="append",
        default=[],
        type=Path,
        metavar="PEM",
        help="certificate of an issuer whose signers are known; may be given several times",
    )
    parser.add_argument("--json", action="store_true", help="print JSON")


def run(options: argparse.Namespace) -> int:
    """Read and print."""
    from mien.trust.policy import Policy
    from mien.trust.verify import verify

    folder = Policy.find().folder
    anchors = [_read_pem(path) for path in options.trust]
    found: list[tuple[Path, tuple[Finding, ...]]] = []
    unread = 0
    for path in options.files:
        try:
            found.append((path, verify(path, folder, anchors)))
        except JobError as error:
            complain(f"error: {error}")
            unread += 1
    if options.json:
        write_json([_plain(path, findings, options.marks) for path, findings in found], STDOUT)
    else:
        print("\n\n".join(_told(path, findings) for path, findings in found))
    sound = all(is_sound(findings, options.marks) for _, findings in found)
    return 0 if sound and not unread else JobError.exit_code


def is_sound(findings: Sequence[Finding], marks: str) -> bool:
    """Whether all marks are there that have to and have a place, and none is broken."""
    needed = [finding for finding in findings if marks == "all" or finding.mark != "watermark"]
    return (
        all(finding.state in ("ok", "impossible") for finding in needed)
        and any(finding.state == "ok" for finding in needed)
        and all(finding.state != "broken" for finding in findings)
    )


def _plain(path: Path, findings: Sequence[Finding], marks: str) -> dict[str, object]:
    return {"file": str(path), "sound": is_sound(findings, marks), "marks": [asdict(finding) for finding in findings]}


def _told(path: Path, findings: Sequence[Finding]) -> str:
    widest = max(len(finding.mark) for finding in findings)
    lines = [str(path)]
    for finding in findings:
        for number, words in enumerate(finding.words):
            head = f"{finding.mark:<{widest}}  {finding.state:<10}" if number == 0 else " " * (widest + 12)
            lines.append(f"  {head}  {words}")
    return "\n".join(lines)


def _read_pem(path: Path) -> bytes:
    try:
        return path.read_bytes()
    except OSError as error:
        raise UnreadableError(f"{path} cannot be read: {error.strerror}; give a certificate in PEM") from error
