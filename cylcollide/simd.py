"""Eight numbers side by side, and the machine operations that numba does not offer by itself.

A `Lanes` is a vector of LLVM, of float64 or of float32, and each operation on it one or two of LLVM's instructions, which
become AVX-512, two of AVX, four of SSE or NEON, whatever the processor has. All of them but those on memory
take a single number as well and then do the same to it, bit for bit, so that a kernel is written once: `Real` is a
number or eight of them, `Truth` a bool or eight. Where nothing is compiled (`NUMBA_DISABLE_JIT=1`) a `Lanes` is an array
of eight.
"""

import ctypes
import operator
from collections.abc import Callable
from fractions import Fraction
from math import copysign, isfinite
from typing import Any, TypeAlias, TypeVar, cast

import numba
import numpy as np
from llvmlite import ir
from numba.core import types
from numba.core.typing.templates import ConcreteTemplate, infer_global, signature
from numba.extending import intrinsic, lower_builtin, models, register_model

Real: TypeAlias = float
"""A float64, or eight of them side by side."""
Truth: TypeAlias = bool
"""A bool, or eight of them side by side."""

Function = TypeVar("Function", bound=Callable[..., Any])

LANES = 8
_COUNT = ir.IntType(32)


class Lanes(types.Type):  # type: ignore[misc]
    """Eight numbers, for numba."""

    def __init__(self, name: str, element: Any, machine: ir.Type) -> None:
        self.element, self.machine = element, ir.VectorType(machine, LANES)
        super().__init__(name=name)


@register_model(Lanes)
class _LanesModel(models.PrimitiveModel):  # type: ignore[misc]
    """Eight numbers, for LLVM."""

    def __init__(self, manager: Any, kind: Lanes) -> None:
        super().__init__(manager, kind, kind.machine)


DOUBLES = Lanes("Lanes(float64)", types.float64, ir.DoubleType())
FLOATS = Lanes("Lanes(float32)", types.float32, ir.FloatType())
TRUTHS = Lanes("Lanes(bool)", types.boolean, ir.IntType(1))
_NUMBERS = (DOUBLES, FLOATS)


# Operators: a vector and a vector, or a vector and a number that stands for eight.


def _spread(builder: Any, value: Any) -> Any:
    """Eight times the same."""
    vector = ir.VectorType(value.type, LANES)
    first = builder.insert_element(ir.Constant(vector, ir.Undefined), value, ir.Constant(_COUNT, 0))
    zeros = ir.Constant(ir.VectorType(_COUNT, LANES), [0] * LANES)
    return builder.shuffle_vector(first, ir.Constant(vector, ir.Undefined), zeros)


def _as_lanes(context: Any, builder: Any, value: Any, kind: Any, wanted: Lanes) -> Any:
    """The value as a vector of the wanted kind."""
    if isinstance(kind, Lanes):
        return value
    return _spread(builder, context.cast(builder, value, kind, wanted.element))


def _wide(*kinds: Any) -> Lanes | None:
    """The kind of vector among the arguments, if there is any."""
    return next((kind for kind in kinds if isinstance(kind, Lanes) and kind is not TRUTHS), None)


def _define(symbol: Callable[..., Any], result: Lanes | None, emit: Callable[..., Any], operands: int = 2) -> None:
    """Let an operator of Python work on lanes; the result is of their kind, or of the kind given."""
    pairs = [(k, k) for k in _NUMBERS] + [(k, k.element) for k in _NUMBERS] + [(k.element, k) for k in _NUMBERS]
    if symbol in (operator.and_, operator.or_):
        pairs = [(TRUTHS, TRUTHS)]
    cases = [
        signature(result or _wide(*pair) or TRUTHS, *pair[:operands])
        for pair in pairs[: len(pairs) if operands == 2 else 2]
    ]

    def generate(context: Any, builder: Any, sig: Any, values: Any) -> Any:
        wanted = _wide(*sig.args) or TRUTHS
        return emit(
            builder, *(_as_lanes(context, builder, v, k, wanted) for v, k in zip(values, sig.args, strict=True))
        )

    infer_global(symbol)(type(f"_{symbol.__name__}_of_lanes", (ConcreteTemplate,), {"cases": cases}))
    for case in cases:
        lower_builtin(symbol, *case.args)(generate)


