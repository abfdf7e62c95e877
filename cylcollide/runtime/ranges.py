"""LLVM's code for loops over `range`: as numba's, without its ways through memory.

numba decides on the sign of the step and divides by it before each loop, which LLVM then finds to be needless.
"""

from typing import Any

from llvmlite import ir as llvm
from numba.core import cgutils, types


class Iterator:
    """Fields of numba's iterator, which is a structure."""

    NEXT, STOP, STEP, COUNT = range(4)  # the next number and how many there are still, in memory


def emitter(function: Any, signature: Any) -> Any:
    """What emits `range`, its iterator, or the next of that; None for anything else, and for unsigned integers."""
    if isinstance(function, types.Function) and function.typing_key is range:
        emit, number = _range, signature.return_type.dtype
    elif function == "getiter" and isinstance(signature.args[0], types.RangeType):
        emit, number = _iterator, signature.args[0].dtype
    elif function == "iternext" and isinstance(signature.args[0], types.RangeIteratorType):
        emit, number = _next, signature.args[0].yield_type
    else:
        return None
    return emit if number.signed else None


def _range(builder: Any, given: list[Any]) -> Any:
    """Start, stop and step."""
    kind = given[0].type
    start, stop, step = [kind(0), *given, kind(1)] if len(given) == 1 else [*given, kind(1)][:3]
    return cgutils.make_anonymous_struct(builder, [start, stop, step])


def _iterator(builder: Any, given: list[Any]) -> Any:
    """The iterator, in memory of its own."""
    (value,) = given
    start, stop, step = [builder.extract_value(value, field) for field in range(3)]
    next_at, count_at = [cgutils.alloca_once(builder, start.type, zfill=False) for _ in range(2)]
    if isinstance(value, llvm.InsertValue):
        step = value.operands[1]  # what `_range` has put in last, mostly a constant
    builder.store(start, next_at)
    builder.store(_count(builder, builder.sub(stop, start), step), count_at)
    return cgutils.make_anonymous_struct(builder, [next_at, stop, step, count_at])


def _count(builder: Any, distance: Any, step: Any) -> Any:
    """How many numbers; for none 0 or less. LLVM knows most steps, and decides and divides by itself."""
    one = step.type(1)
    if isinstance(step, llvm.Constant) and step.constant == 1:
        return distance
    forward = builder.icmp_signed(">", step, step.type(0))
    size = builder.select(forward, step, builder.neg(step))
    distance = builder.select(forward, distance, builder.neg(distance))
    return builder.sdiv(builder.add(distance, builder.sub(size, one)), size)


def _next(builder: Any, given: list[Any]) -> Any:
    """The next number, and whether there is one."""
    (value,) = given
    next_at, count_at = builder.extract_value(value, Iterator.NEXT), builder.extract_value(value, Iterator.COUNT)
    number, count = builder.load(next_at), builder.load(count_at)
    is_valid = builder.icmp_signed(">", count, count.type(0))
    builder.store(builder.sub(count, count.type(1), flags=["nsw"]), count_at)
    builder.store(builder.add(number, builder.extract_value(value, Iterator.STEP)), next_at)
    return cgutils.make_anonymous_struct(builder, [number, is_valid])
