"""numba's contexts, with what it looks up again and again remembered, and without optimising inner functions.

A context is what numba asks for types and for code. Those here share all that is registered with numba's own.
"""

from collections.abc import Iterator
from functools import cache
from typing import Any, NamedTuple

from llvmlite import binding
from llvmlite import ir as llvm
from numba.core import cgutils, compiler
from numba.core.callconv import CPUCallConv
from numba.core.codegen import JITCodeLibrary
from numba.core.cpu import CPUContext
from numba.core.registry import cpu_target
from numba.core.targetconfig import ConfigStack
from numba.core.typing.context import Context

from cylcollide.runtime import ranges


class CodeLibrary(JITCodeLibrary):
    """LLVM's code of one function, as text, to be linked with what calls it; nothing is parsed or optimised."""

    def __init__(self, codegen: Any, name: str) -> None:
        self._codegen, self._name, self._linking_libraries = codegen, name, []
        self._reload_init: set[Any] = set()
        self._recorded_timings: Any = None
        self.texts: list[str] = []
        """One a module."""

    def add_ir_module(self, module: Any) -> None:
        """Take the code as it is; of the module, which refers to itself in circles, only declarations are left."""
        self.texts.append(cgutils.normalize_ir_text(str(module)))
        for function in module.functions:
            for block in function.blocks:
                block.instructions.clear()

    def finalize(self) -> None:
        """Nothing becomes machine code."""
        self._finalized = True

    def _get_module_for_linking(self) -> Any:
        """The code with all that it calls: for a function of the program, which numba compiles."""
        module, *others = map(binding.parse_assembly, [*self.texts, *called_by(self._linking_libraries).texts.values()])
        for other in others:
            module.link_in(other)
        for function in module.functions:
            if not function.is_declaration:
                function.linkage = "linkonce_odr"
        return module


class SharedLibrary(CodeLibrary):
    """That of a function whose machine code is its own."""

    symbol = ""
    """By which others call it: the same in every process."""


_numbers: dict[Any, int] = {}
"""Libraries whose code was needed, in this order."""


class Called(NamedTuple):
    """What a function calls, directly or not; by numbers that are always the same."""

    inner: list[int]  # that become a part of it
    shared: dict[str, list[int]]  # with machine code of its own: by symbol, itself and its parts; callees come first
    texts: dict[int, str]  # LLVM's code of all


def called_by(libraries: list[Any]) -> Called:
    """What is called by functions that call those of these libraries."""
    called = Called([], {}, {})
    called.inner.extend(_called_by(libraries, called))
    return called


def _called_by(libraries: list[Any], called: Called) -> Iterator[int]:
    """Numbers of what becomes a part of these callers; all else is entered."""
    own, pending = set(), libraries[::-1]
    while pending:
        library = pending.pop()
        number = _numbers.setdefault(library, len(_numbers))
        if isinstance(library, SharedLibrary):
            if library.symbol not in called.shared:
                (called.texts[number],) = library.texts
                called.shared[library.symbol] = [number, *_called_by(library._linking_libraries, called)]
        elif number not in own:
            own.add(number)
            if isinstance(library, CodeLibrary):
                (called.texts[number],) = library.texts
                pending += library._linking_libraries[::-1]
            else:  # of the program, with all that it calls
                called.texts[number] = str(library._get_module_for_linking())
            yield number


class TypingContext(Context):
    """Types of calls and attributes, each found once."""

    def __init__(self, shared: Context) -> None:
        self.__dict__.update(vars(shared))
        self._known_calls: dict[Any, Any] = {}
        self._known_attributes: dict[Any, Any] = {}

    def refresh(self) -> None:
        """Nothing to do: no function is registered while others are compiled."""

    def resolve_function_type(self, function: Any, positional: Any, named: Any) -> Any:
        """The signature of a call."""
        if function == "static_getitem" or function == "static_setitem":  # the second argument is a Python object
            return super().resolve_function_type(function, positional, named)
        key = function, tuple(kind._code for kind in positional), tuple((name, named[name]._code) for name in named)
        signature = self._known_calls.get(key)
        if signature is None:
            signature = self._known_calls[key] = super().resolve_function_type(function, positional, named)
        return signature

    def resolve_getattr(self, kind: Any, name: str) -> Any:
        """The type of an attribute."""
        key = kind._code, name
        found = self._known_attributes.get(key)
        if found is None:
            found = self._known_attributes[key] = super().resolve_getattr(kind, name)
        return found


