"""The loop over points and every limb within a radius of each: pairs, sixteen at a time, as in `points`."""

from math import inf
from typing import TypeAlias

import numpy as np

from cylcollide._types import Column, Float64Array, Int32Array, Rows, Shape, Vectors
from cylcollide.bvh.layout import Tree
from cylcollide.bvh.near_points import visit_near_places, write_near_places
from cylcollide.bvh.ray_node_pairs import Pairs
from cylcollide.constants import BLOCK_RAYS, LARGEST_SAFE, SMALLEST_SAFE
from cylcollide.kernels.distance import distance_bounds
from cylcollide.kernels.limb_table import ROW, Limb, LimbRows, is_considered, limb_of
from cylcollide.kernels.ray import largest_component
from cylcollide.query.loops.columns import sort_rows
from cylcollide.query.loops.inputs import PointFilters, filter_of
from cylcollide.query.loops.packets import (
    PAIR_BATCH,
    SHAPES,
    PairQueue,
    empty_queue,
    enqueue_pair,
    prefetch_limb,
    vectors_at,
)
from cylcollide.query.loops.points import all_points_accept
from cylcollide.runtime.compile import compiled, compiled_loop, inlined
from cylcollide.runtime.simd import (
    LANES,
    append_where,
    broadcast,
    load,
    load_at,
    load_rows,
    logical_not,
    movemask,
    prefetch,
    select,
    smaller,
)

CYLINDER = int(Shape.CYLINDER)


NearPairs: TypeAlias = tuple[Rows[np.int32], Column[np.int64]]
"""Points and the limbs that may be within their radii: the points, and twice the limbs, plus 1 if one is undecided,
(2, k + LANES); and how many there are, (1,), possibly more than k."""


NEAR_BATCH = 4 * PAIR_BATCH
"""Pairs that are queued before they are tested: limbs of the first ones are in the cache by then."""


@compiled_loop
def find_within(
    table: LimbRows,
    tree: Tree,
    points: Vectors,
    radii: Column[np.float64],
    filters: PointFilters,
    place: Rows[np.float32],
    pairs: Pairs,
    queue: PairQueue,
    begin: int,
    end: int,
    found: NearPairs,
    offsets: Column[np.int64],
    codes: Column[np.int32],
) -> int:
    """Write the limbs that may be within the radius of each point from `begin` to `end`, as codes of `NearPairs`.

    Writes compressed rows, ascending; returns how many there are. Those that do not fit `codes`, or `found`, a buffer
    for the pairs of a block, are not written.
    """
    empty_queue(queue, begin)
    offsets[0] = used = 0
    accepts_all, (pair, count) = all_points_accept(table, filters), found
    query = table, points, radii, filters, accepts_all, queue, found
    for first in range(begin, end, BLOCK_RAYS):
        last, count[0] = min(first + BLOCK_RAYS, end), 0
        write_near_places(tree, points, radii, first, last, place)
        cylinders = visit_near_places(tree, first, last, place, pairs, test_or_enqueue, query, 0)
        queue.queued[CYLINDER] = cylinders
        for shape in range(SHAPES):
            if queue.queued[shape] > 0:
                test_near_pairs(shape, points, radii, table.rows, queue, found)
        if used + count[0] <= codes.size:
            sort_rows(pair[0], pair[1], count[0], used, begin, first - begin, last - begin, True, offsets, codes)
        used += count[0]
    return int(used)


@inlined
def test_or_enqueue(
    query: tuple[LimbRows, Float64Array, Float64Array, PointFilters, bool, PairQueue, NearPairs],
    limb: int,
    i: int,
    cylinders: int,
) -> int:
    """Queue a pair of point i and a limb that it considers, and test a queue that is full.

    Returns how many cylinders are queued by then: with this number in memory, the next pair would wait for it.
    """
    table, points, radii, filters, accepts_all, queue, found = query
    if accepts_all or is_considered(table.character[limb], table.mask[limb], *filter_of(filters, i)):
        shape = table.kernel_shape[limb] + 0  # int64: one version of the test
        if shape == CYLINDER:
            prefetch(table.rows, limb * ROW)  # the first half of the row: `cylinders_at`
            queue.row[CYLINDER, cylinders], queue.limb[CYLINDER, cylinders] = i, 2 * limb
            cylinders += 1
            if cylinders == NEAR_BATCH:
                queue.queued[CYLINDER], cylinders = cylinders, 0
                test_near_pairs(shape, points, radii, table.rows, queue, found)
            return cylinders
        prefetch_limb(table.rows, limb)
        if enqueue_pair(queue, shape, i, 2 * limb) == NEAR_BATCH:
            test_near_pairs(shape, points, radii, table.rows, queue, found)
    return cylinders


@compiled
def test_near_pairs(
    shape: int, points: Float64Array, radii: Float64Array, rows: Float64Array, queue: PairQueue, found: NearPairs
) -> None:
    """Test the queued pairs of one shape, and empty its queue, which holds 2 * limb: the first of its two half rows."""
    point, half, count, (pair, last) = queue.row[int(shape)], queue.limb[int(shape)], queue.queued[shape], found
    halves, most, used = rows.reshape(-1, LANES), pair.shape[1] - LANES, last[0]
    for k in range(LANES):
        queue.found[k] = k
    number = load(queue.found, 0)
    for first in range(0, count, LANES):
        if shape == CYLINDER:  # a constant: the test becomes straight-line code
            limbs = cylinders_at(halves, half, first)
            lower, upper = distance_bounds(vectors_at(points, point, first), limbs)
        else:
            limbs = limb_of(shape, load_rows(halves, half, first, 0), load_rows(halves[1:], half, first, 0))
            lower, upper = distance_bounds(vectors_at(points, point, first), limbs)
        radius = load_at(radii, point, first, 1, 0) if radii.size > 1 else broadcast(radii[0])
        near, place = (lower <= radius) & (number < float(count - first)), min(used, most)
        undecided, bits = movemask(near & logical_not(upper <= radius)), movemask(near)
        append_where(pair[0], place, point, first, near)
        used += append_where(pair[1], place, half, first, near)
        while undecided:  # seldom
            if undecided & bits & 1:
                pair[1, place] += 1
            place += bits & 1
            undecided, bits = undecided >> 1, bits >> 1
    last[0], queue.queued[shape] = used, 0


@inlined
def cylinders_at(halves: Float64Array, number: Int32Array, k: int) -> Limb:
    """Eight cylinders, from the first half of their rows alone, one cache line; radius2 and ends are placeholders.

    Their extent is bounded by centre and sizes, at most twice as large as in the row, and inf wherever that is inf.
    """
    low = load_rows(halves, number, k, 0)
    x, y, z, _, _, _, half_length, radius = low
    extent = largest_component((x, y, z)) + half_length + radius
    is_safe = (smaller(half_length, radius) >= SMALLEST_SAFE) & (extent <= LARGEST_SAFE)
    rest = radius, radius, radius, radius, radius, radius, radius
    return limb_of(CYLINDER, low, (*rest, select(is_safe, extent, inf)))
