"""The loop that reads frames out of PyBullet's tuples, from where Python keeps them.

To pack them by Python's own means takes a third of the time in which PyBullet makes them. How tuples and floats lie in
memory is CPython's: `is_layout_known` tells, by tuples of known numbers, whether they do as is expected here.
"""

from functools import cache

import numpy as np

from cylcollide._types import Float64Array, Int64Array
from cylcollide.runtime.addresses import float64_at, int64_at
from cylcollide.runtime.compile import inlined
from cylcollide.runtime.entry_point import entry_point

WORD = 8
"""Bytes of a reference."""

TYPE, LENGTH = WORD, 2 * WORD
"""Where an object holds its type, and a tuple the number of its items: bytes from its address."""

TUPLE_TYPE, FLOAT_TYPE, ITEMS, NUMBER = range(4)
"""Of `LAYOUT`: the addresses of both types; where the items of a tuple begin, and where a float holds its number."""

LAYOUT: Int64Array = np.array([id(tuple), id(float), tuple.__basicsize__, float.__basicsize__ - WORD])

POSITION, QUATERNION = 3, 4
FRAME = POSITION + QUATERNION


@entry_point(keeps_lock=True)
def copy_frames(states: int, layout: Int64Array, frames: Float64Array, first: int) -> bool:
    """Write the first two items of each state, a position and a quaternion, into `frames` (m, 7) from row `first` on.

    `states`: the address of a tuple of tuples, which is kept as long. False, with some rows written, if a state does
    not begin with tuples of three and four floats, or there are more than rows.
    """
    if not _is_tuple(states, layout) or first + _word(states + LENGTH) > frames.shape[0]:
        return False
    for k in range(_word(states + LENGTH)):
        state = _item(states, k, layout)
        if not _is_tuple(state, layout) or _word(state + LENGTH) < 2:
            return False
        position, quaternion = _item(state, 0, layout), _item(state, 1, layout)
        if not (
            _copy(position, POSITION, layout, frames, first + k, 0)
            and _copy(quaternion, QUATERNION, layout, frames, first + k, POSITION)
        ):
            return False
    return True


@inlined
def _word(address: int) -> int:
    """The eight bytes at an address."""
    return int64_at(address, 1)[0]  # type: ignore[no-any-return]


@inlined
def _item(address: int, k: int, layout: Int64Array) -> int:
    """The address of item k of a tuple."""
    return _word(address + layout[ITEMS] + k * WORD)


@inlined
def _is_tuple(address: int, layout: Int64Array) -> bool:
    """Whether the object at this address is a tuple."""
    return bool(_word(address + TYPE) == layout[TUPLE_TYPE])


@inlined
def _copy(address: int, count: int, layout: Int64Array, frames: Float64Array, row: int, column: int) -> bool:
    """Write the floats of a tuple of so many into a row, from this column on; False if it is another object."""
    if not _is_tuple(address, layout) or _word(address + LENGTH) != count:
        return False
    for k in range(count):
        number = _item(address, k, layout)
        if _word(number + TYPE) != layout[FLOAT_TYPE]:
            return False
        frames[row, column + k] = float64_at(number + layout[NUMBER], 1)[0]
    return True


@cache
def is_layout_known() -> bool:
    """Whether the loop finds the numbers of a frame in memory."""
    state, frames = ((1.5, -2.5, 3.5), (0.1, 0.2, 0.3, -0.4)), np.zeros((1, FRAME))
    states = (state,)
    return copy_frames(id(states), LAYOUT, frames, 0) and frames.tolist() == [[*state[0], *state[1]]]
