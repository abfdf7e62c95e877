"""The text templates, which are data of this package, and Plotly figures as parts of a page."""

from collections.abc import Callable
from typing import Any, NamedTuple

import plotly.graph_objects as go
from jinja2 import Environment, PackageLoader, StrictUndefined, Template
from markupsafe import Markup
from plotly.io.json import to_json_plotly


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
