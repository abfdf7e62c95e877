"""Signatures of the loops, which their annotations declare: how `module.c` reads a call (`docs/build.md`, "Calls")."""

from importlib import import_module
from inspect import signature
from typing import Any, NamedTuple, get_args, get_origin, get_type_hints

import numpy as np

from cylcollide.runtime.compile import LOOPS, Loop
from native import sources

NUMBERS: dict[Any, str] = {bool: "?", int: "q", float: "d"}
RESULTS = {**NUMBERS, type(None): "n"}
DTYPES = {np.dtype(code).type: code for code in ("b1", "i1", "i2", "i4", "i8", "u1", "u2", "u4", "u8", "f4", "f8")}
"""What may be declared, and its code in a format."""


class Argument(NamedTuple):
    """A number, an array in C order, or a tuple."""

    type: type  # of the number, of an item of the array, or of the tuple
    format: str
    words: int  # of 64 bits
    items: "tuple[Argument, ...]" = ()  # of the tuple


class Signature(NamedTuple):
    """What a loop takes, as a tuple, and returns."""

    format: str
    words: int
    arguments: Argument
    result: type


def declared() -> dict[str, Signature]:
    """The signatures of all loops of the package, by name."""
    for module in sources.importing("cylcollide.runtime.compile"):
        import_module(module)
    return {name: signature_of(name, loop) for name, loop in sorted(LOOPS.items())}


def signature_of(name: str, loop: Loop) -> Signature:
    """The signature of a loop; RuntimeError for an annotation that is missing or declares no type, with its place."""
    takes = _tuple(tuple, _arguments(loop.function, name))
    if (returns := get_type_hints(loop.function).get("return", "nothing")) not in RESULTS:
        raise RuntimeError(f"{name}: expected a result of bool, int, float or None; got {returns}")
    code = "!" * loop.keeps_lock + takes.format[1:-1] + ":" + RESULTS[returns]
    return Signature(code, takes.words, takes, returns)


def _arguments(annotated: Any, where: str) -> list[Argument]:
    """What a function declares for its parameters, or a NamedTuple for its fields."""
    try:
        hints = get_type_hints(annotated, include_extras=True)
    except NameError as error:
        raise RuntimeError(f"{where}: {error}; annotations must have a value at import") from None
    return [_argument(hints.get(name, "nothing"), f"{where}.{name}") for name in signature(annotated).parameters]


def _argument(annotation: Any, where: str) -> Argument:
    if annotation in NUMBERS:
        return Argument(annotation, NUMBERS[annotation], 1)
    if hasattr(annotation, "_fields"):
        return _tuple(annotation, _arguments(annotation, where))
    if get_origin(annotation) is tuple:
        return _tuple(tuple, [_argument(item, where) for item in get_args(annotation)])
    item, lengths = getattr(annotation, "__origin__", None), getattr(annotation, "__metadata__", ())
    while inner := get_args(item):  # NDArray[np.float64] is np.ndarray[..., np.dtype[np.float64]]
        item = inner[-1]
    if lengths and item in DTYPES:
        return Argument(item, f"[{DTYPES[item]}{len(lengths)}", 1 + len(lengths))
    raise RuntimeError(f"{where}: expected bool, int, float, an array of _types.py, or a tuple; got {annotation}")


def _tuple(made: Any, items: list[Argument]) -> Argument:
    return Argument(made, f"({''.join(one.format for one in items)})", sum(one.words for one in items), tuple(items))