for _symbol, _name in (
    (operator.add, "fadd"),
    (operator.sub, "fsub"),
    (operator.mul, "fmul"),
    (operator.truediv, "fdiv"),
):
    _define(_symbol, None, lambda b, x, y, name=_name: getattr(b, name)(x, y))
for _symbol, _name in (
    (operator.lt, "<"),
    (operator.le, "<="),
    (operator.gt, ">"),
    (operator.ge, ">="),
    (operator.eq, "=="),
):
    _define(_symbol, TRUTHS, lambda b, x, y, name=_name: b.fcmp_ordered(name, x, y))
_define(operator.and_, TRUTHS, lambda b, x, y: b.and_(x, y))
_define(operator.or_, TRUTHS, lambda b, x, y: b.or_(x, y))
_define(operator.neg, None, lambda b, x: b.fneg(x), operands=1)


# Functions: of numbers or of lanes alike. `emit` is given values of one LLVM type.


def _function(
    plain: Function, arity: int, emit: Callable[..., Any], result: Any = None, truth_first: bool = False
) -> Function:
    """`plain` where nothing is compiled, else what `emit` emits for a number and for eight."""
    if getattr(numba.config, "DISABLE_JIT", 0):
        return plain

    def typed(_context: Any, *given: Any) -> Any:
        numbers = given[1:] if truth_first else given
        wide = _wide(*given) or (DOUBLES if truth_first and given[0] is TRUTHS else None)
        narrow = types.float32 if any(kind is types.float32 for kind in numbers) else types.float64
        kinds = tuple(
            wide if wide and isinstance(kind, Lanes) else (wide.element if wide else narrow) for kind in numbers
        )
        if truth_first:
            kinds = (given[0], *kinds)
        answer = result(wide) if result else (wide or narrow)

        def generate(context: Any, builder: Any, sig: Any, values: Any) -> Any:
            if not wide:
                return emit(builder, *values)
            rest = [_as_lanes(context, builder, v, k, wide) for v, k in zip(values, sig.args, strict=True)][
                truth_first:
            ]
            first = [values[0]] if truth_first else []
            return emit(builder, *first, *rest)

        return answer(*kinds), generate

    names = ", ".join(f"a{k}" for k in range(arity))  # numba reads the arity off the signature
    return cast(Function, intrinsic(eval(f"lambda context, {names}: typed(context, {names})", {"typed": typed})))


def _call(name: str) -> Callable[..., Any]:
    """One of LLVM's own functions, which exist for every width."""

    def emit(builder: Any, *values: Any) -> Any:
        kind = values[0].type
        suffix = {"double": "f64", "float": "f32"}[str(getattr(kind, "element", kind))]
        suffix = f"v{LANES}{suffix}" if isinstance(kind, ir.VectorType) else suffix
        function_type = ir.FunctionType(kind, [kind] * len(values))
        full = f"llvm.{name}.{suffix}"
        function = builder.module.globals.get(full) or ir.Function(builder.module, function_type, full)
        return builder.call(function, values)

    return emit


def _plain_choice(truth: Any, a: Any, b: Any) -> Any:
    return np.where(truth, a, b) if np.ndim(truth) else (a if truth else b)


def _c_fma() -> Callable[[float, float, float], float] | None:
    """The C library's `fma`, if this program has one at hand."""
    try:
        function = ctypes.CDLL(None).fma
    except (AttributeError, OSError, TypeError):
        return None
    function.argtypes, function.restype = [ctypes.c_double] * 3, ctypes.c_double
    return cast(Callable[[float, float, float], float], function)


_C_FMA = _c_fma()


def _fused_exactly(a: float, b: float, c: float) -> float:
    """Round a b + c once: by the C library, or by rational arithmetic."""
    if _C_FMA is not None:
        return float(_C_FMA(a, b, c))
    if not (isfinite(a) and isfinite(b) and isfinite(c)):
        return a * b + c
    return float(Fraction(a) * Fraction(b) + Fraction(c))


def _each(function: Callable[..., float]) -> Callable[..., Any]:
    """The function of numbers, also for arrays."""
    return lambda *a: np.vectorize(function, otypes=[float])(*a) if any(np.ndim(x) for x in a) else function(*a)


