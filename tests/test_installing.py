"""The command that is named is one that works in the environment it is named for."""

from __future__ import annotations

import json
import shlex
import subprocess
import sys
import venv
from importlib import metadata, util
from pathlib import Path

import pytest

from mien import installing
from mien.installing import install_command

PROGRAM = "from mien.installing import install_command; print(install_command('mien[heic]'))"
SOURCES = Path(installing.__file__).parents[1]


@pytest.mark.parametrize("with_pip", [True, False])
def test_a_real_environment_is_told_a_tool_that_it_has(tmp_path: Path, with_pip: bool) -> None:
    """Environments made by uv have no pip."""
    folder = tmp_path / "an environment"
    venv.create(folder, with_pip=with_pip, symlinks=True)
    python = folder / ("Scripts/python.exe" if sys.platform == "win32" else "bin/python")
    environment = {"PYTHONPATH": str(SOURCES), "PATH": str(folder / "nothing")}
    done = subprocess.run([python, "-c", PROGRAM], env=environment, capture_output=True, text=True, check=True)
    command = shlex.split(done.stdout)
    if with_pip:
        assert command == [str(python), "-m", "pip", "install", "mien[heic]"]
        subprocess.run([*command[:3], "--version"], check=True, capture_output=True)
    else:  # No uv on the path either, but Python's own way to bring pip.
        assert command[:4] == [str(python), "-m", "ensurepip", "&&"]


def test_without_pip_uv_is_told_which_python(monkeypatch: pytest.MonkeyPatch) -> None:
    found = util.find_spec
    monkeypatch.setattr(util, "find_spec", lambda name: None if name == "pip" else found(name))
    monkeypatch.setattr(installing.shutil, "which", lambda name: f"/bin/{name}")
    assert shlex.split(install_command("mien[heic]")) == [
        *("uv", "pip", "install", "mien[heic]", "--python", sys.executable)
    ]
    assert shlex.split(install_command("av", anew=True))[:5] == ["uv", "pip", "install", "--reinstall", "av"]


@pytest.mark.parametrize(
    ("origin", "what"),
    [
        (None, ["mien"]),
        ({"url": "file:///a/mien-0.1.0.whl", "archive_info": {}}, ["mien"]),
        ({"url": "file:///a/check%20out", "dir_info": {"editable": True}}, ["-e", "/a/check out"]),
    ],
)
def test_a_checkout_is_put_in_again_from_where_it_is(
    monkeypatch: pytest.MonkeyPatch, origin: dict[str, object] | None, what: list[str]
) -> None:
    class Found:
        def read_text(self, name: str) -> str | None:
            return json.dumps(origin) if origin and name == "direct_url.json" else None

    monkeypatch.setattr(metadata, "distribution", lambda _name: Found())
    command = shlex.split(install_command("mien", anew=True))
    assert " ".join(what) in " ".join(command)
    assert "mien[heic]" in shlex.split(install_command("mien[heic]"))
