"""Calls of `setCollisionFilterGroupMask`, whose effect PyBullet reports nowhere: counted, so that mirrors notice them.

From the first mirror on, a function stands in the module `pybullet` that counts and calls PyBullet's own; a
`BulletClient` calls it, too.
"""

from functools import partial, update_wrapper
from itertools import count
from types import BuiltinFunctionType
from typing import Any

NAME = "setCollisionFilterGroupMask"


class AsBuiltin(partial[Any]):
    """A function that `inspect.isbuiltin` takes for a built-in one: a client passes its number on to these alone."""

    __class__ = BuiltinFunctionType  # type: ignore[assignment]  # what `isinstance` is told, as by a mock


_serial = count(1)  # numbers never repeat, so that none is lost between threads
LAST_CALL = [0]
"""A number that any call changes, once they are counted."""

_replaced: list[Any] = []


def filter_calls() -> int:
    """Count calls from now on; a number that any call changes."""
    if _replaced:
        return LAST_CALL[0]
    from cylcollide._pybullet import OWN, pybullet  # noqa: PLC0415  # an extra: imported only when used

    own = getattr(OWN, NAME)

    def counted(*arguments: Any, **keywords: Any) -> Any:
        try:
            return own(*arguments, **keywords)
        finally:
            LAST_CALL[0] = next(_serial)

    _replaced.append(update_wrapper(AsBuiltin(counted), own))
    if getattr(pybullet, NAME) is own:  # else a program has put its own there
        setattr(pybullet, NAME, _replaced[0])
    setattr(OWN, NAME, _replaced[0])
    return LAST_CALL[0]
