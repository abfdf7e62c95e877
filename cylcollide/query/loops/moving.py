"""The loop over flying bullets, each against the limbs that it comes near on each stretch of its flight."""

from math import inf
from typing import NamedTuple

import numpy as np

from cylcollide._types import NO_LIMB, Column, Face, Float64Array, Int32Array, LayerMasks, Rows
from cylcollide.kernels.closest import ClosestHit, closer, is_undecided, no_hit
from cylcollide.kernels.double_double import Vector
from cylcollide.kernels.inside_policy import HitBounds
from cylcollide.kernels.limb_table import is_considered
from cylcollide.kernels.ray import broadcast_index, largest_component
from cylcollide.moving.bounds import Flight, MovingLimb, certain_miss, moving_hit_bounds
from cylcollide.moving.box import first_contact, passage_of
from cylcollide.query.loops.moving_rows import (
    ALPHA0,
    ALPHA1,
    BOX,
    END,
    EXTENT,
    MOVING_ROW,
    P1,
    P1_NEXT,
    P2,
    P2_NEXT,
    RADIUS,
    RADIUS2,
    START,
    MovingRows,
    StretchRows,
    box_path,
    place_between,
    vector,
    vector_between,
)
from cylcollide.query.loops.pair_queue import SHAPES
from cylcollide.runtime.compile import compiled, compiled_loop, inlined
from cylcollide.runtime.simd import LANES, Real, larger, load_rows, movemask, prefetch
from cylcollide.runtime.simd import lane as lane_of

NONE = int(Face.NONE)

LEFT_OUT = -1
"""In place of a limb that is certainly not hit: its character is protected, or the bullet misses it."""


class Candidates(NamedTuple):
    """Of n stretches the limbs whose boxes the bullet intersects there, in compressed rows."""

    offsets: Column[np.int64]  # (n + 1,)
    limb: Column[np.int32]  # or LEFT_OUT
    earliest: Column[np.float64]  # u of the stretch before which it is certainly not hit


class PairLanes(NamedTuple):
    """Pairs of a stretch and a limb, queued by shape until there are eight, a row of each array a shape."""

    stretch: Rows[np.int32]  # (SHAPES, LANES)
    limb: Rows[np.int32]  # (SHAPES, LANES)
    pair: Rows[np.int64]  # (SHAPES, LANES): place in `Candidates.limb`
    queued: Column[np.int64]  # (SHAPES,): how many


def make_pair_lanes() -> PairLanes:
    """Empty queues."""
    stretch, limb = np.zeros((2, SHAPES, LANES), np.int32)
    return PairLanes(stretch, limb, np.zeros((SHAPES, LANES), np.int64), np.zeros(SHAPES, np.int64))


class MovingColumns(NamedTuple):
    """The first contact of each bullet; (bullets,) each."""

    stretch: Column[np.int64]  # of the contact, -1 for a miss; if undecided, the first one that float64 leaves open
    limb: Column[np.int32]  # -1 for a miss
    lower: Column[np.float64]  # u of the stretch between which it is
    upper: Column[np.float64]
    face: Column[np.int8]
    undecided: Column[np.bool_]


@compiled_loop
def leave_out_misses(
    stretches: StretchRows, table: MovingRows, candidates: Candidates, begin: int, end: int, lanes: PairLanes
) -> None:
    """Leave out most of the candidates that bullets from `begin` to `end` certainly miss; write `earliest` of all.

    Left to exact arithmetic is an open stretch, whose places are known roughly; boxes have bounds of their own.
    """
    for j in range(stretches.offsets[begin], stretches.offsets[end]):
        for pair in range(candidates.offsets[j], candidates.offsets[j + 1]):
            k, candidates.earliest[pair] = candidates.limb[pair], 0.0
            if k != LEFT_OUT and table.solid[k] != BOX and not stretches.is_open[j]:
                shape = table.solid[k]
                lane = lanes.queued[shape]
                lanes.stretch[shape, lane], lanes.limb[shape, lane], lanes.pair[shape, lane] = j, k, pair
                lanes.queued[shape] = lane + 1
                prefetch(table.rows, MOVING_ROW * k)
                prefetch(table.rows, MOVING_ROW * k + LANES)
                if lane + 1 == LANES:
                    test_lanes(stretches, table, candidates, shape, lanes)
    for shape in range(SHAPES):
        if lanes.queued[shape] > 0:
            test_lanes(stretches, table, candidates, shape, lanes)


