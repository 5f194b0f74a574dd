"""The command that installs something into the environment that mien runs in, with what is there to do it."""

from __future__ import annotations

import importlib.util
import json
import shlex
import shutil
import sys
from importlib import metadata
from pathlib import Path
from urllib.parse import unquote, urlparse


def install_command(requirement: str, *, anew: bool = False) -> str:
    """A command for the shell: pip's where this environment has it, else uv's, which makes environments without.

    Args:
        requirement: As pip takes it, e.g. `mien[heic]`.
        anew: What is there is damaged: put it in again.
    """
    checkout = _checkout() if anew and requirement == "mien" else None
    what = f"-e {shlex.quote(str(checkout))}" if checkout else _quoted(requirement)
    python = shlex.quote(sys.executable)
    if importlib.util.find_spec("pip") is not None:
        return f"{python} -m pip install {'--force-reinstall ' if anew else ''}{what}"
    if shutil.which("uv") is None and importlib.util.find_spec("ensurepip") is not None:
        return f"{python} -m ensurepip && {python} -m pip install {'--force-reinstall ' if anew else ''}{what}"
    return f"uv pip install {'--reinstall ' if anew else ''}{what} --python {python}"


def _quoted(requirement: str) -> str:
    return requirement if requirement.replace("-", "").isalnum() else f"'{requirement}'"


def _checkout() -> Path | None:
    """The folder that mien is used from where it was not copied (an editable installation, see PEP 610)."""
    try:
        text = metadata.distribution("mien").read_text("direct_url.json")
    except metadata.PackageNotFoundError:
        return None
    origin = json.loads(text) if text else {}
    if not origin.get("dir_info", {}).get("editable"):
        return None
    return Path(unquote(urlparse(origin["url"]).path))
