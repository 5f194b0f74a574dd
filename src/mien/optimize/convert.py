"""Float16: every node that bears it computes in halves; those that do harm are found by measuring and kept."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path

from mien.engine.choose import Choice, find
from mien.engine.machine import onnxruntime_devices
from mien.engine.onnxruntime import OnnxRuntimeSession
from mien.errors import UsageError
from mien.models.store import Located
from mien.optimize.examine import Examiner
from mien.optimize.gate import shortfalls
from mien.optimize.halves import candidates, halved, rounded
from mien.optimize.making import Damage, Made, OnStep, as_file, check_output, finish, prepare
from mien.optimize.metrics import Metric
from mien.optimize.search import DEEPEST, bisect, culprits
from mien.optimize.stack import Model

LIMIT = 0.02
"""Relative output error that a stretch of nodes may make before it is looked into: halves alone make some .001."""

WHY_NO_BF16 = (
    "bf16 makes no file of its own: ONNX Runtime has no bfloat16 convolutions for processors, so such a file would run "
    "on few engines, and OpenVINO and TensorRT turn a float32 file into bf16 themselves; `mien models check MODEL "
    "--precision bf16` measures that, or give --to fp16"
)


def convert(
    located: Located,
    places: Sequence[Path],
    output: Path,
    *,
    to: str = "fp16",
    samples: int = 32,
    device: str = "cpu",
    overwrite: bool = False,
    on_step: OnStep = lambda _what: None,
) -> Made:
    """A float16 form of a network. Its quality is measured on the device where that has halves, else by rounding.

    Args:
        located: The network.
        places: Folders, pictures and clips with faces.
        output: The artefact's file.
        to: `fp16`; `bf16` is refused.
        samples: Faces to take.
        device: Where it is measured.
        overwrite: Replace an artefact that is there.
        on_step: Hears of the progress.

    Raises:
        UsageError: `to` is another, or see `making.prepare` and `making.check_output`.
        NoFaceError, ModelError, EngineError, InstallationError: see `making.prepare`.
    """
    if to == "bf16":
        raise UsageError(WHY_NO_BF16)
    if to != "fp16":
        raise UsageError(f"there is no form '{to}': give --to fp16")
    check_output(output, located.path, overwrite=overwrite)
    subject = prepare(located, places, samples, device, on_step)
    nodes = candidates(subject.model)
    if not nodes:
        raise UsageError(f"{located.entry.id} has no node that could compute in halves")
    on_step(f"searching {len(nodes)} nodes for those that halves harm")
    damage = Damage(subject.model, subject.items)

    def harm(changed: frozenset[str]) -> float:
        return damage.of(rounded(subject.model, changed))

    def passes(kept: frozenset[str]) -> bool:
        return not shortfalls(_by_rounding(subject.search, rounded(subject.model, set(nodes) - kept)))

    kept = bisect(nodes, harm, passes, LIMIT)
    if kept is None:
        kept = culprits(nodes, harm, LIMIT / 2**DEEPEST)
    on_step(f"{len(kept)} of {len(nodes)} nodes stay in float32")
    has_halves = "fp16" in subject.device.precisions
    exact = rounded(subject.model, set(nodes) - kept)
    return finish(
        subject,
        halved(subject.model, kept),
        output,
        technique="fp16",
        choice=Choice(subject.device, "fp16" if has_halves else "fp32", "the artefact"),
        settings={
            "kept": [node for node in nodes if node in kept],
            "halves": len(nodes) - len(kept),
            "quality": "on the device" if has_halves else "by rounding every tensor to a half",
        },
        measure=None if has_halves else lambda examiner, _path: _by_rounding(examiner, exact),
    )


def _by_rounding(examiner: Examiner, model: Model) -> tuple[Metric, ...]:
    """Quality of a network whose tensors are rounded. OpenVINO would leave the rounding out, ONNX Runtime does not."""
    with as_file(model) as path:
        device = find("onnxruntime", onnxruntime_devices())
        return examiner.metrics(path, OnnxRuntimeSession(path, model="trial", device=device, max_batch=1))
