"""Machine code of entry points, by numba and LLVM: one module each, optimised once; and its form on disk.

numba compiles every function to a library of its own, with machine code, a wrapper for Python and one for C, optimises
it, and optimises it again in every caller that links it. Here only entry points, which Python calls, are compiled so.
What they call is typed and lowered once for each kind of arguments, kept as LLVM's unoptimised code, and linked into
every entry point that needs it.
"""

import gc
import os
import pickle
import sys
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from functools import cache
from hashlib import blake2b
from typing import Any, NamedTuple

import numba
from llvmlite import binding
from numba import typeof
from numba.core.codegen import JITCodeLibrary
from numba.core.compiler import Compiler, Flags
from numba.core.compiler_lock import global_compiler_lock
from numba.core.registry import cpu_target
from numba.core.runtime.nrt import rtsys

from cylcollide.runtime.callees import set_options
from cylcollide.runtime.compile import examples
from cylcollide.runtime.inner_functions import lowered_overloads
from cylcollide.runtime.numba_contexts import code_of_all, contexts

Function = Callable[..., Any]


class EntryLibrary(JITCodeLibrary):
    """The code of an entry point and of all functions that it calls, directly or not."""

    def add_llvm_module(self, module: Any) -> None:
        """Take the code as it is."""
        self._final_module.link_in(module)

    def finalize(self) -> None:
        """Link, optimise once, and make machine code."""
        exported = {function.name for function in self._final_module.functions if not function.is_declaration}
        for code in code_of_all(self._linking_libraries):
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


@contextmanager
def _no_collection() -> Iterator[None]:
    """Meanwhile, no garbage is collected: most of what a compiler makes is in use until it has finished."""
    was_enabled = gc.isenabled()
    gc.disable()
    try:
        yield
    finally:
        if was_enabled:
            gc.enable()


def build(function: Function, allocates: bool, keeps_lock: bool, arguments: tuple[Any, ...]) -> tuple[Function, bytes]:
    """Compile for arguments of the types of these; what Python calls, and what can be kept on disk."""
    typing, target = contexts()
    kinds, flags = _kinds(arguments), set_options(Flags())
    flags.nrt, flags.release_gil = allocates, not keeps_lock
    with global_compiler_lock, lowered_overloads(), _no_collection():
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
