"""The tree of errors and the exit codes that hang on it."""

from __future__ import annotations

import inspect

import pytest

from mien import errors
from mien.errors import MienError

CLASSES = [value for value in vars(errors).values() if inspect.isclass(value)]


def drawn_tree() -> dict[str, tuple[int, int | None]]:
    """Name -> (depth, exit code if written there) as the module's docstring draws it."""
    drawn: dict[str, tuple[int, int | None]] = {}
    for line in inspect.getdoc(errors).splitlines():  # type: ignore[union-attr]
        words = line.replace("│", " ").replace("├──", "   ").replace("└──", "   ").split()
        if words and words[0].endswith(("Error", "Interrupted", "Refused")) and line.startswith("    "):
            depth = (len(line) - len(line.lstrip(" │├└─"))) // 4 - 1
            drawn[words[0]] = (depth, int(words[-1]) if words[-2:-1] == ["exit"] else None)
    return drawn


def test_every_error_is_drawn_where_it_hangs() -> None:
    drawn = drawn_tree()
    assert {cls.__name__: len(cls.__mro__) - len(MienError.__mro__) for cls in CLASSES} == {
        name: depth for name, (depth, _) in drawn.items()
    }
    order = [cls.__name__ for cls in CLASSES]
    for name, (depth, _) in drawn.items():
        parent = getattr(errors, name).__mro__[1].__name__
        if depth:
            above = [other for other in order[: order.index(name)] if drawn[other][0] == depth - 1]
            assert parent == above[-1]


def test_exit_codes_are_the_drawn_ones() -> None:
    for name, (_, code) in drawn_tree().items():
        if code is not None:
            assert getattr(errors, name).exit_code == code


@pytest.mark.parametrize(
    ("cls", "code"),
    [
        (errors.MienError, 1),
        (errors.UsageError, 2),
        (errors.RecipeError, 2),
        (errors.PolicyError, 3),
        (errors.Interrupted, 4),
        (errors.JobError, 1),
        (errors.UnreadableError, 1),
        (errors.UnwritableError, 1),
        (errors.UnsupportedMediaError, 1),
        (errors.NoFaceError, 1),
        (errors.UnfitSourceError, 1),
        (errors.ModelError, 1),
        (errors.EngineError, 1),
    ],
)
def test_exit_code(cls: type[MienError], code: int) -> None:
    assert cls("why").exit_code == code


def test_every_error_says_what_it_is_for() -> None:
    assert all(issubclass(cls, MienError) and cls.__doc__ for cls in CLASSES)
