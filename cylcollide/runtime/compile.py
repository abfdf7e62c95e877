"""Compilation by numba: one set of options, one cache on disk.

`compiled` is the one set of compiler options: results are those of IEEE 754 arithmetic in program
order (no fast-math, no contraction), division by zero gives infinity, the GIL is released, and machine code is cached
on disk. With `NUMBA_DISABLE_JIT=1` everything here is plain Python with the same results.

A kernel written with the operations of `simd.py` takes a number or eight of them (`Lanes`), with bit-equal results.
"""

import warnings
from collections.abc import Callable
from hashlib import blake2b
from pathlib import Path
from typing import Any, Generic, ParamSpec, TypeVar, cast

import numba
import numpy as np

Function = TypeVar("Function", bound=Callable[..., Any])
Result = TypeVar("Result")
Parameters = ParamSpec("Parameters")

_njit: Callable[..., Any] = numba.njit  # its types leave out `_nrt`


SOURCES = ("_types.py", "constants.py", "bvh", "kernels", "query/loops", "runtime")
"""Files and folders of this package that machine code is made of."""


def _source_stamp() -> bytes:
    """A hash of all source files that machine code is made of, 16 bytes.

    numba detects a change in the file of a cached function, not in functions that it calls from other files; after an
    upgrade in place it would run old machine code.
    """
    package = Path(__file__).parent.parent
    digest = blake2b(digest_size=16)
    for source in SOURCES:
        path = package / source
        for file in sorted(path.glob("*.py")) if path.is_dir() else [path]:
            digest.update(file.read_bytes())
    return digest.digest()


_STAMP = _source_stamp()


def compiled(function: Function) -> Function:
    """Compile `function` on its first call; it may read and write arrays, but not allocate any.

    Reference counting is off: numba would count every array of an unpacked argument, up and down and atomically, which
    cost more than the geometry. The caller in Python holds references to the arrays.
    """
    return _cached(function, False)


def allocating(function: Function) -> Function:
    """As `compiled`, for functions that allocate arrays."""
    return _cached(function, True)


def _cached(function: Function, counted: bool) -> Function:
    """Compile with the options of this package; cached machine code is valid for this very source only."""
    if getattr(numba.config, "DISABLE_JIT", 0):
        return np.errstate(all="ignore")(function)  # machine code does not warn either
    dispatcher = _njit(nogil=True, error_model="numpy", _nrt=counted)(function)
    try:
        dispatcher.enable_caching()
    except RuntimeError:  # neither beside the source nor in the user's cache directory
        warnings.warn(
            "no directory to keep machine code in, so every process compiles for itself; "
            "set NUMBA_CACHE_DIR to one that can be written",
            RuntimeWarning,
            stacklevel=1,
        )
        return cast(Function, dispatcher)
    cache_file = dispatcher._cache._cache_file
    cache_file._source_stamp = (cache_file._source_stamp, _STAMP)
    cache_file._load_index = _empty_if_foreign(cache_file._load_index)
    return cast(Function, dispatcher)


def _empty_if_foreign(load: Callable[[], dict[Any, str]]) -> Callable[[], dict[Any, str]]:
    """`load`, but with an empty index if another version of this package wrote the cache.

    numba unpickles an index before it compares its stamp, and fails on a type that no longer exists.
    """

    def load_index() -> dict[Any, str]:
        try:
            return load()
        except (AttributeError, ImportError):
            return {}

    return load_index


class FastDispatch(Generic[Parameters, Result]):
    """A compiled function called from Python without type-checking its arguments, after the first call.

    At the first call numba infers the type of every argument, and compiles. Later calls skip that and must pass
    arguments of the same types; type-checking seventy arrays takes longer than fifty rays among few limbs. So callers
    pass only arrays that this package has made or checked (`validate.py`), which `tests/runtime/test_compile.py` tests.
    """

    def __init__(self, function: Callable[Parameters, Result]) -> None:
        self.function = function
        """The compiled function, which type-checks every argument."""
        self.call: Callable[Parameters, Result] = self._first_call
        """Calls the machine code, without type checks from the second call on."""

    def _first_call(self, *arguments: Parameters.args, **keywords: Parameters.kwargs) -> Result:
        result = self.function(*arguments, **keywords)
        overloads: dict[Any, Any] = getattr(self.function, "overloads", {})  # none, if this is plain Python
        machine_code = overloads.get(tuple(numba.typeof(argument) for argument in arguments))
        self.call = self.function if machine_code is None else machine_code.entry_point
        return result


def interpreted(function: Function) -> Function:
    """The plain Python function behind a compiled or inlined one: for Python that wants a tuple back.

    Machine code returns tuples and arrays through the interpreter, where an interrupt ends the process; so what Python
    calls returns a number or nothing (`tests/runtime/test_interrupts.py`).
    """
    return cast(Function, getattr(function, "py_func", function))


def inlined(function: Function) -> Function:
    """As `compiled`, but always inlined into its callers: for the short functions run for every ray and limb."""
    return cast(Function, _njit(nogil=True, error_model="numpy", _nrt=False, forceinline=True)(function))
