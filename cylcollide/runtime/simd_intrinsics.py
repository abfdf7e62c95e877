"""The operations of `simd.py` and `addresses.py` in compiled functions: signatures, and emitters of instructions."""

import inspect
from collections.abc import Callable
from functools import wraps
from typing import Any, cast

from llvmlite import ir
from numba.core import types
from numba.core.errors import TypingError
from numba.extending import intrinsic
from numba.np.arrayobj import populate_array

from cylcollide.runtime import addresses, simd, simd_llvm
from cylcollide.runtime.simd import LANES
from cylcollide.runtime.simd_llvm import Emitter
from cylcollide.runtime.simd_types import DOUBLES, FLOATS, TRUTHS, Lanes

Function = Callable[..., Any]
Kinds = Callable[..., Any]
"""From the numba types of the arguments to the numba signature."""


def _shared_kind(kinds: tuple[Any, ...]) -> Any:
    """The common type of the arguments: that of the lanes among them; else float32 if any is, else float64."""
    lanes = next((kind for kind in kinds if isinstance(kind, Lanes)), None)
    return lanes or (types.float32 if types.float32 in kinds else types.float64)


def _parameters(kinds: tuple[Any, ...], shared: Any) -> list[Any]:
    """The types that arguments are converted to: lanes stay, a scalar becomes one of the shared type."""
    single = getattr(shared, "element", shared)
    return [kind if isinstance(kind, Lanes) else single for kind in kinds]


def _one_kind(*kinds: Any) -> Any:
    shared = _shared_kind(kinds)
    return shared(*_parameters(kinds, shared))


def choice(truth: Any, *kinds: Any) -> Any:
    """Signature of a selection between numbers or lanes, by one truth or by eight."""
    shared = _shared_kind(kinds)
    if truth is TRUTHS and not isinstance(shared, Lanes):
        shared = lanes_of_number(shared)
    return shared(truth, *_parameters(kinds, shared))


def lanes_of_number(kind: Any) -> Any:
    """The type of eight numbers of a type."""
    return FLOATS if kind is types.float32 else DOUBLES


def lanes_of(array: Any) -> Any:
    """The type of eight entries of an array of float64 or float32 in C order; TypingError for any other."""
    if not isinstance(array, types.Array) or array.layout != "C" or array.dtype not in (types.float64, types.float32):
        raise TypingError(f"expected float64 or float32 in C order, got {array}; np.ascontiguousarray makes that")
    return lanes_of_number(array.dtype)


def _intrinsic(plain: Function, kinds: Kinds, emit: Emitter) -> Any:
    """Numba's intrinsic for calls of a plain function.

    `emit` takes LLVM's builder and the values of the arguments, and returns the value of the result (`simd_llvm.py`).
    """
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

        return kinds(*parameters.bind(*given, **named).args), generate

    return _as_intrinsic(define, parameters)


def _as_intrinsic(define: Any, parameters: inspect.Signature) -> Any:
    """Numba's intrinsic of a function that defines it, for calls with these parameters."""
    # numba reads names and number of the arguments off the signature, the first of which is its own context
    context = inspect.Parameter("_context", inspect.Parameter.POSITIONAL_ONLY)
    cast(Any, define).__signature__ = parameters.replace(parameters=[context, *parameters.parameters.values()])
    return intrinsic(define)


def _array_at(plain: Function, element: Any) -> Any:
    """Numba's intrinsic for a function of `addresses.py`: an array that counts no references."""

    @wraps(plain)
    def define(_context: Any, _address: Any, _count: Any) -> Any:
        kind = types.Array(element, 1, "C")

        def generate(context: Any, builder: Any, _signature: Any, values: Any) -> Any:
            address, count = values
            array, size = (
                context.make_array(kind)(context, builder),
                context.get_constant(_INDEX, element.bitwidth // 8),
            )
            pointer = builder.inttoptr(address, array.data.type)
            populate_array(array, data=pointer, shape=[count], strides=[size], itemsize=size, meminfo=None)
            return array._getvalue()

        return kind(types.int64, types.int64), generate

    return _as_intrinsic(define, inspect.signature(plain))


_INDEX = types.intp
_ELEMENTWISE: dict[Function, Emitter] = {  # of numbers or lanes; scalars beside lanes are broadcast
    simd.larger: simd_llvm.larger,
    simd.smaller: simd_llvm.smaller,
    simd.absolute: simd_llvm.call("fabs"),
    simd.square_root: simd_llvm.call("sqrt"),
    simd.truncate: simd_llvm.call("trunc"),
    simd.with_sign: simd_llvm.call("copysign"),
    simd.fused_multiply_add: simd_llvm.call("fma"),
    simd.broadcast_like: simd_llvm.first,
}
_OTHERS: dict[Function, tuple[Kinds, Emitter]] = {
    simd.select: (choice, simd_llvm.select),
    simd.logical_not: (lambda truth: truth(truth), ir.IRBuilder.not_),
    simd.broadcast: (lambda kind: lanes_of_number(kind)(lanes_of_number(kind).element), simd_llvm.broadcast),
    simd.lane: (lambda numbers, _k: numbers.element(numbers, types.int64), simd_llvm.lane),
    simd.movemask: (lambda _truth: types.int64(TRUTHS), simd_llvm.movemask),
    simd.lowest_bit: (lambda _number: types.int64(types.int64), simd_llvm.lowest_bit),
    simd.highest_bit: (lambda _number: types.int64(types.int64), simd_llvm.highest_bit),
    simd.load: (lambda array, _offset: lanes_of(array)(array, _INDEX), simd_llvm.load),
    simd.load_triples: (
        lambda array, _offset: types.UniTuple(lanes_of(array), 3)(array, _INDEX),
        simd_llvm.load_triples,
    ),
    simd.load_at: (
        lambda array, rows, *_: lanes_of(array)(array, rows, _INDEX, _INDEX, _INDEX),
        simd_llvm.load_at,
    ),
    simd.load_rows: (
        lambda matrix, rows, *_: types.UniTuple(lanes_of(matrix), LANES)(matrix, rows, _INDEX, _INDEX),
        simd_llvm.load_rows,
    ),
    simd.store: (lambda array, _offset, value: types.void(array, _INDEX, value), simd_llvm.store),
    simd.store_rows: (
        lambda matrix, _first, _column, columns: types.void(matrix, _INDEX, _INDEX, columns),
        simd_llvm.store_rows,
    ),
    simd.append_where: (
        lambda array, _offset, rows, *_: types.int64(array, _INDEX, rows, _INDEX, TRUTHS),
        simd_llvm.append_where,
    ),
    simd.prefetch: (lambda array, _offset: types.void(array, _INDEX), simd_llvm.prefetch),
}
INTRINSICS: dict[Function, Any] = {
    **{plain: _intrinsic(plain, _one_kind, simd_llvm.broadcasting(emit)) for plain, emit in _ELEMENTWISE.items()},
    **{plain: _intrinsic(plain, kinds, emit) for plain, (kinds, emit) in _OTHERS.items()},
    addresses.float64_at: _array_at(addresses.float64_at, types.float64),
    addresses.float32_at: _array_at(addresses.float32_at, types.float32),
    addresses.int64_at: _array_at(addresses.int64_at, types.int64),
    addresses.int8_at: _array_at(addresses.int8_at, types.int8),
    addresses.int32_at: _array_at(addresses.int32_at, types.int32),
}
"""What numba compiles in place of each operation."""
