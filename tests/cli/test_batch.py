"""Many targets: a failure is kept and the rest goes on; an interruption is not a failure."""

from dataclasses import replace
from pathlib import Path

import pytest

from mien.cli.batch import run_batch
from mien.errors import Interrupted, UnreadableError
from mien.recipe import Recipe
from mien.report import Report


@pytest.fixture
def jobs(tmp_path):
    return [
        Recipe(sources=("me.jpg",), target=f"{name}.mp4", output=str(tmp_path / "out" / f"{name}.mp4"))
        for name in "abc"
    ]


def succeed(job, _label):
    Path(job.output).write_bytes(b"x")
    return Report(job.target, job.output, "0")


@pytest.mark.parametrize(
    ("error", "told"),
    [(UnreadableError("b.mp4 is damaged"), "b.mp4 is damaged"), (ZeroDivisionError("oh"), "fault in mien itself")],
)
def test_a_failure_does_not_stop_the_others(error, told, jobs):
    def run_one(job, label):
        if job.target == "b.mp4":
            raise error
        return succeed(job, label)

    outcomes = list(run_batch(jobs, run_one))
    assert [outcome.error is None for outcome in outcomes] == [True, False, True]
    assert [outcome.to_mapping()["target"] for outcome in outcomes] == ["a.mp4", "b.mp4", "c.mp4"]
    assert told in outcomes[1].to_mapping()["error"]


def test_labels_count_the_targets(jobs):
    labels = []
    list(run_batch(jobs, lambda job, label: labels.append(label) or succeed(job, label)))
    assert labels == ["[1/3] a.mp4", "[2/3] b.mp4", "[3/3] c.mp4"]


def test_an_interruption_ends_the_batch(jobs):
    def run_one(job, label):
        if job.target == "b.mp4":
            raise Interrupted("stopped")
        return succeed(job, label)

    batch = run_batch(jobs, run_one)
    assert next(batch).error is None
    with pytest.raises(Interrupted):
        next(batch)


def test_resuming_leaves_out_what_is_finished(jobs):
    succeed_first = list(run_batch(jobs[:1], succeed))
    assert succeed_first[0].report is not None
    ran = []
    outcomes = list(
        run_batch(
            [replace(job, resume=True) for job in jobs],
            lambda job, label: ran.append(job.target) or succeed(job, label),
        )
    )
    assert ran == ["b.mp4", "c.mp4"]
    assert outcomes[0].to_mapping()["already_done"] is True


def test_resuming_with_overwrite_does_everything_again(jobs):
    list(run_batch(jobs, succeed))
    again = list(run_batch([replace(job, resume=True, overwrite=True) for job in jobs], succeed))
    assert all(outcome.report is not None for outcome in again)


def test_a_folder_that_cannot_be_made_is_the_failure_of_its_target(jobs, tmp_path):
    (tmp_path / "out").write_bytes(b"a file")
    outcomes = list(run_batch(jobs, succeed))
    assert all("cannot make the output folder" in str(outcome.error) for outcome in outcomes)
