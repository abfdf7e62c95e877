"""The one door to the text templates, which are data of this package."""

from collections.abc import Callable
from importlib.resources import files

from jinja2 import Environment, FunctionLoader, StrictUndefined, Template


def read_text(name: str) -> str:
    """Return one file of the ``templates`` folder."""
    return files("cylcollide.crosscheck.report").joinpath("templates", name).read_text(encoding="utf-8")


def template(name: str, *, escape: bool, **filters: Callable[[float], str]) -> Template:
    """Return a Jinja template; ``escape`` for HTML, not for Python. An unknown name in it is an error."""
    environment = Environment(
        autoescape=escape,
        loader=FunctionLoader(read_text),
        undefined=StrictUndefined,
        trim_blocks=escape,
        lstrip_blocks=escape,
        keep_trailing_newline=True,
    )
    environment.filters |= filters
    return environment.get_template(name)
