"""Checking mixed precision on real faces: the verdict is kept, and decides from then on."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path

from mien.engine.choose import PRECISIONS, Choice, find
from mien.engine.device import find_device
from mien.engine.machine import devices_for
from mien.engine.opening import engine_version
from mien.engine.precision import file_precision
from mien.engine.session import Ran
from mien.engine.verdicts import Verdict, store_verdict
from mien.errors import EngineError, UsageError
from mien.models.opening import open_entry, sha256_of
from mien.models.store import Located
from mien.quality.fidelity import Fidelity, compare
from mien.quality.trial import samples, try_out


@dataclass(frozen=True, slots=True)
class Check:
    """A finished check."""

    model: str
    ran: Ran
    """What ran in the precision that was checked."""
    fidelity: Fidelity
    speed: float
    """Time of the float32 run over that of the checked one; one short run each."""


def check_precision(
    located: Located, precision: str, pictures: Sequence[Path], *, device: str = "cpu", exact: Located | None = None
) -> Check:
    """Compare a network with itself in float32 on the CPU, and keep the verdict for this machine.

    Args:
        located: The network.
        precision: `bf16`, `fp16` or `int8`.
        pictures: With faces.
        device: Where it is checked.
        exact: The float32 file of a network that is int8 or float16 itself.

    Raises:
        UsageError: float32 is checked, there is no face, or networks of this family do not run alone.
        UnreadableError: a picture cannot be read.
        ModelError: a file is no network of its family.
        EngineError: device or precision are not there.
    """
    if precision not in PRECISIONS or precision == "fp32":
        raise UsageError(f"precision '{precision}' cannot be checked: give bf16, fp16 or int8")
    where = find(device, devices_for(device))
    if precision not in where.precisions:
        raise EngineError(
            f"precision {precision} is not there: {where.name} ({where.full_name}) computes in "
            f"{', '.join(where.precisions)}"
        )
    reference = exact or located
    if file_precision(reference.path) == "int8":
        raise UsageError(f"{reference.entry.id} is int8 itself: name its float32 network with --against")
    faces = samples(pictures)
    plain = open_entry(
        reference.entry, reference.path, Choice(find_device("cpu"), "fp32", "the reference"), cpu_batch=1
    )
    expected = try_out(reference.entry, reference.path, plain, faces)
    mixed = open_entry(located.entry, located.path, Choice(where, precision, "to be checked"), cpu_batch=1)
    if mixed.ran.precision != precision:
        raise EngineError(f"{located.entry.id} ran in {mixed.ran.precision}, not in {precision}, on {mixed.ran.device}")
    fidelity = compare(expected, try_out(located.entry, located.path, mixed, faces))
    sha256 = sha256_of(located.entry, located.path)
    verdict = Verdict(fidelity.passed, str(fidelity))
    store_verdict(sha256, where, precision, engine_version(where.engine), verdict)
    speed = plain.usage.seconds / mixed.usage.seconds if mixed.usage.seconds else 0.0
    return Check(located.entry.id, mixed.ran, fidelity, speed)
