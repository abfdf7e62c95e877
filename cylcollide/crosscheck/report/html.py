"""Plotly figures as parts of a page."""

from dataclasses import dataclass
from typing import Any

import plotly.graph_objects as go
from markupsafe import Markup
from plotly.io.json import to_json_plotly


@dataclass(frozen=True)
class Panel:
    """A figure with what it shows in words; ``json`` is empty where there is nothing to plot."""

    name: str
    title: str
    caption: str
    json: Markup


def bare(figure: go.Figure) -> dict[str, Any]:
    """A figure without Plotly's template: the page has its own look."""
    data: dict[str, Any] = figure.to_dict()
    data["layout"].pop("template", None)
    return data


def as_json(thing: dict[str, Any]) -> Markup:
    """JSON that may stand inside a script element: no ``<`` in it, and nan as null."""
    return Markup(to_json_plotly(thing).replace("<", "\\u003c"))
