"""Records with arrays: single rows of results, and single results. Their copies and pickles are read-only, too."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from math import isnan
from typing import Any, TypeVar, cast

import numpy as np

from cylcollide.process.signatures import Shown
from cylcollide.runtime.memory import frozen

T = TypeVar("T")


class Record(metaclass=Shown):
    """Base of frozen dataclasses with arrays. These pass `eq=False`, as generated equality cannot compare arrays."""

    def __setstate__(self, state: Mapping[str, Any]) -> None:
        """Copied and unpickled arrays can be written, so they are frozen."""
        vars(self).update(state)
        _freeze(state.values())

    def __eq__(self, other: object) -> bool:
        """Whether both are of one kind with equal fields; NaN equals NaN."""
        if type(other) is not type(self):
            return NotImplemented
        return all(_are_same(value, vars(other)[name]) for name, value in vars(self).items())

    __hash__ = None  # type: ignore[assignment]  # arrays inside


def of_arrays(kind: type[T]) -> type[T]:
    """Decorate a named tuple: its arrays and those of copies are read-only, and `==` is that of a `Record`."""
    made = cast(Any, kind)
    new = made.__new__

    def read_only(cls: type[T], *values: Any, **named: Any) -> Any:
        one = new(cls, *values, **named)
        _freeze(one)
        return one

    def are_equal(self: Any, other: object) -> bool:
        return isinstance(other, kind) and all(map(_are_same, self, cast(Any, other)))

    made.__new__, made.__eq__, made.__hash__ = read_only, are_equal, None
    made.__ne__ = lambda self, other: not are_equal(self, other)
    return kind


def _are_same(one: Any, other: Any) -> bool:
    """Whether two values of a field are equal, or both NaN."""
    if isinstance(one, np.ndarray):
        return np.array_equal(one, other, equal_nan=one.dtype.kind == "f")
    if isinstance(one, float) and isinstance(other, float):
        return one == other or (isnan(one) and isnan(other))
    return bool(one == other)


def _freeze(values: Iterable[Any]) -> None:
    """Make arrays read-only."""
    for value in values:
        if isinstance(value, np.ndarray):
            frozen(value)
