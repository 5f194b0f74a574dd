"""Compiles the C of src/mien/native into shared libraries beside it, before a wheel or an editable install is made.

One library a variant: `baseline`, which every processor of the architecture runs (on x86-64 of its level v2, which
NumPy needs as well), and on x86-64 also `x86-64-v3`. mien.native.loading takes the best that the processor runs.

Run as a program it compiles into nowhere and fails at any warning.
"""

from __future__ import annotations

import importlib.util
import os
import platform
import shlex
import shutil
import subprocess
import sys
import tempfile
from collections.abc import Mapping, Sequence
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from typing import Any

from hatchling.builders.hooks.plugin.interface import BuildHookInterface
from hatchling.builders.wheel import WheelBuilderConfig

FOLDER = Path(__file__).resolve().parent / "src" / "mien" / "native"
SUFFIX = {"darwin": ".dylib", "win32": ".dll"}.get(sys.platform, ".so")

FLAGS = (
    *("-std=c11", "-O3", "-shared", "-fvisibility=hidden"),
    # What of -ffast-math cannot change a result beyond its last digits: no errno, no traps, multiply-add in one.
    *("-fno-math-errno", "-fno-trapping-math", "-ffp-contract=fast"),
)

X86_64_V2 = ("-msse4.2", "-mpopcnt")
X86_64_V3 = (*X86_64_V2, "-mavx2", "-mfma", "-mbmi", "-mbmi2", "-mf16c", "-mlzcnt", "-mmovbe")
"""The levels feature by feature: compilers before GCC 11 and Clang 12 do not know them by name."""

NO_COMPILER = """\
mien needs a C compiler to be built, and found neither {tried} nor Python's package ziglang.
Install one (on Debian: apt-get install gcc libc6-dev; on macOS: xcode-select --install; anywhere: pip install ziglang),
or name one with CC=/path/to/compiler."""


class CompileError(Exception):
    """No compiler, or one that refuses; the message says what to do."""


def find_compiler(environment: Mapping[str, str] = os.environ) -> list[str] | None:
    """The command of the compiler that `CC` names or that is on the PATH; None if there is none."""
    if named := shlex.split(environment.get("CC", ""), posix=os.name != "nt"):
        if not shutil.which(named[0], path=environment.get("PATH")):
            raise CompileError(f"CC names {named[0]}, which is not there: correct it, or unset it")
        return named
    for name in ("cc", "gcc", "clang"):
        if path := shutil.which(name, path=environment.get("PATH")):
            return [path]
    return None


def compiler() -> list[str]:
    """The command of the compiler to use."""
    if found := find_compiler():
        return found
    if importlib.util.find_spec("ziglang"):
        return [sys.executable, "-m", "ziglang", "cc"]
    raise CompileError(NO_COMPILER.format(tried="cc, gcc, clang"))


def variants(command: Sequence[str], machine: str = platform.machine()) -> dict[str, tuple[str, ...]]:
    """Name of each variant for a kind of machine, and the flags that make the compiler aim at its processors."""
    # Zig aims at the very processor it runs on unless told otherwise, and tells by one option of its own.
    is_zig = any("zig" in Path(word).name.lower() for word in command)
    if machine.lower() in ("x86_64", "amd64"):
        if is_zig:
            return {"baseline": ("-mcpu=x86_64_v2",), "x86-64-v3": ("-mcpu=x86_64_v3",)}
        return {"baseline": X86_64_V2, "x86-64-v3": X86_64_V3}
    return {"baseline": ("-mcpu=baseline",) if is_zig else ()}


def compile_library(command: Sequence[str], flags: Sequence[str], target: Path) -> None:
    """Compile all C files of the package into the one library `target`, which is there complete or not at all."""
    sources = sorted(str(path) for path in FOLDER.glob("*.c"))
    position = () if sys.platform == "win32" else ("-fPIC",)
    mathematics = () if sys.platform == "win32" else ("-lm",)
    with tempfile.TemporaryDirectory(dir=target.parent, prefix=".build-") as folder:
        made = Path(folder) / target.name
        call = [*command, *FLAGS, *position, *flags, "-o", str(made), *sources, *mathematics]
        try:
            run = subprocess.run(call, cwd=folder, capture_output=True, text=True, errors="replace")
        except OSError as error:
            raise CompileError(f"the C compiler does not start: {error}; name another one with CC=") from error
        if run.returncode:
            hint = "Is the compiler complete (on Debian: apt-get install gcc libc6-dev)? CC= names another one."
            raise CompileError(f"{shlex.join(call)}\n{run.stdout}{run.stderr}mien's C does not compile. {hint}")
        made.replace(target)


def compile_all(folder: Path, extra: Sequence[str] = ()) -> list[Path]:
    """Compile every variant into `folder`; gives back their files."""
    command = compiler()

    def make(name: str, flags: Sequence[str]) -> Path:
        target = folder / f"kernels-{name}{SUFFIX}"
        compile_library(command, (*flags, *extra, f'-DMIEN_VARIANT="{name}"'), target)
        return target

    aims = variants(command)
    with ThreadPoolExecutor() as pool:
        return list(pool.map(make, aims.keys(), aims.values()))


class NativeBuildHook(BuildHookInterface[WheelBuilderConfig]):
    """What hatchling calls."""

    def dependencies(self) -> list[str]:
        """A compiler from the package index where the machine has none."""
        return [] if find_compiler() else ["ziglang>=0.15"]

    def initialize(self, version: str, build_data: dict[str, Any]) -> None:  # noqa: ARG002
        """Compile, and make the wheel one of this platform."""
        try:
            made = compile_all(FOLDER)
        except CompileError as error:
            self.app.abort(str(error))
            raise
        build_data["artifacts"] += [path.relative_to(self.root).as_posix() for path in made]
        build_data["pure_python"] = False
        # The libraries know nothing of Python: any version of it may load them.
        build_data["tag"] = f"py3-none-{self.build_config.builder.get_best_matching_tag().rpartition('-')[2]}"


def main() -> int:
    """Whether the C compiles without a warning."""
    with tempfile.TemporaryDirectory() as folder:
        try:
            made = compile_all(Path(folder), ("-Wall", "-Wextra", "-Werror"))
        except CompileError as error:
            print(error, file=sys.stderr)
            return 1
    print(f"native: {', '.join(path.name for path in made)} compile without a warning")
    return 0


if __name__ == "__main__":
    sys.exit(main())
