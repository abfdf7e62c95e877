"""Machine code of entry points, by numba and LLVM: one module each, optimised once; and its form on disk.

numba compiles every function to a library of its own, with machine code, a wrapper for Python and one for C, optimises
it, and optimises it again in every caller that links it. Here only entry points, which Python calls, are compiled so.
What they call is typed and lowered once for each kind of arguments, kept as LLVM's unoptimised code, and linked into
every entry point that needs it.
"""

import os
import pickle
import sys
from collections.abc import Callable, Iterator
from functools import cache
from hashlib import blake2b
from inspect import signature
from types import FunctionType
from typing import Any, NamedTuple

import numba
from llvmlite import binding
from numba import typeof
from numba.core import types
from numba.core.codegen import JITCodeLibrary
from numba.core.compiler import Compiler, Flags, _LowerResult
from numba.core.compiler_lock import global_compiler_lock
from numba.core.compiler_machinery import LoweringPass, register_pass
from numba.core.funcdesc import PythonFunctionDescriptor
from numba.core.imputils import lower_constant
from numba.core.lowering import Lower
from numba.core.registry import cpu_target
from numba.core.runtime.nrt import rtsys
from numba.core.typed_passes import NativeLowering
from numba.core.typing.templates import fold_arguments
from numba.extending import models, register_model, typeof_impl

from cylcollide.runtime.compile import MARKED, examples
from cylcollide.runtime.simd_intrinsics import INTRINSICS

Function = Callable[..., Any]


# Functions that are compiled into their callers.


class InnerLibrary(JITCodeLibrary):
    """LLVM's unoptimised code of one function, to be linked into the entry points that call it."""

    def add_llvm_module(self, module: Any) -> None:
        """Take the code as it is."""
        self._final_module.link_in(module)

    def finalize(self) -> None:
        """Nothing is optimised, and nothing becomes machine code."""
        self._finalized = True


@register_pass(mutates_CFG=True, analysis_only=False)
class InnerLowering(LoweringPass):
    """Lowers a function to LLVM's code, without machine code and without wrappers."""

    _name = "inner_lowering"

    def __init__(self) -> None:
        LoweringPass.__init__(self)

    def run_pass(self, state: Any) -> bool:
        """Fill the library; as numba's own pass does."""
        library, context, flags = state.library, state.targetctx, state.flags
        description = PythonFunctionDescriptor.from_specialized_function(
            state.func_ir,
            state.typemap,
            state.return_type,
            state.calltypes,
            mangler=context.mangler,
            inline=flags.forceinline,
            noalias=flags.noalias,
            abi_tags=[flags.get_mangle_string()],
        )
        with context.push_code_library(library):
            lower = Lower(context, library, description, state.func_ir, metadata=state.metadata)
            lower.lower()
        library.finalize()
        state["cr"] = _LowerResult(description, lower.call_helper, cfunc=None, env=lower.env)
        return True


class InnerCompiler(Compiler):
    """numba's compiler with `InnerLowering`."""

    def define_pipelines(self) -> list[Any]:
        """Numba's passes, but for the one that makes machine code."""
        (pipeline,) = super().define_pipelines()
        pipeline.passes = [(InnerLowering if p is NativeLowering else p, why) for p, why in pipeline.passes]
        pipeline._finalized = False
        pipeline.finalize()
        return [pipeline]


def _flags() -> Any:
    """Options of all compiled functions.

    Reference counting is off: numba would count every array of an unpacked argument, up and down and atomically, which
    cost more than the geometry. The caller in Python holds references to the arrays.
    """
    flags: Any = Flags()
    flags.error_model, flags.nrt, flags.no_cfunc_wrapper = "numpy", False, True
    return flags


class Callee(types.Callable, types.Opaque):
    """numba's type of one marked function."""

    def __init__(self, function: Function, inline: bool) -> None:
        self.function, self.signature, self.flags = function, signature(function), _flags()
        self.flags.no_cpython_wrapper, self.flags.forceinline = True, inline
        self.compiled: dict[tuple[Any, ...], Any] = {}
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
        return self.compiled[kinds].signature.replace(pysig=self.signature)

    def get_call_signatures(self) -> tuple[list[Any], bool]:
        """All signatures so far; more may be compiled."""
        return [result.signature for result in self.compiled.values()], True

    def get_impl_key(self, signature: Any) -> Any:
        """What the code for this signature is registered under."""
        return self.function, signature.args

    def _compile(self, kinds: tuple[Any, ...]) -> Any:
        typing, target = cpu_target.typing_context, cpu_target.target_context
        library = InnerLibrary(target.codegen(), self.function.__qualname__)
        compiler = InnerCompiler(typing, target, library, kinds, None, self.flags.copy(), {})
        result = compiler.compile_extra(self.function)
        target.insert_user_function((self.function, kinds), result.fndesc, [library])
        return result


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


