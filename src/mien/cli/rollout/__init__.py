"""`mien rollout`: new networks for a share of a service's jobs."""

DESCRIPTION = """\
Let a share of the jobs run with a new network, the canary, and the others with the stable one. A canary that fails five
jobs in a row, or is slower or worse than what it is to replace, gets no more of them; those that it failed are done
with the stable network. After a rest it is tried again, job by job."""
EXAMPLES = """\
  mien rollout set swapper --stable inswapper_128 --canary hyperswap_1a_256 --share 0.1
  mien rollout status
  mien rollout promote swapper
  mien rollout rollback swapper"""
COMMANDS = {
    "status": "say what runs with what, and how it went",
    "set": "begin or change the rollout of a network",
    "promote": "make the canary the stable network",
    "rollback": "give the canary no more jobs",
}
