"""Functions that compiled functions call, as numba sees them: types with a signature for each kind of arguments."""

from collections.abc import Callable
from inspect import signature
from types import FunctionType
from typing import Any

from numba.core import types
from numba.core.compiler import Flags
from numba.core.imputils import lower_constant
from numba.core.registry import cpu_target
from numba.core.typing.templates import fold_arguments
from numba.extending import models, register_model, typeof_impl

from cylcollide.runtime.compile import MARKED, Place
from cylcollide.runtime.inner_functions import InnerCompiler
from cylcollide.runtime.numba_contexts import CodeLibrary, SharedLibrary, contexts
from cylcollide.runtime.simd_intrinsics import INTRINSICS

Function = Callable[..., Any]


def set_options(flags: Any) -> Any:
    """Set the options of all compiled functions.

    Reference counting is off: numba would count every array of an unpacked argument, up and down and atomically, which
    cost more than the geometry. The caller in Python holds references to the arrays.
    """
    flags.error_model, flags.nrt, flags.no_cfunc_wrapper = "numpy", False, True
    return flags


class FixedFlags(Flags):
    """Options that do not change, and are compared at every call: by identity."""

    def __hash__(self) -> int:
        return id(self)

    def __eq__(self, other: object) -> bool:
        return self is other


def _callee_flags(inline: bool) -> Any:
    flags = set_options(FixedFlags())
    flags.no_cpython_wrapper, flags.forceinline = True, inline
    return flags


_OPTIONS = {inline: _callee_flags(inline) for inline in (False, True)}


class Callee(types.Callable, types.Opaque):
    """numba's type of one marked function."""

    def __init__(self, function: Function, place: Place) -> None:
        self.function, self.signature, self.flags = function, signature(function), _OPTIONS[place is Place.CALLER]
        self.library = SharedLibrary if place is Place.SHARED else CodeLibrary
        self.compiled: dict[tuple[Any, ...], Any] = {}
        """Signatures by kinds of arguments."""
        super().__init__(f"callee({function.__module__}.{function.__qualname__})")

    @property
    def key(self) -> Function:
        """What tells this type from others."""
        return self.function

    def get_call_type(self, _context: Any, positional: Any, named: Any) -> Any:
        """The signature of a call with arguments of these types."""
        kinds = fold_arguments(self.signature, positional, named, _of_argument, _of_default, None)
        if kinds not in self.compiled:
            self.compiled[kinds] = self._compile(kinds)
        return self.compiled[kinds].replace(pysig=self.signature)

    def get_call_signatures(self) -> tuple[list[Any], bool]:
        """All signatures so far; more may be compiled."""
        return list(self.compiled.values()), True

    def get_impl_key(self, signature: Any) -> Any:
        """What the code for this signature is registered under."""
        return self.function, signature.args

    def _compile(self, kinds: tuple[Any, ...]) -> Any:
        typing, target = contexts()
        library = self.library(target.codegen(), self.function.__qualname__)
        compiler = InnerCompiler(typing, target, library, kinds, None, self.flags, {})
        return compiler.compile_extra(self.function).signature


def _of_argument(_index: int, _parameter: Any, kind: Any) -> Any:
    """The type that an argument is converted to: signed integers are widened, so that fewer functions are compiled."""
    kind = types.unliteral(kind)
    return types.int64 if kind in types.signed_domain else kind


def _of_default(_index: int, _parameter: Any, default: Any) -> Any:
    return types.Omitted(default)


register_model(Callee)(models.OpaqueModel)


@lower_constant(Callee)
def _no_value(context: Any, _builder: Any, _kind: Any, _value: Any) -> Any:
    return context.get_dummy_value()


_callees: dict[Function, Callee] = {}


@typeof_impl.register(FunctionType)
def _type_of_function(function: Function, _purpose: Any) -> Any:
    """The type of a marked function, or of an operation of `simd.py`; None for others."""
    if function in INTRINSICS:
        return cpu_target.typing_context._get_global_type(INTRINSICS[function])
    if function not in MARKED:
        return None
    if function not in _callees:
        _callees[function] = Callee(function, MARKED[function])
    return _callees[function]
