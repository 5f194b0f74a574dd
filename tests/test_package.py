"""What is shipped: the wheel's files, the bundled networks and their licences, a light import."""

from __future__ import annotations

import hashlib
import platform
import shutil
import subprocess
import sys
import tomllib
import zipfile
from email.parser import Parser
from importlib import metadata
from pathlib import Path

import numpy as np
import pytest

import mien
from hatch_build import find_compiler
from mien.models.catalogue import BUNDLED_FOLDER, bundled
from mien.native.loading import open_variant, runnable, variant

ROOT = Path(__file__).resolve().parent.parent
HEAVY = ("numpy", "cv2", "av", "openvino", "PIL")


@pytest.fixture(scope="module")
def wheel(tmp_path_factory: pytest.TempPathFactory) -> zipfile.ZipFile:
    folder = tmp_path_factory.mktemp("wheel")
    command = [sys.executable, "-m", "hatchling", "build", "--target", "wheel", "--directory", str(folder)]
    if not find_compiler():
        # The build then fetches one, into an environment of its own.
        uv = shutil.which("uv") or str(Path(sys.executable).with_name("uv"))
        command = [uv, "build", "--wheel", "--out-dir", str(folder)]
    subprocess.run(command, cwd=ROOT, check=True, capture_output=True)
    (path,) = folder.glob("*.whl")
    return zipfile.ZipFile(path)


def tracked(pattern: str) -> set[str]:
    names = subprocess.run(["git", "ls-files", pattern], cwd=ROOT, check=True, capture_output=True, text=True).stdout
    return set(names.split())


def test_the_wheel_holds_every_file_of_the_package(wheel: zipfile.ZipFile) -> None:
    packed = {name for name in wheel.namelist() if name.startswith("mien/")}
    assert packed == {
        str(path.relative_to(ROOT / "src")) for path in (ROOT / "src" / "mien").rglob("*") if _is_shipped(path)
    }
    assert {name.removeprefix("src/") for name in tracked("src/mien")} <= packed
    assert "mien/py.typed" in packed


def _is_shipped(path: Path) -> bool:
    return path.is_file() and "__pycache__" not in path.parts


def test_the_wheel_is_of_one_platform_and_of_every_python(wheel: zipfile.ZipFile) -> None:
    (name,) = (name for name in wheel.namelist() if name.endswith(".dist-info/WHEEL"))
    fields = Parser().parsestr(wheel.read(name).decode())
    interpreter, abi, system = fields["Tag"].split("-")
    assert (interpreter, abi, fields["Root-Is-Purelib"]) == ("py3", "none", "false")
    assert system.endswith(platform.machine().lower())
    assert Path(str(wheel.filename)).stem.endswith(f"-{fields['Tag']}")


def test_the_libraries_of_the_wheel_load(wheel: zipfile.ZipFile, tmp_path: Path) -> None:
    for name in runnable():
        (member,) = (member for member in wheel.namelist() if f"native/kernels-{name}." in member)
        wheel.extract(member, tmp_path)
        assert variant(open_variant(name, tmp_path / "mien" / "native")) == name


def test_the_wheel_carries_the_licences(wheel: zipfile.ZipFile) -> None:
    (name,) = (name for name in wheel.namelist() if name.endswith(".dist-info/METADATA"))
    fields = Parser().parsestr(wheel.read(name).decode())
    listed = set(fields.get_all("License-File") or ())
    assert fields["License-Expression"] == "Apache-2.0"
    assert {"LICENSE", "NOTICE"} <= listed
    assert {f"src/mien/models/bundled/{entry.licence_file}" for entry in bundled().values()} <= listed
    folder = name.removesuffix("METADATA") + "licenses/"
    assert {folder + file for file in listed} <= set(wheel.namelist())


def test_the_command_is_installed(wheel: zipfile.ZipFile) -> None:
    (name,) = (name for name in wheel.namelist() if name.endswith("entry_points.txt"))
    assert "mien = mien.cli:main" in wheel.read(name).decode()


def test_one_version_everywhere() -> None:
    project = tomllib.loads((ROOT / "pyproject.toml").read_text(encoding="utf-8"))["project"]
    assert project["version"] == mien.__version__ == metadata.version("mien")
    assert f"## {mien.__version__}" in (ROOT / "CHANGELOG.md").read_text(encoding="utf-8")


def test_bundled_files_are_those_of_the_sums() -> None:
    listed = dict(
        reversed(line.split()) for line in (ROOT / "tools" / "networks" / "SHA256SUMS").read_text().splitlines()
    )
    found = {
        path.name: hashlib.sha256(path.read_bytes()).hexdigest() for path in BUNDLED_FOLDER.iterdir() if path.is_file()
    }
    assert found == listed


def test_the_catalogue_agrees_with_the_files() -> None:
    entries = bundled().values()
    assert {entry.file for entry in entries} == {path.name for path in BUNDLED_FOLDER.glob("*.onnx")}
    for entry in entries:
        entry.verify()
        assert (BUNDLED_FOLDER / entry.licence_file).stat().st_size > 500


def test_bundled_arrays_have_their_shapes() -> None:
    with np.load(BUNDLED_FOLDER / "canonical_face_mesh.npz") as mesh:
        shapes = {name: mesh[name].shape for name in mesh.files}
    assert shapes == {
        "xyz": (468, 3),
        "uv": (468, 2),
        "tri": (898, 3),
        "procrustes_idx": (33,),
        "procrustes_w": (33,),
    }


def test_notice_and_readme_name_every_network() -> None:
    for document in ("NOTICE", "README.md"):
        text = (ROOT / document).read_text(encoding="utf-8")
        for entry in bundled().values():
            assert entry.file.removesuffix("_fp16w.onnx") in text, f"{document} does not name {entry.file}"
            assert entry.licence in text


@pytest.mark.parametrize(
    "module",
    [
        "mien",
        "mien.recipe",
        "mien.report",
        "mien.cli",
        *(f"mien.{name}" for name in ("media", "engine", "models", "faces", "edit", "quality", "pipeline")),
    ],
)
def test_import_is_light(module: str) -> None:
    code = f"import sys, {module}; print(*(name for name in {HEAVY!r} if name in sys.modules))"
    run = subprocess.run([sys.executable, "-c", code], check=True, capture_output=True, text=True)
    assert run.stdout.split() == []


def test_the_front_page_names_what_is_there() -> None:
    for name in mien.__all__:
        assert getattr(mien, name) is not None
    with pytest.raises(AttributeError, match="module 'mien' has no attribute 'swop'"):
        mien.swop  # noqa: B018
