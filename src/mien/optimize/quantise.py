"""INT8: all layers but the first, the last and those that a search finds harmful, until the bar is met."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Literal

from mien.engine.choose import Choice
from mien.errors import EngineError, UsageError
from mien.models.store import Located
from mien.optimize.gate import LEAST_SPEED, shortfalls
from mien.optimize.graph import edges, layers, lean
from mien.optimize.intervals import Interval, of_paired_ratio
from mien.optimize.making import Damage, Made, OnStep, Subject, as_file, check_output, finish, prepare
from mien.optimize.quantised import METHODS, Method, Ranges, calibrate, neighbours, quantised
from mien.optimize.search import fewest_kept, sensitivities
from mien.optimize.stack import Model
from mien.optimize.timing import Opened, clock_of, in_turn, of_item

Scope = Literal["layers", "around"]
"""Convolutions and products alone, or with what lies between them."""
_PROBES = 7
"""Rounds of a run in turn that only has to tell the faster of two forms."""


@dataclass(frozen=True, slots=True)
class Form:
    """One way to quantise a network."""

    scope: Scope
    speed: Interval
    """With all but its edges quantised: the most that can be gained."""


def quantise(
    located: Located,
    places: Sequence[Path],
    output: Path,
    *,
    samples: int = 128,
    method: Method = "minmax",
    device: str = "cpu",
    even_if_slower: bool = False,
    overwrite: bool = False,
    on_step: OnStep = lambda _what: None,
) -> Made:
    """An INT8 form of a network.

    Where even the whole network in INT8 is no faster than the parent nothing is searched: the card says what that costs
    and that it does not pay.

    Args:
        located: The network.
        places: Folders, pictures and clips with faces.
        output: The artefact's file.
        samples: Faces to take.
        method: How ranges of activations are taken.
        device: Where it is measured.
        even_if_slower: Search even where nothing is gained, for a file that is to run elsewhere.
        overwrite: Replace an artefact that is there.
        on_step: Hears of the progress.

    Raises:
        UsageError: there is no such method or no layer, or see `making.prepare` and `making.check_output`.
        EngineError: the device has no INT8, or see `making.prepare`.
        NoFaceError, ModelError, InstallationError: see `making.prepare`.
    """
    if method not in METHODS:
        raise UsageError(f"there is no calibration method '{method}': it is one of {', '.join(METHODS)}")
    check_output(output, located.path, overwrite=overwrite)
    subject = prepare(located, places, samples, device, on_step)
    if "int8" not in subject.device.precisions:
        raise EngineError(
            f"precision int8 is not there: {subject.device.name} ({subject.device.full_name}) computes in "
            f"{', '.join(subject.device.precisions)}"
        )
    named, outer = layers(subject.model), edges(subject.model)
    if not set(named) - outer:
        raise UsageError(f"{located.entry.id} has no layer between its first and its last that could be quantised")
    on_step(f"taking ranges of activations from {len(subject.items)} crops by {method}")
    ranges = calibrate(subject.model, subject.items, method)
    forms = _forms(subject, ranges, named, outer)
    on_step(f"INT8 is at most {forms[0].speed.value:.2f} times as fast here")
    kept, form = outer, forms[0]
    searched = even_if_slower or form.speed.value >= LEAST_SPEED
    if searched:
        kept, form = _search(subject, ranges, named, outer, forms, on_step)
    on_step(f"{len(kept)} of {len(named)} layers stay in float32")
    return finish(
        subject,
        lean(_made(subject, ranges, named, kept, form.scope)),
        output,
        technique="int8",
        choice=_int8(subject),
        settings={
            "method": method,
            "samples": len(subject.material.calibration),
            "scope": form.scope,
            "quantised": len(named) - len(kept),
            "kept": [name for name in named if name in kept],
            "fastest": round(form.speed.value, 3),
            "searched": searched,
        },
    )


def _forms(subject: Subject, ranges: Ranges, named: Sequence[str], outer: frozenset[str]) -> list[Form]:
    """Both scopes with all but the edges quantised, the fastest first."""
    scopes: tuple[Scope, ...] = ("around", "layers")
    runs = [of_item(subject.session, subject.items)]
    for scope in scopes:
        with as_file(_made(subject, ranges, named, outer, scope)) as path:
            runs.append(of_item(Opened(subject.located.entry, path, _int8(subject)).open(), subject.items))
    exact, *others = in_turn(runs, _PROBES, clock=clock_of(subject.device))
    forms = [Form(scope, of_paired_ratio(exact, times)) for scope, times in zip(scopes, others, strict=True)]
    return sorted(forms, key=lambda form: -form.speed.value)


def _search(
    subject: Subject,
    ranges: Ranges,
    named: Sequence[str],
    outer: frozenset[str],
    forms: Sequence[Form],
    on_step: OnStep,
) -> tuple[frozenset[str], Form]:
    """The layers to keep, and the form in which the bar is met with the fewest of them."""

    def passes(form: Form, kept: frozenset[str]) -> bool:
        with as_file(_made(subject, ranges, named, kept, form.scope)) as path:
            session = Opened(subject.located.entry, path, _int8(subject)).open()
            return not shortfalls(subject.search.metrics(path, session))

    for form in forms:
        if passes(form, outer):
            return outer, form
    inner = [name for name in named if name not in outer]
    on_step(f"measuring what each of {len(inner)} layers does in INT8")
    damage = Damage(subject.model, subject.items)
    order = sensitivities(
        inner, lambda chosen: damage.of(quantised(subject.model, ranges, neighbours(subject.model, chosen)))
    )
    harmful = [one.node for one in order]
    # A network without a quantised layer is its parent: at least the least harmful layer is to be one.
    found = [(fewest_kept(harmful[:-1], lambda kept, form=form: passes(form, kept), outer), form) for form in forms]
    reached = [(kept, form) for kept, form in found if kept is not None]
    return min(reached, key=lambda pair: len(pair[0])) if reached else (outer, forms[0])


def _made(subject: Subject, ranges: Ranges, named: Sequence[str], kept: frozenset[str], scope: Scope) -> Model:
    chosen = [name for name in named if name not in kept]
    nodes = neighbours(subject.model, chosen) if scope == "around" else frozenset(chosen)
    return quantised(subject.model, ranges, nodes)


def _int8(subject: Subject) -> Choice:
    return Choice(subject.device, "int8", "the artefact")
