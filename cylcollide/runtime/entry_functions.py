"""Lowering of entry points, which return a status; their wrapper for Python passes them their arguments in parts."""

from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any

from llvmlite import ir as llvm
from numba.core import cgutils, types
from numba.core.callconv import CPUCallConv
from numba.core.callwrapper import PyCallWrapper
from numba.core.compiler_machinery import register_pass
from numba.core.typed_passes import BaseNativeLowering

from cylcollide.runtime.arguments import Parts
from cylcollide.runtime.lowering import DirectLower
from cylcollide.runtime.numba_contexts import TargetContext


class InParts(CPUCallConv):
    """How the wrapper calls."""

    def _get_arg_packer(self, kinds: Any) -> Any:
        return Parts(self.context, kinds)


class Passed(InParts):
    """A call of which the parts are given."""

    def _get_arg_packer(self, kinds: Any) -> Any:
        packer = super()._get_arg_packer(kinds)
        packer.as_arguments = lambda _builder, given: given
        return packer


class Wrapper(PyCallWrapper):
    """What Python calls. It reads the arguments where they are; the caller holds references to all of them."""

    def build_wrapper(self, api: Any, builder: Any, _closure: Any, given: Any, _named: Any) -> None:
        """Read the arguments, call, and return a number of Python."""
        kinds, result = self.fndesc.argtypes, self.fndesc.restype
        refuse = builder.append_basic_block("refuse")
        with builder.goto_block(refuse):
            builder.ret(api.get_null_object())
        count = api.tuple_size(given)
        with cgutils.if_unlikely(builder, builder.icmp_signed("!=", count, count.type(len(kinds)))):
            api.unpack_tuple(given, self.fndesc.qualname, len(kinds), len(kinds))  # raises
            builder.branch(refuse)
        parts = Parts(self.context, kinds).read(builder, api, given, refuse)
        thread = api.save_thread() if self.release_gil else None
        convention = Passed(self.context)
        status, value = convention.call_function(builder, self.func, result, kinds, parts, attrs=("noinline",))
        if thread is not None:
            api.restore_thread(thread)
        with builder.if_then(status.is_ok, likely=True):
            if result == types.none:
                api.return_none()
            else:
                builder.ret(api.from_native_return(result, value, None))
        convention.raise_error(builder, api, status)
        builder.ret(api.get_null_object())


class WrapperContext(TargetContext):
    """For the function as its wrapper sees it."""

    @property
    def call_conv(self) -> Any:
        """How it is called."""
        return InParts(self)

    def create_cpython_wrapper(
        self, library: Any, description: Any, environment: Any, call_helper: Any, release_gil: bool = False
    ) -> None:
        """Emit it."""
        module = self.create_module("wrapper")
        kind = self.call_conv.get_function_type(description.restype, description.argtypes)
        function = llvm.Function(module, kind, description.llvm_func_name)
        Wrapper(self, module, function, description, environment, call_helper, release_gil).build()
        library.add_ir_module(module)


class EntryLower(DirectLower):
    """Lowering of an entry point; what that calls itself, of numba's own, is passed its arguments as numba does it."""

    @contextmanager
    def _seen_from_outside(self) -> Iterator[None]:
        inside = self.context
        self.context = WrapperContext(inside, inside.typing_context)
        try:
            yield
        finally:
            self.context = inside

    def setup_function(self, description: Any) -> None:
        """Begin the function."""
        with self._seen_from_outside():
            super().setup_function(description)

    def extract_function_arguments(self) -> Any:
        """The arguments, as Python has them."""
        with self._seen_from_outside():
            return super().extract_function_arguments()

    def create_cpython_wrapper(self, release_gil: bool = False) -> None:
        """Emit what Python calls."""
        with self._seen_from_outside():
            super().create_cpython_wrapper(release_gil)


@register_pass(mutates_CFG=True, analysis_only=False)
class EntryLowering(BaseNativeLowering):
    """Lowers an entry point, and its wrapper."""

    _name: Any = "entry_lowering"
    lowering_class = EntryLower
