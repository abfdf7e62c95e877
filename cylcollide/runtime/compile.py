"""Marks of functions that are compiled: the rules for all of them.

Marked functions stay plain Python and can be called as such, with the same results bit for bit. An `EntryPoint`
(`entry_point.py`) has machine code besides, which contains the code of all marked functions that it calls.

Results are those of IEEE 754 arithmetic in program order (no fast-math, no contraction), and division by zero gives
infinity. A kernel written with the operations of `simd.py` takes a number or eight of them (`Lanes`), with bit-equal
results.
"""

from collections.abc import Callable
from enum import Enum
from importlib import import_module
from typing import Any, TypeVar

import numpy as np

Function = TypeVar("Function", bound=Callable[..., Any])


class Place(Enum):
    """Where the machine code of a marked function is."""

    ENTRY_POINT = "called, or inlined, as LLVM sees fit, in every entry point that needs it"
    CALLER = "inlined into every caller"
    SHARED = "its own, called by all entry points that need it"


MARKED: dict[Callable[..., Any], Place] = {}
"""All marked functions."""

ENTRY_POINTS: dict[str, Any] = {}
"""All entry points (`entry_point.EntryPoint`) by name: their module without the package, and their function."""


def entry_point_named(name: str) -> Any:
    """An entry point by its name; its module is imported."""
    import_module(f"cylcollide.{name.rpartition('.')[0]}")
    return ENTRY_POINTS[name]


def compiled(function: Function) -> Function:
    """Mark a function for compilation; it may read and write arrays, but not allocate any."""
    MARKED[function] = Place.ENTRY_POINT
    return function


def shared(function: Function) -> Function:
    """As `compiled`, but with machine code of its own: for long functions that several entry points call, seldom."""
    MARKED[function] = Place.SHARED
    return function


def inlined(function: Function) -> Function:
    """As `compiled`, but always inlined into its callers: for the short functions run for every ray and limb."""
    MARKED[function] = Place.CALLER
    return function


def examples(value: Any) -> Any:
    """The same arguments, with writeable arrays of one entry in place of all arrays: what types are derived from."""
    if isinstance(value, np.ndarray):
        if not value.flags.c_contiguous:
            raise TypeError(f"expected an array in C order, got strides {value.strides} for shape {value.shape}")
        return np.zeros((1,) * value.ndim, value.dtype)
    if isinstance(value, tuple):
        items = [examples(item) for item in value]
        return type(value)(*items) if hasattr(value, "_fields") else tuple(items)
    return value
