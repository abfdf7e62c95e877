"""The loop over flying bullets, each against the limbs that it comes near on each stretch of its flight."""

from math import inf
from typing import NamedTuple

import numpy as np

from cylcollide._types import (
    NO_LIMB,
    BoolArray,
    Face,
    Float64Array,
    Int8Array,
    Int32Array,
    Int64Array,
    Uint32Array,
)
from cylcollide.bvh.layout import Space, Tree
from cylcollide.bvh.traverse import (
    NO_ITEM,
    LocalRay,
    Stack,
    local_ray,
    next_item_of_all,
    next_item_on_ray,
    start_traversal,
)
from cylcollide.constants import BOX_PAD, TREE_WIDTH
from cylcollide.kernels.closest import ClosestHit, closer, is_undecided, no_hit
from cylcollide.kernels.inside_policy import HitBounds
from cylcollide.kernels.interpolation import REACH_PAD
from cylcollide.kernels.limb_table import is_considered
from cylcollide.kernels.moving import Flight, MovingLimb, moving_hit_bounds
from cylcollide.kernels.moving_box import first_contact, passage_of
from cylcollide.kernels.ray import Ray, broadcast_index, dot, largest_component, make_ray
from cylcollide.query.loops.moving_rows import (
    ALPHA0,
    ALPHA1,
    BOX,
    END,
    EXTENT,
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
    vector,
    vector_between,
)
from cylcollide.runtime.compile import compiled, inlined
from cylcollide.runtime.entry_point import entry_point
from cylcollide.runtime.simd import LANES, Truth, broadcast, larger, load, lowest_bit, movemask, smaller

NONE = int(Face.NONE)

NEAR_PAD = 2.0**-40
"""Relative: lengths and fractions of them err by less than 2**-48."""


class Candidates(NamedTuple):
    """Of n stretches the blocks of limbs that the bullet does not certainly miss there.

    Those of stretch j are the pairs from `begin[j]` to `end[j]`.
    """

    begin: Int64Array  # (n,)
    end: Int64Array  # (n,)
    block: Int32Array  # (pairs,), -1 for one that is left out
    near: Float64Array  # (pairs,): u before which the bullet is certainly not in the block
    first: Int32Array  # (blocks,): the first limb of each
    limbs: Int64Array  # (blocks,): how many it has


class MovingColumns(NamedTuple):
    """The first contact of each bullet; (bullets,) each."""

    stretch: Int64Array  # of the contact, -1 for a miss; if undecided, the first one that float64 leaves open
    limb: Int32Array  # -1 for a miss
    lower: Float64Array  # u of the stretch between which it is
    upper: Float64Array
    face: Int8Array
    undecided: BoolArray


@entry_point(allocates=True, reads_all=True)
def find_near(
    stretches: Float64Array,
    chosen: Int64Array,
    tree: Tree,
    begin: Int64Array,
    end: Int64Array,
    base: int,
    item: Int32Array,
    near: Float64Array,
) -> int:
    """Write the boxes of a tree that bullets do not certainly miss; how many pairs there are.

    Parameters
    ----------
    stretches, chosen
        Rows of `StretchRows`, and which ones.
    tree
        Over boxes that hold what moves.
    begin, end, base
        Written for the chosen stretches, as in `Candidates`, where `base` pairs come before these.
    item, near
        Written: boxes, and u before which the bullet is not in them; pairs beyond their size are not.
    """
    size, used = tree.stack_size, 0
    stack = Stack(np.empty(size, np.int32), np.empty(size, np.float32), np.empty(TREE_WIDTH, np.float32))
    for position in range(chosen.size):
        j = chosen[position]
        ray = ray_of(vector(stretches[j], START), vector(stretches[j], END))
        begin[j] = base + used
        local = local_ray(tree.space, ray.origin, ray.direction, ray.extent, ray.limit)
        height = 0
        if local.untrusted:
            height = tree.items
        elif not local.misses_root:
            height = start_traversal(stack)
        while height > 0:
            if local.untrusted:
                height, k = next_item_of_all(height)
            else:
                height, k = next_item_on_ray(tree, stack, height, local, local.reach)
            if k == NO_ITEM:
                break
            if used < item.size:
                item[used] = k
                near[used] = 0.0 if local.untrusted else entered_after(stack.near[height], local, tree.space, ray)
            used += 1
        end[j] = base + used
    return used


@inlined
def ray_of(start: tuple[float, float, float], end: tuple[float, float, float]) -> Ray:
    """A bullet's way on a stretch."""
    return make_ray(start, (end[0] - start[0], end[1] - start[1], end[2] - start[2]), True, inf)


@inlined
def entered_after(near: float, local: LocalRay, space: Space, ray: Ray) -> float:
    """The fraction of a ray before which `traverse.local_reach` ends before a box that it enters at `near`."""
    length = (max(near - BOX_PAD, 0.0) / (1.0 + BOX_PAD) + local.start) / space.scale
    return length * ray.per_length * (1.0 - NEAR_PAD)


@entry_point(reads_all=True)
def cast_moving_rows(
    stretches: StretchRows,
    table: MovingRows,
    candidates: Candidates,
    mask: Uint32Array,
    ignored: Int64Array,
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
            if candidates.begin[j] < candidates.end[j]:
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
    """The first contact on a stretch, and whether float64 leaves it open."""
    best, stretch = no_hit(1.0), stretches.rows[j]
    ray = ray_of(vector(stretch, START), vector(stretch, END))
    for pair in range(candidates.begin[j], candidates.end[j]):
        block = candidates.block[pair]
        if block >= 0 and candidates.near[pair] <= best.upper:
            first, last = candidates.first[block], candidates.first[block] + candidates.limbs[block]
            for eight in range(first, last, LANES):
                touched = (1 << min(LANES, last - eight)) - 1
                if ray.extent < inf:
                    touched &= movemask(near_balls(ray, table.balls, eight))
                while touched != 0:
                    k = eight + lowest_bit(touched)
                    touched &= touched - 1
                    if is_considered(table.character[k], table.mask[k], mask, ignored):
                        best = closer(best, float(k), limb_bounds(stretch, table, k, resolution))
    # the last moment of a stretch that is not the last belongs to the next one
    is_possible = (best.limb >= 0.0) | (best.next_possible < inf)
    ends_late = (best.upper >= 1.0) & (not stretches.is_last[j])
    return best, is_undecided(best) | (is_possible & (ends_late | stretches.is_open[j]))


@inlined
def near_balls(ray: Ray, balls: Float64Array, first: int) -> Truth:
    """Whether a ray does not certainly miss each of eight balls; a column of `balls` is middle and radius."""
    size, d, o = balls.shape[1], ray.direction, ray.origin
    middle = (load(balls, first), load(balls, size + first), load(balls, 2 * size + first))
    x, y, z = middle[0] - o[0], middle[1] - o[1], middle[2] - o[2]
    along = smaller(larger(x * d[0] + y * d[1] + z * d[2], broadcast(0.0)), broadcast(ray.limit))
    away = (x - along * d[0], y - along * d[1], z - along * d[2])
    reach = load(balls, 3 * size + first) + (REACH_PAD * ray.extent)
    return dot(away, away) <= reach * reach


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
