"""Lowers loops to LLVM IR, by numba, for any processor.

numba's compiler does all but one step: the IR of a function stays text; numba does not optimise it or make machine code
of it. So each function is lowered once, and optimised as a part of each loop that calls it (`backend.py`).
"""

import re
import warnings
from collections.abc import Callable
from functools import cached_property
from itertools import chain
from typing import Any

from llvmlite import ir
from numba import njit, types
from numba.core import cgutils
from numba.core.codegen import AOTCodeLibrary, AOTCPUCodegen
from numba.core.errors import NumbaWarning
from numba.core.registry import CPUDispatcher, cpu_target
from numba.np import arrayobj

from cylcollide.runtime.compile import LOOPS, MARKED, loop_name
from native.backend import SHARED
from native.build import digest_of
from native.intrinsics import arguments_at
from native.signatures import Signature

OPTIONS: dict[str, Any] = {"error_model": "numpy", "no_cpython_wrapper": True, "no_cfunc_wrapper": True, "_nrt": False}
"""References are not counted, as the caller holds one to each array. numba then refuses to allocate arrays, too."""

JITTED: dict[Callable[..., Any], Any] = {}  # marked functions as numba's, which holds no reference to them
INLINING: dict[str, str] = {}  # the marks of functions, by name

PICKLED = re.compile(r'(?m)^(@"\.const\.pickledata\.[^ ]* = internal constant \[\d+ x i8\]) .*$')
"""Exceptions as numba describes them, with names of folders. Nobody reads them: a status other than 0 is a defect."""

NAME, PART, COUNTER = re.compile('@"([^"]*)"'), re.compile(r"(\d+)(.*)"), re.compile(r"B\d+v\d+")


def name_of(mangled: str) -> str:
    """A function's name as in `LOOPS`, from numba's: module, function and types, each part preceded by its length."""
    path, rest = list[str](), mangled.removeprefix("_ZN")
    while found := PART.match(rest):
        size = int(found[1])
        path.append(found[2][:size])
        rest = found[2][size:]
    return ".".join(path[1:])


def shared_symbol(mangled: str) -> str:
    """The symbol under which all loops share a function: a digest of its code, without the counter in numba's name."""
    return SHARED + digest_of(name_of(mangled), COUNTER.sub("", mangled))


class TextLibrary(AOTCodeLibrary):
    """The code of one function, as text."""

    def __init__(self, codegen: Any, name: str) -> None:
        super().__init__(codegen, name)
        self.texts: list[str] = []
        self._shared: dict[str, str] = {}

    def add_ir_module(self, ir_module: Any) -> None:
        """Keep its text; numba has no option for functions that are never inlined."""
        for function in (function for function in ir_module.functions if not function.is_declaration):
            inlining = INLINING.get(name_of(function.name), "")
            if inlining in ("noinline", "linkonce"):
                function.attributes.add("noinline")
            if inlining == "linkonce":
                self._shared[function.name] = shared_symbol(function.name)
        text = PICKLED.sub(r"\1 zeroinitializer", cgutils.normalize_ir_text(str(ir_module)))
        self.texts.append(text.replace('@"numba_', '@"'))  # numba_ldexp is that of C

    def finalize(self) -> None:
        """Mark the library as complete, as nothing is left to do."""
        self._finalized = True

    @cached_property
    def _called(self) -> list["TextLibrary"]:
        """The library, and all that it calls, directly or not, except numba's run-time library."""
        called = [library._called for library in self._linking_libraries if isinstance(library, TextLibrary)]
        return list(dict.fromkeys(chain([self], *called)))

    @cached_property
    def _named_texts(self) -> list[str]:
        """Its texts, in which functions that loops share have their shared symbols."""
        symbols = dict(chain.from_iterable(library._shared.items() for library in self._called))
        return [NAME.sub(lambda found: f'@"{symbols.get(found[1], found[1])}"', text) for text in self.texts]

    @property
    def all_texts(self) -> list[str]:
        """Its texts, and those of all that it calls, each once."""
        return list(dict.fromkeys(chain.from_iterable(library._named_texts for library in self._called)))


class TextCodegen(AOTCPUCodegen):
    """The code generator that makes such libraries."""

    _library_class = TextLibrary


def prepare() -> None:
    """Make numba keep code as text, resolve marked functions and loops by their global names, and fail, not warn."""
    warnings.simplefilter("error", NumbaWarning)
    target: Any = cpu_target.target_context
    dispatcher: Any = CPUDispatcher
    target.refresh()
    target._internal_codegen = TextCodegen("cylcollide")
    target.add_dynamic_addr = lambda *_, **__: ir.Constant(ir.IntType(8).as_pointer(), None)  # of functions: never read
    dispatcher.__repr__ = lambda self: loop_name(self.py_func)  # in names of types, which numba gives an address
    target.get_executable = lambda *_: [].append  # in place of machine code: a new object each time, never called
    arrayobj.fix_integer_index, arrayobj._attempt_nocopy_reshape = _index, _reshape
    register_marked(OPTIONS)


def register_marked(options: dict[str, Any]) -> None:
    """Make numba compile marked functions, with these options, where others call them."""
    calls = {loop.function: loop.call for loop in LOOPS.values()}
    for function, inlining in MARKED.items():
        INLINING[loop_name(function)] = inlining
        if function not in JITTED:
            JITTED[function] = njit(**options, forceinline=inlining == "alwaysinline")(function)
            for name in {function, calls.get(function, function)}:
                cpu_target.typing_context.insert_global(name, types.Dispatcher(JITTED[function]))


def _index(context: Any, builder: Any, kind: Any, index: Any, _size: Any) -> Any:
    """An array index, in place of numba's, which counts negative ones from the end: loops have none."""
    return context.cast(builder, index, kind, types.intp)


def _reshape(context: Any, builder: Any, _kind: Any, array: Any, dimensions: int, shape: Any, strides: Any) -> Any:
    """Strides of an array in C order under another shape, in place of numba's call of its run-time library."""
    stride = array.itemsize
    for k in reversed(range(dimensions)):
        place = [ir.IntType(32)(0), ir.IntType(32)(k)]
        builder.store(stride, builder.gep(strides, place))
        stride = builder.mul(stride, builder.load(builder.gep(shape, place)))
    return context.get_constant(types.intc, 1)


def lower(name: str, signature: Signature) -> tuple[str, list[str]]:
    """A loop that reads its arguments from words, int f(result, error, words): its symbol, and all of its code."""
    loop, arguments = LOOPS[name].call, arguments_at(signature.takes)

    @njit(**OPTIONS)
    def entry(words: int) -> Any:
        return loop(*arguments(words))

    entry.compile(signature.returns(types.int64))
    (result,) = entry.overloads.values()
    return result.fndesc.mangled_name, result.library.all_texts
