"""The loop over rays in the past and their clearance: as `clearance`, with limbs placed at each ray's moment."""

import numpy as np

from cylcollide._types import POLICY_HIT, Column
from cylcollide.bvh.near_points import visit_nearest_to_segment
from cylcollide.bvh.traverse import Stack
from cylcollide.kernels.about_limb import RayLine
from cylcollide.kernels.limb_table import limb_at
from cylcollide.query.loops.clearance import NO_BEST, Best, Cleared, less_growth, ray_line, reach_of, step_of
from cylcollide.query.loops.inputs import RayBatch
from cylcollide.query.loops.recorded import tree_at
from cylcollide.query.loops.recorded_nearest import AtMoment, OneLimb, PastPoints, at_moment, is_placed_near
from cylcollide.runtime.compile import compiled_loop, inlined


@compiled_loop
def find_clearances_recorded(
    batch: RayBatch,
    past: PastPoints,
    rows: Column[np.int64],
    fastest: float,
    stack: Stack,
    placed: OneLimb,
    memory: Column[np.float64],
    begin: int,
    end: int,
    cleared: Cleared,
) -> None:
    """`find_clearances` of rays at their times; `past` says when the start of each is judged.

    `cleared` holds no limbs, `fastest` may be infinite, `stack` is for the largest tree.
    """
    skips = batch.policy != POLICY_HIT
    for k in range(begin, end):
        i = rows[k]
        if past.tick[i] >= 0:
            line, tree = ray_line(batch.rays, i), tree_at(past.recorded, past.tick[i], stack.code.size)
            query = line, at_moment(past, i, placed), skips, fastest, memory
            reach = past.reach[0]
            best = visit_nearest_to_segment(
                tree, stack, line.origin, step_of(line), line.limit, reach, test_placed_growth, query, NO_BEST
            )
            cleared.growth[k], cleared.limb[k] = best


@inlined
def test_placed_growth(
    query: tuple[RayLine, AtMoment, bool, float, Column[np.float64]], row: int, best: Best
) -> tuple[Best, float]:
    """The best limb with this row, and how far a better one may be."""
    line, at, skips, fastest, memory = query
    if is_placed_near(at, row):
        limb = limb_at(at.placed.rows, at.placed.kernel_shape, 0)
        best = less_growth(line, limb, row, skips, memory, best)
    return best, reach_of(best, fastest)
