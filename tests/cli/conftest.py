"""Media that the tests of the command line share."""

from pathlib import Path

import pytest

from support.animate import Clip, beep, write_clip
from support.people import still
from support.scenes import talking_head

STILLS = Path(__file__).parent.parent / "stills"


@pytest.fixture(scope="session")
def astronaut():
    return STILLS / "astronaut.png"


@pytest.fixture(scope="session")
def hopper():
    return STILLS / "grace_hopper.jpg"


@pytest.fixture(scope="session")
def talk(tmp_path_factory):
    """A clip of 50 frames at 25 a second of one person talking, with sound."""
    clip = Clip(talking_head(still("luispedro"), width=320, height=240, seconds=2))
    path = tmp_path_factory.mktemp("clips") / "talk.mp4"
    return write_clip(clip, path, options={"preset": "ultrafast", "g": "10"}, sound=beep(2))
