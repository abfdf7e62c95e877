"""Rows of limbs that have moved, as if made anew."""

import numpy as np
import pytest
from support.cases.everyday_shape_worlds import mixed
from support.machine_code import interpreted

from cylcollide.kernels.aabb import limb_boxes, refill_rows
from cylcollide.kernels.limb_table import make_table

pytestmark = [pytest.mark.plain_python, pytest.mark.coverage]


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
