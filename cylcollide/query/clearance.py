"""Clearance of rays: the growth by `Limbs.inflated` at which a limb just touches a ray, negative for a hit.

Computed when the field of a result is read: by loops, and with `Fraction` where loops leave a ray open.
"""

from dataclasses import dataclass
from math import inf, isnan
from typing import Protocol

import numpy as np

from cylcollide._types import (
    NO_LIMB,
    POLICY_HIT,
    Float64Array,
    InsidePolicy,
    Int8Array,
    Int32Array,
    Int64Array,
    RayNumbers,
    Shape,
    Side,
)
from cylcollide.bvh.traverse import make_stack
from cylcollide.kernels.about_limb import TERMS
from cylcollide.kernels.clearance import growth_to_touch
from cylcollide.kernels.limb_table import LimbTable
from cylcollide.kernels.ray import Rays
from cylcollide.kernels.traits import CORNER_SPEEDS
from cylcollide.process.threads import in_chunks
from cylcollide.query.exact_fallback import exact_limb, ray_numbers
from cylcollide.query.loops.clearance import (
    OPEN,
    Cleared,
    fastest_of,
    find_clearances,
    nothing_cleared,
    write_growths,
)
from cylcollide.query.loops.inputs import RayBatch, filter_of
from cylcollide.query.request import LabelledLimbs, State, take_rays
from cylcollide.query.results import gather
from cylcollide.query.segment_frame import segment_about_limb

CULL_PAD = 2.0**-40
"""Bound on the relative error of the distances by which limbs are culled: more than ten times the true one."""

TESTED_AT_ONCE = 64
"""Limbs, the nearest ones first, whose growths for a ray that loops leave open are computed at once."""

CLEARED_AT_ONCE = 256  # rays per chunk: some milliseconds of work, after which signals are handled


class Considered(Protocol):
    """Rays, and the limbs that each of them considers."""

    @property
    def batch(self) -> RayBatch:
        """The rays."""

    def of_ray(self, i: int) -> tuple[LabelledLimbs, Int64Array]:
        """Limbs, and those rows of them that ray i considers."""

    def nearest(self, rows: Int64Array) -> Cleared:
        """The limb that needs the least growth to touch each of these rays, a row in its state; or OPEN."""


@dataclass(frozen=True, slots=True)
class ConsideredNow:
    """Rays against the limbs of a state."""

    state: State
    batch: RayBatch

    def of_ray(self, i: int) -> tuple[LabelledLimbs, Int64Array]:
        """The limbs of the state, and those rows that ray i considers."""
        return self.state, considered_rows(self.state, self.batch, i)

    def nearest(self, rows: Int64Array) -> Cleared:
        """The limb that needs the least growth to touch each of these rays, or OPEN."""
        state, cleared, fastest = self.state, nothing_cleared(len(rows)), fastest_of(self.state._kernel_rows)

        def task(begin: int, end: int) -> None:
            memory = make_stack(state._tree), np.empty(TERMS)
            find_clearances(state._kernel_rows, state._tree, self.batch, rows, fastest, *memory, begin, end, *cleared)

        in_chunks(len(rows), None, task, CLEARED_AT_ONCE)
        return cleared


def clearance_of(ray: RayNumbers, table: LimbTable, limb: int) -> tuple[float, float]:
    """The growth at which a limb touches a ray, negative for a hit, in the unit of the input; and the fraction there.

    KeyError for a shape whose growth is not known.
    """
    about = segment_about_limb(ray, table, limb)
    growth, s = growth_to_touch(about.place, about.direction, -about.before, about.behind, about.limb)
    if isnan(growth):
        raise KeyError(Shape(about.limb.kind))
    return growth / about.unit, about.fraction(s)


@dataclass(frozen=True, slots=True)
class OwnLimbs:
    """Rays, each against the limb in its row, or all against the only one."""

    limbs: LabelledLimbs
    batch: RayBatch

    def of_ray(self, i: int) -> tuple[LabelledLimbs, Int64Array]:
        """The limb of ray i."""
        return self.limbs, np.array([i if len(self.limbs._table.kind) > 1 else 0])

    def nearest(self, rows: Int64Array) -> Cleared:
        """The limb of each of these rays and its growth, or OPEN."""
        limb = rows.astype(np.int32) if len(self.limbs._table.kind) > 1 else np.zeros(len(rows), np.int32)
        growth = growths_of(take_rays(self.batch, rows).rays, self.limbs, limb)
        is_skipped = (growth <= 0.0) & (self.batch.policy != POLICY_HIT)
        return np.maximum(growth, 0.0), np.where(is_skipped, np.int32(OPEN), limb)


def considered_rows(limbs: LabelledLimbs, batch: RayBatch, i: int) -> Int64Array:
    """The limbs of a state that ray i considers, by its mask and the character that it ignores."""
    mask, ignored = filter_of(batch, i)
    is_considered = (limbs._table.mask & np.uint32(mask)) != 0
    if ignored >= 0:
        is_considered &= limbs._table.character != ignored
    return np.flatnonzero(is_considered)