def _machine(plain: Function, types_of: Callable[..., Any], emit: Callable[..., Any], arity: int) -> Function:
    """An operation of fixed types: `plain`, or what `emit(context, builder, signature, *values)` emits."""
    if getattr(numba.config, "DISABLE_JIT", 0):
        return plain

    def typed(_context: Any, *given: Any) -> Any:
        return types_of(*given), lambda context, builder, sig, values: emit(context, builder, sig, *values)

    names = ", ".join(f"a{k}" for k in range(arity))
    return cast(Function, intrinsic(eval(f"lambda context, {names}: typed(context, {names})", {"typed": typed})))


select = _function(_plain_choice, 3, lambda b, t, x, y: b.select(t, x, y), truth_first=True)
"""`a` where `truth`, else `b`."""
larger = _function(
    lambda a, b: _plain_choice(a > b, a, b), 2, lambda b, x, y: b.select(b.fcmp_ordered(">", x, y), x, y)
)
"""The larger of two; the second if either is NaN."""
smaller = _function(
    lambda a, b: _plain_choice(a < b, a, b), 2, lambda b, x, y: b.select(b.fcmp_ordered("<", x, y), x, y)
)
"""The smaller of two; the second if either is NaN."""
magnitude = _function(abs, 1, _call("fabs"))
"""Absolute value."""
square_root = _function(np.sqrt, 1, _call("sqrt"))
"""Square root; NaN of a negative."""
whole = _function(np.trunc, 1, _call("trunc"))
"""The number without what is behind its point."""
with_sign = _function(_each(copysign), 2, _call("copysign"))
"""The magnitude of the first with the sign of the second."""
opposite = _machine(
    lambda truth: truth == 0,
    lambda truth: truth(truth),
    lambda context, builder, sig, truth: builder.not_(truth),
    1,
)
"""Not: the other truth, of a bool or of eight."""
alike = _function(lambda value, like: value + 0.0 * np.zeros_like(like), 2, lambda b, x, y: x)
"""The number itself; eight times if `like` is eight. Branches that answer with a constant agree in kind this way."""
fused_multiply_add = _function(_each(_fused_exactly), 3, _call("fma"))
"""a b + c with one rounding."""


def _emit_bits(builder: Any, truth: Any) -> Any:
    return builder.zext(builder.bitcast(truth, ir.IntType(LANES)), ir.IntType(64))


def _address(context: Any, builder: Any, sig: Any, array: Any, offset: Any) -> Any:
    """Pointer to eight entries of an array in C order, counted from its first."""
    data = context.make_array(sig.args[0])(context, builder, array).data
    machine = ir.VectorType(data.type.pointee, LANES)
    return builder.bitcast(builder.gep(data, [offset]), machine.as_pointer())


def _emit_load(context: Any, builder: Any, sig: Any, array: Any, offset: Any) -> Any:
    return builder.load(_address(context, builder, sig, array, offset), align=4)


def _emit_store(context: Any, builder: Any, sig: Any, array: Any, offset: Any, value: Any) -> Any:
    pointer = _address(context, builder, sig, array, offset)
    builder.store(_converted(builder, value, pointer.type.pointee), pointer, align=1)
    return context.get_dummy_value()


def _converted(builder: Any, value: Any, machine: Any) -> Any:
    """The vector as numbers of another kind: fewer digits, whole numbers cut off, truths as bytes."""
    if value.type == machine:
        return value
    if isinstance(machine.element, ir.IntType):
        truths = value.type == TRUTHS.machine
        return builder.zext(value, machine) if truths else builder.fptosi(value, machine)
    return builder.fptrunc(value, machine)


def _plain_store(array: Any, offset: int, value: Any) -> None:
    array.reshape(-1)[offset : offset + LANES] = value


def _kind_of(array: Any) -> Lanes:
    return FLOATS if array.dtype == types.float32 else DOUBLES


