"""`mien jobs`: the jobs of a service that failed for good."""

DESCRIPTION = """\
Jobs that could not be done, however often they were tried, wait among the dead letters until an operator has mended
what was wrong."""
EXAMPLES = """\
  mien jobs dead
  mien jobs requeue job_x1Yz
  mien jobs requeue --all"""
COMMANDS = {
    "dead": "list the jobs that failed for good",
    "requeue": "try them once more, from the start",
}
