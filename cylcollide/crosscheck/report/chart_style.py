"""Common parts of figures and templates: colours, axes and traces, figures as JSON, templates as text."""

from collections.abc import Callable, Sequence
from typing import Any

import numpy as np
import plotly.graph_objects as go
from jinja2 import Environment, PackageLoader, StrictUndefined, Template
from markupsafe import Markup
from plotly.io.json import to_json_plotly

from cylcollide._types import Float64Array, Int64Array
from cylcollide.crosscheck.records import JsonObject

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
"""One colour per meaning, readable on white and on near black; ``true`` is the right answer."""

MOST_POINTS = 5_000


def chart(x: JsonObject, y: JsonObject, **layout: Any) -> go.Figure:
    """A figure without traces."""
    return go.Figure(layout={"xaxis": x, "yaxis": y, **layout})


def logarithmic(title: str, ticks: dict[int, str]) -> JsonObject:
    """A logarithmic axis with words at powers of ten."""
    return {"title": title, "type": "log", "tickvals": [10.0**n for n in ticks], "ticktext": list(ticks.values())}


def percent_axis(title: str) -> JsonObject:
    """An axis of per cent, from 0."""
    return {"title": title, "ticksuffix": " %", "rangemode": "tozero"}


def shares(rows: Sequence[JsonObject], part: str, whole: str) -> JsonObject:
    """Shares in per cent of one field of the rows in another, with both counts for the hover."""
    counts = [[row[part], row[whole]] for row in rows]
    return {"y": [100.0 * some / max(every, 1) for some, every in counts], "customdata": counts}


def share_words(part: str = "", axis: str = "y") -> str:
    """A count, the whole, and the share, as a Plotly hover template."""
    return f"%{{customdata[0]:,}}{part} of %{{customdata[1]:,}} (%{{{axis}:.3g}} %)"


def add_line(figure: go.Figure, name: str, x: Any, y: Any, color: str, hover: str, **options: Any) -> None:
    """Add a line with a mark at each point; the page colours ``ink``."""
    look: JsonObject = {"line": {"width": 2}, "meta": "ink"}
    if color != "ink":
        look = {"line": {"width": 2, "color": COLORS[color]}, "marker": {"size": 8, "color": COLORS[color]}}
    look = {"name": name, "mode": "lines+markers", "hovertemplate": f"{hover}<extra></extra>", **look, **options}
    figure.add_scatter(x=x, y=y, **look)


def add_dots(figure: go.Figure, name: str, x: Any, y: Any, color: str, hover: str, **look: Any) -> None:
    """Add dots in a colour."""
    marker = {"color": COLORS[color], **look}
    figure.add_scatter(name=name, x=x, y=y, mode="markers", marker=marker, hovertemplate=f"{hover}<extra></extra>")


def thin_out(values: Float64Array) -> Int64Array:
    """Rows of at most `MOST_POINTS` values, evenly spaced by rank, to keep the extremes and the spread."""
    order = np.argsort(values, kind="stable").astype(np.int64)
    count = min(len(order), MOST_POINTS)
    return order[np.linspace(0, len(order) - 1, count).round().astype(np.int64)]


def bare(figure: go.Figure) -> JsonObject:
    """A figure without Plotly's template: the page has its own look."""
    data: JsonObject = figure.to_dict()
    data["layout"].pop("template", None)
    return data


def as_json(thing: JsonObject | list[JsonObject]) -> Markup:
    """JSON for a script element: without ``<``, and with null for nan."""
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
