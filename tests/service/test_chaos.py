import random
from pathlib import Path

from support.chaos import Chaos, differences, kinds, quiet_run
from support.service import Place


def test_nothing_is_lost_doubled_or_left_whatever_happens(place: Place, talking: Path, tmp_path: Path) -> None:
    """The small form of `benchmarks/chaos.py`."""
    quiet = quiet_run(kinds(talking), tmp_path)
    chaos = Chaos(place, kinds(talking), random.Random(1))
    try:
        for _ in range(2):
            chaos.start_worker()
        chaos.submit({"picture": 6, "short": 4, "long": 2})
        jobs = chaos.run([(1, "kill"), (3, "restart"), (4, "stop"), (7, "kill"), (9, "restart")])
        chaos.wait_until_swept()
        assert differences(chaos, jobs, quiet, tmp_path) == []
    finally:
        chaos.end()
