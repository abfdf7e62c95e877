"""Recorded states and judged shots in the browser, on this machine and without a network. `docs/view.md`."""

from importlib import import_module
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from cylcollide.view.viewer import Viewer, view

__all__ = ["Viewer", "view"]


def __getattr__(name: str) -> object:
    """Import a public name when it is first used: viser is an extra."""
    if name not in __all__:
        raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
    return getattr(import_module(f"{__name__}.viewer"), name)
