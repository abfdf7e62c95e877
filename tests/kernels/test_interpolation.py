"""Poses between two others, by the stated operations; and rows of limbs that have moved, as if made anew."""

import numpy as np
import pytest
from support.cases.everyday_shape_worlds import mixed
from support.machine_code import interpreted

from cylcollide.kernels.aabb import limb_boxes
from cylcollide.kernels.interpolation import fill_character_boxes, interpolate_bones, interpolate_ends
from cylcollide.kernels.limb_table import make_table
from cylcollide.kernels.moved_rows import refill_rows
from cylcollide.kernels.rig_rows import Bones

pytestmark = [pytest.mark.plain_python, pytest.mark.coverage]


def moments(rng: np.random.Generator, bones: int) -> tuple[Bones, Bones]:
    """Two poses of all bones, the second turned both ways; quaternions of any length."""
    here = Bones(rng.normal(size=(bones, 3)), rng.normal(size=(bones, 4)) * 10.0 ** rng.uniform(-3, 3, (bones, 1)))
    turn = here.orientations * rng.choice([-1.0, 1.0], (bones, 1)) + 0.1 * rng.normal(size=(bones, 4))
    return here, Bones(here.positions + rng.normal(size=(bones, 3)), turn)


@pytest.mark.parametrize("loop", [interpolate_bones, interpreted(interpolate_bones)], ids=["loop", "plain"])
def test_bones(loop):
    """Four characters of two bones: between, staying, at both ends. Each in another place in all three tables."""
    here, there = moments(np.random.default_rng(1), 8)
    first = [np.array(column, np.int32) for column in ([0, 2, 4, 6], [4, -1, 0, 2], [6, 0, 2, 4])]
    alpha, result = np.array([0.3, 0.6, 0.0, 1.0]), Bones(np.full((8, 3), np.nan), np.full((8, 4), np.nan))
    loop(here, there, first[0], first[1], np.full(4, 2, np.int64), alpha, first[2], result)
    between, sign = 0.0, set()
    for k in range(2):
        assert np.array_equal(result.positions[6 + k], 0.7 * here.positions[k] + 0.3 * there.positions[4 + k])
        p, q = (turn / np.linalg.norm(turn) for turn in (here.orientations[k], there.orientations[4 + k]))
        sign.add(np.sign(p @ q))
        want = 0.7 * p + 0.3 * np.sign(p @ q) * q
        between = max(between, np.abs(result.orientations[6 + k] - want).max())
        assert np.linalg.norm(result.orientations[6 + k]) >= np.sqrt(0.5)
    assert between < 1e-15
    for column, a, b in zip(result, here, there, strict=True):
        assert np.array_equal(column[0:4], a[2:6])  # one that stays, and one that has not begun
        assert np.array_equal(column[4:6], b[2:4])  # and one that has come to its end


@pytest.mark.parametrize("loop", [interpolate_ends, interpreted(interpolate_ends)], ids=["loop", "plain"])
def test_ends(loop):
    rng = np.random.default_rng(2)
    here, there, result = rng.normal(size=(3, 4, 3))
    rows = [np.array(column, np.int32) for column in ([0, 1, 2, 3], [3, -1, 1, 0], [1, 0, 3, 2])]
    loop(here, there, rows[0], rows[1], np.array([0.25, 0.5, 0.0, 1.0]), rows[2], result)
    want = [here[1], 0.75 * here[0] + 0.25 * there[3], there[0], here[2]]
    assert np.array_equal(result, want)


@pytest.mark.parametrize("loop", [fill_character_boxes, interpreted(fill_character_boxes)], ids=["loop", "plain"])
def test_boxes_around_characters(loop):
    """They hold all that is within reach of each bone, and hardly more; a bone without limbs takes no room."""
    rng = np.random.default_rng(3)
    positions, reach = rng.normal(size=(7, 3)), np.array([0.5, -1.0, 0.2, 0.3, 0.1, -1.0, 0.4])
    first, count = np.array([0, 3], np.int32), np.array([3, 4], np.int64)
    low, high = np.empty((2, 2, 3))
    loop(positions, reach, first, count, low, high)
    for k, rows in enumerate(([0, 2], [3, 4, 6])):
        least, most = (positions[rows] - reach[rows, None]).min(0), (positions[rows] + reach[rows, None]).max(0)
        assert (low[k] < least).all()
        assert (high[k] > most).all()
        assert np.allclose(low[k], least, rtol=0, atol=1e-11)
        assert np.allclose(high[k], most, rtol=0, atol=1e-11)


@pytest.mark.parametrize("loop", [refill_rows, interpreted(refill_rows)], ids=["loop", "plain"])
def test_rows_of_limbs_that_have_moved(loop):
    """Of some limbs of all shapes, in any order: the rows, shapes and boxes of a table made anew; others stay."""
    limbs = mixed(20).limbs()
    t = limbs.table
    fresh = make_table(t.kind, t.p1 + 0.5, t.p2 + 0.5, t.radius, t.radius2, t.box, t.boxes, t.character, t.mask)
    some = np.random.default_rng(4).permutation(20)[:9].astype(np.int32)
    stale = fresh._replace(rows=t.rows.copy(), solid=np.full(20, -1, np.int8))
    low, high = np.empty((2, 9, 3))
    loop(stale, some, low, high)
    want_low, want_high = limb_boxes(fresh)
    assert np.array_equal(stale.rows[some], fresh.rows[some])
    assert np.array_equal(stale.solid[some], fresh.solid[some])
    assert np.array_equal(low, want_low[some])
    assert np.array_equal(high, want_high[some])
    others = np.setdiff1d(np.arange(20), some)
    assert np.array_equal(stale.rows[others], t.rows[others])
    assert (stale.solid[others] == -1).all()
