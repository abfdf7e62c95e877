"""Decorators that mark functions for the build to compile, and the rules for these functions.

Marked functions are plain Python and can be called as such, with the same results bit for bit. The build (`native/`)
compiles each loop, with all marked functions that it calls, for every processor level. Global names of modules become
constants.

Results are those of IEEE 754 arithmetic in program order (no fast-math, no contraction), and division by zero gives
infinity. Only float32, in which boxes of the tree are tested, may be contracted: a x + b is rounded once or twice.
A kernel written with the operations of `simd.py` takes a number or eight of them (`Lanes`), with bit-equal results.
Compiled functions neither allocate nor raise.
"""

from collections.abc import Callable
from typing import Any, NamedTuple, ParamSpec, TypeVar

import numpy as np

from cylcollide.runtime.levels import MACHINE_CODE

Function = TypeVar("Function", bound=Callable[..., Any])
Parameters = ParamSpec("Parameters")
Result = TypeVar("Result")
Given = TypeVar("Given", bound=tuple[Any, ...])

MARKED: dict[Callable[..., Any], str] = {}
"""All functions that loops may call, and their marks: "alwaysinline", "noinline", "linkonce", or "": LLVM decides."""


class Loop(NamedTuple):
    """A loop: the function, and what Python calls."""

    function: Callable[..., Any]
    call: Callable[..., Any]
    keeps_lock: bool = False


LOOPS: dict[str, Loop] = {}
"""All loops by name: the module without the package, and the function."""


def compiled(function: Function) -> Function:
    """Mark a function that loops call."""
    MARKED[function] = ""
    return function


def inlined(function: Function) -> Function:
    """As `compiled`, but always inlined: for the short functions run for every ray and limb."""
    MARKED[function] = "alwaysinline"
    return function


def noinline(function: Function) -> Function:
    """As `compiled`, but never inlined: for long functions that are rarely called."""
    MARKED[function] = "noinline"
    return function


def linkonce(function: Function) -> Function:
    """As `noinline`, but one copy serves all loops: LLVM optimises its calls less. Not for hot functions."""
    MARKED[function] = "linkonce"
    return function


pack: Callable[[Given], Given] = getattr(MACHINE_CODE, "pack", lambda given: given)
"""Packs a tuple for many calls of loops: machine code reads its arrays once. Only loops take the result."""


def loop_name(function: Callable[..., Any]) -> str:
    """The name of a marked function: its module without the package, and its own."""
    return f"{function.__module__.removeprefix('cylcollide.')}.{function.__qualname__}"


def compiled_loop(function: Callable[Parameters, Result], keeps_lock: bool = False) -> Callable[Parameters, Result]:
    """Mark a function that Python calls; returns it as machine code, if a level with machine code is in use.

    Its arguments are arrays in C order, numbers, and tuples of these, of the same types in every call; machine code
    raises TypeError for others. It releases the interpreter's lock, unless `keeps_lock`, which is for loops of
    microseconds: such a loop is atomic for all Python code. Plain Python does not warn, as machine code does not.
    """
    name = loop_name(function)
    machine_code: Callable[Parameters, Result] | None = getattr(MACHINE_CODE, name.replace(".", "__"), None)
    call = np.errstate(all="ignore")(function) if machine_code is None else machine_code
    MARKED[function], LOOPS[name] = "", Loop(function, call, keeps_lock)
    return call
