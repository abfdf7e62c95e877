"""The loop over points in the past: as `points`, with limbs placed at the time of each point.

Points of one tick traverse together the tree over all limbs from this tick to the next one. Pairs of a point and a limb
are queued by shape, and placed and tested eight at a time, as those of rays in `recorded_stream`.
"""

from typing import NamedTuple

import numpy as np

from cylcollide._types import HIT, UNDECIDED, Column, Float64Array, Rows, Vectors
from cylcollide.bvh.ray_node_pairs import Pairs, visit_at_points
from cylcollide.constants import BLOCK_RAYS
from cylcollide.kernels.distance import certain_side, point_limb
from cylcollide.kernels.limb_table import limb_at
from cylcollide.kernels.ray import as_vector
from cylcollide.query.loops.inputs import RayBatch
from cylcollide.query.loops.packets import PAIR_BATCH, SHAPES, vectors_at
from cylcollide.query.loops.points import PointColumns
from cylcollide.query.loops.ray_sort import ALPHA, OCTANTS, Order
from cylcollide.query.loops.recorded_candidates import Protection, may_be_hit, tree_at
from cylcollide.query.loops.recorded_stream import QUEUE, SPARE, RecordedScratch
from cylcollide.recorded.limb_lanes import copy_lane, fits_lanes, limbs_at_moments, set_lane
from cylcollide.recorded.limbs import Recorded, TickRows, model_of, place_one, ticks_around
from cylcollide.runtime.compile import compiled, compiled_loop, inlined
from cylcollide.runtime.simd import LANES, movemask

MOST_QUEUED = 8 * PAIR_BATCH
"""Pairs of one shape that are queued before they are tested: their bones are fetched from memory meanwhile."""


class TickPoints(NamedTuple):
    """A block of points of one tick, from place `base` of the order on, and the limbs there."""

    points: Float64Array  # (points, 3)
    order: Order
    base: int
    batch: RayBatch
    protection: Protection
    here: TickRows
    there: TickRows  # the next tick
    queued: Column[np.int64]  # (SHAPES,): how many pairs of each shape
    scratch: RecordedScratch
    columns: PointColumns


@inlined
def record_point(query: TickPoints, k: int, row: int, status: int) -> None:
    """Enter the verdict of point k of the block and a row of the tick into the columns."""
    i, columns = query.order.number[query.base + k], query.columns
    if status == HIT:
        columns.limb[i] = row if columns.limb_count[i] == 0 else min(columns.limb[i], row)
        columns.limb_count[i] += 1
    columns.undecided[i] |= status == UNDECIDED


@compiled
def test_alone(query: TickPoints, row: int, k: int) -> None:
    """Test a limb that cannot be tested side by side with others."""
    scratch = query.scratch
    if place_one(
        query.here, query.there, row, query.order.ray[query.base + k, ALPHA], scratch.rows, scratch.kernel_shape, SPARE
    ):  # fmt: skip
        limb = limb_at(scratch.rows, scratch.kernel_shape, SPARE)
        record_point(query, k, row, point_limb(as_vector(query.points, k), limb))


@compiled
def test_queued_points(query: TickPoints, shape: int) -> None:
    """Test the queued pairs of one shape, eight at a time, and empty its queue."""
    lanes, count, begin = query.scratch.lanes, query.queued[shape], shape * QUEUE
    for k in range(count, count + (-count) % LANES):
        copy_lane(lanes, begin, begin + k)
    for first in range(begin, begin + count, LANES):
        limb = limbs_at_moments(query.here, query.there, shape, lanes, first)
        inside, outside = certain_side(vectors_at(query.points, lanes.ray, first), limb)
        within, beyond = movemask(inside), movemask(outside)
        for k in range(min(LANES, begin + count - first)):
            if beyond >> k & 1 == 0:
                status = HIT if within >> k & 1 else UNDECIDED
                record_point(query, lanes.ray[first + k], lanes.row[first + k], status)
    query.queued[shape] = 0


@inlined
def place_or_enqueue(query: TickPoints, row: int, k: int, found: int) -> int:
    """Queue a pair of point k and a limb that it considers, or test it at once; returns `found` unchanged."""
    if may_be_hit(query.here, row, query.batch, query.protection, False, query.order.number[query.base + k]):
        if fits_lanes(query.here, row):
            shape = model_of(query.here, row)["kernel_shape"]
            lane = shape * QUEUE + query.queued[shape]
            set_lane(query.scratch.lanes, lane, k, query.here, query.there, row, query.order.ray[query.base + k, ALPHA])
            query.queued[shape] += 1
            if query.queued[shape] == MOST_QUEUED:
                test_queued_points(query, shape)
        else:
            test_alone(query, row, k)
    return found


@compiled_loop
def locate_recorded(
    batch: RayBatch,
    recorded: Recorded,
    order: Order,
    protection: Protection,
    points: Vectors,
    place: Rows[np.float32],
    pairs: Pairs,
    stack_size: int,
    queued: Column[np.int64],
    scratch: RecordedScratch,
    begin: int,
    end: int,
    columns: PointColumns,
) -> None:
    """Find which limbs contain each of the points `order.number[begin]` to `order.number[end - 1]`: rows of its tick.

    `batch` has the points as segments without length; those of no tick are in no limb. `columns` hold misses on entry.
    The buffer `pairs` is for a tree whose stack has `stack_size` entries, the most of any tick's tree.
    """
    last, begins = recorded.address.shape[0] - 1, order.begins
    queued[:] = 0  # an earlier call may have ended by an error
    for t in range(last + 1):
        first, until = max(begin, begins[OCTANTS * t]), min(end, begins[OCTANTS * (t + 1)])
        if first >= until:
            continue
        here, there = ticks_around(recorded, t)
        tree = tree_at(recorded, t, stack_size)
        for base in range(first, until, BLOCK_RAYS):
            count = min(BLOCK_RAYS, until - base)
            for k in range(count):
                row = order.ray[base + k]
                points[k, 0], points[k, 1], points[k, 2] = row[0], row[1], row[2]
            query = TickPoints(points, order, base, batch, protection, here, there, queued, scratch, columns)
            visit_at_points(tree, points, 0, count, place, pairs, place_or_enqueue, query, 0)
            for shape in range(SHAPES):
                if queued[shape] > 0:
                    test_queued_points(query, shape)
