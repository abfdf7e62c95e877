"""Code generation for the operations of `simd.py`: instructions of LLVM, one emitter an operation.

An emitter takes LLVM's builder and the values of the arguments: a number, a vector of eight, or numba's struct of an
array, with `data` and `shape`. It returns the value of the result: None if there is none, a list for a tuple.
"""

from collections.abc import Callable, Iterable
from typing import Any, TypeAlias

from llvmlite import binding, ir

from cylcollide.runtime.simd import LANES

Emitter: TypeAlias = Callable[..., Any]

_COUNT = ir.IntType(32)
_LONG = ir.IntType(64)
_DEFINED_AT_ZERO = ir.Constant(ir.IntType(1), 0)
_COMPRESSES = (19, 0, 0)
"""The first LLVM version with an intrinsic that packs a vector within a register."""


# Operations on numbers and on vectors.


def broadcast(builder: ir.IRBuilder, value: Any) -> Any:
    """A vector with the number in all eight lanes."""
    vector = ir.VectorType(value.type, LANES)
    first = builder.insert_element(ir.Constant(vector, ir.Undefined), value, ir.Constant(_COUNT, 0))
    zeros = ir.Constant(ir.VectorType(_COUNT, LANES), [0] * LANES)
    return builder.shuffle_vector(first, ir.Constant(vector, ir.Undefined), zeros)


def _is_vector(value: Any) -> bool:
    return isinstance(value.type, ir.VectorType)


def broadcasting(emit: Emitter) -> Emitter:
    """The emitter, with scalars beside vectors broadcast first."""

    def emit_broadcast(builder: ir.IRBuilder, *values: Any) -> Any:
        if any(_is_vector(value) for value in values):
            values = tuple(value if _is_vector(value) else broadcast(builder, value) for value in values)
        return emit(builder, *values)

    return emit_broadcast


def compare(relation: str) -> Emitter:
    """An ordered comparison: false if either operand is NaN."""
    return lambda builder, a, b: builder.fcmp_ordered(relation, a, b)


def larger(builder: ir.IRBuilder, a: Any, b: Any) -> Any:
    """The larger of two; `b` if either is NaN."""
    return builder.select(builder.fcmp_ordered(">", a, b), a, b)


def smaller(builder: ir.IRBuilder, a: Any, b: Any) -> Any:
    """The smaller of two; `b` if either is NaN."""
    return builder.select(builder.fcmp_ordered("<", a, b), a, b)


def select(builder: ir.IRBuilder, truth: Any, a: Any, b: Any) -> Any:
    """`a` where `truth`, else `b`; one truth may choose between vectors."""
    if any(_is_vector(value) for value in (truth, a, b)):
        a, b = (value if _is_vector(value) else broadcast(builder, value) for value in (a, b))
    return builder.select(truth, a, b)


def first(_builder: ir.IRBuilder, value: Any, _like: Any) -> Any:
    """The first of two values, which `broadcasting` has given one type."""
    return value


def call(name: str) -> Emitter:
    """Call of an LLVM intrinsic, which exists for every vector width."""

    def emit(builder: ir.IRBuilder, *values: Any) -> Any:
        kind = values[0].type
        suffix = {"double": "f64", "float": "f32"}[str(getattr(kind, "element", kind))]
        full = f"llvm.{name}.v{LANES}{suffix}" if _is_vector(values[0]) else f"llvm.{name}.{suffix}"
        function_type = ir.FunctionType(kind, [kind] * len(values))
        function = builder.module.globals.get(full) or ir.Function(builder.module, function_type, full)
        return builder.call(function, values)

    return emit


# Bit masks, and single lanes.


def movemask(builder: ir.IRBuilder, truth: Any) -> Any:
    """Eight bools as the bits of an integer, the first one lowest."""
    return builder.zext(builder.bitcast(truth, ir.IntType(LANES)), _LONG)


def lowest_bit(builder: ir.IRBuilder, number: Any) -> Any:
    """Index of the lowest bit that is set: the number of trailing zeros."""
    return builder.cttz(number, _DEFINED_AT_ZERO)


