"""`mien consent add`: record a consent."""

from __future__ import annotations

import argparse

from mien.cli.consent.common import add_pictures, add_policy, open_records, parse_day, read_faces

USAGE = "mien consent add [options] PICTURE... --subject WHO"
DESCRIPTION = """\
Record that the person in the pictures has agreed, and print the record's id, which a job names in --consent. A job is
permitted whose source shows the same face, while the consent holds."""
EXAMPLES = """\
  mien consent add ada.jpg --subject "Ada, contract 17"
  mien consent add ada1.jpg ada2.jpg --subject Ada --scope film,trailer --until 2027-06-30 --evidence file:///c/17.pdf"""


def add_arguments(parser: argparse.ArgumentParser) -> None:
    """Declare the options."""
    add_pictures(parser)
    parser.add_argument("--scope", default="", metavar="A,B", help="purposes that are permitted (any)")
    parser.add_argument("--from", dest="begins", metavar="DAY", help="first day, UTC (now)")
    parser.add_argument("--until", metavar="DAY", help="first day on which it no longer holds, UTC (none)")
    parser.add_argument("--evidence", metavar="URI", help="where the proof of the consent is kept")
    add_policy(parser)


def run(options: argparse.Namespace) -> int:
    """Find the face and keep the record."""
    from mien.trust.records import FaceRecord

    begins, ends = parse_day(options.begins, "--from"), parse_day(options.until, "--until")
    store, _ = open_records(options)
    record = FaceRecord.make(
        "consent",
        options.subject,
        read_faces(options.pictures),
        scope=tuple(word.strip() for word in options.scope.split(",") if word.strip()),
        valid_from=begins,
        valid_until=ends,
        evidence=options.evidence,
    )
    store.add(record)
    print(record.id)
    return 0
