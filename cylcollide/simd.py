"""How loops are compiled here, and the machine operations that numba does not offer by itself.

Knows nothing of rays. `compiled` is the one set of compiler options: results are those of IEEE 754 float64 in program
order (no fast-math, no contraction), division by zero gives infinity, the GIL is released, and machine code is cached
on disk. With `NUMBA_DISABLE_JIT=1` everything here is plain Python with the same results.
"""

from collections.abc import Callable
from fractions import Fraction
from math import isfinite
from typing import Any, TypeVar, cast

import numba
from numba.core import config, types
from numba.extending import intrinsic

Function = TypeVar("Function", bound=Callable[..., Any])


def compiled(function: Function) -> Function:
    """Compile `function` on its first call with the options of this package."""
    return cast(Function, numba.njit(cache=True, nogil=True, error_model="numpy")(function))


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
if not config.DISABLE_JIT:
    fused_multiply_add = cast(Callable[[float, float, float], float], intrinsic(_fused_multiply_add_machine))
