"""The loops over rays and points that have a list of limbs each, in place of a tree."""

from math import inf, sqrt
from typing import NamedTuple

import numpy as np

from cylcollide._types import HIT, NO_LIMB, POLICY_HIT, UNDECIDED, Float64Array, Int32Array, Int64Array
from cylcollide.constants import STEEPEST_RECIPROCAL
from cylcollide.kernels.closest import closer, is_undecided, no_hit
from cylcollide.kernels.dispatch import pieces, ray_limb
from cylcollide.kernels.double_double import Vector
from cylcollide.kernels.hit_bounds import limb_hit_bounds
from cylcollide.kernels.inside_policy import ray_hit_bounds
from cylcollide.kernels.interpolation import REACH_PAD, between
from cylcollide.kernels.limb_table import LimbRows, is_considered, limb_at
from cylcollide.kernels.point import point_limb
from cylcollide.kernels.ray import Ray, Rays, as_vector, broadcast_index, dot, largest_component, ray_at
from cylcollide.query.loops.columns import HitColumns
from cylcollide.query.loops.inputs import RayBatch
from cylcollide.query.loops.points import PointColumns
from cylcollide.query.loops.single import write_hit
from cylcollide.runtime.compile import inlined
from cylcollide.runtime.entry_point import entry_point


class Lists(NamedTuple):
    """For each of n rays or points, the limbs that it may hit, ascending."""

    offsets: Int64Array  # (n + 1,)
    limbs: Int32Array


@entry_point(reads_all=True)
def cast_listed(batch: RayBatch, table: LimbRows, lists: Lists, begin: int, end: int, hits: HitColumns) -> int:
    """The closest limb of the list of each ray from `begin` to `end`; how many of them are undecided."""
    count = 0
    for i in range(begin, end):
        ray = ray_at(batch.rays, i)
        best, first, last = no_hit(ray.limit), lists.offsets[i], lists.offsets[i + 1]
        undecided = ray.extent == inf and first < last
        if not undecided:
            mask, ignored = batch.mask[broadcast_index(batch.mask, i)], batch.ignored[broadcast_index(batch.ignored, i)]
            for j in range(first, last):
                k = lists.limbs[j]
                if is_considered(table.character[k], table.mask[k], mask, ignored):
                    limb = limb_at(table.rows, table.solid, k)
                    best = closer(best, float(k), limb_hit_bounds(ray, limb, batch.policy))
            undecided = is_undecided(best)
        write_hit(hits, i, ray, best, undecided, batch, table)
        count += undecided
    return count


def pieces_of_lists(batch: RayBatch, table: LimbRows, lists: Lists, rows: Int64Array) -> tuple[Int64Array, Int32Array]:
    """Every piece of a limb on the lists of these rays that the ray does not certainly miss, in compressed rows.

    As `chords.pieces_of_rays` returns them.
    """
    most = 2 * int((lists.offsets[rows + 1] - lists.offsets[rows]).sum())
    offsets, codes = np.zeros(len(rows) + 1, np.int64), np.empty(most, np.int32)
    used = find_listed_pieces.call(batch, table, lists, rows, offsets, codes)
    return offsets, codes[:used]


@entry_point(reads_all=True)
def find_listed_pieces(
    batch: RayBatch, table: LimbRows, lists: Lists, rows: Int64Array, offsets: Int64Array, codes: Int32Array
) -> int:
    """Write `pieces_of_lists`; how many there are."""
    used = 0
    for j in range(rows.size):
        i = rows[j]
        ray = ray_at(batch.rays, i)
        mask, ignored = batch.mask[broadcast_index(batch.mask, i)], batch.ignored[broadcast_index(batch.ignored, i)]
        for position in range(lists.offsets[i], lists.offsets[i + 1]):
            k = lists.limbs[position]
            if is_considered(table.character[k], table.mask[k], mask, ignored):
                limb = limb_at(table.rows, table.solid, k)
                for piece in range(pieces(limb.kind)):
                    if ray.extent == inf or ray_hit_bounds(ray, ray_limb(ray, limb, piece), POLICY_HIT).possible:
                        codes[used] = 2 * k + piece
                        used += 1
        offsets[j + 1] = used
    return used


@entry_point(reads_all=True)
def locate_listed(points: Float64Array, table: LimbRows, lists: Lists, columns: PointColumns) -> int:
    """The limbs of each point's list that contain it; how many points are undecided."""
    count = 0
    for i in range(columns.limb.size):
        point, lowest, containing, is_open = as_vector(points, i), NO_LIMB, 0, False
        for position in range(lists.offsets[i], lists.offsets[i + 1]):
            k = lists.limbs[position]
            status = point_limb(point, limb_at(table.rows, table.solid, k))
            is_open |= status == UNDECIDED
            if status == HIT:
                lowest = k if containing == 0 else min(lowest, k)
                containing += 1
        columns.limb[i], columns.limb_count[i], columns.undecided[i] = lowest, containing, is_open
        count += is_open
    return count


