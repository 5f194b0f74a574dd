"""`mien consent bar`: a face that is never used."""

from __future__ import annotations

import argparse

from mien.cli.consent.common import add_pictures, add_policy, open_records, read_faces

USAGE = "mien consent bar [options] PICTURE... --subject WHO"
DESCRIPTION = """\
Bar the face in the pictures: every job of this installation that has it as source, or finds it in the target, is
refused, whatever else permits it. `mien consent revoke` lifts the bar."""
EXAMPLES = """\
  mien consent bar someone.jpg --subject "asked on 3 May not to be used" """


def add_arguments(parser: argparse.ArgumentParser) -> None:
    """Declare the options."""
    add_pictures(parser)
    add_policy(parser)


def run(options: argparse.Namespace) -> int:
    """Find the face and keep the record."""
    from mien.trust.records import FaceRecord

    store, _ = open_records(options)
    record = FaceRecord.make("barred", options.subject, read_faces(options.pictures))
    store.add(record)
    print(record.id)
    return 0