def highest_bit(builder: ir.IRBuilder, number: Any) -> Any:
    """Index of the highest bit that is set: 63 less the number of leading zeros."""
    return builder.sub(ir.Constant(number.type, 63), builder.ctlz(number, _DEFINED_AT_ZERO))


def lane(builder: ir.IRBuilder, numbers: Any, k: Any) -> Any:
    """One of the eight numbers."""
    return builder.extract_element(numbers, k)


# Memory. Only the alignment of a single number is assumed.


def _plus(builder: ir.IRBuilder, number: Any, k: int) -> Any:
    return builder.add(number, ir.Constant(number.type, k))


def _vector_pointer(builder: ir.IRBuilder, array: Any, offset: Any) -> Any:
    """Pointer to eight consecutive entries of an array in C order, `offset` entries from its first."""
    vector = ir.VectorType(array.data.type.pointee, LANES)
    return builder.bitcast(builder.gep(array.data, [offset]), vector.as_pointer())


def _gathered(builder: ir.IRBuilder, array: Any, offsets: Iterable[Any]) -> Any:
    """Vector of eight entries of an array in C order, at offsets from its first."""
    vector = ir.Constant(ir.VectorType(array.data.type.pointee, LANES), ir.Undefined)
    for k, offset in enumerate(offsets):
        entry = builder.load(builder.gep(array.data, [offset]))
        vector = builder.insert_element(vector, entry, ir.Constant(_COUNT, k))
    return vector


def _row_number(builder: ir.IRBuilder, rows: Any, place: Any) -> Any:
    """A row number from a list, widened to the width of offsets."""
    row = builder.load(builder.gep(rows.data, [place]))
    return builder.sext(row, place.type) if row.type.width < place.type.width else row


def _converted(builder: ir.IRBuilder, value: Any, machine: ir.VectorType) -> Any:
    """The vector converted to another element type: rounded to float, truncated to integer; truths become 0 and 1."""
    if value.type == machine:
        return value
    truths, whole = value.type.element == ir.IntType(1), isinstance(machine.element, ir.IntType)
    if truths:
        return builder.zext(value, machine) if whole else builder.uitofp(value, machine)
    if whole:
        return builder.fptosi(value, machine)
    return (builder.fptrunc if machine.element == ir.FloatType() else builder.fpext)(value, machine)


def _transposed(builder: ir.IRBuilder, lines: list[Any]) -> list[Any]:
    """The transpose of an eight by eight matrix: three rounds of shuffles, as in a fast Fourier transform."""
    for distance in (1, 2, 4):
        low = [i if not i & distance else LANES + i - distance for i in range(LANES)]
        high = [i + distance if not i & distance else LANES + i for i in range(LANES)]
        to_low, to_high = (ir.Constant(ir.VectorType(_COUNT, LANES), pattern) for pattern in (low, high))
        turned = list(lines)
        for k in range(LANES):
            if not k & distance:
                pair = lines[k], lines[k + distance]
                turned[k] = builder.shuffle_vector(*pair, to_low)
                turned[k + distance] = builder.shuffle_vector(*pair, to_high)
        lines = turned
    return lines


def load(builder: ir.IRBuilder, array: Any, offset: Any) -> Any:
    """Eight consecutive entries."""
    return builder.load(_vector_pointer(builder, array, offset), align=4)


def load_triples(builder: ir.IRBuilder, array: Any, offset: Any) -> list[Any]:
    """Twenty-four consecutive entries, de-interleaved into three vectors: two rounds of shuffles each."""
    parts = [load(builder, array, _plus(builder, offset, LANES * k)) for k in range(3)]
    columns = []
    for column in range(3):
        entries = range(column, 3 * LANES, 3)
        early = [min(entry, 2 * LANES - 1) for entry in entries]
        both = [k if entry < 2 * LANES else entry - LANES for k, entry in enumerate(entries)]
        first = builder.shuffle_vector(parts[0], parts[1], ir.Constant(ir.VectorType(_COUNT, LANES), early))
        columns.append(builder.shuffle_vector(first, parts[2], ir.Constant(ir.VectorType(_COUNT, LANES), both)))
    return columns


