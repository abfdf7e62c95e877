"""Writes the hits of a batch of rays, and refines their fractions.

Hits are written eight rows at a time where rays are in query order, row by row where they are sorted. A fraction is
written as a guess, the middle of its bounds, and queued by shape and face. One step from the guess to full accuracy
costs as much as a limb test. So it is taken for hits only, sixteen of one shape and face at a time: no lane waits for
the formula of another face.
"""

from math import inf

from cylcollide._types import NO_LIMB, POLICY_EXIT, Face, Float64Array, Int32Array, Shape
from cylcollide.kernels.curve import short_step
from cylcollide.kernels.dispatch import face_curve
from cylcollide.kernels.hit_bounds import Closest, is_undecided, limb_hit_bounds
from cylcollide.kernels.limb_table import Limb, LimbRows, limb_at
from cylcollide.kernels.ray import Rays, radius_of, ray_at
from cylcollide.kernels.thick_surface import second_step, thick_curve
from cylcollide.kernels.traits import BOUNDED
from cylcollide.query.loops.columns import HitColumns, clear_hits
from cylcollide.query.loops.inputs import RayBatch
from cylcollide.query.loops.leaf import (
    FACE,
    LIMB,
    LOWER,
    NEXT_POSSIBLE,
    STARTS_INSIDE,
    UPPER,
    StreamScratch,
    closest_in,
)
from cylcollide.query.loops.packets import (
    FACES,
    PAIR_BATCH,
    PairQueue,
    enqueue_pair,
    exact_displacements,
    limbs_at,
    one_limb,
    prefetch_limb,
    vectors_at,
)
from cylcollide.query.loops.single import INSIDE, NONE, entry_fraction
from cylcollide.runtime.compile import compiled, inlined, linkonce, noinline
from cylcollide.runtime.simd import (
    LANES,
    Real,
    Truth,
    broadcast,
    load,
    load_at,
    load_rows,
    logical_not,
    lowest_bit,
    movemask,
    select,
    store,
)

CYLINDER, SIDE = int(Shape.CYLINDER), int(Face.SIDE)


@inlined
def write_eight(closest: Closest, undecided: Truth, per_length: Real, row: int, hits: HitColumns) -> Truth:
    """Write the hits of eight rays from `row` on, fractions as guesses; returns which to refine."""
    limb, _, hit = closest
    known = logical_not(undecided) & (limb >= 0.0)
    entered = known & (hit.face < INSIDE)
    guess = 0.5 * (hit.lower + hit.upper) * per_length
    store(hits.limb, row, select(known, limb, float(NO_LIMB)))
    store(hits.fraction, row, select(entered, guess, select(known, 0.0, inf)))
    store(hits.face, row, select(known, hit.face, float(NONE)))
    store(hits.inside, row, hit.inside)
    store(hits.undecided, row, undecided)
    return entered


@inlined
def load_closest(state: StreamScratch, row: int) -> Closest:
    """The closest hits of eight rays, from this row on."""
    best = load_rows(state.best, state.step, row, 0)
    return closest_in(best, best[STARTS_INSIDE] > 0.0)


@compiled
def write_any_hit(number: Int32Array, base: int, count: int, state: StreamScratch, hits: HitColumns) -> None:
    """Write whether each of `count` rays hits any limb: columns `limb` and `undecided`."""
    for row in range(count):
        i, found = number[base + row], state.best[row]
        hits.limb[i], hits.undecided[i] = int(found[LIMB]), (found[LIMB] < 0.0) & (found[NEXT_POSSIBLE] < inf)


@compiled
def to_query_rows(number: Int32Array, base: int, count: int, recorded: int, state: StreamScratch) -> None:
    """Turn stream rows into query rows in the crossings from number `recorded` on.

    An untrusted ray may cross any limb: then the count is made to exceed the buffer.
    """
    stored = min(state.crossings[0], len(state.crossed))
    for k in range(recorded, stored):
        state.crossed[k, 0] = number[base + state.crossed[k, 0]]
    for row in range(count):
        if state.best[row, NEXT_POSSIBLE] < 0.0:
            state.crossings[0] = len(state.crossed) + 1  # as if the buffer were too small


@compiled
def write_in_order(
    table: LimbRows, number: Int32Array, base: int, count: int, state: StreamScratch, hits: HitColumns
) -> None:
    """Write the hits of `count` rays that are consecutive rows of the query, eight at a time."""
    i = number[base]
    full = count - count % LANES
    for first in range(0, full, LANES):
        best = load_closest(state, first)
        entered = movemask(write_eight(best, is_undecided(best), load(state.per_length, first), i + first, hits))
        while entered:
            row = first + lowest_bit(entered)
            entered &= entered - 1
            enqueue_refine(state, table, i + row, int(state.best[row, LIMB]), int(state.best[row, FACE]))
    clear_hits(hits, i + full, i + count)
    write_hits(table, number, base, full, count, state, hits)


