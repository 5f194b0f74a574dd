"""The packages that rewrite networks: `onnx` and ONNX Runtime, which come with the extra `optimize`."""

from __future__ import annotations

import importlib
from types import ModuleType
from typing import Any

from mien.engine.onnxruntime import load_runtime
from mien.errors import InstallationError
from mien.installing import install_command

Model = Any
"""An `onnx.ModelProto`, whose package types nothing of it."""

EXTRA = "mien[optimize]"


def onnx(part: str = "") -> ModuleType:
    """The package `onnx`, or a module of it.

    Raises:
        InstallationError: it is not installed.
    """
    return _load("onnx", part)


def runtime(part: str = "") -> ModuleType:
    """ONNX Runtime, its telemetry off, or a module of it.

    Raises:
        InstallationError: it is not installed.
        EngineError: it is broken.
    """
    load_runtime()
    return _load("onnxruntime", part)


def require() -> None:
    """Look whether all is there, before long work.

    Raises:
        InstallationError: something is not.
        EngineError: ONNX Runtime is broken.
    """
    onnx()
    runtime("quantization")


def _load(package: str, part: str) -> ModuleType:
    try:
        return importlib.import_module(f"{package}.{part}" if part else package)
    except ImportError as error:
        raise InstallationError(
            f"rewriting networks needs the package {package}, which is not there ({error}): {install_command(EXTRA)}"
        ) from error
