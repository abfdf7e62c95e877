"""Lowering of entry points, which return a status; their wrapper for Python passes them their arguments in parts."""

from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any

from numba.core.callconv import CPUCallConv
from numba.core.compiler_machinery import register_pass
from numba.core.typed_passes import BaseNativeLowering

from cylcollide.runtime.arguments import Parts
from cylcollide.runtime.lowering import DirectLower
from cylcollide.runtime.numba_contexts import TargetContext


class InParts(CPUCallConv):
    """How the wrapper calls."""

    def _get_arg_packer(self, kinds: Any) -> Any:
        return Parts(self.context, kinds)


class WrapperContext(TargetContext):
    """For the function as its wrapper sees it."""

    @property
    def call_conv(self) -> Any:
        """How it is called."""
        return InParts(self)


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
