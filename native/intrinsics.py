"""Vectors of eight numbers, the operations of `simd.py`, and arrays at addresses, as numba compiles them.

A `Lanes` is an LLVM vector. A number combined with one is broadcast to eight lanes.
"""

from collections.abc import Callable
from itertools import count
from types import NoneType
from typing import Any, get_args, get_type_hints

from llvmlite import ir
from numba.core import types
from numba.core.errors import TypingError
from numba.core.typing.templates import AbstractTemplate, infer_global
from numba.extending import intrinsic, lower_builtin, lower_cast, models, register_model
from numba.np.arrayobj import populate_array
from numba.np.numpy_support import as_dtype

from cylcollide.runtime.memory import entries_at
from cylcollide.runtime.simd import LANES, Array, Real, Short
from native.emitters import OPERATIONS, OPERATORS, RELATIONS, Emitter, spread

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
    """Broadcast a number that is combined with lanes."""
    return spread(builder, context.cast(builder, value, given, kind.element))


LANES_OF: dict[Any, Any] = {element: Lanes(element) for element in (types.float64, types.float32)}  # vectors of eight
TRUTHS: Any = Lanes(types.boolean)


def _register(function: Function, kind: Any, typed: Function, generate: Function) -> None:
    """Register a function with numba, for arguments of a kind.

    `typed` returns the signature for types of arguments, or None; `generate` returns the code.
    """

    class Known(AbstractTemplate):
        def generic(self, given: Any, _named: Any) -> Any:
            return typed(given)

    infer_global(function)(Known)
    lower_builtin(function, types.VarArg(kind))(generate)


def _generate(emit: Emitter) -> Function:
    """A code generator for numba, from an emitter."""

    def generate(context: Any, builder: Any, signature: Any, values: Any) -> Any:
        opened = [
            context.make_array(kind)(context, builder, value) if isinstance(kind, types.Array) else value
            for kind, value in zip(signature.args, values, strict=True)
        ]
        result = emit(builder, *opened)
        if result is None:
            return context.get_dummy_value()
        return context.make_tuple(builder, signature.return_type, result) if isinstance(result, list) else result

    return generate


def _typed_operator(symbol: Function) -> Function:
    """The signature of an operator of Python for these arguments, if any of them is lanes."""

    def typed(given: tuple[Any, ...]) -> Any:
        lanes = next((kind for kind in given if isinstance(kind, Lanes)), None)
        return lanes and (TRUTHS if symbol in RELATIONS else lanes)(*[lanes] * len(given))

    return typed


def _typed_operation(plain: Function) -> Function:
    """The signature of an operation for arguments of these types, by the annotations of its plain function.

    Each `Real` is converted to one type: that of the lanes among them, else float32 if any is, else float64. A result
    that is loaded from an array, chosen by eight truths or broadcast has eight of these; a lane is one.
    """
    *hints, result = get_type_hints(plain).values()
    is_real = [hint is Real or Short in get_args(hint) for hint in hints]

    def typed(kinds: tuple[Any, ...]) -> Any:
        numbers = [kind for kind, real in zip(kinds, is_real, strict=True) if real]
        real: Any = next((kind for kind in numbers if isinstance(kind, Lanes)), None)
        real = real or (types.float32 if types.float32 in numbers else types.float64)
        if Array in hints and (result is Real or get_args(result)):
            array = kinds[hints.index(Array)]
            if array.layout != "C" or array.dtype not in LANES_OF:
                raise TypingError(f"expected float64 or float32 in C order, got {array}")
            real = LANES_OF[array.dtype]
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

    return typed


for _function, _emit in OPERATORS.items():
    _register(_function, Lanes, _typed_operator(_function), _generate(_emit))
for _function, _emit in OPERATIONS.items():
    _register(_function, types.Any, _typed_operation(_function), _generate(_emit))


def _array(context: Any, builder: Any, kind: Any, address: Any, shape: list[Any]) -> Any:
    """An array in C order at an address; references to it are not counted."""
    array, size = context.make_array(kind)(context, builder), as_dtype(kind.dtype).itemsize
    strides = [context.get_constant(types.intp, size)]
    for length in shape[:0:-1]:
        strides.insert(0, builder.mul(strides[0], length))
    data = builder.inttoptr(address, array.data.type)
    populate_array(array, data=data, shape=shape, strides=strides, itemsize=size, meminfo=None)
    return array._getvalue()


_register(
    entries_at,
    types.Any,
    lambda kinds: types.Array(kinds[0].dtype, 1, "C")(kinds[0], types.int64, types.int64),
    lambda context, builder, made, values: _array(context, builder, made.return_type, values[1], values[2:]),
)


def arguments_at(takes: Any) -> Any:
    """Numba's intrinsic that reads a tuple from words at an address (`module.c`)."""

    def define(_context: Any, _address: Any) -> Any:
        def generate(context: Any, builder: Any, _signature: Any, values: Any) -> Any:
            words, place = builder.inttoptr(values[0], ir.IntType(64).as_pointer()), count()

            def read(kind: Any) -> Any:
                if (items := getattr(kind, "types", None)) is not None:
                    return context.make_tuple(builder, kind, [read(item) for item in items])
                word = builder.load(builder.gep(words, [ir.IntType(32)(next(place))]))
                if isinstance(kind, types.Array):
                    return _array(context, builder, kind, word, [read(types.int64) for _ in range(kind.ndim)])
                if kind == types.float64:
                    return builder.bitcast(word, ir.DoubleType())
                return builder.trunc(word, ir.IntType(1)) if kind == types.boolean else word

            return read(takes)

        return takes(types.int64), generate

    return intrinsic(define)
