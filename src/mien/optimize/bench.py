"""Benchmarks that can be compared across days: networks run in turn with a fixed piece of work, and count as its times.

What else the machine does, and how fast it is today, meets both; the spread over the rounds says how far to trust it.
"""

from __future__ import annotations

import json
from collections.abc import Callable
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import Any, Literal

import numpy as np

from mien.engine.choose import Choice
from mien.engine.device import find_device
from mien.engine.onnx_file import OnnxFile, Port
from mien.engine.opening import engine_version
from mien.errors import UsageError
from mien.models.catalogue import CatalogueEntry, find_model
from mien.optimize.card import SUFFIX, Card, check_artefact, read_card
from mien.optimize.gate import deciding
from mien.optimize.graph import Inputs
from mien.optimize.intervals import Interval, of_ratio
from mien.optimize.metrics import Metric
from mien.optimize.plain import metric_of, plain
from mien.optimize.timing import Opened, in_turn, of_item

FORMAT = 1
SUITES = {
    "small": ("dlib_face_recognition", "face_mesh_478", "face_detection_back", "selfie_segmentation", "span_x2"),
}
"""Bundled networks of each suite."""
ROUNDS = 15
SLOWER = 1.1
"""Times the old time that count as slower, if it lies there with 95 % confidence."""
BIGGER = 1.01
"""Times the old size that count as bigger."""
WORSE = 0.1
"""Share of the distance between perfect and its old value that a metric may lose."""
_OPEN_SIDE = 128
"""Of inputs that leave their sides open, pixels."""
_YARDSTICK_SIDE = 160
_PERFECT = {"cosine": 1.0, "equal decisions": 1.0, "equal labels": 1.0, "SSIM": 1.0, "PSNR": 99.0, "flicker": 1.0}
"""Best values of metrics that are not zero at best."""

What = Literal["slower", "bigger", "worse", "missing"]


@dataclass(frozen=True, slots=True)
class Entry:
    """One network of a run."""

    name: str
    bytes: int
    times: tuple[float, ...]
    """By round: its time over that of the fixed work beside it."""
    latency_ms: float
    """Median, for people: it is not compared."""
    quality: tuple[Metric, ...] = ()
    """Of artefacts, from their cards."""


@dataclass(frozen=True, slots=True)
class Run:
    """One run of a suite."""

    suite: str
    device: str
    engine: str
    """Name and version: another one may be slower, and that is to be seen."""
    entries: tuple[Entry, ...]


@dataclass(frozen=True, slots=True)
class Finding:
    """What got worse."""

    name: str
    what: What
    words: str


@dataclass(frozen=True, slots=True)
class Comparison:
    """Two runs side by side."""

    speeds: tuple[tuple[str, Interval], ...]
    """New time over old time of each network that is in both."""
    findings: tuple[Finding, ...]


def run_suite(suite: str, artefacts: Path | None = None, *, rounds: int = ROUNDS) -> Run:
    """Run the networks of a suite, and the artefacts of a folder, on one thread of the CPU.

    Raises:
        UsageError: there is no such suite.
        ModelError: an artefact is not what its card says.
        EngineError: a network does not run.
    """
    if suite not in SUITES:
        raise UsageError(f"there is no suite '{suite}': it is one of {', '.join(SUITES)}")
    cpu = find_device("cpu")
    found: list[tuple[str, Opened, tuple[Metric, ...]]] = []
    for entry in map(find_model, SUITES[suite]):
        found.append((entry.id, Opened(entry, entry.path, Choice(cpu, "fp32", "the suite")), ()))
    for card, path in _artefacts(artefacts) if artefacts else ():
        precision = "int8" if card.technique == "int8" else "fp32"
        opened = Opened(_entry_of(card, path), path, Choice(cpu, precision, "the suite"))
        found.append((f"{card.parent.model}/{card.file}", opened, deciding(card.metrics)))
    runs: list[Callable[[], object]] = [_yardstick]
    for _, opened, _ in found:
        runs.append(of_item(opened.open(), [_item(opened.path)]))
    yardstick, *times = in_turn(runs, rounds)
    entries = [
        Entry(
            name=name,
            bytes=opened.path.stat().st_size,
            times=tuple(round(one / beside, 5) for one, beside in zip(taken, yardstick, strict=True)),
            latency_ms=round(1000 * float(np.median(taken)), 3),
            quality=quality,
        )
        for (name, opened, quality), taken in zip(found, times, strict=True)
    ]
    return Run(suite, f"{cpu.name} ({cpu.full_name})", engine_version(cpu.engine), tuple(entries))


