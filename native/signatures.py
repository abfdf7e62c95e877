"""Signatures of the loops, from their annotations: how `module.c` reads a call (`docs/build.md`, "Calls")."""

from importlib import import_module
from inspect import signature
from typing import Any, NamedTuple, get_args, get_origin, get_type_hints

import numpy as np
from numba.core import types
from numba.np.numpy_support import as_dtype, from_dtype

from cylcollide.runtime.compile import LOOPS, Loop
from cylcollide.runtime.levels import ROOT

NUMBERS: dict[Any, Any] = {bool: types.boolean, int: types.int64, float: types.float64}
RESULTS = {**NUMBERS, type(None): types.none}
CODES = {types.boolean: "?", types.int64: "q", types.float64: "d", types.none: "n"}  # of numbers
DTYPES = {np.dtype(code).type for code in ("b1", "i1", "i2", "i4", "i8", "u1", "u2", "u4", "u8", "f4", "f8")}
"""Dtypes of arrays that may be declared."""


class Signature(NamedTuple):
    """The types that a loop takes, as a tuple, and the type that it returns, as numba's."""

    symbol: str  # of the loop
    format: str
    words: int  # of 64 bits
    takes: Any
    returns: Any


def declared() -> dict[str, Signature]:
    """The signatures of all loops of the package, by name."""
    for path in (ROOT / "cylcollide").rglob("*.py"):
        if b"from cylcollide.runtime.compile import" in path.read_bytes():
            import_module(".".join(path.relative_to(ROOT).with_suffix("").parts))
    return {name: signature_of(name, loop) for name, loop in sorted(LOOPS.items())}


def signature_of(name: str, loop: Loop) -> Signature:
    """The signature of a loop; RuntimeError, with the place, for an annotation that is missing or declares no type."""
    takes: Any = types.Tuple(_types(loop.function, name))
    if (returns := get_type_hints(loop.function).get("return", "nothing")) not in RESULTS:
        raise RuntimeError(f"{name}: expected a result of bool, int, float or None; got {returns}")
    code = "!" * loop.keeps_lock + _format(takes)[1:-1] + ":" + CODES[RESULTS[returns]]
    return Signature(name.replace(".", "__"), code, _words(takes), takes, RESULTS[returns])


def _types(annotated: Any, where: str) -> list[Any]:
    """The types that a function declares for its parameters, or a NamedTuple for its fields."""
    try:
        hints = get_type_hints(annotated, include_extras=True)
    except NameError as error:
        raise RuntimeError(f"{where}: {error}; annotations must have a value at import") from None
    return [_type(hints.get(name, "nothing"), f"{where}.{name}") for name in signature(annotated).parameters]


def _type(annotation: Any, where: str) -> Any:
    if annotation in NUMBERS:
        return NUMBERS[annotation]
    if hasattr(annotation, "_fields"):
        return types.BaseTuple.from_types(_types(annotation, where), annotation)
    if get_origin(annotation) is tuple:
        return types.BaseTuple.from_types([_type(item, where) for item in get_args(annotation)])
    item, lengths = getattr(annotation, "__origin__", None), getattr(annotation, "__metadata__", ())
    while inner := get_args(item):  # NDArray[np.float64] is np.ndarray[..., np.dtype[np.float64]]
        item = inner[-1]
    if lengths and item in DTYPES:
        return types.Array(from_dtype(np.dtype(item)), len(lengths), "C")
    raise RuntimeError(f"{where}: expected bool, int, float, an array of _types.py, or a tuple; got {annotation}")


def _format(kind: Any) -> str:
    if (items := getattr(kind, "types", None)) is not None:
        return f"({''.join(map(_format, items))})"
    return f"[{as_dtype(kind.dtype).str[1:]}{kind.ndim}" if isinstance(kind, types.Array) else CODES[kind]


def _words(kind: Any) -> int:
    items = getattr(kind, "types", None)
    return 1 + getattr(kind, "ndim", 0) if items is None else sum(_words(item) for item in items)
