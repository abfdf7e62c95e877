"""Frames that are read where Python keeps PyBullet's tuples, and what is no frame."""

import numpy as np
import pytest
from support.machine_code import interpreted

from cylcollide.bullet.tuple_loops import LAYOUT, copy_frames, is_layout_known

pytestmark = [pytest.mark.plain_python, pytest.mark.coverage]

LOOPS = pytest.mark.parametrize("loop", [copy_frames, interpreted(copy_frames)], ids=["loop", "plain"])


def states_of(rows):
    """Tuples as PyBullet makes them: position, quaternion, and more that is not read."""
    return tuple((tuple(row[:3]), tuple(row[3:]), (0.0,) * 3, None) for row in rows)


@LOOPS
def test_frames_have_the_bits_of_the_floats(loop):
    numbers = np.random.default_rng(1).normal(size=(5, 7))
    numbers[1, :4], numbers[2, 3:] = [np.nan, np.inf, -0.0, 5e-324], [-np.inf, 1.7e308, 0.0, -np.nan]
    states, frames = states_of(numbers.tolist()), np.full((8, 7), 7.0)
    assert loop(id(states), LAYOUT, frames, 2)
    assert frames[2:7].tobytes() == numbers.tobytes()
    assert (frames[[0, 1, 7]] == 7.0).all()
    nothing = ()
    assert loop(id(nothing), LAYOUT, frames, 8)


PLACE, TURN = (1.0, 2.0, 3.0), (0.0, 0.0, 0.0, 1.0)


@LOOPS
@pytest.mark.parametrize(
    "states",
    [
        [(PLACE, TURN)],
        ([PLACE, TURN],),
        ((PLACE,),),
        ((PLACE, list(TURN)),),
        ((TURN, PLACE),),
        ((PLACE, PLACE),),
        (((1.0, 2, 3.0), TURN),),
        ((PLACE, (0.0, 0.0, np.float64(0.0), 1.0)),),
        ((PLACE, TURN), None),
        ((PLACE, TURN),) * 4,
    ],
    ids=[
        "list",
        "list of two",
        "one item",
        "list of four",
        "exchanged",
        "two places",
        "int",
        "subclass",
        "None",
        "many",
    ],
)
def test_what_is_no_frame_is_not_read(loop, states):
    frames = np.zeros((3, 7))
    assert not loop(id(states), LAYOUT, frames, 0)


def test_the_layout_of_this_python_is_known():
    assert is_layout_known()