# Functions that Python calls.


class EntryLibrary(JITCodeLibrary):
    """The code of an entry point and of all functions that it calls, directly or not."""

    def finalize(self) -> None:
        """Link, optimise once, and make machine code."""
        exported = {function.name for function in self._final_module.functions if not function.is_declaration}
        for library in dict.fromkeys(_with_callees(self._linking_libraries)):
            code = library._final_module if isinstance(library, InnerLibrary) else library._get_module_for_linking()
            self._final_module.link_in(code, preserve=True)
        for function in self._final_module.functions:
            if not function.is_declaration and function.name not in exported:
                function.linkage = "internal"
        self._optimize_final_module()
        self._final_module.verify()
        self._finalize_final_module()

    def object_code(self) -> bytes:
        """The machine code as an object file."""
        code: bytes = self._get_compiled_object()
        return code

    def load(self, code: bytes, symbols: frozenset[str]) -> None:
        """Take machine code from an object file, which defines these symbols."""
        self.enable_object_caching()
        self._set_compiled_object(code)
        self._codegen._engine._defined_symbols |= symbols
        self._finalize_final_module()


def _with_callees(libraries: list[Any]) -> Iterator[Any]:
    for library in libraries:
        yield library
        if isinstance(library, InnerLibrary):
            yield from _with_callees(library._linking_libraries)


class Stored(NamedTuple):
    """Machine code of an entry point, as it is kept on disk."""

    allocates: bool
    code: bytes  # an object file
    symbols: frozenset[str]  # that it defines
    description: Any  # numba's description of the function
    environment: Any


@cache
def _system() -> str:
    """What code depends on beside its source: Python, numba, LLVM, and the processor as LLVM names it."""
    processor = cpu_target.target_context.codegen().magic_tuple()
    versions = sys.implementation.cache_tag, numba.__version__, binding.llvm_version_info
    return repr((processor, versions, os.environ.get("NUMBA_OPT")))


def _kinds(arguments: tuple[Any, ...]) -> tuple[Any, ...]:
    """Numba's types of the arguments; read-only arrays have the code of others."""
    return tuple(map(typeof, examples(arguments)))


def tag(arguments: tuple[Any, ...]) -> bytes:
    """A hash of what code for such arguments depends on, beside its source."""
    return blake2b((_system() + str(_kinds(arguments))).encode(), digest_size=16).digest()


def build(function: Function, allocates: bool, keeps_lock: bool, arguments: tuple[Any, ...]) -> tuple[Function, bytes]:
    """Compile for arguments of the types of these; what Python calls, and what can be kept on disk."""
    typing, target = cpu_target.typing_context, cpu_target.target_context
    kinds, flags = _kinds(arguments), _flags()
    flags.nrt, flags.release_gil = allocates, not keeps_lock
    with global_compiler_lock:
        library = EntryLibrary(target.codegen(), function.__qualname__)
        library.enable_object_caching()
        result = Compiler(typing, target, library, kinds, None, flags, {}).compile_extra(function)
    names = {result.fndesc.llvm_cpython_wrapper_name, target.get_env_name(result.fndesc)}
    result.fndesc.typemap = result.fndesc.calltypes = None  # they may not be picklable, and nothing needs them
    stored = Stored(allocates, library.object_code(), frozenset(names), result.fndesc, result.environment)
    return result.entry_point, pickle.dumps(stored)


def load(content: bytes) -> Function:
    """What Python calls, from what `build` returned."""
    stored: Stored = pickle.loads(content)
    target = cpu_target.target_context
    with global_compiler_lock:
        if stored.allocates:
            rtsys.initialize(target)
        library = EntryLibrary(target.codegen(), stored.description.qualname)
        library.load(stored.code, stored.symbols)
        entry: Function = target.get_executable(library, stored.description, stored.environment)
    return entry
