"""`mien consent check`: would a consent permit it?"""

from __future__ import annotations

import argparse
from datetime import UTC, datetime
from pathlib import Path

from mien.cli.consent.common import add_policy, open_records, read_faces

USAGE = "mien consent check [options] ID PICTURE..."
DESCRIPTION = """\
Say whether a job with these source pictures would be permitted by a consent, and not barred; exit code 3 if not. It is
what a job itself looks at."""
EXAMPLES = """\
  mien consent check consent-5f0c2a81b3d4 me.jpg
  mien consent check consent-5f0c2a81b3d4 me.jpg --purpose trailer"""


def add_arguments(parser: argparse.ArgumentParser) -> None:
    """Declare the options."""
    parser.add_argument("id", metavar="ID", help="the consent")
    parser.add_argument("pictures", nargs="+", metavar="PICTURE", type=Path, help="source pictures of one person")
    parser.add_argument("--purpose", metavar="WORD", help="what the result would be for")
    add_policy(parser)


def run(options: argparse.Namespace) -> int:
    """Compare the faces."""
    import numpy as np

    from mien.trust.people import CONSENT_DISTANCE, nearest
    from mien.trust.permission import check_barred, check_faces, check_records

    store, _ = open_records(options)
    record = store.get(options.id)
    check_records([record], options.purpose, datetime.now(UTC))
    face = np.mean(read_faces(options.pictures), axis=0)
    check_faces([face], [record])
    check_barred([face], store.barred(), "source")
    gap = nearest(face, record.embeddings)
    print(f"{record.id} permits it: identity distance {gap:.2f}, below {CONSENT_DISTANCE}")
    return 0