@compiled
def write_hits(
    table: LimbRows, number: Int32Array, base: int, begin: int, end: int, state: StreamScratch, hits: HitColumns
) -> None:
    """Write the hits of stream rows `begin` to `end` into columns that hold misses."""
    for first in range(begin, end, LANES):
        closest = load_closest(state, first)
        limb, next_possible, bounds = closest
        hit, undecided = limb >= 0.0, is_undecided(closest)
        rows = movemask(hit | (next_possible < inf) | bounds.inside) & ((1 << min(LANES, end - first)) - 1)
        hit_bits, undecided_bits, inside_bits = movemask(hit), movemask(undecided), movemask(bounds.inside)
        while rows:
            k = lowest_bit(rows)
            rows &= rows - 1
            row = first + k
            i, found = number[base + row], state.best[row]
            if (inside_bits | undecided_bits) >> k & 1:
                hits.inside[i], hits.undecided[i] = (inside_bits >> k) & 1 != 0, (undecided_bits >> k) & 1 != 0
            if (hit_bits & ~undecided_bits) >> k & 1:
                index, face = int(found[LIMB]), int(found[FACE])
                hits.limb[i], hits.face[i], hits.fraction[i] = index, face, 0.0
                if face != INSIDE:
                    hits.fraction[i] = 0.5 * (found[LOWER] + found[UPPER]) * state.per_length[row]
                    enqueue_refine(state, table, i, index, face)


@inlined
def enqueue_refine(state: StreamScratch, table: LimbRows, i: int, limb: int, face: int) -> None:
    """Queue the hit of ray i, which enters a limb through this face."""
    enqueue_pair(state.refine, int(table.kernel_shape[limb]) * FACES + face, i, limb)


