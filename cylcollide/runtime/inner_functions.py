"""LLVM's code of functions that compiled functions call: lowered without what only Python and exceptions need.

numba returns a status beside every result, through pointers, and takes every argument apart into numbers. A function
here returns its result as one of LLVM's values, however large, and an inlined one takes its arguments so: inlining
leaves nothing of them. Arguments of others are taken apart, too, so that LLVM can leave out those that nothing reads.
"""

from collections.abc import Callable, Iterator
from contextlib import contextmanager
from hashlib import blake2b
from typing import Any

from llvmlite import ir as llvm
from numba.core import cgutils, ir
from numba.core.compiler import Compiler, _LowerResult
from numba.core.compiler_machinery import LoweringPass, register_pass
from numba.core.funcdesc import PythonFunctionDescriptor
from numba.core.imputils import impl_ret_untracked, user_function
from numba.core.lowering import Lower
from numba.core.typed_passes import NativeLowering, NoPythonBackend

from cylcollide.runtime.arguments import Parts, Whole
from cylcollide.runtime.lowering import DirectLower
from cylcollide.runtime.numba_contexts import CodeLibrary, InnerContext, SharedLibrary
from cylcollide.runtime.passes import TYPED, ShortCompiler


def _packer(context: Any, description: Any) -> Any:
    """How arguments of a function are passed: whole if it is inlined, else taken apart."""
    return (Whole if description.inline else Parts)(context, description.argtypes)


def _declare(context: Any, module: Any, description: Any) -> Any:
    """LLVM's declaration of a function."""
    kinds = _packer(context, description).argument_types
    kind = llvm.FunctionType(context.get_value_type(description.restype), kinds)
    function = cgutils.get_or_insert_function(module, kind, description.mangled_name)
    if description.inline:
        function.attributes.add("alwaysinline")
    return function


def _call(description: Any, library: Any) -> Callable[..., Any]:
    """What emits a call of a function."""

    def emit(context: Any, builder: Any, signature: Any, values: Any) -> Any:
        function = _declare(context, builder.module, description)
        given = _packer(context, description).as_arguments(builder, values)
        return impl_ret_untracked(context, builder, signature.return_type, builder.call(function, given))

    marked: Any = emit
    marked.signature, marked.libs = description.argtypes, (library,)
    return emit


class InnerLower(DirectLower):
    """Lowering of a function that returns its result as it is, and counts no references."""

    def setup_function(self, description: Any) -> None:
        """Begin the function."""
        self.function = _declare(self.context, self.module, description)
        self.entry_block = self.function.append_basic_block("entry")
        self.builder = llvm.IRBuilder(self.entry_block)
        self.call_helper = self.call_conv.init_call_helper(self.builder)

    def extract_function_arguments(self) -> Any:
        """The arguments, as Python has them."""
        packer = _packer(self.context, self.fndesc)
        self.fnargs = packer.from_arguments(self.builder, self.function.args)
        return self.fnargs

    def lower_inst(self, inst: Any) -> None:
        """Return values as they are."""
        if not isinstance(inst, ir.Return):
            super().lower_inst(inst)
            return
        value, kind = self.loadvar(inst.value.name), self.typeof(inst.value.name)
        self.builder.ret(self.context.cast(self.builder, value, kind, self.fndesc.restype))

    def storevar(self, value: Any, name: str, argidx: int | None = None) -> None:  # noqa: ARG002
        """Store a value in a variable: as numba stores an argument, whose variable held nothing before."""
        super().storevar(value, name, 0)

    def emit_environment_object(self) -> None:
        """None is needed."""


@register_pass(mutates_CFG=True, analysis_only=False)
class InnerLowering(LoweringPass):
    """Lowers a function to LLVM's code, without machine code and without wrappers."""

    _name = "inner_lowering"

    def __init__(self) -> None:
        LoweringPass.__init__(self)

    def run_pass(self, state: Any) -> bool:
        """Fill the library; as numba's own pass does."""
        context, flags = state.targetctx, state.flags
        library = state.library or CodeLibrary(context.codegen(), state.func_id.func_qualname)
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
        is_ours = state.library is not None
        if isinstance(library, SharedLibrary):
            kinds = blake2b(str(state.args).encode(), digest_size=8).hexdigest()
            library.symbol = description.mangled_name = f"cylcollide.{description.qualname}.{kinds}"
        if is_ours:
            context = InnerContext(context, context.typing_context)
        with context.push_code_library(library):
            lowering = InnerLower if is_ours else Lower
            lower = lowering(context, library, description, state.func_ir, metadata=state.metadata)
            lower.lower()
        library.finalize()
        emit: Any = _call(description, library) if is_ours else user_function(description, [library])
        # one of numba's own is registered under what would be its machine code
        placeholder: Any = None if is_ours else [].append
        context.insert_func_defn([(emit, placeholder or (state.func_id.func, state.args), emit.signature)])
        state["cr"] = _LowerResult(description, lower.call_helper, cfunc=placeholder, env=lower.env)
        return True


class InnerCompiler(ShortCompiler):
    """Without machine code."""

    passes = (*TYPED, InnerLowering, NoPythonBackend)


@contextmanager
def lowered_overloads() -> Iterator[None]:
    """Meanwhile, numba's own functions in Python are lowered, and not optimised, each. Under numba's lock.

    They pass all of numba's passes and return a status, since functions of the program that numba compiles may call
    them, too.
    """
    numba_compiler: Any = Compiler
    plain = numba_compiler.define_pipelines

    def define_pipelines(compiler: Any) -> Any:
        pipelines = plain(compiler)
        if compiler.state.library is None:
            for pipeline in pipelines:
                passes = [(InnerLowering if kind is NativeLowering else kind, why) for kind, why in pipeline.passes]
                pipeline.passes, pipeline._finalized = passes, False
                pipeline.finalize()
        return pipelines

    numba_compiler.define_pipelines = define_pipelines
    try:
        yield
    finally:
        numba_compiler.define_pipelines = plain
