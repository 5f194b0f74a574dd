"""What `mien doctor` looks at. Every check answers, whatever state the installation is in."""

from __future__ import annotations

import os
import platform
import shutil
import tempfile
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from importlib import import_module, metadata
from pathlib import Path
from typing import TYPE_CHECKING, Literal

from mien.cli.console import format_bytes
from mien.errors import EngineError, InstallationError, ModelError
from mien.installing import install_command

if TYPE_CHECKING:
    from mien.media.capabilities import Support

State = Literal["ok", "absent", "broken"]
"""`absent`: optional and not there; `broken`: mien does not work without it."""

PACKAGES = {"numpy": "numpy", "cv2": "opencv-python-headless", "av": "av", "PIL": "pillow"}
"""Module and distribution of everything mien cannot do without, beside an engine."""

ENGINES = {"openvino": "openvino"}
"""The same of what runs networks."""

ESSENTIAL = frozenset({"h264", "mp4", "mov", "mkv", "jpeg", "png"})
"""What an installation must handle to be called sound."""

LOW_DISK_BYTES = 2_000_000_000
"""Less free space than this is worth a word: a long video's parts are kept until they are joined."""


@dataclass(frozen=True, slots=True)
class Check:
    """One thing looked at."""

    topic: str
    name: str
    state: State
    detail: str
    remedy: str | None = None
    """The command or step that mends it."""


def run_checks() -> list[Check]:
    """Every check, in the order in which a reader wants them."""
    from mien.cli.trust_checks import trust_checks

    packages = [*_packages("packages", PACKAGES), *_packages("engines", ENGINES)]
    if any(check.state == "broken" for check in packages):
        return packages
    return [
        *packages,
        *_optional_engines(),
        *_devices(),
        *_models(),
        *trust_checks(),
        *_formats(),
        native_check(),
        *machine_checks(),
    ]


def _packages(topic: str, modules: Mapping[str, str]) -> Iterator[Check]:
    for module, distribution in modules.items():
        try:
            import_module(module)
            yield Check(topic, distribution, "ok", metadata.version(distribution))
        except (ImportError, OSError) as error:
            yield Check(topic, distribution, "broken", str(error), install_command(distribution, anew=True))


def native_check() -> Check:
    """The library of kernels, and the variant that this processor runs."""
    from mien.native.loading import library, runnable, variant

    try:
        detail = f"{variant(library())}, out of {', '.join(runnable())}"
        return Check("machine", "kernels", "ok", detail)
    except InstallationError as error:
        return Check("machine", "kernels", "broken", str(error), install_command("mien", anew=True))


def _optional_engines() -> Iterator[Check]:
    from mien.engine.machine import onnxruntime_distributions
    from mien.engine.onnxruntime import load_runtime

    several = onnxruntime_distributions()
    if len(several) > 1:
        detail = f"{' and '.join(several)} are installed, which overwrite each other"
        mends = f"pip uninstall {' '.join(several)}, then install one again"
        yield Check("engines", "onnxruntime", "broken", detail, mends)
        return
    try:
        yield Check("engines", "onnxruntime", "ok", load_runtime().__version__)
    except EngineError:
        brings = f"{install_command('mien[cuda]')}, or mien[tensorrt] or mien[onnxruntime] instead"
        yield Check("engines", "onnxruntime", "absent", "not installed: brings GPUs other than Intel's", brings)


def _devices() -> Iterator[Check]:
    from mien.engine.machine import all_devices

    devices = all_devices()
    for device in devices:
        detail = f"{device.full_name}: {', '.join(device.precisions)}, by {device.engine}"
        yield Check("devices", device.name, "ok", detail)
    if not any(device.name == "cpu" for device in devices):
        yield Check("devices", "cpu", "broken", "the engine sees no CPU", install_command("openvino", anew=True))


def _models() -> Iterator[Check]:
    from mien.models.catalogue import bundled

    for entry in bundled().values():
        try:
            entry.verify()
        except ModelError as error:
            yield Check("models", entry.id, "broken", str(error), install_command("mien", anew=True))
        else:
            yield Check("models", entry.id, "ok", f"{entry.role}, {entry.licence}, {format_bytes(entry.bytes)}")


def _formats() -> Iterator[Check]:
    from mien.media.capabilities import codec_support, container_support, picture_support

    for topic, supports, distribution in (
        ("codecs", codec_support(), "av"),
        ("containers", container_support(), "av"),
        ("pictures", picture_support(), "pillow"),
    ):
        for support in supports:
            yield format_check(topic, support, distribution)


def format_check(topic: str, support: Support, distribution: str) -> Check:
    """The check of a codec, container or picture format that `distribution` brings."""
    reads = "read" if support.reads else "not read"
    writes = "written" if support.writes else "not written"
    detail = f"{reads}, {writes}" + (f" by {support.encoder}" if support.encoder else "")
    if support.reads and support.writes:
        return Check(topic, support.name, "ok", detail)
    state: State = "broken" if support.name in ESSENTIAL else "absent"
    brings = install_command(f"mien[{support.extra}]") if support.extra else install_command(distribution, anew=True)
    return Check(topic, support.name, state, detail, brings)


def machine_checks() -> Iterator[Check]:
    """Processors, cache folder and free space."""
    from mien.engine.cache import open_cache

    yield Check("machine", "processors", "ok", f"{os.cpu_count()}, {platform.machine()}")
    cache = open_cache()
    if cache.folder is None:
        yield Check("machine", "cache", "absent", cache.warning or "no cache folder", "set MIEN_CACHE to a folder")
    else:
        yield Check("machine", "cache", "ok", str(cache.folder))
    for name, folder in (("disk here", Path.cwd()), ("disk for temporary files", Path(tempfile.gettempdir()))):
        free = shutil.disk_usage(folder).free
        state: State = "ok" if free >= LOW_DISK_BYTES else "absent"
        remedy = None if state == "ok" else f"free some space on the disk of {folder}"
        yield Check("machine", name, state, f"{format_bytes(free)} free", remedy)
