"""By how much rays hit limbs, or miss all of them: the growth by `Limbs.inflated` at which a limb just touches a ray.

Computed row by row when a result is asked for it: a limb takes some tenths of a millisecond.
"""

from collections.abc import Callable
from math import inf
from typing import NamedTuple, TypeAlias

import numpy as np

from cylcollide._types import NO_LIMB, Float64Array, InsidePolicy, Int32Array, Int64Array, Shape, Side
from cylcollide.exact.line import RayNumbers, Triple
from cylcollide.kernels.clearance import growth_to_touch
from cylcollide.kernels.limb_table import LimbTable
from cylcollide.kernels.ray import radius_of
from cylcollide.query.exact_fallback import exact_limb, ray_numbers
from cylcollide.query.loops.inputs import RayBatch, filter_of
from cylcollide.query.request import LabelledLimbs
from cylcollide.query.segment_frame import segment_about_limb

CULL_PAD = 2.0**-40
"""Bound on the relative error of the distances by which limbs are left out: more than ten times the true one."""

CORNERS = np.ones(len(Shape))
CORNERS[[Shape.CYLINDER, Shape.TUBE, Shape.BOX]] = 2.0, 2.0, 3.0
"""Squared speed of the corners of each shape as it grows: a rim goes √2 as far as the faces, a box's corner √3."""

Considered: TypeAlias = Callable[[int], tuple[LabelledLimbs, Int64Array]]
"""From the row of a ray to limbs, and those rows of them that the ray considers."""


class Clearance(NamedTuple):
    """How far the verdict about a ray and a limb is from flipping."""

    growth: float
    """At which the limb touches the ray; less than 0 where it crosses the limb."""
    fraction: float
    """Of the ray at the touch."""


def clearance_of(ray: RayNumbers, table: LimbTable, limb: int) -> Clearance:
    """The clearance of a ray from one limb, in the unit of the input."""
    about = segment_about_limb(ray, table, limb)
    growth, s = growth_to_touch(about.place, about.direction, -about.before, about.behind, about.limb)
    return Clearance(growth / about.unit, about.fraction(s))


def considered_limbs(limbs: LabelledLimbs, batch: RayBatch, i: int) -> tuple[LabelledLimbs, Int64Array]:
    """The limbs of a state that ray i considers, by its mask and the character that it ignores."""
    mask, ignored = filter_of(batch, i)
    is_considered = (limbs.table.mask & np.uint32(mask)) != 0
    if ignored >= 0:
        is_considered &= limbs.table.character != ignored
    return limbs, np.flatnonzero(is_considered)


def clearances(
    batch: RayBatch, limbs: LabelledLimbs, row: Int32Array, inside: InsidePolicy, considered: Considered
) -> tuple[Float64Array, Int32Array]:
    """The clearance of each ray, (n,), from the limb that it hits or else the nearest one; and that limb's row.

    `row` (n,) is that of the limb of `limbs` that is hit, -1 for a miss; a limb is named by its row in its state.
    """
    n = len(row)
    growth, of_limb = np.full(n, inf), np.full(n, NO_LIMB, np.int32)
    for i, hit in enumerate(row.tolist()):
        ray = ray_numbers(batch.rays, i)
        if hit >= 0:
            judged, nearest = limbs, hit
            growth[i] = clearance_of(ray, limbs.table, hit).growth
            if radius_of(batch.rays, i) == 0.0:
                growth[i] = min(growth[i], 0.0)  # as the exact verdict says
        else:
            judged, rows = considered(i)
            nearest, growth[i] = nearest_of(ray, judged.table, rows, inside)
        if nearest != NO_LIMB:
            of_limb[i] = nearest if judged.state_row is None else judged.state_row[nearest]
    return growth, of_limb


def nearest_of(ray: RayNumbers, table: LimbTable, rows: Int64Array, inside: InsidePolicy) -> tuple[int, float]:
    """Of limbs that a ray misses the one that needs the least growth to touch it, the first of equals; and the growth.

    Limbs that the policy skips because the ray starts in them do not count. -1 and inf if there is none.
    """
    best, least_limb = inf, NO_LIMB
    bounds = least_growths(table, ray)[rows]
    for k in np.argsort(bounds, kind="stable").tolist():
        if bounds[k] > best:
            break
        limb = int(rows[k])
        growth = clearance_of(ray, table, limb).growth
        if growth <= 0.0 and inside != "hit" and holds(table, limb, ray.origin):
            continue
        best, least_limb = min((best, least_limb), (max(growth, 0.0), limb))
    return least_limb, best


def holds(table: LimbTable, limb: int, point: Triple) -> bool:
    """Whether a limb holds a point, on its surface or inside."""
    return exact_limb(table, limb).side(point) != Side.OUTSIDE


def least_growths(table: LimbTable, ray: RayNumbers) -> Float64Array:
    """Lower bounds of the growths at which limbs touch a ray, (n,): of balls around them, over how fast corners move.

    Grown by g, the rim of a tapered cylinder moves by less than 2 (1 + slope) g.
    """
    length = np.linalg.norm(table.p2 - table.p1, axis=1)
    slope = np.abs(table.radius2 - table.radius) / np.where(length > 0.0, length, 1.0)
    speed = np.sqrt(CORNERS)[table.kind]
    speed = np.where(table.kind == int(Shape.TAPERED), 2.0 * (1.0 + slope), speed)
    return np.maximum(least_distances(table, ray), 0.0) / speed


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
