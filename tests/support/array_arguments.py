"""All array arguments of public functions, found by reflection."""

import inspect
from collections.abc import Callable, Iterator
from typing import Any

import cylcollide as cc


def public_functions() -> Iterator[tuple[str, Callable[..., Any]]]:
    """Every function and method of `cylcollide.__all__` with its name, also inherited ones and those of modules."""
    for name in cc.__all__:
        thing = getattr(cc, name)
        if inspect.ismodule(thing):
            yield from ((f"{name}.{key}", getattr(thing, key)) for key in thing.__all__ if key[0].islower())
        elif inspect.isclass(thing):
            methods = {key: vars(kind)[key] for kind in reversed(thing.__mro__) for key in vars(kind)}
            for key, method in methods.items():
                function = getattr(method, "__func__", method)
                if inspect.isfunction(function) and (key == "__init__" or not key.startswith("_")):
                    yield name if key == "__init__" else f"{name}.{key}", function
        elif inspect.isfunction(thing):
            yield name, thing


def array_arguments() -> dict[str, set[str]]:
    """The array-like arguments of each public function that has some, by annotation; `plot` methods are left out."""
    found = {name: set(_annotated(function)) for name, function in public_functions()}
    return {name: arguments for name, arguments in found.items() if arguments and not name.endswith(".plot")}


def _annotated(function: Callable[..., Any]) -> Iterator[str]:
    for name, parameter in inspect.signature(function).parameters.items():
        if "ArrayLike" in str(parameter.annotation).split(" | "):
            yield name
