"""mien replaces faces in pictures and video, cheaply, and says what it did.

    import mien
    report = mien.swap("portrait.jpg", "clip.mp4", "result.mp4")

Nothing heavy is imported before it is used.
"""

from importlib import import_module
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from mien.errors import MienError
    from mien.pipeline.api import Swapper, swap
    from mien.recipe import Recipe
    from mien.report import Report

__version__ = "0.1.0"
__all__ = ["MienError", "Recipe", "Report", "Swapper", "__version__", "swap"]

_HOMES = {
    "MienError": "mien.errors",
    "Recipe": "mien.recipe",
    "Report": "mien.report",
    "Swapper": "mien.pipeline.api",
    "swap": "mien.pipeline.api",
}


def __getattr__(name: str) -> Any:
    if name not in _HOMES:
        raise AttributeError(f"module 'mien' has no attribute '{name}'")
    return getattr(import_module(_HOMES[name]), name)