class EightPairs(NamedTuple):
    """Eight stretches, and eight limbs of one shape at both ticks."""

    flight: Flight
    alpha: tuple[Real, Real]  # at both ends of the stretches
    p1: Vector
    p2: Vector
    p1_next: Vector
    p2_next: Vector
    radius: Real
    radius2: Real
    extent: Real  # as of `moving_hit_bounds`


@inlined
def pairs_at(stretches: StretchRows, table: MovingRows, chosen: Int32Array, limb: Int32Array, first: int) -> EightPairs:
    """The stretches `chosen[first]` to `chosen[first + 7]`, and the limbs at the same places."""
    x0, y0, z0, x1, y1, z1, alpha0, alpha1 = load_rows(stretches.rows, chosen, first, 0)
    a, b, c, d, e, f, u, v = load_rows(table.rows, limb, first, 0)
    w, x, y, z, radius, radius2, own, _ = load_rows(table.rows, limb, first, LANES)
    flight = Flight((x0, y0, z0), (x1, y1, z1))
    extent = larger(largest_component(flight.start), largest_component(flight.end)) + own
    return EightPairs(flight, (alpha0, alpha1), (a, b, c), (d, e, f), (u, v, w), (x, y, z), radius, radius2, extent)


@compiled
def test_lanes(stretches: StretchRows, table: MovingRows, candidates: Candidates, shape: int, lanes: PairLanes) -> None:
    """Test the queued pairs of one shape, and empty its queue; what is left from earlier ones fills it up."""
    first, count = shape * LANES, lanes.queued[shape]
    for k in range(count, LANES):
        lanes.stretch[shape, k], lanes.limb[shape, k] = lanes.stretch[shape, 0], lanes.limb[shape, 0]
    pair = pairs_at(stretches, table, lanes.stretch.reshape(-1), lanes.limb.reshape(-1), first)
    p, q, u, v = pair.p1, pair.p2, pair.p1_next, pair.p2_next
    begin, end = pair.alpha
    limb = MovingLimb(
        shape, pair.radius, pair.radius2,
        place_between(p, u, begin), place_between(q, v, begin), place_between(p, u, end), place_between(q, v, end),
    )  # fmt: skip
    missed, earliest = certain_miss(pair.flight, limb, pair.extent)
    misses = movemask(missed)
    for k in range(count):
        place = lanes.pair[shape, k]
        candidates.earliest[place] = lane_of(earliest, k)
        if misses >> k & 1:
            candidates.limb[place] = LEFT_OUT
    lanes.queued[shape] = 0


@compiled_loop
def cast_moving_rows(
    stretches: StretchRows,
    table: MovingRows,
    candidates: Candidates,
    mask: LayerMasks,
    ignored: Column[np.int64],
    resolution: float,
    begin: int,
    end: int,
    hits: MovingColumns,
) -> int:
    """The first contact of each bullet from `begin` to `end` with its candidates; how many are undecided."""
    count = 0
    for i in range(begin, end):
        layers, other = mask[broadcast_index(mask, i)], ignored[broadcast_index(ignored, i)]
        hits.stretch[i], hits.limb[i], hits.undecided[i], hits.face[i] = -1, NO_LIMB, False, NONE
        hits.lower[i] = hits.upper[i] = inf
        for j in range(stretches.offsets[i], stretches.offsets[i + 1]):
            if candidates.offsets[j] < candidates.offsets[j + 1]:
                best, undecided = first_on_stretch(stretches, table, candidates, layers, other, resolution, j)
                if undecided or best.limb >= 0.0:
                    hits.stretch[i], hits.undecided[i], hits.limb[i] = j, undecided, int(best.limb)
                    hits.lower[i], hits.upper[i], hits.face[i] = best.lower, best.upper, int(best.face)
                    count += undecided
                    break
    return count


