"""The cards of a folder as one page that needs nothing else: a plot for each parent, and a table."""

from __future__ import annotations

import math
from collections.abc import Sequence
from html import escape
from itertools import groupby

from mien.optimize.card import Card
from mien.optimize.gate import deciding
from mien.optimize.ledger import HEAD, Point, pareto, rows
from mien.optimize.metrics import Metric

_WIDTH, _HEIGHT = 520, 300
_LEFT, _RIGHT, _TOP, _BOTTOM = 70, 20, 20, 45
_COLOURS = {"passed": "#1a7f37", "does not pay": "#9a6700", "refused": "#cf222e"}
_STYLE = """
body { font: 15px/1.45 system-ui, sans-serif; max-width: 1100px; margin: 2em auto; padding: 0 1em; color: #1f2328 }
table { border-collapse: collapse; width: 100% } td, th { padding: .35em .6em; text-align: left }
th, td { border-bottom: 1px solid #d1d9e0 } td.n { white-space: nowrap }
.passed { color: #1a7f37 } .does-not-pay { color: #9a6700 } .refused { color: #cf222e }
svg { max-width: 100%; height: auto } figure { margin: 1em 0 } figcaption { color: #59636e }
@media (prefers-color-scheme: dark) { body { background: #0d1117; color: #e6edf3 } svg text { fill: #e6edf3 } }
"""


def page(cards: Sequence[Card]) -> str:
    """The whole page, HTML; cards in the ledger's order."""
    plots = "".join(_plot(model, list(group)) for model, group in groupby(cards, key=lambda card: card.parent.model))
    return (
        f'<!doctype html><html lang="en"><head><meta charset="utf-8"><title>Cheaper networks</title>'
        f'<meta name="viewport" content="width=device-width"><style>{_STYLE}</style></head><body>'
        f"<h1>Cheaper networks</h1>{plots}<h2>All artefacts</h2>{_table(cards)}</body></html>\n"
    )


def deciding_metric(cards: Sequence[Card]) -> str | None:
    """The first metric that all artefacts of one parent share, of those that the gate looks at."""
    shared = [{metric.name for metric in card.metrics} for card in cards]
    names = (metric.name for metric in deciding(cards[0].metrics))
    return next((name for name in names if all(name in one for one in shared)), None)


def _plot(model: str, cards: Sequence[Card]) -> str:
    name = deciding_metric(cards)
    if name is None:
        return f"<h2>{escape(model)}</h2><p>Its artefacts share no metric.</p>"
    metrics = [next(metric for metric in card.metrics if metric.name == name) for card in cards]
    known = [(card, metric) for card, metric in zip(cards, metrics, strict=True) if math.isfinite(metric.value)]
    if not known:
        return f"<h2>{escape(model)}</h2><p>None of its artefacts works.</p>"
    sign = 1 if metrics[0].higher_is_better else -1
    front = pareto([Point(card.cost.latency_ms, sign * metric.value) for card, metric in known])
    parent_ms = sum(card.parent_cost.latency_ms for card in cards) / len(cards)
    unit = f", {metrics[0].unit}" if metrics[0].unit else ""
    which = "more" if sign > 0 else "less"
    return (
        f"<h2>{escape(model)}</h2><figure>{_svg(known, front, parent_ms, f'{name}{unit}')}"
        f"<figcaption>{escape(name)} ({which} is better) against latency on {escape(cards[0].device)}. Bars: 95 % "
        f"confidence. Joined: no other is both faster and better. Dashed: the parent's latency.</figcaption></figure>"
    )


def _svg(known: Sequence[tuple[Card, Metric]], front: Sequence[int], parent_ms: float, label: str) -> str:
    right_ms = 1.1 * max([parent_ms, *(card.cost.latency_ms for card, _ in known)])
    ends = [end for _, metric in known for end in (metric.low, metric.high) if math.isfinite(end)]
    least, most = min(ends), max(ends)
    margin = 0.1 * (most - least) or 0.1 * abs(most) or 1.0
    least, most = least - margin, most + margin

    def x(latency_ms: float) -> float:
        return round(_LEFT + (_WIDTH - _LEFT - _RIGHT) * latency_ms / right_ms, 1)

    def y(value: float) -> float:
        held = min(max(value, least), most)
        return round(_HEIGHT - _BOTTOM - (_HEIGHT - _TOP - _BOTTOM) * (held - least) / (most - least), 1)

    base, end = _HEIGHT - _BOTTOM, _WIDTH - _RIGHT
    parts = [
        f'<path d="M{_LEFT} {_TOP}V{base}H{end}" fill="none" stroke="#818b98"/>',
        f'<path d="M{x(parent_ms)} {_TOP}V{base}" stroke="#818b98" stroke-dasharray="4 4"/>',
        _text((_LEFT + end) / 2, _HEIGHT - 8, "latency, ms", "middle"),
        f'<g transform="translate(14 {(base + _TOP) / 2}) rotate(-90)">{_text(0, 0, label, "middle")}</g>',
    ]
    parts += [_text(x(part * right_ms / 4), base + 16, f"{part * right_ms / 4:.3g}", "middle") for part in range(5)]
    parts += [_text(_LEFT - 6, y(value) + 4, f"{value:.4g}", "end") for value in (least, (least + most) / 2, most)]
    if len(front) > 1:
        steps = " ".join(f"{x(known[number][0].cost.latency_ms)},{y(known[number][1].value)}" for number in front)
        parts.append(f'<polyline points="{steps}" fill="none" stroke="#0969da" class="front"/>')
    for card, metric in known:
        across, colour = x(card.cost.latency_ms), _COLOURS[card.verdict.outcome]
        parts.append(f'<path d="M{across} {y(metric.low)}V{y(metric.high)}" stroke="{colour}"/>')
        parts.append(
            f'<circle cx="{across}" cy="{y(metric.value)}" r="5" fill="{colour}"><title>{escape(card.file)}: '
            f"{metric.value:.4g}, {card.cost.latency_ms:.1f} ms, {card.verdict.outcome}</title></circle>"
        )
        parts.append(_text(across + 8, y(metric.value) - 6, card.file.removesuffix(".onnx"), "start"))
    return f'<svg viewBox="0 0 {_WIDTH} {_HEIGHT}" width="{_WIDTH}" role="img">{"".join(parts)}</svg>'


def _text(x: float, y: float, words: str, anchor: str) -> str:
    return f'<text x="{x}" y="{y}" font-size="11" text-anchor="{anchor}">{escape(words)}</text>'


def _table(cards: Sequence[Card]) -> str:
    head = "".join(f"<th>{escape(name)}</th>" for name in HEAD)
    lines = "".join(_line(card, row) for card, row in zip(cards, rows(cards), strict=True))
    return f"<table><thead><tr>{head}</tr></thead><tbody>{lines}</tbody></table>"


def _line(card: Card, row: tuple[str, ...]) -> str:
    *cells, outcome = row
    first = "".join(f'<td class="n">{escape(cell)}</td>' for cell in cells)
    name = outcome.replace(" ", "-")
    why = escape("; ".join(card.verdict.reasons))
    return f'<tr>{first}<td><b class="{name}">{escape(outcome)}</b>: {why}</td></tr>'
