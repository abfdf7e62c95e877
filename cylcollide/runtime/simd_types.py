"""Vectors of eight numbers in numba: their types, and Python's operators on them.

A `Lanes` is a vector of LLVM. A scalar operand beside one is broadcast.
"""

import operator
from collections.abc import Callable
from typing import Any

from llvmlite import ir
from numba.core import types
from numba.core.typing.templates import ConcreteTemplate, infer_global
from numba.extending import lower_builtin, models, register_model

from cylcollide.runtime import simd_llvm
from cylcollide.runtime.simd import LANES
from cylcollide.runtime.simd_llvm import Emitter


class Lanes(types.Type):
    """The numba type of eight numbers."""

    def __init__(self, name: str, element: Any, machine_element: ir.Type) -> None:
        self.element, self.machine = element, ir.VectorType(machine_element, LANES)
        super().__init__(name=name)


@register_model(Lanes)
class _LanesModel(models.PrimitiveModel):
    """Their data model: one LLVM vector."""

    def __init__(self, manager: Any, kind: Lanes) -> None:
        super().__init__(manager, kind, kind.machine)  # type: ignore[no-untyped-call, unused-ignore]


DOUBLES = Lanes("Lanes(float64)", types.float64, ir.DoubleType())
FLOATS = Lanes("Lanes(float32)", types.float32, ir.FloatType())
TRUTHS = Lanes("Lanes(bool)", types.boolean, ir.IntType(1))


# Operators.


def _define(symbol: Callable[..., Any], cases: list[Any], emit: Emitter) -> None:
    """Register an operator of Python with numba, with these signatures; `emit` generates its code."""

    def generate(_context: Any, builder: Any, _signature: Any, values: Any) -> Any:
        return emit(builder, *values)

    infer_global(symbol)(type(f"_{symbol.__name__}_of_lanes", (ConcreteTemplate,), {"cases": cases}))
    for case in cases:
        lower_builtin(symbol, *case.args)(generate)


def _define_all() -> None:
    """Register arithmetic and comparison of lanes with lanes and with numbers, and logic of truths."""
    numbers: tuple[Any, ...] = (DOUBLES, FLOATS)
    truths: Any = TRUTHS
    pairs = [(kind, *pair) for kind in numbers for pair in ((kind, kind), (kind, kind.element), (kind.element, kind))]
    for symbol, emit in (
        (operator.add, ir.IRBuilder.fadd),
        (operator.sub, ir.IRBuilder.fsub),
        (operator.mul, ir.IRBuilder.fmul),
        (operator.truediv, ir.IRBuilder.fdiv),
    ):
        _define(symbol, [kind(a, b) for kind, a, b in pairs], simd_llvm.broadcasting(emit))
    for symbol, relation in (
        (operator.lt, "<"),
        (operator.le, "<="),
        (operator.gt, ">"),
        (operator.ge, ">="),
        (operator.eq, "=="),
    ):
        _define(symbol, [truths(a, b) for _, a, b in pairs], simd_llvm.broadcasting(simd_llvm.compare(relation)))
    _define(operator.neg, [kind(kind) for kind in numbers], ir.IRBuilder.fneg)
    _define(operator.and_, [truths(truths, truths)], ir.IRBuilder.and_)
    _define(operator.or_, [truths(truths, truths)], ir.IRBuilder.or_)


_define_all()