def load_at(builder: ir.IRBuilder, array: Any, rows: Any, begin: Any, stride: Any, column: Any) -> Any:
    """Eight entries of one column, from listed rows."""
    numbers = (_row_number(builder, rows, _plus(builder, begin, k)) for k in range(LANES))
    return _gathered(builder, array, (builder.add(builder.mul(row, stride), column) for row in numbers))


def load_rows(builder: ir.IRBuilder, matrix: Any, rows: Any, begin: Any, column: Any) -> list[Any]:
    """Eight entries of each of eight listed rows, transposed into columns."""
    width = builder.extract_value(matrix.shape, 1)
    lines = []
    for k in range(LANES):
        row = _row_number(builder, rows, _plus(builder, begin, k))
        lines.append(load(builder, matrix, builder.add(builder.mul(row, width), column)))
    return _transposed(builder, lines)


def store(builder: ir.IRBuilder, array: Any, offset: Any, value: Any) -> None:
    """Write eight consecutive entries."""
    pointer = _vector_pointer(builder, array, offset)
    builder.store(_converted(builder, value, pointer.type.pointee), pointer, align=1)


def store_rows(builder: ir.IRBuilder, matrix: Any, begin: Any, column: Any, columns: Any) -> None:
    """Columns transposed into rows, then eight entries of each row written."""
    width = builder.extract_value(matrix.shape, 1)
    lines = _transposed(builder, [builder.extract_value(columns, k) for k in range(LANES)])
    for k, line in enumerate(lines):
        row = _plus(builder, begin, k)
        pointer = _vector_pointer(builder, matrix, builder.add(builder.mul(row, width), column))
        builder.store(_converted(builder, line, pointer.type.pointee), pointer, align=4)


def prefetch(builder: ir.IRBuilder, array: Any, offset: Any) -> None:
    """LLVM's prefetch: of data, for reading, into all levels of the cache."""
    byte, flag, name = ir.IntType(8).as_pointer(), ir.IntType(32), "llvm.prefetch.p0i8"
    kind = ir.FunctionType(ir.VoidType(), [byte, flag, flag, flag])
    function = builder.module.globals.get(name) or ir.Function(builder.module, kind, name)
    place = builder.bitcast(builder.gep(array.data, [offset]), byte)
    builder.call(function, [place, *(ir.Constant(flag, hint) for hint in (0, 3, 1))])


def append_where(builder: ir.IRBuilder, array: Any, offset: Any, rows: Any, begin: Any, truth: Any) -> Any:
    """Write the entries of eight of a list for which `truth` holds, packed; returns their number.

    Behind them, up to eight in all, zeros are written or nothing.
    """
    entries = builder.load(_vector_pointer(builder, rows, begin), align=4)
    place = _vector_pointer(builder, array, offset)
    if binding.llvm_version_info >= _COMPRESSES:
        name = f"llvm.experimental.vector.compress.v{LANES}i{entries.type.element.width}"
        kind = ir.FunctionType(entries.type, [entries.type, truth.type, entries.type])
        function = builder.module.globals.get(name) or ir.Function(builder.module, kind, name)
        zeros = ir.Constant(entries.type, None)  # behind the packed ones: a reader may load eight from the last one on
        packed = builder.call(function, [entries, truth, zeros])
        builder.store(packed, place, align=4)
    else:
        first = builder.bitcast(place, entries.type.element.as_pointer())
        name = f"llvm.masked.compressstore.v{LANES}i{entries.type.element.width}"
        kind = ir.FunctionType(ir.VoidType(), [entries.type, first.type, truth.type])
        function = builder.module.globals.get(name) or ir.Function(builder.module, kind, name)
        builder.call(function, [entries, first, truth])
    return builder.ctpop(movemask(builder, truth))
