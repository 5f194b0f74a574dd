"""Checks what [tool.mien] in pyproject.toml says about src/mien.

Imports point down the list of layers only, each optional stack is imported only by its adapters, and no module is
longer than it should be. Imports inside functions and under TYPE_CHECKING count as well; the package's own front
page, mien/__init__.py, may name anything of mien.
"""

from __future__ import annotations

import ast
import sys
import tomllib
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path

ROOT = Path(__file__).resolve().parent.parent


@dataclass(frozen=True, slots=True)
class Rules:
    """The project's own rules."""

    layers: Sequence[Sequence[str]]
    """Top layer first; names of modules and packages right below the package."""
    adapters: dict[str, Sequence[str]]
    """Optional stack -> the modules (and all below them) that may import it."""
    max_module_lines: int

    @classmethod
    def load(cls, pyproject: Path = ROOT / "pyproject.toml") -> Rules:
        """Read [tool.mien]."""
        table = tomllib.loads(pyproject.read_text(encoding="utf-8"))["tool"]["mien"]
        return cls(table["layers"], table["adapters"], table["max_module_lines"])

    def level(self, name: str) -> int | None:
        """Place of a module's or package's layer, 0 = top; None if it is in no layer."""
        return next((level for level, names in enumerate(self.layers) if name in names), None)


def module_name(path: Path, source: Path) -> str:
    """`mien.media.video` for src/mien/media/video.py, `mien.media` for its __init__.py."""
    parts = path.relative_to(source).with_suffix("").parts
    return ".".join(parts[:-1] if parts[-1] == "__init__" else parts)


def imports(tree: ast.AST, package: str) -> Iterator[tuple[int, str]]:
    """Line and full name of everything imported; `package` is what a relative import starts from."""
    for node in ast.walk(tree):
        if isinstance(node, ast.Import):
            yield from ((node.lineno, alias.name) for alias in node.names)
        elif isinstance(node, ast.ImportFrom):
            base = package.split(".")[: len(package.split(".")) - node.level + 1] if node.level else []
            stem = ".".join([*base, *([node.module] if node.module else [])])
            yield from ((node.lineno, f"{stem}.{alias.name}") for alias in node.names)


def problems(path: Path, source: Path, rules: Rules) -> Iterator[str]:
    """What is wrong with one module, one sentence each."""
    text = path.read_text(encoding="utf-8")
    module = module_name(path, source)
    root, *below = module.split(".")
    if not below:
        return
    where = path.relative_to(source.parent)
    if (lines := text.count("\n")) > rules.max_module_lines:
        yield f"{where}: {lines} lines, at most {rules.max_module_lines}: split it by what it is about"
    level = rules.level(below[0])
    if level is None:
        yield f"{where}: '{below[0]}' is in no layer: add it to [tool.mien] layers"
        return
    package = module if path.name == "__init__.py" else module.rpartition(".")[0]
    for line, name in imports(ast.parse(text, str(path)), package):
        stack, *rest = name.split(".")
        if stack == root and rest:
            other = rules.level(rest[0])
            if other is not None and other < level:
                yield f"{where}:{line}: '{below[0]}' imports '{rest[0]}', a layer above it"
        elif stack in rules.adapters and not any(
            f"{module}.".startswith(f"{adapter}.") for adapter in rules.adapters[stack]
        ):
            yield f"{where}:{line}: imports {stack}, which only {', '.join(rules.adapters[stack])} may"


def check(source: Path, rules: Rules) -> list[str]:
    """All problems of all modules below `source`."""
    return [problem for path in sorted(source.rglob("*.py")) for problem in problems(path, source, rules)]


def main() -> int:
    found = check(ROOT / "src", Rules.load())
    for problem in found:
        print(problem)
    print(f"layers: {len(found)} problems" if found else "layers: all right")
    return 1 if found else 0


if __name__ == "__main__":
    sys.exit(main())
