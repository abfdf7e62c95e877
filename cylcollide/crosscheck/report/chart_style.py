"""What all charts and templates share: colours, ticks, axes and traces; figures as parts of a page; text templates.

A figure holds data, axes and colours of what is wrong. Fonts, lines and backgrounds are set in the page, which knows
whether it is light or dark.
"""

from collections.abc import Callable, Mapping, Sequence
from typing import Any, NamedTuple

import numpy as np
import plotly.graph_objects as go
from jinja2 import Environment, PackageLoader, StrictUndefined, Template
from markupsafe import Markup
from plotly.io.json import to_json_plotly

from cylcollide._types import Float64Array, Int64Array

COLORS = {
    "phantom": "#e08a1e",
    "missed": "#3f8fd9",
    "wrong limb": "#b565c9",
    "early": "#e0564a",
    "late": "#2a9d8f",
    "normal": "#7f8ea3",
    "lost": "#8f6a3a",
    "true": "#3aa655",
    "neutral": "#7f8ea3",
}
"""One colour a meaning, readable on white and on near black; ``true`` is the right answer."""

MOST_POINTS = 5_000
MM_TICKS = {-6: "1 nm", -5: "", -4: "", -3: "1 µm", -2: "10 µm", -1: "0.1 mm", 0: "1 mm", 1: "1 cm", 2: "10 cm"}


def chart(x: Mapping[str, Any], y: Mapping[str, Any], **layout: Any) -> go.Figure:
    """Return a figure without traces."""
    return go.Figure(layout={"xaxis": dict(x), "yaxis": dict(y), **layout})


def logarithmic(title: str, ticks: Mapping[int, str], **options: Any) -> dict[str, Any]:
    """An axis with words at powers of ten."""
    decades = {"tickvals": [10.0**decade for decade in ticks], "ticktext": list(ticks.values())}
    return {"title": title, "type": "log", **decades, **options}


def shares(title: str) -> dict[str, Any]:
    """An axis of per cent, from 0."""
    return {"title": title, "ticksuffix": " %", "rangemode": "tozero"}


def add_line(figure: go.Figure, name: str, x: Any, y: Any, color: str, hover: str, **options: Any) -> None:
    """A line with a mark at each point; ``ink`` is coloured by the page."""
    look: dict[str, Any] = {"line": {"width": 2}, "meta": "ink"}
    if color != "ink":
        look = {"line": {"width": 2, "color": COLORS[color]}, "marker": {"size": 8, "color": COLORS[color]}}
    look = {"name": name, "mode": "lines+markers", "hovertemplate": f"{hover}<extra></extra>", **look, **options}
    figure.add_scatter(x=x, y=y, **look)


def add_dots(figure: go.Figure, name: str, x: Any, y: Any, color: str, hover: str, **look: Any) -> None:
    """Dots in a colour."""
    marker = {"color": COLORS[color], **look}
    figure.add_scatter(name=name, x=x, y=y, mode="markers", marker=marker, hovertemplate=f"{hover}<extra></extra>")


def add_bars(figure: go.Figure, edges: Float64Array, y: Any, color: str, hover: str, customdata: Any = None) -> None:
    """Bars between edges, (n + 1,), with a little room between them."""
    look = {"marker_color": COLORS[color], "hovertemplate": f"{hover}<extra></extra>", "customdata": customdata}
    figure.add_bar(x=(edges[:-1] + edges[1:]) / 2, y=y, width=0.92 * np.diff(edges), **look)


def thin_out(values: Float64Array, most: int = MOST_POINTS) -> Int64Array:
    """Rows of at most ``most`` values, evenly spaced by rank, so that the extremes and the spread are kept."""
    order = np.argsort(values, kind="stable").astype(np.int64)
    if len(order) <= most:
        return order
    return order[np.linspace(0, len(order) - 1, most).round().astype(np.int64)]


def parts_of(rows: Sequence[Mapping[str, Any]], part: str, whole: str) -> dict[str, Any]:
    """Shares in per cent of one field of the rows in another, with both counts for the hover."""
    counts = [[row[part], row[whole]] for row in rows]
    return {"y": [100.0 * some / max(every, 1) for some, every in counts], "customdata": counts}


def of(whole: str = "", part: str = "", axis: str = "y") -> str:
    """A count, what it is a share of, and the share, as Plotly shows them."""
    return f"%{{customdata[0]:,}}{part} of %{{customdata[1]:,}}{whole} (%{{{axis}:.3g}} %)"


class Panel(NamedTuple):
    """A figure with what it shows in words; ``json`` is empty where there is nothing to plot."""

    name: str
    title: str
    caption: str
    json: Markup

    @classmethod
    def of(cls, name: str, title: str, caption: str, figure: go.Figure | None) -> "Panel":
        """The panel of a figure, or of none."""
        return cls(name, title, caption, Markup("") if figure is None else as_json(bare(figure)))


def bare(figure: go.Figure) -> dict[str, Any]:
    """A figure without Plotly's template: the page has its own look."""
    data: dict[str, Any] = figure.to_dict()
    data["layout"].pop("template", None)
    return data


def as_json(thing: dict[str, Any]) -> Markup:
    """JSON that may stand inside a script element: no ``<`` in it, and nan as null."""
    return Markup(to_json_plotly(thing).replace("<", "\\u003c"))


def template(name: str, *, escape: bool, **filters: Callable[..., str]) -> Template:
    """Return a Jinja template; ``escape`` for HTML, not for Python. An unknown name in it is an error."""
    environment = Environment(
        autoescape=escape,
        loader=PackageLoader("cylcollide.crosscheck.report"),
        undefined=StrictUndefined,
        trim_blocks=escape,
        lstrip_blocks=escape,
        keep_trailing_newline=True,
    )
    environment.filters |= filters
    return environment.get_template(name)
