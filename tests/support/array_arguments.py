"""All array arguments of public functions, found by reflection."""

import ast
import inspect
import textwrap
from collections.abc import Callable, Iterator
from typing import Any

import cylcollide as cc


def public_functions() -> Iterator[tuple[str, Callable[..., Any]]]:
    """Every function and method of `cylcollide.__all__` with its name, inherited ones too."""
    for name in cc.__all__:
        thing = getattr(cc, name)
        if inspect.isclass(thing):
            methods = {key: vars(kind)[key] for kind in reversed(thing.__mro__) for key in vars(kind)}
            for key, method in methods.items():
                function = getattr(method, "__func__", method)
                if inspect.isfunction(function) and (key == "__init__" or not key.startswith("_")):
                    yield name if key == "__init__" else f"{name}.{key}", function
        elif inspect.isfunction(thing):
            yield name, thing


def array_arguments() -> dict[str, set[str]]:
    """The arguments that are annotated as array-like, of each public function that has some; those of ** too."""
    found = {name: set(_annotated(function)) for name, function in public_functions()}
    return {name: arguments for name, arguments in found.items() if arguments}


def _annotated(function: Callable[..., Any]) -> Iterator[str]:
    try:
        (tree,) = ast.parse(textwrap.dedent(inspect.getsource(function))).body
    except OSError:  # made by a decorator
        return
    assert isinstance(tree, ast.FunctionDef)
    arguments = tree.args
    for argument in (*arguments.posonlyargs, *arguments.args, *arguments.kwonlyargs):
        if argument.annotation is not None and "ArrayLike" in ast.unparse(argument.annotation):
            yield argument.arg
    if arguments.kwarg is not None and isinstance(arguments.kwarg.annotation, ast.Subscript):
        options = function.__globals__[ast.unparse(arguments.kwarg.annotation.slice)]
        for line in ast.parse(textwrap.dedent(inspect.getsource(options))).body[0].body:  # type: ignore[attr-defined]
            if isinstance(line, ast.AnnAssign) and "ArrayLike" in ast.unparse(line.annotation):
                yield ast.unparse(line.target)