load = _machine(
    lambda array, offset: array.reshape(-1)[offset : offset + LANES].copy(),
    lambda array, offset: _kind_of(array)(array, types.intp),
    _emit_load,
    2,
)
"""Eight neighbours in an array in C order, from entry `offset` of all."""
store = _machine(_plain_store, lambda array, offset, value: types.void(array, types.intp, value), _emit_store, 3)
"""Write eight neighbours, as numbers of the array's kind."""
spread = _machine(
    lambda value: np.full(LANES, value),
    lambda value: (FLOATS if value is types.float32 else DOUBLES)(value),
    lambda context, builder, sig, value: _spread(builder, value),
    1,
)
"""Eight times the same number."""
bits = _machine(
    lambda truth: sum(1 << k for k in range(LANES) if truth[k]),
    lambda truth: types.int64(TRUTHS),
    lambda context, builder, sig, truth: _emit_bits(builder, truth),
    1,
)
"""Eight bools as the bits of an integer, the first one lowest."""
lowest_bit = _machine(
    lambda number: (number & -number).bit_length() - 1,
    lambda number: types.int64(types.int64),
    lambda context, builder, sig, number: builder.cttz(number, ir.Constant(ir.IntType(1), 0)),
    1,
)
"""Number of the lowest bit that is set, of a number that is not 0."""


def _turned(builder: Any, lines: list[Any]) -> list[Any]:
    """Rows of an eight by eight matrix made columns: three rounds of shuffles, as in a fast Fourier transform."""
    for distance in (1, 2, 4):
        low = [i if not i & distance else LANES + i - distance for i in range(LANES)]
        high = [i + distance if not i & distance else LANES + i for i in range(LANES)]
        mask_of = [ir.Constant(ir.VectorType(_COUNT, LANES), pattern) for pattern in (low, high)]
        turned = list(lines)
        for k in range(LANES):
            if not k & distance:
                pair = (lines[k], lines[k + distance])
                turned[k] = builder.shuffle_vector(*pair, mask_of[0])
                turned[k + distance] = builder.shuffle_vector(*pair, mask_of[1])
        lines = turned
    return lines


highest_bit = _machine(
    lambda number: number.bit_length() - 1,
    lambda number: types.int64(types.int64),
    lambda context, builder, sig, number: builder.sub(
        ir.Constant(number.type, 63), builder.ctlz(number, ir.Constant(ir.IntType(1), 0))
    ),
    1,
)
"""Number of the highest bit that is set, of a number that is not 0."""
lane = _machine(
    lambda numbers, k: numbers[k],
    lambda numbers, k: numbers.element(numbers, types.int64),
    lambda context, builder, sig, numbers, k: builder.extract_element(numbers, k),
    2,
)
"""One of eight."""


def _emit_rows(context: Any, builder: Any, sig: Any, array: Any, chosen: Any, first: Any, column: Any) -> Any:
    """Load a piece of eight rows, then turn rows into columns."""
    matrix = context.make_array(sig.args[0])(context, builder, array)
    numbers = context.make_array(sig.args[1])(context, builder, chosen)
    width = builder.extract_value(matrix.shape, 1)
    machine = ir.VectorType(matrix.data.type.pointee, LANES)
    lines = []
    for k in range(LANES):
        number = builder.load(builder.gep(numbers.data, [builder.add(first, ir.Constant(first.type, k))]))
        row = builder.zext(number, first.type) if number.type.width < first.type.width else number
        offset = builder.add(builder.mul(row, width), column)
        lines.append(builder.load(builder.bitcast(builder.gep(matrix.data, [offset]), machine.as_pointer()), align=4))
    lines = _turned(builder, lines)
    return context.make_tuple(builder, sig.return_type, lines)


load_rows = _machine(
    lambda array, chosen, first, column: tuple(
        array[chosen.reshape(-1)[first : first + LANES], column : column + LANES].T.copy()
    ),
    lambda array, chosen, first, column: types.UniTuple(_kind_of(array), LANES)(array, chosen, types.intp, types.intp),
    _emit_rows,
    4,
)
"""Eight columns, from `column` on, of the eight rows of a matrix whose numbers stand at `chosen[first]` and behind."""


