"""Memory of the arrays of an object."""

from collections.abc import Iterator
from typing import Any

import numpy as np

SAFE = (str, bytes, int, float, complex, bool, type(None), type)


def nbytes(thing: object) -> int:
    """Bytes of all arrays reachable from an object, each buffer counted once."""
    buffers: dict[int, int] = {}
    for array in _arrays(thing, set()):
        owner: Any = array
        while isinstance(owner.base, np.ndarray):
            owner = owner.base
        buffers[id(owner)] = owner.nbytes
    return sum(buffers.values())


def _arrays(thing: object, seen: set[int]) -> Iterator[np.ndarray]:
    if isinstance(thing, SAFE) or id(thing) in seen:
        return
    seen.add(id(thing))
    if isinstance(thing, np.ndarray):
        yield thing
        return
    inner: list[object] = list(getattr(thing, "__dict__", {}).values())
    inner += [getattr(thing, name) for name in getattr(type(thing), "__slots__", ()) if hasattr(thing, name)]
    if isinstance(thing, dict):
        inner += thing.values()
    elif isinstance(thing, (list, tuple, set, frozenset)):
        inner += thing
    for part in inner:
        yield from _arrays(part, seen)