def compare(old: Run, new: Run) -> Comparison:
    """What is slower, bigger, worse or missing in `new`. Pure: the same runs give the same answer.

    Raises:
        UsageError: the runs are of different suites or devices.
    """
    for what, one, other in (("suite", old.suite, new.suite), ("device", old.device, new.device)):
        if one != other:
            raise UsageError(f"the two runs cannot be compared: their {what} is {one} and {other}")
    later = {entry.name: entry for entry in new.entries}
    speeds: list[tuple[str, Interval]] = []
    findings: list[Finding] = []
    for before in old.entries:
        after = later.get(before.name)
        if after is None:
            findings.append(Finding(before.name, "missing", "it is not in the new run"))
            continue
        ratio = of_ratio(after.times, before.times)
        speeds.append((before.name, ratio))
        if ratio.low > SLOWER:
            words = f"{ratio.value:.2f} times the old time ({ratio.low:.2f} to {ratio.high:.2f})"
            findings.append(Finding(before.name, "slower", words))
        if after.bytes > BIGGER * before.bytes:
            findings.append(Finding(before.name, "bigger", f"{after.bytes} bytes, {before.bytes} before"))
        findings += _worse(before, after)
    return Comparison(tuple(speeds), tuple(findings))


def to_json(run: Run) -> str:
    """As it is kept; null stands for as bad as can be."""
    return json.dumps({"format": FORMAT, **plain(asdict(run))}, indent=2, ensure_ascii=False) + "\n"


def read_run(path: Path) -> Run:
    """A run as `to_json` writes it.

    Raises:
        UsageError: it cannot be read, or is none.
    """
    try:
        fields = json.loads(path.read_text(encoding="utf-8"))
        if fields["format"] != FORMAT:
            raise ValueError("its format is of another version")
        entries = tuple(_read_entry(entry) for entry in fields["entries"])
        return Run(fields["suite"], fields["device"], fields["engine"], entries)
    except OSError as error:
        raise UsageError(f"{path} cannot be read: {error.strerror or error}") from error
    except (ValueError, KeyError, TypeError, AttributeError) as error:
        raise UsageError(f"{path} is no run as `mien bench run` writes it: {error}") from error


def _worse(before: Entry, after: Entry) -> list[Finding]:
    now = {metric.name: metric for metric in after.quality}
    found: list[Finding] = []
    for old in before.quality:
        new = now.get(old.name)
        if new is None:
            found.append(Finding(before.name, "missing", f"{old.name} is not in the new run"))
        elif (lost := _loss(new) - _loss(old)) > WORSE * _loss(old) and lost > 1e-9:
            found.append(Finding(before.name, "worse", f"{old.name} {new.value:.4g}, {old.value:.4g} before"))
    return found


def _loss(metric: Metric) -> float:
    """Distance from perfect."""
    best = _PERFECT.get(metric.name, 0.0)
    loss = best - metric.value if metric.higher_is_better else metric.value - best
    return max(loss, 0.0)


def _artefacts(folder: Path) -> list[tuple[Card, Path]]:
    found: list[tuple[Card, Path]] = []
    for path in sorted(folder.rglob(f"*{SUFFIX}")):
        card = read_card(path)
        artefact = path.with_name(card.file)
        check_artefact(card, artefact)
        found.append((card, artefact))
    return found


def _entry_of(card: Card, path: Path) -> CatalogueEntry:
    parent = card.parent
    return CatalogueEntry(
        id=path.stem,
        role=parent.role,
        family=parent.family,
        summary="An artefact.",
        file=path.name,
        bytes=card.bytes,
        sha256=card.sha256,
        licence=parent.licence,
        permits=parent.permits,  # type: ignore[arg-type]
        origin=parent.model,
        contract="",
    )


def _item(path: Path) -> Inputs:
    """Random inputs of one item: how long a network takes does not depend on what it sees."""
    file = OnnxFile(path)
    weights = set(file.initializers)
    rng = np.random.default_rng(0)
    ports = [port for port in file.inputs if port.name not in weights]
    return {port.name: rng.random(_sides(port), np.float32) for port in ports}


def _sides(port: Port) -> tuple[int, ...]:
    return (1, *(side if isinstance(side, int) else _OPEN_SIDE for side in port.shape[1:]))


def _yardstick() -> None:
    """The fixed piece of work: a product of matrices by NumPy's own loops, which keep to one thread."""
    side = _YARDSTICK_SIDE
    matrix = np.full((side, side), 0.5, np.float32)
    np.einsum("ij,jk->ik", matrix, matrix)


def _read_entry(fields: dict[str, Any]) -> Entry:
    times = tuple(float(one) for one in fields["times"])
    if not times or min(times) <= 0:
        raise ValueError("times are to be positive")
    quality = tuple(metric_of(one) for one in fields["quality"])
    return Entry(fields["name"], int(fields["bytes"]), times, float(fields["latency_ms"]), quality)
