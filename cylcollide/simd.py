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
from numba.core import types
from numba.extending import intrinsic

Function = TypeVar("Function", bound=Callable[..., Any])


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
    """Compile `function` on its first call with the options of this package; the cache holds for this very source."""
    dispatcher = numba.njit(cache=True, nogil=True, error_model="numpy")(function)
    cache_file = getattr(getattr(dispatcher, "_cache", None), "_cache_file", None)
    if cache_file is not None:
        cache_file._source_stamp = (cache_file._source_stamp, _STAMP)
    return cast(Function, dispatcher)


def merged(function: Function) -> Function:
    """As `compiled`, but always merged into its callers: for the short path that every ray takes through every limb."""
    return cast(Function, numba.njit(nogil=True, error_model="numpy", forceinline=True)(function))


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


fused_multiply_add: Callable[[float, float, float], float] = _fused_multiply_add_exact
"""a b + c with one rounding."""
if not getattr(numba.config, "DISABLE_JIT", 0):
    fused_multiply_add = cast(Callable[[float, float, float], float], intrinsic(_fused_multiply_add_machine))
