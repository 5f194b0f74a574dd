"""What all techniques share: the parent, what it sees and says, and an artefact measured and written with its card."""

from __future__ import annotations

import tempfile
from collections.abc import Callable, Generator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from datetime import UTC, datetime
from importlib import metadata
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from mien.engine.choose import Choice, find
from mien.engine.device import Device
from mien.engine.machine import devices_for
from mien.engine.opening import engine_version
from mien.engine.precision import file_precision
from mien.engine.session import Session
from mien.errors import ModelError, UsageError
from mien.media.files import write_bytes
from mien.models.checksum import checksum_of
from mien.models.store import Located
from mien.optimize.card import Card, Cost, Parent, card_path, write_card
from mien.optimize.examine import Examiner, damage_of
from mien.optimize.gate import judge
from mien.optimize.graph import Inputs, clean, count, read, write
from mien.optimize.intervals import of_paired_ratio
from mien.optimize.material import Material, gather
from mien.optimize.metrics import Metric
from mien.optimize.stack import Model, require, runtime
from mien.optimize.timing import Opened, clock_of, held_bytes, in_turn, of_item
from mien.optimize.views import see

MOST_SEARCHED = 16
"""Faces on which a search measures whether the bar is reached."""
MOST_PROBED = 2
"""Items on which the damage of single nodes is measured."""
_PACKAGES = ("mien", "onnx", "onnxruntime", "openvino")
_ERRORS_ONLY = 3

OnStep = Callable[[str], None]
"""Hears what is being done, for people."""


@dataclass(frozen=True, slots=True)
class Subject:
    """A network that is to be made cheaper."""

    located: Located
    device: Device
    session: Session
    """It, in float32."""
    material: Material
    model: Model
    """Cleaned up."""
    items: Sequence[Inputs]
    """What it is given for the faces that calibrate."""
    search: Examiner
    """On faces that calibrate."""

    @property
    def exact(self) -> Choice:
        """How the parent runs."""
        return Choice(self.device, "fp32", "the parent")


@dataclass(frozen=True, slots=True)
class Made:
    """An artefact."""

    path: Path
    card: Card
    card_file: Path
    manifest: Path


def prepare(
    located: Located, places: Sequence[Path], samples: int, device: str, on_step: OnStep = lambda _what: None
) -> Subject:
    """Gather faces, load the network, and let it see them.

    Args:
        located: The network, in float32.
        places: Folders, pictures and clips.
        samples: Faces to take; every third of them measures only.
        device: Where it is measured.
        on_step: Hears of the progress.

    Raises:
        UsageError: it is float16 or int8 already, or networks of its family do not run alone.
        NoFaceError: there are too few faces.
        ModelError: the file is no network, or one without an adapter.
        EngineError: the device is not there.
        InstallationError: the packages for it are not.
    """
    require()
    if (precision := file_precision(located.path)) != "fp32":
        raise UsageError(f"{located.entry.id} computes in {precision} already: give the float32 network it came from")
    where = find(device, devices_for(device))
    session = Opened(located.entry, located.path, Choice(where, "fp32", "the parent")).open()
    on_step("looking for faces")
    material = gather(places, samples, located.entry.role)
    on_step(f"{len(material.calibration)} faces to work with, {len(material.held_out)} to measure with")
    _, items = see(located, session, material.calibration)
    model = clean(located.path)
    search = Examiner(located, session, material.calibration[:MOST_SEARCHED])
    return Subject(located, where, session, material, model, items, search)


def check_output(output: Path, parent: Path, *, overwrite: bool) -> None:
    """Look before long work whether an artefact may be written.

    Raises:
        UsageError: its name does not end in .onnx, its folder is missing, it is its parent's file, or something of it
            is there and is not to be replaced.
    """
    if output.suffix != ".onnx":
        raise UsageError(f"'{output.name}' is no name for a network: give one that ends in .onnx")
    if not output.parent.is_dir():
        raise UsageError(f"{output} cannot be written: the folder {output.parent} does not exist, make it first")
    if output.exists() and parent.exists() and output.samefile(parent):
        raise UsageError(f"{output} is the network that is to be read: give the artefact another name")
    if not overwrite and any(path.exists() for path in (output, card_path(output), manifest_path(output))):
        raise UsageError(f"{output} or its card exists already: give --overwrite to replace it, or another name")


