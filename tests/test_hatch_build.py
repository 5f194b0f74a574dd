"""The build's own policy: which compiler, which variants, what is fetched, what a failure says."""

from __future__ import annotations

import sys
from pathlib import Path

import pytest
from hatchling import build

import hatch_build
from hatch_build import CompileError, compile_all, compile_library, compiler, find_compiler, variants

ROOT = Path(hatch_build.__file__).parent

needs_a_compiler = pytest.mark.skipif(find_compiler() is None, reason="no C compiler here")


@pytest.fixture
def without_compiler(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    monkeypatch.setenv("PATH", str(tmp_path))
    monkeypatch.delenv("CC", raising=False)


def plant(folder: Path, *names: str) -> str:
    """Programs of these names; gives back the PATH that finds them."""
    for name in names:
        (folder / name).write_text("")
        (folder / name).chmod(0o755)
    return str(folder)


@pytest.mark.parametrize(
    ("there", "named", "found"),
    [
        (["cc", "gcc", "clang"], "", "cc"),
        (["gcc", "clang"], "", "gcc"),
        (["clang"], "", "clang"),
        ([], "", None),
        (["cc", "icx"], "icx", "icx"),
        (["cc", "ccache"], "ccache cc -pipe", "ccache cc -pipe"),
    ],
)
@pytest.mark.skipif(sys.platform == "win32", reason="programs have other names")
def test_the_compiler_is_the_named_one_or_the_first_of_the_path(tmp_path, there, named, found):
    command = find_compiler({"PATH": plant(tmp_path, *there), "CC": named})
    assert (command and [Path(command[0]).name, *command[1:]]) == (found and found.split())


def test_a_named_compiler_that_is_not_there_is_not_replaced(tmp_path):
    with pytest.raises(CompileError, match="CC names icx, which is not there"):
        find_compiler({"PATH": str(tmp_path), "CC": "icx"})


@pytest.mark.usefixtures("without_compiler")
def test_without_any_compiler_the_message_says_what_to_install(monkeypatch):
    monkeypatch.setitem(sys.modules, "ziglang", None)
    monkeypatch.setattr(hatch_build.importlib.util, "find_spec", lambda _: None)
    with pytest.raises(CompileError, match=r"apt-get install gcc libc6-dev.*pip install ziglang"):
        compiler()


@pytest.mark.parametrize(
    ("machine", "command", "names", "aim"),
    [
        ("x86_64", ["/usr/bin/cc"], ["baseline", "x86-64-v3"], "-mavx2"),
        ("AMD64", ["gcc"], ["baseline", "x86-64-v3"], "-mavx2"),
        ("x86_64", ["python", "-m", "ziglang", "cc"], ["baseline", "x86-64-v3"], "-mcpu=x86_64_v3"),
        ("aarch64", ["/usr/bin/cc"], ["baseline"], None),
        ("arm64", ["clang"], ["baseline"], None),
        ("aarch64", ["zig", "cc"], ["baseline"], "-mcpu=baseline"),
    ],
)
def test_variants_are_those_of_the_architecture(machine, command, names, aim):
    made = variants(command, machine)
    assert list(made) == names
    assert made[names[-1]] == () if aim is None else aim in made[names[-1]]


def test_a_compiler_is_fetched_only_where_there_is_none(monkeypatch, tmp_path):
    monkeypatch.chdir(ROOT)
    monkeypatch.delenv("CC", raising=False)
    monkeypatch.setenv("PATH", plant(tmp_path, "cc"))
    assert not any("ziglang" in need for need in build.get_requires_for_build_wheel())
    (tmp_path / "cc").unlink()
    for asks in (build.get_requires_for_build_wheel, build.get_requires_for_build_editable):
        assert any("ziglang" in need for need in asks())
    assert not any("ziglang" in need for need in build.get_requires_for_build_sdist())


@needs_a_compiler
def test_c_that_does_not_compile_is_shown_and_leaves_what_was_there(monkeypatch, tmp_path):
    (tmp_path / "broken.c").write_text("int broken(void) { return nothing; }\n")
    monkeypatch.setattr(hatch_build, "FOLDER", tmp_path)
    target = tmp_path / "kernels-baseline.so"
    target.write_bytes(b"from before")
    with pytest.raises(CompileError, match=r"(?s)broken\.c:1.*nothing.*mien's C does not compile.*CC="):
        compile_library(compiler(), (), target)
    assert {path.name for path in tmp_path.iterdir()} == {"broken.c", target.name}
    assert target.read_bytes() == b"from before"


def test_a_compiler_that_does_not_start_is_said(tmp_path):
    with pytest.raises(CompileError, match="the C compiler does not start"):
        compile_library([str(tmp_path / "cc")], (), tmp_path / "kernels-baseline.so")


@needs_a_compiler
def test_every_variant_becomes_a_library_with_its_name(monkeypatch, tmp_path):
    (tmp_path / "name.c").write_text('const char *name(void) { return "name is " MIEN_VARIANT; }\n')
    monkeypatch.setattr(hatch_build, "FOLDER", tmp_path)
    made = compile_all(tmp_path)
    assert [path.stem for path in made] == [f"kernels-{name}" for name in variants(compiler())]
    for path in made:
        assert f"name is {path.stem.removeprefix('kernels-')}".encode() in path.read_bytes()
