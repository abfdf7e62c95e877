"""Rows of limbs that have moved, as if made anew."""

import numpy as np
import pytest
from support.cases.everyday_shape_worlds import mixed

from cylcollide.kernels.aabb import limb_boxes, refill_rows
from cylcollide.kernels.limb_table import make_table

pytestmark = pytest.mark.plain_python


def test_rows_of_limbs_that_have_moved():
    """Of some limbs of all shapes, in any order: the rows, shapes and boxes of a table made anew; others stay."""
    t = mixed(20).limbs()._table
    fresh = make_table(t.kind, t.p1 + 0.5, t.p2 + 0.5, t.radius, t.radius2, t.box, t.boxes, t.character, t.mask)
    some, others = np.split(np.random.default_rng(4).permutation(20).astype(np.int32), [9])
    stale = fresh._replace(rows=t.rows.copy(), kernel_shape=np.full(20, -1, np.int8))
    corners = np.empty((2, 9, 3))
    refill_rows(stale, some, *corners)
    assert np.array_equal(stale.rows[some], fresh.rows[some])
    assert np.array_equal(stale.kernel_shape[some], fresh.kernel_shape[some])
    assert np.array_equal(corners, np.stack(limb_boxes(fresh))[:, some])
    assert np.array_equal(stale.rows[others], t.rows[others])
    assert (stale.kernel_shape[others] == -1).all()
