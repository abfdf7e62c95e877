"""The `view` of worlds, histories and logs: `view/`, a layer above them, is imported on first use."""

from __future__ import annotations

from importlib import import_module
from typing import Any

PORT = 8765
"""The port of the first viewer on a machine; further ones use the next free ports."""


def viewer_of(seen: Any, up: str, port: int, open_browser: bool) -> Any:
    """The `cylcollide.view.Viewer` of an object; ImportError without viser, which names the extra."""
    return import_module("cylcollide.view").view(seen, up=up, port=port, open_browser=open_browser)
