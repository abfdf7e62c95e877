"""Vectors of eight numbers, and the operations of `simd.py` and `addresses.py`, as numba compiles them.

A `Lanes` is a vector of LLVM. A scalar operand beside one is broadcast.
"""

import inspect
import operator
from collections.abc import Callable
from functools import partial, wraps
from types import NoneType
from typing import Any, get_args, get_type_hints

import numpy as np
from llvmlite import ir
from numba.core import types
from numba.core.errors import TypingError
from numba.core.typing.templates import ConcreteTemplate, infer_global
from numba.extending import intrinsic, lower_builtin, models, register_model
from numba.np.arrayobj import populate_array
from numba.np.numpy_support import from_dtype

from cylcollide.runtime.addresses import AT_ADDRESS
from cylcollide.runtime.simd import LANES, Array, Real, Short
from native.emitters import ARITHMETIC, COMPARISONS, ELEMENTWISE, OTHERS, Emitter, broadcasting


class Lanes(types.Type):
    """The numba type of eight numbers."""

    def __init__(self, element: Any) -> None:
        self.element = element
        super().__init__(f"Lanes({element})")


@register_model(Lanes)
class _LanesModel(models.PrimitiveModel):
    """Their data model: one LLVM vector."""

    def __init__(self, manager: Any, kind: Lanes) -> None:
        vector = ir.VectorType(manager[kind.element].get_value_type(), LANES)
        super().__init__(manager, kind, vector)  # type: ignore[no-untyped-call, unused-ignore]


Function = Callable[..., Any]

LANES_OF: dict[Any, Any] = {element: Lanes(element) for element in (types.float64, types.float32)}
"""The types of eight numbers of a type."""
TRUTHS: Any = Lanes(types.boolean)


def _define(symbol: Function, cases: list[Any], emit: Emitter) -> None:
    """Register an operator of Python with numba, with these signatures."""

    def generate(_context: Any, builder: Any, _signature: Any, values: Any) -> Any:
        return broadcasting(emit)(builder, *values)

    infer_global(symbol)(type(f"_{symbol.__name__}_of_lanes", (ConcreteTemplate,), {"cases": cases}))
    for case in cases:
        lower_builtin(symbol, *case.args)(generate)


_PAIRS = [(kind, *pair) for of, kind in LANES_OF.items() for pair in ((kind, kind), (kind, of), (of, kind))]
for _symbol, _emit in ARITHMETIC.items():
    _define(_symbol, [kind(a, b) for kind, a, b in _PAIRS], _emit)
for _symbol, _emit in COMPARISONS.items():
    _define(_symbol, [TRUTHS(a, b) for _, a, b in _PAIRS], _emit)
_define(operator.neg, [kind(kind) for kind in LANES_OF.values()], ir.IRBuilder.fneg)
_define(operator.and_, [TRUTHS(TRUTHS, TRUTHS)], ir.IRBuilder.and_)
_define(operator.or_, [TRUTHS(TRUTHS, TRUTHS)], ir.IRBuilder.or_)


def _signature(plain: Function, kinds: tuple[Any, ...]) -> Any:
    """The numba signature of an operation for arguments of these types, by the annotations of its plain function.

    Each `Real` is converted to one type: that of the lanes among them, else float32 if any is, else float64. What is
    loaded from an array, chosen by eight truths or broadcast is eight of these; a lane is one.
    """
    *hints, result = get_type_hints(plain).values()
    real = [hint is Real or Short in get_args(hint) for hint in hints]
    numbers = [kind for kind, is_real in zip(kinds, real, strict=True) if is_real]
    lanes = next((kind for kind in numbers if isinstance(kind, Lanes)), None)
    single = lanes.element if lanes else types.float32 if types.float32 in numbers else types.float64
    given = [
        types.int64 if hint is int else single if is_real and not isinstance(kind, Lanes) else kind
        for kind, hint, is_real in zip(kinds, hints, real, strict=True)
    ]
    if Array in hints and (result is Real or get_args(result)):
        single = _loaded(kinds[hints.index(Array)])
        lanes = LANES_OF[single]
    elif TRUTHS in kinds or plain.__name__ == "broadcast":
        lanes = LANES_OF[single]
    if get_args(result):
        return types.UniTuple(lanes, LANES if Ellipsis in get_args(result) else len(get_args(result)))(*given)
    one = single if plain.__name__ == "lane" else lanes or single
    return {int: types.int64, NoneType: types.void, bool: kinds[0], Real: one}[result](*given)


def _loaded(array: Any) -> Any:
    """The type of entries that lanes are loaded from: float64 or float32 in C order; TypingError for any other."""
    if not isinstance(array, types.Array) or array.layout != "C" or array.dtype not in LANES_OF:
        raise TypingError(f"expected float64 or float32 in C order, got {array}; np.ascontiguousarray makes that")
    return array.dtype


def _intrinsic(plain: Function, emit: Emitter) -> Any:
    """Numba's intrinsic for calls of a plain function."""
    parameters = inspect.signature(plain)

    @wraps(plain)
    def define(_context: Any, *given: Any, **named: Any) -> Any:
        def generate(context: Any, builder: Any, signature: Any, values: Any) -> Any:
            opened = [
                context.make_array(kind)(context, builder, value) if isinstance(kind, types.Array) else value
                for kind, value in zip(signature.args, values, strict=True)
            ]
            result = emit(builder, *opened)
            if result is None:
                return context.get_dummy_value()
            return context.make_tuple(builder, signature.return_type, result) if isinstance(result, list) else result

        return _signature(plain, parameters.bind(*given, **named).args), generate

    return _as_intrinsic(define, *parameters.parameters)


def _as_intrinsic(define: Any, *names: str) -> Any:
    """Numba's intrinsic of a function that defines it, for calls with these parameters."""
    # numba reads names and number of the arguments off the signature, the first of which is its own context
    kind = inspect.Parameter.POSITIONAL_OR_KEYWORD
    define.__signature__ = inspect.Signature([inspect.Parameter(name, kind) for name in ("_context", *names)])
    return intrinsic(define)


def array_at(kind: Any, dimensions: int) -> Any:
    """Numba's intrinsic for an array of a dtype at an address, (address, *shape), that counts no references."""
    array_kind = types.Array(from_dtype(np.dtype(kind)), dimensions, "C")

    def define(_context: Any, *_given: Any) -> Any:
        def generate(context: Any, builder: Any, _signature: Any, values: Any) -> Any:
            (address, *shape), size = values, np.dtype(kind).itemsize
            array, strides = context.make_array(array_kind)(context, builder), [context.get_constant(types.intp, size)]
            for length in shape[:0:-1]:
                strides.insert(0, builder.mul(strides[0], length))
            data = builder.inttoptr(address, array.data.type)
            populate_array(array, data=data, shape=shape, strides=strides, itemsize=size, meminfo=None)
            return array._getvalue()

        return array_kind(types.int64, *[types.int64] * dimensions), generate

    return _as_intrinsic(define, "address", *(f"length{k}" for k in range(dimensions)))


INTRINSICS: dict[Function, Any] = {
    **{plain: _intrinsic(plain, broadcasting(emit)) for plain, emit in ELEMENTWISE.items()},
    **{plain: _intrinsic(plain, emit) for plain, emit in OTHERS.items()},
}
"""What numba compiles in place of each operation."""


def arrays_at_addresses() -> dict[Function, Any]:
    """The same of the functions that give arrays at addresses."""
    return {plain: array_at(plain.args[0], 1) for plain in AT_ADDRESS if isinstance(plain, partial)}