@compiled
def first_on_stretch(
    stretches: StretchRows,
    table: MovingRows,
    candidates: Candidates,
    mask: int,
    ignored: int,
    resolution: float,
    j: int,
) -> tuple[ClosestHit, bool]:
    """The first contact on a stretch, and whether float64 leaves it open.

    The limb that may be hit first is bounded first, then those that may be hit before its contact.
    """
    best, stretch, least, nearest = no_hit(1.0), stretches.rows[j], inf, -1
    begin, end = candidates.offsets[j], candidates.offsets[j + 1]
    for pair in range(begin, end):
        k = candidates.limb[pair]
        if candidates.earliest[pair] < least and is_asked(table, k, mask, ignored):
            least, nearest = candidates.earliest[pair], pair
    if nearest >= 0:
        k = candidates.limb[nearest]
        best = closer(best, float(k), limb_bounds(stretch, table, k, resolution))
    for pair in range(begin, end):
        k = candidates.limb[pair]
        if pair != nearest and candidates.earliest[pair] <= best.upper and is_asked(table, k, mask, ignored):
            best = closer(best, float(k), limb_bounds(stretch, table, k, resolution))
    # the last moment of a stretch that is not the last belongs to the next one
    is_possible = (best.limb >= 0.0) | (best.next_possible < inf)
    ends_late = (best.upper >= 1.0) & (not stretches.is_last[j])
    return best, is_undecided(best) | (is_possible & ends_late) | (stretches.is_open[j] & (nearest >= 0))


@inlined
def is_asked(table: MovingRows, k: int, mask: int, ignored: int) -> bool:
    """Whether a candidate is not left out, and the bullet considers it."""
    return k != LEFT_OUT and is_considered(table.character[k], table.mask[k], mask, ignored)


@inlined
def limb_bounds(stretch: Float64Array, table: MovingRows, k: int, resolution: float) -> HitBounds:
    """Bounds of the first contact of a bullet with limb k, as u of the stretch."""
    start, end = vector(stretch, START), vector(stretch, END)
    if table.solid[k] == BOX:
        return box_bounds(start, end, stretch[ALPHA0], stretch[ALPHA1], table.paths[table.box[k]], resolution)
    extent = max(largest_component(start), largest_component(end)) + table.rows[k, EXTENT]
    return moving_hit_bounds(Flight(start, end), moving_limb(stretch, table, k), extent)


@inlined
def moving_limb(stretch: Float64Array, table: MovingRows, k: int) -> MovingLimb:
    """Limb k during a stretch; any but a box."""
    row, alpha0, alpha1 = table.rows[k], stretch[ALPHA0], stretch[ALPHA1]
    return MovingLimb(
        table.solid[k], row[RADIUS], row[RADIUS2],
        vector_between(row, P1, P1_NEXT, alpha0), vector_between(row, P2, P2_NEXT, alpha0),
        vector_between(row, P1, P1_NEXT, alpha1), vector_between(row, P2, P2_NEXT, alpha1),
    )  # fmt: skip


@compiled
def box_bounds(
    start: tuple[float, float, float],
    end: tuple[float, float, float],
    alpha0: float,
    alpha1: float,
    path: Float64Array,
    resolution: float,
) -> HitBounds:
    """Bounds of the first contact of a bullet with a box, to a resolution in ticks."""
    return first_contact(passage_of(start, end, alpha0, alpha1, box_path(path)), resolution)