class Emission:
    """What emits a call of a function with a signature. As numba's own, which looks its parameters up each time."""

    def __init__(self, emit: Any, context: CPUContext, signature: Any) -> None:
        self._imp, self._context, self._signature = emit, context, signature
        self.libs = getattr(emit, "libs", ())

    def __call__(self, builder: Any, given: Any, loc: Any = None) -> Any:
        """Emit a call."""
        result = self._imp(self._context, builder, self._signature, given, loc=loc)
        self._context.add_linking_libs(self.libs)
        return result


class TargetContext(CPUContext):
    """Code of calls and attributes: functions of numba's own become part of the entry points that call them."""

    def __init__(self, shared: CPUContext, typing_context: TypingContext) -> None:
        self.__dict__.update(vars(shared))
        self.typing_context = typing_context
        self._known_sizes: dict[str, int] = getattr(shared, "_known_sizes", {})
        self._known_code: dict[Any, Any] = getattr(shared, "_known_code", {})

    def get_abi_sizeof(self, kind: Any) -> int:
        """The bytes of a value of one of LLVM's types, which llvmlite finds by having LLVM parse a module."""
        name = str(kind)
        if name not in self._known_sizes:
            self._known_sizes[name] = super().get_abi_sizeof(kind)
        return self._known_sizes[name]

    def refresh(self) -> None:
        """Learn of intrinsics, which register their code when they are first used."""
        for registry in list(self._registries):
            self.install_registry(registry)

    def get_function(self, function: Any, signature: Any, _firstcall: bool = True) -> Any:
        """What emits a call, each found once."""
        emit = ranges.emitter(function, signature)
        if emit is not None:
            return lambda builder, given, _place=None: emit(builder, given)
        signature = signature.as_function()
        key = function, signature.args
        if key not in self._known_code:
            self._known_code[key] = super().get_function(function, signature, _firstcall)._imp
        return Emission(self._known_code[key], self, signature)

    def pair_first(self, builder: Any, value: Any, _kind: Any) -> Any:
        """The first of two."""
        return builder.extract_value(value, 0)

    def pair_second(self, builder: Any, value: Any, _kind: Any) -> Any:
        """The second of two."""
        return builder.extract_value(value, 1)

    def _compile_subroutine_no_cache(
        self,
        builder: Any,  # noqa: ARG002  as numba calls it
        function: Any,
        signature: Any,
        locals: Any = None,
        flags: Any = None,
    ) -> Any:
        """Compile a function of numba's own, which returns a status."""
        if flags is None:
            flags = compiler.Flags()
            flags.nrt = ConfigStack().top().nrt
        flags.no_compile = flags.no_cpython_wrapper = flags.no_cfunc_wrapper = True
        context = TargetContext(self, self.typing_context)
        library = CodeLibrary(self.codegen(), function.__name__)
        arguments = signature.args, signature.return_type, flags, locals or {}
        result = compiler.compile_internal(self.typing_context, context, library, function, *arguments)
        self.active_code_library.add_linking_library(library)
        return result


class InnerContext(TargetContext):
    """For functions that take their arguments and return their results as they are."""

    @property
    def call_conv(self) -> Any:
        """How calls return."""
        return NoException(self)


class NoException(CPUCallConv):
    """For functions that return their results as they are: what would raise an exception ends the process.

    That is what only a defect could: a tuple's item beyond its end, a range with step zero.
    """

    def return_status_propagate(self, builder: Any, _status: Any) -> None:
        """End the process."""
        self._return_errcode_raw(builder, None)

    def return_user_exc(self, builder: Any, *_arguments: Any, **_named: Any) -> None:
        """End the process."""
        self._return_errcode_raw(builder, None)

    def _return_errcode_raw(self, builder: Any, _code: Any) -> None:
        kind = llvm.FunctionType(llvm.VoidType(), [])
        builder.call(cgutils.get_or_insert_function(builder.module, kind, "llvm.trap"), [])
        builder.unreachable()


@cache
def contexts() -> tuple[TypingContext, TargetContext]:
    """The contexts that all functions of this package are compiled in."""
    cpu_target.target_context.refresh()
    typing_context = TypingContext(cpu_target.typing_context)
    target_context = TargetContext(cpu_target.target_context, typing_context)
    target_context.cached_internal_func = {}  # unlike numba's, not machine code
    return typing_context, target_context
