"""Is anything lost when workers are killed and stopped and the queue's server is restarted?

60 jobs of three tenants (pictures, short and longer clips) on three workers. Every few jobs a worker gets SIGKILL and
another one is started; the server is restarted twice; one worker is stopped with SIGSTOP until its work has gone to
others, and continued. Every job must end, with the frames and the sound of a run that nobody disturbs, published once,
and nothing may be left in storage but what belongs to a job.
"""

from __future__ import annotations

import argparse
import random
import sys
import tempfile
import time
from pathlib import Path

from _measure import save
from mien.service.valkey import EmbeddedValkey
from support.chaos import Chaos, differences, kinds, quiet_run
from support.jobs import talking_clip
from support.service import Place

_WORKERS = 3
_PATIENCE_S = 600.0
"""Between two jobs' ends, on a machine that does other things as well."""


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--full", action="store_true", help="60 jobs instead of 20")
    parser.add_argument("--seed", type=int, default=1, help="of the order of jobs and of who is killed")
    options = parser.parse_args()
    counts = {"picture": 30, "short": 20, "long": 10} if options.full else {"picture": 10, "short": 7, "long": 3}
    with tempfile.TemporaryDirectory(prefix="mien-") as name:
        result = _measure(Path(name), counts, options.seed)
    save("chaos", result)
    return 1 if result["differences"] else 0


def _measure(folder: Path, counts: dict[str, int], seed: int) -> dict[str, object]:
    wanted = kinds(talking_clip(folder / "talking.mp4", seconds=3, sound=True))
    quiet = quiet_run(wanted, folder)
    jobs = sum(counts.values())
    plan = sorted(
        [(ended, "kill") for ended in range(3, jobs - 1, 6)]
        + [(jobs // 3, "restart"), (2 * jobs // 3, "restart"), (jobs // 2, "stop")]
    )
    with EmbeddedValkey(folder / "queue") as valkey:
        chaos = Chaos(Place(folder, valkey), wanted, random.Random(seed), tell=lambda text: print(text, flush=True))
        try:
            for _ in range(_WORKERS):
                chaos.start_worker()
            began = time.perf_counter()
            chaos.submit(counts)
            ended = chaos.run(plan, _PATIENCE_S)
            seconds = time.perf_counter() - began
            chaos.wait_until_swept()
            found = differences(chaos, ended, quiet, folder)
        finally:
            chaos.end()
            chaos.place.state.client.close()
    for difference in found:
        print(difference)
    return {
        "jobs": counts,
        "workers": _WORKERS,
        "troubles": dict(chaos.troubles),
        "seconds": round(seconds, 1),
        "attempts": sum(job.attempts for job in ended),
        "busy_seconds": round(sum(job.busy_s for job in ended), 1),
        "differences": found,
    }


if __name__ == "__main__":
    sys.exit(main())