@entry_point(reads_all=True)
def find_boxes(
    rays: Rays,
    rows: Int64Array,
    low: Float64Array,
    high: Float64Array,
    ray_of: Int32Array,
    box_of: Int32Array,
    reached: Float64Array,
) -> int:
    """Write pairs of a ray, by its place in `rows`, and a box that it does not certainly miss; how many there are.

    `reached` is the length before which the ray is certainly not in the box. Pairs beyond the size of these three are
    not written.
    """
    used = 0
    for j in range(rows.size):
        ray = ray_at(rays, rows[j])
        for k in range(low.shape[0]):
            length = box_reached(ray, as_vector(low, k), as_vector(high, k))
            if length < inf:
                if used < ray_of.size:
                    ray_of[used], box_of[used], reached[used] = j, k, length
                used += 1
    return used


class Centres(NamedTuple):
    """The middles of the limbs of posed characters at a moment."""

    limbs: Float64Array  # (rows, 3)
    bones: Float64Array  # (bones, 3): positions of the bones
    bone: Int32Array  # (rows,): row of `bones`


@entry_point(reads_all=True)
def find_characters(
    rays: Rays,
    row: Int64Array,
    here: Centres,
    there: Centres,
    first_here: Int32Array,
    first_there: Int32Array,
    count: Int64Array,
    alpha: Float64Array,
    radius: Float64Array,
    reached: Float64Array,
) -> None:
    """Write the length before which a ray is certainly at no limb of a character, inf if it certainly misses all.

    Parameters
    ----------
    rays, row
        Pair j is about ray `row[j]`, (pairs,).
    here, there, first_here, first_there, count, alpha
        Limbs at two moments; where those of each pair's character begin, -1 in `there` for one that stays; how many
        they are, and how far from one moment to the other it is; (pairs,) each.
    radius
        Of a ball around the middle of each limb of `here` that holds it.
    reached
        Written, (pairs,).
    """
    for j in range(row.size):
        ray, least = ray_at(rays, row[j]), inf
        for k in range(first_here[j], first_here[j] + count[j]):
            centre, size = as_vector(here.limbs, k), radius[k]
            if first_there[j] >= 0:
                # the middle turns about its bone by half a turn at most, along an arc that lies in the ball whose
                # diameter is its chord, and so does the straight way: both are within a chord of each other
                far = first_there[j] + k - first_here[j]
                a, b = as_vector(here.bones, here.bone[k]), as_vector(there.bones, there.bone[far])
                last = as_vector(there.limbs, far)
                turned = (
                    (last[0] - b[0]) - (centre[0] - a[0]),
                    (last[1] - b[1]) - (centre[1] - a[1]),
                    (last[2] - b[2]) - (centre[2] - a[2]),
                )
                size += sqrt(dot(turned, turned)) + REACH_PAD * largest_component(last)
                centre = (
                    between(centre[0], last[0], alpha[j]),
                    between(centre[1], last[1], alpha[j]),
                    between(centre[2], last[2], alpha[j]),
                )
            least = min(least, ball_reached(ray, centre, size))
        reached[j] = least


@inlined
def ball_reached(ray: Ray, centre: Vector, radius: float) -> float:
    """The length before which a ray is certainly not in a ball, inf if it certainly misses it; padded as boxes are."""
    if ray.extent == inf:
        return 0.0
    x, y, z = centre[0] - ray.origin[0], centre[1] - ray.origin[1], centre[2] - ray.origin[2]
    size = radius + REACH_PAD * (ray.extent + largest_component(centre) + radius)
    along = min(max(dot((x, y, z), ray.direction), 0.0), ray.limit)
    d = ray.direction
    away = (x - along * d[0], y - along * d[1], z - along * d[2])
    return max(along - size, 0.0) if dot(away, away) <= size * size else inf


@inlined
def box_reached(ray: Ray, low: Vector, high: Vector) -> float:
    """The length before which a ray is certainly not in a box, inf if it certainly misses it.

    The box is padded by more than all rounding.
    """
    if ray.extent == inf:
        return 0.0
    first, last = 0.0, ray.limit
    for axis in range(3):
        o, d = ray.origin[axis], ray.direction[axis]
        pad = REACH_PAD * (abs(o) + abs(low[axis]) + abs(high[axis]))
        if abs(d) * STEEPEST_RECIPROCAL > 1.0:
            near, far = (low[axis] - pad - o) / d, (high[axis] + pad - o) / d
            first, last = max(first, min(near, far)), min(last, max(near, far))
        else:  # it stays where it is along this axis, but for `way`
            way = pad if d == 0.0 else pad + ray.limit / STEEPEST_RECIPROCAL
            if o < low[axis] - way or o > high[axis] + way:
                return inf
    return first if first <= last else inf
