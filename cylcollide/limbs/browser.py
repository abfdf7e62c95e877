"""The `view` of worlds, histories and logs: `view/`, a layer above them, is imported when it is needed."""

from __future__ import annotations

from importlib import import_module
from typing import Any

PORT = 8765
"""Where the first view of a machine listens; others, while it does, at the next ports that are free."""


def viewer_of(seen: Any, up: str, port: int, open_browser: bool) -> Any:
    """The `cylcollide.view.Viewer` of an object. ImportError without viser, naming the extra."""
    return import_module("cylcollide.view").view(seen, up=up, port=port, open_browser=open_browser)
