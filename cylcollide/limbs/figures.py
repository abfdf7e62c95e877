"""Figures, and the one import of Matplotlib that makes them."""

from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from matplotlib.figure import Figure


def new_figure(method: str, width: float, height: float) -> "Figure":
    """An empty figure, in inches.

    Raises
    ------
    ImportError
        Without Matplotlib, naming the method and the extra.
    """
    try:
        from matplotlib.figure import Figure  # noqa: PLC0415  # belongs to an extra: imported only to draw
    except ImportError:
        raise ImportError(f"{method} needs matplotlib: pip install 'cylcollide[plot]'") from None
    return Figure(figsize=(width, height), layout="constrained")
