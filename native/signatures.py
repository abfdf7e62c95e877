"""Signatures of the loops, recorded while plain Python runs examples; and how `module.c` reads such arguments.

A call passes its arguments as 64-bit words: a number is one word, an array its address and its lengths, a tuple its
items one after another.
"""

import sys
from collections.abc import Callable
from typing import Any, NamedTuple, TypeAlias

import numpy as np

from cylcollide.runtime.compile import Loop


class Array(NamedTuple):
    """The type of an array in C order."""

    kind: str
    """Kind and bytes of its dtype, as in "f8"."""
    dimensions: int


class Items(NamedTuple):
    """The type of a tuple."""

    type: type
    items: "tuple[Argument, ...]"


Argument: TypeAlias = Array | Items | type
"""The type of an argument: an array, a tuple, or bool, int, float."""

CODES = {bool: "?", int: "q", float: "d", type(None): "n"}
"""What stands for a number in a format."""


class Signature(NamedTuple):
    """The types of a loop's arguments and of its result."""

    arguments: tuple[Argument, ...]
    result: type
    keeps_lock: bool = False

    @property
    def format(self) -> str:
        """All, as `module.c` reads them."""
        return "!" * self.keeps_lock + "".join(map(_format, self.arguments)) + ":" + CODES[self.result]

    @property
    def words(self) -> int:
        """How many words the arguments take."""
        return sum(map(words, self.arguments))


def words(argument: Argument) -> int:
    """How many words an argument takes."""
    if isinstance(argument, Array):
        return 1 + argument.dimensions
    return sum(map(words, argument.items)) if isinstance(argument, Items) else 1


def _format(argument: Argument) -> str:
    if isinstance(argument, Array):
        return f"[{argument.kind}{argument.dimensions}"
    if isinstance(argument, Items):
        return "(" + "".join(map(_format, argument.items)) + ")"
    return CODES[argument]


def type_of(value: object) -> Argument:
    """The type of an argument; TypeError for one that no loop takes."""
    if isinstance(value, np.ndarray):
        if not value.flags.c_contiguous:
            raise TypeError(f"expected an array in C order, got strides {value.strides} for shape {value.shape}")
        return Array(value.dtype.str[1:], value.ndim)
    if isinstance(value, tuple):
        return Items(type(value), tuple(map(type_of, value)))
    for number, of_numpy in ((bool, np.bool_), (int, np.integer), (float, np.float64)):
        if isinstance(value, number | of_numpy):
            return number
    raise TypeError(f"expected arrays, numbers and tuples of these, got {type(value).__name__}")


def replace_everywhere(replacements: list[tuple[object, object]]) -> None:
    """Under all names of modules of the package and of the build, put the second of each pair for the first."""
    by_id = {id(old): new for old, new in replacements}
    for module in [module for name, module in sys.modules.items() if name.split(".")[0] in ("cylcollide", "native")]:
        for name, value in list(vars(module).items()):
            if id(value) in by_id:
                setattr(module, name, by_id[id(value)])


def record(loops: dict[str, Loop], examples: Callable[[], None]) -> dict[str, Signature]:
    """The signatures of all loops, by name, from their calls while the examples run in plain Python.

    Raises
    ------
    RuntimeError
        If no example calls a loop, or two of them pass arguments of different types.
    """
    signatures: dict[str, Signature] = {}

    def recorder(name: str, loop: Loop) -> Callable[..., Any]:
        def recording(*arguments: Any) -> Any:
            result = loop.call(*arguments)
            returned: Any = type(None) if result is None else type_of(result)
            signature = Signature(tuple(map(type_of, arguments)), returned, loop.keeps_lock)
            known = signatures.setdefault(name, signature)
            if known != signature:
                raise RuntimeError(f"{name}: expected the same types in all calls, got {known} and {signature}")
            return result

        return recording

    recorders = {name: recorder(name, loop) for name, loop in loops.items()}
    replace_everywhere([(loop.call, recorders[name]) for name, loop in loops.items()])
    try:
        examples()
    finally:
        replace_everywhere([(recorders[name], loop.call) for name, loop in loops.items()])
    if missing := sorted(loops.keys() - signatures):
        raise RuntimeError(f"no example calls {', '.join(missing)}; add one to native/examples.py")
    return signatures
