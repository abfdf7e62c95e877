"""Code generation for vectors of eight numbers and the operations of `simd.py`: instructions of LLVM.

An emitter takes LLVM's builder and the values of the arguments: a number, a vector of eight, or numba's struct of an
array, with `data` and `shape`. If one of the numbers is a vector, all are. It returns the value of the result: None if
there is none, a list for a tuple. The functions of `simd.py` define each operation.
"""

import operator
from collections.abc import Callable, Iterable
from typing import Any, TypeAlias

from llvmlite import ir
from numba.core.cgutils import unpack_tuple

from cylcollide.runtime import simd
from cylcollide.runtime.simd import LANES

Emitter: TypeAlias = Callable[..., Any]

_COUNT, _LONG, _TRUTH = ir.IntType(32), ir.IntType(64), ir.IntType(1)


# Operations on numbers and on vectors.


def _undefined(element: Any, count: int = LANES) -> Any:
    return ir.Constant(ir.VectorType(element, count), ir.Undefined)


def _shuffled(builder: ir.IRBuilder, a: Any, b: Any, lanes: Iterable[int]) -> Any:
    """Eight numbers chosen from two vectors."""
    return builder.shuffle_vector(a, b, ir.Constant(ir.VectorType(_COUNT, LANES), list(lanes)))


def spread(builder: ir.IRBuilder, value: Any) -> Any:
    """A vector with the number in all eight lanes."""
    first = builder.insert_element(_undefined(value.type), value, _COUNT(0))
    return _shuffled(builder, first, _undefined(value.type), [0] * LANES)


def _compare(relation: str) -> Emitter:
    """An ordered comparison: false if either operand is NaN."""
    return lambda builder, a, b: builder.fcmp_ordered(relation, a, b)


def _called(builder: ir.IRBuilder, name: str, result: ir.Type, *values: Any) -> Any:
    """The result of an intrinsic of LLVM."""
    kind = ir.FunctionType(result, [value.type for value in values])
    return builder.call(builder.module.declare_intrinsic(name, (), kind), values)


def _call(name: str) -> Emitter:
    """Call of an LLVM intrinsic, which exists for every vector width."""

    def emit(builder: ir.IRBuilder, *values: Any) -> Any:
        kind = values[0].type
        suffix = f"v{LANES}{kind.element.intrinsic_name}" if isinstance(kind, ir.VectorType) else kind.intrinsic_name
        return _called(builder, f"llvm.{name}.{suffix}", kind, *values)

    return emit


def _contractible(emit: Emitter) -> Emitter:
    """Arithmetic that may be contracted to a fused multiply-add, where there is one, for float32: numbers of boxes."""

    def emit_flagged(builder: ir.IRBuilder, a: Any, b: Any) -> Any:
        return emit(builder, a, b, flags=("contract",) if a.type.element == ir.FloatType() else ())

    return emit_flagged


def _movemask(builder: ir.IRBuilder, truth: Any) -> Any:
    bits = builder.bitcast(truth, ir.IntType(LANES)) if isinstance(truth.type, ir.VectorType) else truth
    return builder.zext(bits, _LONG)


def _first_least(builder: ir.IRBuilder, numbers: Any) -> Any:
    least = numbers
    for distance in (4, 2, 1):
        other = _shuffled(builder, least, least, [i ^ distance for i in range(LANES)])
        least = builder.select(builder.fcmp_ordered("<", other, least), other, least)
    return builder.cttz(_movemask(builder, builder.fcmp_ordered("==", numbers, least)), _TRUTH(0))


# Memory. Only the alignment of a single number is assumed.


def _entry(builder: ir.IRBuilder, array: Any, offset: Any) -> Any:
    """Pointer to an entry of an array in C order, `offset` entries from its first."""
    return builder.gep(array.data, [offset])


def _vector(builder: ir.IRBuilder, array: Any, offset: Any, count: int = LANES) -> Any:
    """Pointer to consecutive entries, eight of them or another number."""
    return builder.bitcast(_entry(builder, array, offset), ir.VectorType(array.data.type.pointee, count).as_pointer())


def _offset(builder: ir.IRBuilder, row: Any, width: Any, column: Any) -> Any:
    """Offset of a column of a row."""
    return builder.add(builder.mul(row, width), column)


def _offsets(builder: ir.IRBuilder, rows: Any, first: Any, width: Any, column: Any) -> list[Any]:
    """Offsets of a column of eight rows of a list, from `first` on."""
    places = [builder.load(_entry(builder, rows, builder.add(first, _LONG(k)))) for k in range(LANES)]
    return [_offset(builder, builder.sext(place, _LONG), width, column) for place in places]


def _transposed(builder: ir.IRBuilder, lines: list[Any]) -> list[Any]:
    """The transpose of an eight by eight matrix: three rounds of shuffles, as in a fast Fourier transform."""
    for distance in (1, 2, 4):
        low = [i + LANES - distance if i & distance else i for i in range(LANES)]
        high = [i + LANES if i & distance else i + distance for i in range(LANES)]
        turned = list(lines)
        for k in (k for k in range(LANES) if not k & distance):
            pair = lines[k], lines[k + distance]
            turned[k], turned[k + distance] = (_shuffled(builder, *pair, which) for which in (low, high))
        lines = turned
    return lines


