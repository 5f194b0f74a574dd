"""Figures as JSON, which has no infinity: null stands for as bad as can be."""

from __future__ import annotations

import math
from collections.abc import Mapping
from typing import Any

from mien.optimize.metrics import Metric


def plain(value: Any) -> Any:
    """A value of mappings, sequences and numbers, with null for what is not finite."""
    if isinstance(value, Mapping):
        return {name: plain(one) for name, one in value.items()}
    if isinstance(value, list | tuple):
        return [plain(one) for one in value]
    return None if isinstance(value, float) and not math.isfinite(value) else value


def metric_of(fields: Mapping[str, Any]) -> Metric:
    """A metric as `plain` wrote it.

    Raises:
        KeyError, TypeError: it is none.
    """
    worst = -math.inf if fields["higher_is_better"] else math.inf
    known: dict[str, Any] = {name: worst if value is None else value for name, value in fields.items()}
    return Metric(**known)