def _emit_every(context: Any, builder: Any, sig: Any, array: Any, offset: Any, stride: Any) -> Any:
    """Eight entries at equal distances."""
    data = context.make_array(sig.args[0])(context, builder, array).data
    vector = ir.Constant(ir.VectorType(data.type.pointee, LANES), ir.Undefined)
    for k in range(LANES):
        place = builder.add(offset, builder.mul(stride, ir.Constant(stride.type, k)))
        vector = builder.insert_element(vector, builder.load(builder.gep(data, [place])), ir.Constant(_COUNT, k))
    return vector


load_every = _machine(
    lambda array, offset, stride: array.reshape(-1)[offset : offset + LANES * stride : stride].copy(),
    lambda array, offset, stride: _kind_of(array)(array, types.intp, types.intp),
    _emit_every,
    3,
)
"""Eight entries of an array in C order, `stride` apart, from entry `offset` of all."""


def _emit_store_rows(context: Any, builder: Any, sig: Any, array: Any, first: Any, column: Any, columns: Any) -> Any:
    """Turn eight columns into rows, and write a piece of each row."""
    matrix = context.make_array(sig.args[0])(context, builder, array)
    width, machine = builder.extract_value(matrix.shape, 1), ir.VectorType(matrix.data.type.pointee, LANES)
    for k, line in enumerate(_turned(builder, [builder.extract_value(columns, k) for k in range(LANES)])):
        offset = builder.add(builder.mul(builder.add(first, ir.Constant(first.type, k)), width), column)
        pointer = builder.bitcast(builder.gep(matrix.data, [offset]), machine.as_pointer())
        builder.store(_converted(builder, line, machine), pointer, align=4)
    return context.get_dummy_value()


def _plain_store_rows(array: Any, first: int, column: int, columns: Any) -> None:
    array[first : first + LANES, column : column + LANES] = np.array(columns).T


store_rows = _machine(
    _plain_store_rows,
    lambda array, first, column, columns: types.void(array, types.intp, types.intp, columns),
    _emit_store_rows,
    4,
)
"""Write eight columns, from `column` on, of eight neighbouring rows of a matrix; float64 is rounded to its kind."""


def _emit_at(
    context: Any, builder: Any, sig: Any, array: Any, number: Any, first: Any, stride: Any, column: Any
) -> Any:
    """Eight entries at places that are listed."""
    data = context.make_array(sig.args[0])(context, builder, array).data
    numbers = context.make_array(sig.args[1])(context, builder, number).data
    vector = ir.Constant(ir.VectorType(data.type.pointee, LANES), ir.Undefined)
    for k in range(LANES):
        row = builder.load(builder.gep(numbers, [builder.add(first, ir.Constant(first.type, k))]))
        row = builder.sext(row, first.type) if row.type.width < first.type.width else row
        entry = builder.load(builder.gep(data, [builder.add(builder.mul(row, stride), column)]))
        vector = builder.insert_element(vector, entry, ir.Constant(_COUNT, k))
    return vector


load_at = _machine(
    lambda array, number, first, stride, column: array.reshape(-1)[number[first : first + LANES] * stride + column],
    lambda array, number, first, stride, column: _kind_of(array)(array, number, types.intp, types.intp, types.intp),
    _emit_at,
    5,
)
"""Column `column` of an array in C order with rows of `stride`, for the rows listed at `number[first]` and behind."""


def _emit_prefetch(context: Any, builder: Any, sig: Any, array: Any, offset: Any) -> Any:
    """LLVM's hint to the cache."""
    data = context.make_array(sig.args[0])(context, builder, array).data
    byte, flag = ir.IntType(8).as_pointer(), ir.IntType(32)
    name = "llvm.prefetch.p0i8"
    kind = ir.FunctionType(ir.VoidType(), [byte, flag, flag, flag])
    function = builder.module.globals.get(name) or ir.Function(builder.module, kind, name)
    hints = [ir.Constant(flag, 0), ir.Constant(flag, 3), ir.Constant(flag, 1)]  # to be read, kept close, data
    builder.call(function, [builder.bitcast(builder.gep(data, [offset]), byte), *hints])
    return context.get_dummy_value()


prefetch = _machine(
    lambda array, offset: None,
    lambda array, offset: types.void(array, types.intp),
    _emit_prefetch,
    2,
)
"""Say that an array will be read from entry `offset` of all: the cache may fetch it meanwhile."""
