"""Calls of `setCollisionFilterGroupMask`, whose effect PyBullet reports nowhere: counted, so that mirrors notice them.

From the first mirror on, a built-in function stands in the module `pybullet` that counts and calls PyBullet's own; a
`BulletClient` calls it, too. In plain Python, which makes no built-in functions, nothing is replaced or counted.
"""

from itertools import count
from typing import Any

from cylcollide.runtime.levels import MACHINE_CODE

NAME = "setCollisionFilterGroupMask"

_serial = count(1)  # numbers never repeat, so that none is lost between threads
_last = [0]
_replaced: list[Any] = []


def filter_calls() -> int:
    """A number that any call changes."""
    from cylcollide._pybullet import OWN, pybullet  # noqa: PLC0415  # an extra: imported only when used

    if MACHINE_CODE is not None and not _replaced:
        own = getattr(OWN, NAME)

        def counted(*arguments: Any, **keywords: Any) -> Any:
            try:
                return own(*arguments, **keywords)
            finally:
                _last[0] = next(_serial)

        _replaced.append(MACHINE_CODE.builtin(NAME, counted))
        if getattr(pybullet, NAME) is own:  # else a program has put its own there
            setattr(pybullet, NAME, _replaced[0])
        setattr(OWN, NAME, _replaced[0])
    return _last[0]
