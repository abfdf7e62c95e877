"""How loops are compiled here, and the machine operations that numba does not offer by itself.

Knows nothing of rays. `compiled` is the one set of compiler options: results are those of IEEE 754 float64 in program
order (no fast-math, no contraction), division by zero gives infinity, the GIL is released, and machine code is cached
on disk. With `NUMBA_DISABLE_JIT=1` everything here is plain Python with the same results.
"""

from collections.abc import Callable
from fractions import Fraction
from hashlib import blake2b
from math import isfinite
from pathlib import Path
from typing import Any, TypeVar, cast

import numba
from llvmlite import ir
from numba.core import types
from numba.extending import intrinsic

Function = TypeVar("Function", bound=Callable[..., Any])

_njit: Callable[..., Any] = numba.njit  # its types leave out `_nrt`


def _package_stamp() -> bytes:
    """A hash of all compiled code of this package.

    numba notices a change in the file of a cached function, not in the functions that it calls from other files; after
    an upgrade in place it would go on running old code.
    """
    root = Path(__file__).parent
    digest = blake2b(digest_size=16)
    for path in sorted([*root.glob("*.py"), *root.glob("kernels/*.py"), *root.glob("tree/*.py")]):
        digest.update(path.read_bytes())
    return digest.digest()


_STAMP = _package_stamp()


def compiled(function: Function) -> Function:
    """Compile `function` on its first call; it may read and write arrays, but not make any.

    Reference counting is off: numba would count every array that a function takes apart, up and down and atomically,
    and that cost more than the geometry. Who calls from Python holds the arrays.
    """
    return _cached(function, False)


def allocating(function: Function) -> Function:
    """As `compiled`, for functions that make arrays."""
    return _cached(function, True)


def _cached(function: Function, counted: bool) -> Function:
    """Compile with the options of this package; the cache holds for this very source."""
    dispatcher = _njit(cache=True, nogil=True, error_model="numpy", _nrt=counted)(function)
    cache_file = getattr(getattr(dispatcher, "_cache", None), "_cache_file", None)
    if cache_file is not None:
        cache_file._source_stamp = (cache_file._source_stamp, _STAMP)
    return cast(Function, dispatcher)


def merged(function: Function) -> Function:
    """As `compiled`, but always merged into its callers: for the short path that every ray takes through every limb."""
    return cast(Function, _njit(nogil=True, error_model="numpy", _nrt=False, forceinline=True)(function))


def _fused_multiply_add_exact(a: float, b: float, c: float) -> float:
    """Round a b + c once, by rational arithmetic."""
    if not (isfinite(a) and isfinite(b) and isfinite(c)):
        return a * b + c
    return float(Fraction(a) * Fraction(b) + Fraction(c))


def _fused_multiply_add_machine(_context: Any, _a: Any, _b: Any, _c: Any) -> Any:
    """Emit LLVM's `fma`: one instruction where the processor has it, the C library's function where not."""

    def generate(_target: Any, builder: Any, _signature: Any, operands: Any) -> Any:
        return builder.fma(*operands)

    return types.float64(types.float64, types.float64, types.float64), generate


def _lowest_bit_plain(bits: int) -> int:
    """Number of the lowest bit that is set."""
    return (bits & -bits).bit_length() - 1


def _lowest_bit_machine(_context: Any, _bits: Any) -> Any:
    """Emit LLVM's `cttz`."""

    def generate(_target: Any, builder: Any, _signature: Any, operands: Any) -> Any:
        return builder.cttz(operands[0], ir.Constant(ir.IntType(1), 0))

    return types.int64(types.int64), generate


def _machine(plain: Function, emitter: Callable[..., Any]) -> Function:
    """The machine's operation, or its plain meaning where nothing is compiled."""
    interpreted = getattr(numba.config, "DISABLE_JIT", 0)
    return plain if interpreted else cast(Function, intrinsic(emitter))


fused_multiply_add = _machine(_fused_multiply_add_exact, _fused_multiply_add_machine)
"""a b + c with one rounding."""

lowest_bit = _machine(_lowest_bit_plain, _lowest_bit_machine)
"""Number of the lowest bit that is set, of a number that is not 0."""
