"""Finds and loads the library of kernels, in the best variant that the processor runs."""

from __future__ import annotations

import ctypes
import functools
import sys
import threading
from collections.abc import Callable
from pathlib import Path
from typing import Any, Final

from mien.errors import InstallationError
from mien.installing import install_command

FOLDER: Final = Path(__file__).resolve().parent
_SUFFIX: Final = {"darwin": ".dylib", "win32": ".dll"}.get(sys.platform, ".so")
_LOCK: Final = threading.Lock()


class Kernel:
    """A function of the library, by name and types. The library is loaded when it is first called.

    The C function gives back 0, or -1 where there was no memory.
    """

    __slots__ = ("_name", "_types")

    def __init__(self, name: str, *types: Any) -> None:
        """`types` are those of ctypes; for an address take `ctypes.c_void_p`."""
        self._name = name
        self._types = types

    def of(self, loaded: ctypes.CDLL) -> Callable[..., int]:
        """The function in a certain variant.

        Raises:
            InstallationError: the library has no such function.
        """
        try:
            function = getattr(loaded, self._name)
        except AttributeError:
            raise _broken(f"{loaded._name} lacks {self._name}, it is of another version") from None
        function.argtypes = self._types
        function.restype = ctypes.c_int
        return function

    def __call__(self, *arguments: float | None) -> None:
        """Run it without holding Python's lock.

        Raises:
            InstallationError: the library is not there, or not that of this version.
            MemoryError: the kernel found none.
        """
        if self.of(library())(*arguments):
            raise MemoryError(f"no memory left for {self._name}")


def library() -> ctypes.CDLL:
    """The library in the best variant that this processor runs, loaded once.

    Raises:
        InstallationError: it is missing or does not load.
    """
    with _LOCK:
        return _best()


def variant(loaded: ctypes.CDLL) -> str:
    """Name of a loaded variant: `baseline` or `x86-64-v3`."""
    says = loaded.mien_variant
    says.argtypes, says.restype = (), ctypes.c_char_p
    return says().decode()


def runnable() -> tuple[str, ...]:
    """The variants that this processor runs, the best one last."""
    asks = open_variant("baseline").mien_has_x86_64_v3
    asks.argtypes, asks.restype = (), ctypes.c_int
    return ("baseline", "x86-64-v3") if asks() else ("baseline",)


def open_variant(name: str, folder: Path = FOLDER) -> ctypes.CDLL:
    """Load one variant.

    Raises:
        InstallationError: it is missing or does not load.
    """
    path = folder / f"kernels-{name}{_SUFFIX}"
    if not path.is_file():
        raise _broken(f"{path} is missing")
    try:
        return ctypes.CDLL(str(path))
    except OSError as error:
        raise _broken(f"{path} does not load ({error})") from error


@functools.cache
def _best() -> ctypes.CDLL:
    return open_variant(runnable()[-1])


def _broken(what: str) -> InstallationError:
    return InstallationError(
        f"the compiled part of mien: {what}; install it again: {install_command('mien', anew=True)}"
    )
