"""Pictures by extras, imported on first use: the only imports of Matplotlib, and of `view/`, a layer above."""

from importlib import import_module
from os import PathLike
from pathlib import Path
from typing import TYPE_CHECKING, Any

from cylcollide._types import Float64Array
from cylcollide._version import to_install
from cylcollide.validate import shown

if TYPE_CHECKING:
    from matplotlib.figure import Figure


def new_figure(method: str, width: float, height: float) -> "Figure":
    """An empty figure; width and height in inches.

    Raises
    ------
    ImportError
        Without Matplotlib; the message names the method and the extra.
    """
    try:
        from matplotlib.figure import Figure  # noqa: PLC0415  # belongs to an extra: imported only to draw
    except ImportError:
        raise ImportError(f"{method} needs matplotlib: {to_install('plot')}") from None
    return Figure(figsize=(width, height), layout="constrained")


def save_figure(figure: "Figure", path: Any, **options: Any) -> None:
    """Write a figure to a file, of the kind that the ending of its name says, or to a stream.

    ValueError if `path` is neither, or Matplotlib writes no such files.
    """
    if isinstance(path, str | PathLike):
        ending, kinds = Path(path).suffix[1:].lower(), figure.canvas.get_supported_filetypes()
        if ending and ending not in kinds:
            raise ValueError(f"path: expected a name that ends in .{', .'.join(sorted(kinds))}, got .{ending}: {path}")
    elif not hasattr(path, "write"):
        raise ValueError(f"path: expected the name of a picture, got {shown(path)}; end it in .png or .svg")
    figure.savefig(path, **options)


def add_polygons(axes: Any, corners: list[Float64Array], **style: Any) -> None:
    """Draw polygons with corners (n, 2) as one collection; separate patches take 1 ms each."""
    from matplotlib.collections import PolyCollection  # noqa: PLC0415  # as above: without the extra there are no axes

    axes.add_collection(PolyCollection(corners, **style))


PORT = 8765
"""The port of the first viewer on a machine; further ones use the next free ports."""


def viewer_of(seen: Any, up: str, port: int, open_browser: bool) -> Any:
    """The `cylcollide.view.Viewer` of an object; ImportError without viser, which names the extra."""
    return import_module("cylcollide.view").view(seen, up=up, port=port, open_browser=open_browser)
