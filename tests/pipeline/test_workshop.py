"""What jobs share is made once, by content."""

from __future__ import annotations

import shutil
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

import numpy as np
import pytest

from mien.errors import NoFaceError
from mien.pipeline.workshop import Workshop
from support import jobs
from support.jobs import ASTRONAUT, HOPPER


@pytest.fixture(scope="module")
def workshop() -> Workshop:
    return Workshop()


def test_a_source_is_built_once_for_many_threads_and_names(workshop: Workshop, tmp_path: Path) -> None:
    copy = str(shutil.copy(ASTRONAUT, tmp_path / "copy.png"))
    with ThreadPoolExecutor(4) as pool:
        built = list(pool.map(lambda name: workshop.source([name]), [ASTRONAUT, copy, ASTRONAUT, copy]))
    assert all(one is built[0] for one in built)


def test_new_content_under_an_old_name_is_seen(workshop: Workshop, tmp_path: Path) -> None:
    picture = tmp_path / "face"
    shutil.copy(ASTRONAUT, picture)
    first = workshop.source([str(picture)])
    shutil.copy(HOPPER, picture)
    second = workshop.source([str(picture)])
    assert not np.array_equal(first.embedding, second.embedding)


def test_a_reference_is_the_largest_face(workshop: Workshop) -> None:
    assert jobs.distance(workshop.identity(HOPPER), jobs.identity(HOPPER)) < 0.1


def test_a_reference_without_a_face_is_named(workshop: Workshop, tmp_path: Path) -> None:
    empty = str(jobs.landscape(tmp_path / "empty.png"))
    for _ in range(2):  # A failure is not kept either.
        with pytest.raises(NoFaceError, match=r"empty\.png"):
            workshop.identity(empty)