def clearances(
    batch: RayBatch,
    limbs: LabelledLimbs,
    row: Int32Array,
    inside: InsidePolicy,
    considered: Considered,
    given: Int64Array,
) -> tuple[Float64Array, Int32Array]:
    """The clearance of each ray, (n,), from the limb that it hits, otherwise the nearest; and that limb's row.

    `row` (n,): the row in `limbs` of the limb that is hit, -1 for a miss; the returned row is that in the state.
    `given`: the rows of the rays among those of `considered`.
    """
    growth, radius = growths_of(batch.rays, limbs, row), batch.rays.radius
    of_limb = row if limbs._state_row is None else gather(limbs._state_row, row, NO_LIMB)
    thin = np.broadcast_to(radius == 0.0, len(row)) if len(radius) else np.True_
    growth = np.where((row >= 0) & thin, np.minimum(growth, 0.0), growth)  # consistent with the exact verdict
    missed = np.flatnonzero(row < 0)
    if missed.size:
        of_limb = of_limb.copy()
        growth[missed], of_limb[missed] = considered.nearest(given[missed])
        for i in np.flatnonzero(of_limb == OPEN).tolist():
            judged, rows = considered.of_ray(given.item(i))
            nearest, growth[i] = nearest_of(batch, i, judged, rows, inside)
            own = judged._state_row
            of_limb[i] = nearest if nearest == NO_LIMB or own is None else own[nearest]
    return growth, of_limb


def growths_of(rays: Rays, limbs: LabelledLimbs, row: Int32Array) -> Float64Array:
    """The growth at which the limb in a row touches each ray, (n,), negative for a hit; nan for row -1."""
    growth = certain_growths(rays, limbs, row)
    for i in np.flatnonzero(np.isnan(growth) & (row >= 0)).tolist():
        growth[i] = clearance_of(ray_numbers(rays, i), limbs._table, row.item(i))[0]
    return growth


def certain_growths(rays: Rays, limbs: LabelledLimbs, row: Int32Array) -> Float64Array:
    """`growths_of`, nan also where loops are not certain."""
    growth = np.empty(len(row))
    write_growths(rays, limbs._kernel_rows, row, np.empty(TERMS), growth)
    return growth


def corner_speeds(
    kind: Int8Array, p1: Float64Array, p2: Float64Array, radius: Float64Array, radius2: Float64Array
) -> Float64Array:
    """Upper bound of `kernels.clearance.corner_speed` of each limb, (n,): how far any corner moves as it grows by 1."""
    length = np.linalg.norm(p2 - p1, axis=1)
    slope = np.abs(radius2 - radius) / np.where(length > 0.0, length, 1.0)
    return CORNER_SPEEDS[kind] * np.where(kind == int(Shape.TAPERED), (1.0 + slope) * (1.0 + CULL_PAD), 1.0)


def nearest_of(
    batch: RayBatch, i: int, limbs: LabelledLimbs, rows: Int64Array, inside: InsidePolicy
) -> tuple[int, float]:
    """The limb that needs the least growth to touch ray i, which misses all, the first of equals; and this growth.

    Limbs that the policy skips because the ray starts in them do not count. -1 and inf if there is none.
    """
    best, least_limb, ray, table = inf, NO_LIMB, ray_numbers(batch.rays, i), limbs._table
    speeds = corner_speeds(table.kind, table.p1, table.p2, table.radius, table.radius2)
    bounds = (np.maximum(least_distances(table, ray), 0.0) / speeds)[rows]
    order = np.argsort(bounds, kind="stable")
    for begin in range(0, len(order), TESTED_AT_ONCE):
        part = order[begin : begin + TESTED_AT_ONCE]
        if bounds[part[0]] > best:
            break
        repeated = take_rays(batch, np.full(len(part), i)).rays
        growths = certain_growths(repeated, limbs, rows[part].astype(np.int32))
        for k, growth in zip(part.tolist(), growths.tolist(), strict=True):
            if bounds[k] > best:
                break
            limb = int(rows[k])
            least = clearance_of(ray, table, limb)[0] if isnan(growth) else growth
            if least <= 0.0 and inside != "hit" and exact_limb(table, limb).side(ray.origin) != Side.OUTSIDE:
                continue
            best, least_limb = min((best, least_limb), (max(least, 0.0), limb))
    return least_limb, best


def least_distances(table: LimbTable, ray: RayNumbers) -> Float64Array:
    """Lower bounds of the distances of all limbs from a ray, (n,): the distances of balls around them."""
    start, step = np.array(ray.origin), np.array(ray.second)
    if ray.is_segment:
        step = step - start
    centre, square = 0.5 * table.p1 + 0.5 * table.p2, step @ step
    from_start = centre - start
    along = np.clip(from_start @ step / square, 0.0, ray.limit) if square > 0.0 else np.zeros(len(centre))
    beside = from_start - along[:, None] * step
    reach = 0.5 * np.linalg.norm(table.p2 - table.p1, axis=1) + np.maximum(table.radius, table.radius2)
    is_box = table.box >= 0
    reach[is_box] = np.linalg.norm(table.boxes[table.box[is_box], 9:], axis=1)
    extent = np.abs(start).max() + np.abs(centre).max(axis=1, initial=0.0) + np.abs(beside).max(axis=1, initial=0.0)
    return np.asarray(np.linalg.norm(beside, axis=1) - reach - CULL_PAD * (extent + reach))