def manifest_path(output: Path) -> Path:
    """`X.faces.json` beside `X.onnx`."""
    return output.with_suffix(".faces.json")


def finish(
    subject: Subject,
    model: Model,
    output: Path,
    *,
    technique: str,
    choice: Choice,
    settings: Mapping[str, Any],
    measure: Callable[[Examiner, Path], tuple[Metric, ...]] | None = None,
) -> Made:
    """Write an artefact and its card, measured on the faces held out.

    Args:
        subject: The parent.
        model: The artefact.
        output: Its file; the manifest and the card are put beside it.
        technique: What was done.
        choice: How it runs.
        settings: What it was made with.
        measure: Takes its quality where the device cannot; otherwise it runs as in a job.

    Raises:
        UnwritableError: something cannot be written.
        ModelError, EngineError: the artefact does not run.
    """
    located = subject.located
    write(model, output)
    manifest = manifest_path(output)
    write_bytes(manifest, subject.material.manifest.to_json().encode())
    opened = Opened(located.entry, output, choice)
    session = opened.open()
    examiner = Examiner(located, subject.session, subject.material.held_out)
    metrics = measure(examiner, output) if measure else examiner.metrics(output, session)
    times = in_turn(
        [of_item(subject.session, subject.items), of_item(session, subject.items)], clock=clock_of(subject.device)
    )
    speed = of_paired_ratio(times[0], times[1])
    parent = _parent(located)
    size = output.stat().st_size
    counts = count(read(output), subject.items[0])
    held = [held_bytes(one, subject.items[0]) for one in (Opened(located.entry, located.path, subject.exact), opened)]
    costs = [Cost(round(1000 * float(np.median(taken)), 3), memory) for taken, memory in zip(times, held, strict=True)]
    card = Card(
        file=output.name,
        sha256=checksum_of(output, "sha256"),
        bytes=size,
        parent=parent,
        technique=technique,
        settings=dict(settings),
        calibration=subject.material.manifest.sha256,
        parameters=counts.parameters,
        operations=counts.operations,
        device=f"{subject.device.name} ({subject.device.full_name}), {engine_version(subject.device.engine)}",
        cost=costs[1],
        parent_cost=costs[0],
        speed=speed,
        metrics=metrics,
        verdict=judge(metrics, speed, parent.bytes / size),
        made=datetime.now(UTC).date().isoformat(),
        versions={name: metadata.version(name) for name in _PACKAGES},
    )
    return Made(output, card, write_card(card, output), manifest)


@contextmanager
def as_file(model: Model) -> Generator[Path]:
    """A network in a file for as long as it is looked at."""
    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder) / "trial.onnx"
        path.write_bytes(model.SerializeToString())
        yield path


class Damage:
    """Output error of changed forms of a network, on a few items, by ONNX Runtime's own CPU kernels."""

    def __init__(self, model: Model, items: Sequence[Inputs]) -> None:
        """Run the network as it is; a few items spread over those given are looked at."""
        self._items = items[:: max(len(items) // MOST_PROBED, 1)][:MOST_PROBED]
        self._exact = self._run(model)

    def of(self, changed: Model) -> float:
        """Largest relative error of any output of any item.

        Raises:
            ModelError: it does not run.
        """
        return damage_of(self._exact, self._run(changed))

    def _run(self, model: Model) -> list[list[NDArray[np.float32]]]:
        engine = runtime()
        options = engine.SessionOptions()
        options.log_severity_level = _ERRORS_ONLY
        options.intra_op_num_threads = 1
        try:
            session = engine.InferenceSession(model.SerializeToString(), options, providers=["CPUExecutionProvider"])
            return [session.run(None, dict(item)) for item in self._items]
        except Exception as error:  # its errors have no class in common
            raise ModelError(f"a changed form of the network does not run: {error}") from error


def _parent(located: Located) -> Parent:
    entry = located.entry
    return Parent(
        model=entry.id,
        family=entry.family,
        role=entry.role,
        sha256=checksum_of(located.path, "sha256"),
        bytes=located.path.stat().st_size,
        licence=entry.licence,
        permits=entry.permits,
    )
