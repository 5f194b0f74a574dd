"""What some worker has to do now and then, whoever it is: end lost tries, learn from ended jobs, clear left-overs."""

from __future__ import annotations

import logging

from mien.errors import MienError
from mien.service.records import Job, JobId
from mien.service.rollout import Rollouts
from mien.service.state import State, job_folder
from mien.service.storage import Storage
from mien.service.workspace import clear_folder

_LOG = logging.getLogger(__name__)


def keep_house(state: State, storage: Storage, lease_s: float) -> None:
    """Do what is due. Several workers may do it side by side.

    Raises:
        JobError: the queue's server does not answer.
    """
    # While the server was away nobody could be heard: everybody gets a whole lease to be heard again.
    if state.uptime_s() > lease_s:
        state.expire()
    Rollouts(state).learn()
    for name, job in state.sweeps():
        try:
            _sweep(state, storage, job)
        except MienError as error:
            _LOG.warning("left-overs of %s stay in storage for now: %s", job, error)
        else:
            state.swept(name)


def _sweep(state: State, storage: Storage, name: JobId) -> None:
    job = state.job(name)
    if job is not None and not job.ended:
        return  # It was started anew; its next end brings the next sweep.
    keys, attempts = (_kept(job), job.attempts) if job else (frozenset[str](), None)

    def is_needed(key: str) -> bool:
        attempt, inside, _ = key.removeprefix(job_folder(name)).partition("/")
        # A job that is started anew at this moment has tries with higher numbers.
        return key in keys or (bool(inside) and attempts is not None and int(attempt) > attempts)

    clear_folder(storage, job_folder(name), unless=is_needed)


def _kept(job: Job) -> frozenset[str]:
    """What stays of a job that has ended."""
    result = [job.result.key] if job.result else []
    return frozenset([*result, *(flag.thumbnail for flag in job.flagged if flag.thumbnail)])
