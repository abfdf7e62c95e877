"""Vectors of eight numbers, and the operations of `simd.py` and `addresses.py`, as numba compiles them.

A `Lanes` is a vector of LLVM. A number beside one is converted: it becomes eight.
"""

import inspect
from collections.abc import Callable
from functools import partial, wraps
from types import NoneType
from typing import Any, get_args, get_type_hints

import numpy as np
from llvmlite import ir
from numba.core import types
from numba.core.errors import TypingError
from numba.core.typing.templates import AbstractTemplate, infer_global
from numba.extending import intrinsic, lower_builtin, lower_cast, models, register_model
from numba.np.arrayobj import populate_array
from numba.np.numpy_support import from_dtype

from cylcollide.runtime.addresses import AT_ADDRESS
from cylcollide.runtime.simd import LANES, Array, Real, Short
from native.emitters import COMPARISONS, OPERATIONS, OPERATORS, Emitter, spread

Function = Callable[..., Any]


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


@lower_cast(types.Number, Lanes)
def _spread(context: Any, builder: Any, given: Any, kind: Lanes, value: Any) -> Any:
    """A number beside lanes."""
    return spread(builder, context.cast(builder, value, given, kind.element))


LANES_OF: dict[Any, Any] = {element: Lanes(element) for element in (types.float64, types.float32)}
"""The types of eight numbers of a type."""
TRUTHS: Any = Lanes(types.boolean)


def _define(symbol: Function, emit: Emitter) -> None:
    """Register an operator of Python with numba, for lanes."""
    is_comparison = symbol in COMPARISONS

    class OfLanes(AbstractTemplate):
        """The signatures."""

        def generic(self, given: Any, _named: Any) -> Any:
            """That for arguments of these types; None if none of them is lanes."""
            lanes = next((kind for kind in given if isinstance(kind, Lanes)), None)
            return lanes and (TRUTHS if is_comparison else lanes)(*[lanes] * len(given))

    def generate(_context: Any, builder: Any, _signature: Any, values: Any) -> Any:
        return emit(builder, *values)

    infer_global(symbol)(OfLanes)
    lower_builtin(symbol, *[Lanes] * len(inspect.signature(symbol).parameters))(generate)


for _symbol, _emit in OPERATORS.items():
    _define(_symbol, _emit)


def _signature(plain: Function, kinds: tuple[Any, ...]) -> Any:
    """The numba signature of an operation for arguments of these types, by the annotations of its plain function.

    Each `Real` is converted to one type: that of the lanes among them, else float32 if any is, else float64. What is
    loaded from an array, chosen by eight truths or broadcast is eight of these; a lane is one.
    """
    *hints, result = get_type_hints(plain).values()
    is_real = [hint is Real or Short in get_args(hint) for hint in hints]
    numbers = [kind for kind, real in zip(kinds, is_real, strict=True) if real]
    real: Any = next((kind for kind in numbers if isinstance(kind, Lanes)), None)
    real = real or (types.float32 if types.float32 in numbers else types.float64)
    if Array in hints and (result is Real or get_args(result)):
        real = LANES_OF[_loaded(kinds[hints.index(Array)])]
    elif TRUTHS in kinds or plain.__name__ == "broadcast":
        real = LANES_OF.get(real, real)
    given = [
        types.int64 if hint is int else real if of_real else kind
        for kind, hint, of_real in zip(kinds, hints, is_real, strict=True)
    ]
    if get_args(result):
        return types.UniTuple(real, LANES if Ellipsis in get_args(result) else len(get_args(result)))(*given)
    one = real.element if plain.__name__ == "lane" else real
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


INTRINSICS: dict[Function, Any] = {plain: _intrinsic(plain, emit) for plain, emit in OPERATIONS.items()}
"""What numba compiles in place of each operation."""


def arrays_at_addresses() -> dict[Function, Any]:
    """The same of the functions that give arrays at addresses."""
    return {plain: array_at(plain.args[0], 1) for plain in AT_ADDRESS if isinstance(plain, partial)}
