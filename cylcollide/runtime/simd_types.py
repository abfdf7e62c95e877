"""Vectors of eight numbers in numba: their types, Python's operators on them, and `machine`, which defines operations.

A `Lanes` is a vector of LLVM. A scalar operand beside one is broadcast.
"""

import inspect
import operator
from collections.abc import Callable
from functools import wraps
from typing import Any, TypeVar, cast

import numba
from llvmlite import ir
from numba.core import types
from numba.core.errors import TypingError
from numba.core.typing.templates import ConcreteTemplate, infer_global
from numba.extending import intrinsic, lower_builtin, models, register_model

from cylcollide.runtime import simd_llvm
from cylcollide.runtime.simd_llvm import LANES, Emitter

Function = TypeVar("Function", bound=Callable[..., Any])


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


# Named operations.


def machine(kinds: Callable[..., Any], emit: Emitter) -> Callable[[Function], Function]:
    """Compile calls of a function to the instructions of an emitter; its body runs only where nothing is compiled.

    Parameters
    ----------
    kinds : callable
        From the numba types of the arguments to the numba signature.
    emit : callable
        From LLVM's builder and the values of the arguments to the value of the result (`simd_llvm.py`).
    """

    def decorate(plain: Function) -> Function:
        if getattr(numba.config, "DISABLE_JIT", 0):
            return plain
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
                return (
                    context.make_tuple(builder, signature.return_type, result) if isinstance(result, list) else result
                )

            return kinds(*parameters.bind(*given, **named).args), generate

        # numba reads names and number of the arguments off the signature, the first of which is its own context
        context = inspect.Parameter("_context", inspect.Parameter.POSITIONAL_ONLY)
        cast(Any, define).__signature__ = parameters.replace(parameters=[context, *parameters.parameters.values()])
        return cast(Function, intrinsic(define))

    return decorate


def elementwise(emit: Emitter) -> Callable[[Function], Function]:
    """As `machine`, for a function of numbers or lanes; scalars beside lanes are broadcast before `emit`."""
    return machine(_one_kind, simd_llvm.broadcasting(emit))


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
