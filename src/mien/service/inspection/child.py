"""The inspecting process: one JSON object a line in, one a line out.

Started as `python -m mien.service.inspection.child BYTES`, with the most memory that it may take.
"""

from __future__ import annotations

import json
import os
import sys
from typing import Any, BinaryIO

from mien.errors import MienError
from mien.service.inspection.limits import bound_process
from mien.service.problems import KINDS, Problem

_TOO_MUCH_MEMORY = "looking at it takes more memory than an upload may take: re-encode it, or make it smaller"


def main() -> None:
    """Answer until the service closes the pipe."""
    answers = _own_stdout()
    bound_process(int(sys.argv[1]))
    from mien.service.inspection.look import Looker

    looker = Looker()
    looker.warm()
    _write(answers, {"ready": True})
    for line in sys.stdin.buffer:
        _write(answers, _answer(looker, json.loads(line)))


def _answer(looker: Any, request: dict[str, Any]) -> dict[str, Any]:
    try:
        os.chdir(request["folder"])
        if request["what"] == "media":
            return {"facts": looker.media(request["name"], request["max_pixels"])}
        return {"facts": looker.plan(request["recipe"])}
    except MienError as error:
        problem = Problem.of(error)
    except MemoryError:
        problem = Problem(KINDS["unreadable_media"], _TOO_MUCH_MEMORY)
    except Exception as error:
        # What a decoder stumbles over in a damaged file is not foreseen by anyone.
        return {"fault": f"{type(error).__name__}: {error}"}
    finally:
        os.chdir("/")
    return {"problem": problem.kind.name, "detail": problem.detail}


def _own_stdout() -> BinaryIO:
    """The pipe for answers; whatever a library prints goes to standard error instead."""
    answers = os.fdopen(os.dup(1), "wb")
    os.dup2(2, 1)
    return answers


def _write(answers: BinaryIO, answer: dict[str, Any]) -> None:
    answers.write(json.dumps(answer).encode() + b"\n")
    answers.flush()


if __name__ == "__main__":
    main()