@inlined
def flush_refine(queue: PairQueue, batch: RayBatch, table: LimbRows, hits: HitColumns, thick: bool) -> None:
    """Refine the fractions of all queued hits, and empty the queue; `thick`: whether rays have radii."""
    for slot in range(queue.queued.size):
        count = queue.queued[slot]
        if count > 0:
            queue.row[slot, count : count + PAIR_BATCH] = queue.row[slot, 0]  # padding: sixteen are read at a time
            queue.limb[slot, count : count + PAIR_BATCH] = queue.limb[slot, 0]
            if thick:
                refine_thick(queue, slot, slot // FACES, slot % FACES, batch, table, hits)
            else:
                refine_queued(queue, slot, batch, table, hits)
            queue.queued[slot] = 0


@linkonce
def refine_queued(queue: PairQueue, slot: int, batch: RayBatch, table: LimbRows, hits: HitColumns) -> None:
    """Refine the fractions of the hits queued in one slot."""
    shape, face = slot // FACES, slot % FACES
    if shape == CYLINDER and face == SIDE:  # constants: no branch inside
        if table.kernel_shape.size > 1:
            refine_face(queue, slot, CYLINDER, SIDE, batch, table, hits)
        elif batch.rays.is_segment:
            refine_alone(queue, slot, with_kind(batch, True), table, hits)
        else:
            refine_alone(queue, slot, with_kind(batch, False), table, hits)
    else:
        refine_face(queue, slot, shape, face, batch, table, hits)


@inlined
def with_kind(batch: RayBatch, is_segment: bool) -> RayBatch:
    """The same rays, with `is_segment` as a constant."""
    rays = Rays(batch.rays.origin, batch.rays.second, is_segment, batch.rays.distance, batch.rays.radius)
    return RayBatch(rays, batch.mask, batch.ignored, batch.policy)


@noinline
def refine_thick(
    queue: PairQueue, slot: int, shape: int, face: int, batch: RayBatch, table: LimbRows, hits: HitColumns
) -> None:
    """Refine the fractions at which thick rays touch their limbs, eight at a time; grazes are left undecided."""
    number, limbs, count, rays = queue.row[slot], queue.limb[slot], queue.queued[slot], batch.rays
    for first in range(0, count, LANES):
        end = min(LANES, count - first)
        if shape in BOUNDED:
            for k in range(first, first + end):
                i = number[k]
                if radius_of(rays, i) == 0.0:
                    hits.fraction[i] = graze_fraction(batch, table, hits, i, float(face))
                else:
                    ray, one = ray_at(rays, i), limb_at(table.rows, table.kernel_shape, limbs[k])
                    hit = limb_hit_bounds(ray, one, batch.policy)
                    is_exit = batch.policy == POLICY_EXIT and hit.inside
                    hits.fraction[i] = (hit.upper if is_exit else hit.lower) * ray.per_length
            continue
        limb, guess = limbs_at(table.rows, shape, limbs, first), load_at(hits.fraction, number, first, 1, 0)
        origin, second = vectors_at(rays.origin, number, first), vectors_at(rays.second, number, first)
        displacement = exact_displacements(origin, second, rays.is_segment)
        radius = load_at(rays.radius, number, first, 1, 0) if rays.radius.size > 1 else broadcast(rays.radius[0])
        curve = thick_curve(origin, displacement, guess, limb, float(face), radius)
        step, solved = short_step(curve, guess)
        store(queue.found, 0, guess + step)
        decided = movemask(solved)
        if ~decided & ((1 << end) - 1):
            nearer, more, near = second_step(origin, displacement, guess, curve, limb, float(face), radius)
            store(queue.found, 0, select(solved, guess + step, nearer + more))
            decided |= movemask(near)
        for k in range(end):
            i = number[first + k]
            if radius_of(rays, i) == 0.0:
                queue.found[k] = graze_fraction(batch, table, hits, i, float(face))
            else:
                hits.undecided[i] |= (decided >> k) & 1 == 0
            hits.fraction[i] = queue.found[k]


@inlined
def refine_alone(queue: PairQueue, slot: int, batch: RayBatch, table: LimbRows, hits: HitColumns) -> None:
    """`refine_queued` for the side of a single cylinder, whose numbers are computed once."""
    alone = one_limb(table.rows, CYLINDER, 0)
    for first in range(0, queue.queued[slot], PAIR_BATCH):
        refine_sixteen(queue, slot, first, alone, alone, SIDE, batch, table, hits)


@inlined
def refine_face(
    queue: PairQueue, slot: int, shape: int, face: int, batch: RayBatch, table: LimbRows, hits: HitColumns
) -> None:
    """`refine_queued`, sixteen at a time."""
    limbs, rows = queue.limb[slot], table.rows
    for first in range(0, queue.queued[slot], PAIR_BATCH):
        for k in range(first + PAIR_BATCH, first + 2 * PAIR_BATCH):  # the limbs of the next sixteen
            prefetch_limb(rows, limbs[k])
        limb, other = limbs_at(rows, shape, limbs, first), limbs_at(rows, shape, limbs, first + LANES)
        refine_sixteen(queue, slot, first, limb, other, face, batch, table, hits)


@inlined
def refine_sixteen(
    queue: PairQueue, slot: int, first: int, limb: Limb, other: Limb, face: int, batch: RayBatch, table: LimbRows,
    hits: HitColumns,
) -> None:  # fmt: skip
    """`refine_queued` of the pairs from number `first` on, sixteen or as many as are left."""
    number, found, times = queue.row[slot], queue.found, hits.fraction
    one, one_solved = refine_eight(batch.rays, number, first, limb, face, times)
    two, two_solved = refine_eight(batch.rays, number, first + LANES, other, face, times)
    store(found, 0, one)
    store(found, LANES, two)
    end = min(PAIR_BATCH, queue.queued[slot] - first)
    grazes = ~(movemask(one_solved) | movemask(two_solved) << LANES) & ((1 << end) - 1)
    while grazes:
        k = lowest_bit(grazes)
        grazes &= grazes - 1
        found[k] = graze_fraction(batch, table, hits, number[first + k], float(face))
    for k in range(end):
        times[number[first + k]] = found[k]


@linkonce
def graze_fraction(batch: RayBatch, table: LimbRows, hits: HitColumns, i: int, face: float) -> float:
    """`entry_fraction` of one ray, solved in full."""
    ray, limb = ray_at(batch.rays, i), limb_at(table.rows, table.kernel_shape, hits.limb[i])
    return entry_fraction(batch, i, ray, limb, face, hits.fraction[i])


@inlined
def refine_eight(
    rays: Rays, number: Int32Array, first: int, limb: Limb, face: int, times: Float64Array
) -> tuple[Real, Truth]:
    """Fractions at which eight rays cross a face of their limbs, one step from a guess, and which are accurate."""
    origin, second = vectors_at(rays.origin, number, first), vectors_at(rays.second, number, first)
    displacement = exact_displacements(origin, second, rays.is_segment)
    guess = load_at(times, number, first, 1, 0)
    curve = face_curve(origin, displacement, guess, limb, float(face))
    step, solved = short_step(curve, guess)
    return guess + step, solved
