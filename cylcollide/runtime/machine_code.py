"""Machine code of entry points, by numba and LLVM: one module each, optimised once; and its form on disk.

numba compiles every function to a library of its own, with machine code, a wrapper for Python and one for C, optimises
it, and optimises it again in every caller that links it. Here only entry points, which Python calls, are compiled so.
What they call is typed and lowered once for each kind of arguments, to LLVM's code as text, which is simplified once
and linked into every entry point that needs it. The first half needs numba and the functions, the second LLVM alone.
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
from llvmlite.binding import newpassmanagers
from numba import typeof
from numba.core.codegen import JITCodeLibrary
from numba.core.compiler_lock import global_compiler_lock
from numba.core.registry import cpu_target
from numba.core.runtime.nrt import rtsys
from numba.core.typed_passes import IRLegalization, NoPythonBackend

from cylcollide.runtime.callees import FixedFlags, set_options
from cylcollide.runtime.compile import examples
from cylcollide.runtime.entry_functions import EntryLowering
from cylcollide.runtime.inner_functions import lowered_overloads
from cylcollide.runtime.numba_contexts import Called, CodeLibrary, called_by, contexts
from cylcollide.runtime.passes import TYPED, ShortCompiler

Function = Callable[..., Any]


class LoadedLibrary(JITCodeLibrary):
    """Machine code of an entry point."""

    def load(self, code: bytes, symbols: frozenset[str]) -> None:
        """Take machine code from an object file, which defines these symbols."""
        self.enable_object_caching()
        self._set_compiled_object(code)
        self._codegen._engine._defined_symbols |= symbols
        self._finalize_final_module()


class EntryCompiler(ShortCompiler):
    """With what Python calls, and with the ends of variables marked, where arrays are freed."""

    passes = (*TYPED, IRLegalization, EntryLowering, NoPythonBackend)


class Lowered(NamedTuple):
    """An entry point as LLVM's code."""

    name: str
    code: list[str]  # its own
    called: Called
    allocates: bool
    symbols: frozenset[str]  # that others need
    description: bytes  # numba's description of the function, and its environment


class Stored(NamedTuple):
    """Machine code of an entry point, as it is kept on disk."""

    allocates: bool
    code: bytes  # an object file
    shared: dict[str, bytes]  # object files of the functions it calls that have one, by their symbols
    symbols: frozenset[str]  # that it defines
    description: bytes


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


def lower(function: Function, allocates: bool, keeps_lock: bool, arguments: tuple[Any, ...]) -> Lowered:
    """Type and lower an entry point for arguments of the types of these, and all that it calls."""
    typing, target = contexts()
    kinds, flags = _kinds(arguments), set_options(FixedFlags())
    flags.nrt, flags.release_gil, flags.no_compile = allocates, not keeps_lock, True
    with global_compiler_lock, lowered_overloads(), _no_collection():
        library = CodeLibrary(target.codegen(), function.__qualname__)
        result = EntryCompiler(typing, target, library, kinds, None, flags, {}).compile_extra(function)
        called = called_by(library._linking_libraries)
    symbols = {result.fndesc.llvm_cpython_wrapper_name, target.get_env_name(result.fndesc)}
    result.fndesc.typemap = result.fndesc.calltypes = None  # they may not be picklable, and nothing needs them
    description = pickle.dumps((result.fndesc, result.environment))
    return Lowered(function.__qualname__, library.texts, called, allocates, frozenset(symbols), description)


class Optimiser:
    """Makes machine code of what was lowered; remembers the code of functions that several entry points call."""

    def __init__(self) -> None:
        self._codegen = cpu_target.target_context.codegen()
        self._called: dict[int, Any] = {}
        self._shared: dict[str, bytes] = {}
        self._builder = self._codegen._pass_builder()
        self._simplifying = newpassmanagers.create_new_function_pass_manager()
        self._simplifying.add_sroa_pass()
        self._simplifying.add_instruction_combine_pass()
        self._simplifying.add_simplify_cfg_pass()

    def machine_code(self, lowered: Lowered) -> bytes:
        """Link, optimise once, and make machine code; as it is kept on disk."""
        called = lowered.called
        for symbol, parts in called.shared.items():
            if symbol not in self._shared:
                self._shared[symbol] = self._object_file(self._linked(symbol, [], parts, called.texts, {symbol}))
        module = self._linked(lowered.name, lowered.code, called.inner, called.texts, set())
        shared = {symbol: self._shared[symbol] for symbol in called.shared}
        code = self._object_file(module)
        return pickle.dumps(Stored(lowered.allocates, code, shared, lowered.symbols, lowered.description))

    def _object_file(self, module: Any) -> bytes:
        """Optimise, and make machine code."""
        inlining = newpassmanagers.create_new_module_pass_manager()
        inlining.add_always_inliner_pass()
        inlining.run(module, self._builder)
        self._simplify(module)
        optimising, builder = self._codegen._module_pass_manager()
        optimising.run(module, builder)
        module.verify()
        code: bytes = self._codegen._tm.emit_object(module)
        return code

    def _linked(self, name: str, code: list[str], parts: list[int], texts: dict[int, str], exported: set[str]) -> Any:
        """A function with what is a part of it, of which nothing but the code itself is seen from outside."""
        module = binding.parse_assembly(str(self._codegen._create_empty_module(name)))
        for text in code:
            module.link_in(binding.parse_assembly(text))
        exported = exported | {function.name for function in module.functions if not function.is_declaration}
        for number in parts:
            if number not in self._called:
                self._called[number] = binding.parse_assembly(texts[number])
                self._simplify(self._called[number])
            module.link_in(self._called[number], preserve=True)
        for function in module.functions:
            if not function.is_declaration and function.name not in exported:
                function.linkage = "internal"
        return module

    def _simplify(self, module: Any) -> None:
        """Simplify each function by itself: before it is inlined into many, and after others are inlined into it."""
        for function in module.functions:
            if not function.is_declaration:
                self._simplifying.run(function, self._builder)


@cache
def optimiser() -> Optimiser:
    """That of this process."""
    return Optimiser()


_loaded: set[str] = set()
"""Symbols of functions that entry points share, in this process."""


def load(content: bytes) -> Function:
    """What Python calls, from what `Optimiser` made."""
    stored: Stored = pickle.loads(content)
    description, environment = pickle.loads(stored.description)
    target = cpu_target.target_context
    with global_compiler_lock:
        if stored.allocates:
            rtsys.initialize(target)
        for symbol, code in stored.shared.items():
            if symbol not in _loaded:
                LoadedLibrary(target.codegen(), symbol).load(code, frozenset({symbol}))
                _loaded.add(symbol)
        library = LoadedLibrary(target.codegen(), description.qualname)
        library.load(stored.code, stored.symbols)
        entry: Function = target.get_executable(library, description, environment)
    return entry
