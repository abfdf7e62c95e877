"""Refilled rows of moved limbs equal new ones."""

import numpy as np
import pytest
from support.cases.everyday_shape_worlds import mixed

from cylcollide.kernels.aabb import limb_boxes, refill_rows
from cylcollide.kernels.limb_table import make_table

pytestmark = pytest.mark.plain_python


def test_rows_of_limbs_that_have_moved():
    """Refilled rows of any limbs, in any order, equal those of a new table; the other rows do not change."""
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