def _load(builder: ir.IRBuilder, array: Any, offset: Any) -> Any:
    return builder.load(_vector(builder, array, offset), align=4)


def _load_triples(builder: ir.IRBuilder, array: Any, offset: Any) -> list[Any]:
    numbers = builder.load(_vector(builder, array, offset, 3 * LANES), align=4)
    nothing = _undefined(array.data.type.pointee, 3 * LANES)
    return [_shuffled(builder, numbers, nothing, range(column, 3 * LANES, 3)) for column in range(3)]


def _load_at(builder: ir.IRBuilder, array: Any, rows: Any, first: Any, stride: Any, column: Any) -> Any:
    vector = _undefined(array.data.type.pointee)
    for k, offset in enumerate(_offsets(builder, rows, first, stride, column)):
        vector = builder.insert_element(vector, builder.load(_entry(builder, array, offset)), _COUNT(k))
    return vector


def _load_rows(builder: ir.IRBuilder, matrix: Any, rows: Any, first: Any, column: Any) -> list[Any]:
    offsets = _offsets(builder, rows, first, builder.extract_value(matrix.shape, 1), column)
    return _transposed(builder, [_load(builder, matrix, offset) for offset in offsets])


def _store(builder: ir.IRBuilder, array: Any, offset: Any, value: Any) -> None:
    """Store, rounded to float or truncated to integer; truths become 0 and 1."""
    pointer = _vector(builder, array, offset)
    vector, truths = pointer.type.pointee, value.type.element == _TRUTH
    if isinstance(vector.element, ir.IntType):
        convert = builder.zext if truths else builder.fptosi
    elif truths:
        convert = builder.uitofp
    else:
        convert = builder.fptrunc if vector.element == ir.FloatType() else builder.fpext
    builder.store(convert(value, vector), pointer, align=1)


def _store_rows(builder: ir.IRBuilder, matrix: Any, first: Any, column: Any, columns: Any) -> None:
    width = builder.extract_value(matrix.shape, 1)
    for k, line in enumerate(_transposed(builder, unpack_tuple(builder, columns))):
        _store(builder, matrix, _offset(builder, builder.add(first, _LONG(k)), width, column), line)


def _prefetch(builder: ir.IRBuilder, array: Any, offset: Any) -> None:
    """Prefetch data, for reading, into the second-level cache: more such prefetches can be pending at the same time."""
    byte = builder.bitcast(_entry(builder, array, offset), ir.IntType(8).as_pointer())
    _called(builder, "llvm.prefetch.p0i8", ir.VoidType(), byte, *map(_COUNT, (0, 2, 1)))


COMPRESS = "llvm.experimental.vector.compress.v8i32"
"""Packs those of eight int32 for which a truth holds. AVX-512 has an instruction; for AVX2 see `backend.py`."""


def _append_where(builder: ir.IRBuilder, array: Any, offset: Any, rows: Any, first: Any, truth: Any) -> Any:
    entries = _load(builder, rows, first)
    packed = _called(builder, COMPRESS, entries.type, entries, truth, entries.type(None))
    builder.store(packed, _vector(builder, array, offset), align=4)
    return builder.ctpop(_movemask(builder, truth))


RELATIONS = {operator.lt: "<", operator.le: "<=", operator.gt: ">", operator.ge: ">=", operator.eq: "=="}
OPERATORS: dict[Callable[..., Any], Emitter] = {
    operator.add: _contractible(ir.IRBuilder.fadd),
    operator.sub: _contractible(ir.IRBuilder.fsub),
    operator.mul: _contractible(ir.IRBuilder.fmul),
    operator.truediv: ir.IRBuilder.fdiv,
    operator.neg: ir.IRBuilder.fneg,
    **{symbol: _compare(relation) for symbol, relation in RELATIONS.items()},
    operator.and_: ir.IRBuilder.and_,
    operator.or_: ir.IRBuilder.or_,
}
"""Operators on vectors; numba has those on numbers."""

OPERATIONS: dict[Callable[..., Any], Emitter] = {
    simd.select: ir.IRBuilder.select,
    simd.larger: lambda builder, a, b: builder.select(builder.fcmp_ordered(">", a, b), a, b),
    simd.smaller: lambda builder, a, b: builder.select(builder.fcmp_ordered("<", a, b), a, b),
    simd.absolute: _call("fabs"),
    simd.square_root: _call("sqrt"),
    simd.truncate: _call("trunc"),
    simd.with_sign: _call("copysign"),
    simd.fused_multiply_add: _call("fma"),
    simd.broadcast_like: lambda _builder, value, _like: value,
    simd.logical_not: ir.IRBuilder.not_,
    simd.broadcast: lambda _builder, numbers: numbers,
    simd.lane: ir.IRBuilder.extract_element,
    simd.movemask: _movemask,
    simd.first_least: _first_least,
    simd.lowest_bit: lambda builder, number: builder.cttz(number, _TRUTH(0)),
    simd.highest_bit: lambda builder, number: builder.sub(_LONG(63), builder.ctlz(number, _TRUTH(0))),
    simd.load: _load,
    simd.load_triples: _load_triples,
    simd.load_at: _load_at,
    simd.load_rows: _load_rows,
    simd.store: _store,
    simd.store_rows: _store_rows,
    simd.prefetch: _prefetch,
    simd.append_where: _append_where,
}
