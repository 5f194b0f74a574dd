"""A report from its plain form."""

from __future__ import annotations

import dataclasses
from collections.abc import Mapping
from types import UnionType
from typing import Any, cast, get_args, get_origin, get_type_hints

from mien.report import Report


def read_report(members: Mapping[str, Any]) -> Report:
    """The inverse of `Report.to_mapping`; what this version does not know is left out."""
    return _read(Report, members)


def _read(kind: Any, value: Any) -> Any:
    if get_origin(kind) is UnionType:
        kinds = [one for one in get_args(kind) if one is not type(None)]
        return None if value is None or len(kinds) != 1 else _read(kinds[0], value)
    if get_origin(kind) is list:
        return [_read(get_args(kind)[0], item) for item in cast("list[Any]", value)]
    if not dataclasses.is_dataclass(kind):
        return value
    hints = get_type_hints(kind)
    return kind(**{name: _read(hints[name], item) for name, item in value.items() if name in hints})  # type: ignore[operator]
