"""From loops to LLVM's code, by numba, for any processor.

numba's compiler does all of it but one step: the code of a function stays text, where numba would optimise it and make
machine code. So each function is lowered once, and optimised as a part of each loop that calls it (`backend.py`).
"""

import sys
from collections.abc import Callable
from functools import cached_property
from itertools import chain, count
from typing import Any

from numba import njit, types
from numba.core import cgutils
from numba.core.codegen import AOTCodeLibrary, AOTCPUCodegen
from numba.core.registry import cpu_target
from numba.np import arrayobj

from cylcollide.runtime.compile import LOOPS, MARKED, Inlining
from native.intrinsics import INTRINSICS, array_at, arrays_at_addresses
from native.signatures import Argument, Signature

OPTIONS: dict[str, Any] = {"error_model": "numpy", "no_cpython_wrapper": True, "no_cfunc_wrapper": True, "_nrt": False}
"""References are not counted: the caller holds one to each array. So numba refuses to allocate arrays, too."""

NEVER_INLINED = {function.__qualname__ for function, inlining in MARKED.items() if inlining is Inlining.NEVER}
"""Names of functions, which numba has no such option for."""

NUMBERS = {float: "floats[{}]", int: "words[{}]", bool: "bool(words[{}] & 1)"}
"""How a number is read from its word."""


class TextLibrary(AOTCodeLibrary):
    """The code of one function, as text."""

    def __init__(self, codegen: Any, name: str) -> None:
        super().__init__(codegen, name)
        self.texts: list[str] = []
        self.called: list[TextLibrary] = []

    def add_ir_module(self, ir_module: Any) -> None:
        """Keep its text; functions that are never to be inlined are marked so."""
        for function in ir_module.functions:
            if not function.is_declaration and self.name in NEVER_INLINED:
                function.attributes.add("noinline")
        self.texts.append(cgutils.normalize_ir_text(str(ir_module)))

    def add_linking_library(self, library: Any) -> None:
        """Note what the function calls, but for numba's run-time library, which no loop may need."""
        if isinstance(library, TextLibrary):
            self.called.append(library)

    def finalize(self) -> None:
        """Nothing is left to do."""
        self._finalized = True

    @cached_property
    def all_texts(self) -> list[str]:
        """Its texts, and those of all that it calls, directly or not."""
        return list(dict.fromkeys(chain(self.texts, *(library.all_texts for library in self.called))))


class TextCodegen(AOTCPUCodegen):
    """What makes such libraries."""

    _library_class = TextLibrary


def prepare() -> None:
    """Put numba's functions under all names of marked functions, and intrinsics under those of operations on lanes."""
    target: Any = cpu_target.target_context
    target.refresh()
    target._internal_codegen = TextCodegen("cylcollide")
    target.get_executable = lambda *_: [].append  # in place of machine code: another object each time, never called
    arrayobj.fix_integer_index = _index
    functions = {function: jitted(function, inlining) for function, inlining in MARKED.items()}
    calls = [(loop.call, functions[loop.function]) for loop in LOOPS.values()]
    _replace_everywhere([*functions.items(), *calls, *INTRINSICS.items(), *arrays_at_addresses().items()])


def _index(context: Any, builder: Any, kind: Any, index: Any, _size: Any) -> Any:
    """An index into an array, in place of numba's, which counts negative ones from the end: loops have none."""
    return context.cast(builder, index, kind, types.intp)


def _replace_everywhere(replacements: list[tuple[object, object]]) -> None:
    """Under all names of modules of the package and of the build, put the second of each pair for the first."""
    by_id = {id(old): new for old, new in replacements}
    for module in [module for name, module in sys.modules.items() if name.split(".")[0] in ("cylcollide", "native")]:
        for name, value in list(vars(module).items()):
            if id(value) in by_id:
                setattr(module, name, by_id[id(value)])


def jitted(function: Callable[..., Any], inlining: Inlining = Inlining.AS_LLVM_DECIDES) -> Any:
    """The function as numba sees it."""
    return njit(**OPTIONS, forceinline=inlining is Inlining.ALWAYS)(function)


def lower(name: str, signature: Signature) -> tuple[str, list[str]]:
    """A loop that reads its arguments from words, int f(result, error, words): its symbol, and all of its code."""
    function = jitted(_with_words(name, signature))
    function.compile((types.int64,))
    (result,) = function.overloads.values()
    return result.fndesc.mangled_name, result.library.all_texts


def _with_words(name: str, signature: Signature) -> Callable[[int], Any]:
    """The loop as a function of the address of its words."""
    module, _, function = name.rpartition(".")
    known: dict[str, Any] = {"loop": getattr(sys.modules[f"cylcollide.{module}"], function)}
    known |= {"words_at": array_at("i8", 1), "floats_at": array_at("f8", 1)}
    known |= {"bool": types.boolean, "int": types.int64, "float": types.float64}  # numba's int of an int32 is an int32
    word = count()

    def read(argument: Argument) -> str:
        """The expression that reads an argument from the words that follow."""
        if argument.type in NUMBERS:
            return NUMBERS[argument.type].format(next(word))
        is_array = argument.format[0] == "["
        known[made := f"made{len(known)}"] = array_at(argument.type, argument.words - 1) if is_array else argument.type
        if is_array:
            return f"{made}({', '.join(f'words[{next(word)}]' for _ in range(argument.words))})"
        items = "".join(f"{read(item)}, " for item in argument.items)
        return f"({items})" if argument.type is tuple else f"{made}({items})"

    given, result = read(signature.arguments), signature.result
    exec(
        f"def entry(at):\n    words, floats = words_at(at, {signature.words}), floats_at(at, {signature.words})\n"
        f"    return {'' if result is type(None) else result.__name__}(loop(*{given}))",
        known,
    )
    entry: Callable[[int], Any] = known["entry"]
    return entry
