"""`mien bench`: whether networks became slower, bigger or worse."""

DESCRIPTION = """\
Run networks in turn with a fixed piece of work, keep the times as multiples of it, and compare two such runs: what
counts is the ratio with its spread, not a single timing."""
EXAMPLES = """\
  mien bench run --suite small -o today.json
  mien bench compare yesterday.json today.json"""
COMMANDS = {
    "run": "run a suite",
    "compare": "say what is slower, bigger or worse in a new run",
    "marks": "say whether the invisible watermark survives in pictures and clips",
}
"""Name of each command (also of its module) and what it does."""
