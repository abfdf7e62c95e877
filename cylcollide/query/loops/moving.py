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
    Shape,
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
from cylcollide.constants import BOX_PAD, LARGEST_SAFE, SMALLEST_SAFE, TREE_WIDTH
from cylcollide.kernels.closest import ClosestHit, closer, is_undecided, no_hit
from cylcollide.kernels.double_double import Vector
from cylcollide.kernels.inside_policy import HitBounds
from cylcollide.kernels.interpolation import between
from cylcollide.kernels.limb_table import is_considered
from cylcollide.kernels.moving import Flight, MovingLimb, moving_hit_bounds
from cylcollide.kernels.ray import Ray, broadcast_index, largest_component, make_ray
from cylcollide.runtime.compile import compiled, inlined
from cylcollide.runtime.entry_point import entry_point

BOX, CAPSULE, SPHERE = int(Shape.BOX), int(Shape.CAPSULE), int(Shape.SPHERE)
NONE = int(Face.NONE)

P1, P2, P1_NEXT, P2_NEXT, RADIUS, RADIUS2, EXTENT, MOVING_ROW = 0, 3, 6, 9, 12, 13, 14, 16
"""Columns of `MovingRows.rows`, points by their first, and how many there are."""

START, END, ALPHA0, ALPHA1, STRETCH_ROW = 0, 3, 6, 7, 8
"""Columns of `StretchRows.rows`."""


NEAR_PAD = 2.0**-40
"""Relative: lengths and fractions of them err by less than 2**-48."""


class MovingRows(NamedTuple):
    """The columns of n limbs between two ticks that the loop reads."""

    solid: Int8Array  # (n,): Shape, SPHERE for a capsule that has no length at both ticks
    character: Int32Array  # (n,)
    mask: Uint32Array  # (n,): layers
    rows: Float64Array  # (n, MOVING_ROW)


class StretchRows(NamedTuple):
    """The stretches of bullets; those of bullet b are `offsets[b]` to `offsets[b + 1]`."""

    offsets: Int64Array  # (bullets + 1,)
    rows: Float64Array  # (n, STRETCH_ROW): the bullet at both ends, and alphas
    is_last: BoolArray  # (n,): the last of its piece, whose last moment belongs to it
    is_open: BoolArray  # (n,): left to exact arithmetic if a limb may be hit


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


@entry_point(reads_all=True)
def fill_moving_rows(
    kind: Int8Array,
    here: Float64Array,
    there: Float64Array,
    radius: Float64Array,
    radius2: Float64Array,
    solid: Int8Array,
    rows: Float64Array,
) -> None:
    """Write `solid` and `rows` of `MovingRows`; ends of limbs at both ticks are (n, 2, 3).

    A limb whose sizes float64 products cannot hold gets an infinite extent, so that every bullet is undecided.
    """
    for i in range(kind.size):
        row, extent, longest = rows[i], 0.0, 0.0
        size = max(radius[i], radius2[i])
        is_safe = size >= SMALLEST_SAFE or kind[i] == BOX
        for axis in range(3):
            row[P1 + axis], row[P2 + axis] = here[i, 0, axis], here[i, 1, axis]
            row[P1_NEXT + axis], row[P2_NEXT + axis] = there[i, 0, axis], there[i, 1, axis]
        for first in (P1, P1_NEXT):
            last, length = first + P2 - P1, 0.0
            for axis in range(3):
                extent = max(extent, abs(row[first + axis]), abs(row[last + axis]))
                length = max(length, abs(row[last + axis] - row[first + axis]))
            is_safe &= length >= SMALLEST_SAFE or length == 0.0
            longest = max(longest, length)
        row[RADIUS], row[RADIUS2] = radius[i], radius2[i]
        row[EXTENT] = extent + size if is_safe and extent + size <= LARGEST_SAFE else inf
        solid[i] = SPHERE if kind[i] == CAPSULE and longest == 0.0 else kind[i]


@entry_point(allocates=True, reads_all=True)
def find_near(
    stretches: Float64Array,
    chosen: Int64Array,
    tree: Tree,
    begin: Int64Array,
    end: Int64Array,
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
    begin, end
        Written for the chosen stretches, as in `Candidates`.
    item, near
        Written: boxes, and u before which the bullet is not in them; pairs beyond their size are not.
    """
    size, used = tree.stack_size, 0
    stack = Stack(np.empty(size, np.int32), np.empty(size, np.float32), np.empty(TREE_WIDTH, np.float32))
    for position in range(chosen.size):
        j = chosen[position]
        origin, goal = vector(stretches[j], START), vector(stretches[j], END)
        ray = make_ray(origin, (goal[0] - origin[0], goal[1] - origin[1], goal[2] - origin[2]), True, inf)
        begin[j] = used
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
        end[j] = used
    return used


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
    begin: int,
    end: int,
    hits: MovingColumns,
) -> int:
    """The first contact of each bullet from `begin` to `end` with the limbs of its lists; how many are undecided."""
    count = 0
    for i in range(begin, end):
        layers, other = mask[broadcast_index(mask, i)], ignored[broadcast_index(ignored, i)]
        hits.stretch[i], hits.limb[i], hits.undecided[i], hits.face[i] = -1, NO_LIMB, False, NONE
        hits.lower[i] = hits.upper[i] = inf
        for j in range(stretches.offsets[i], stretches.offsets[i + 1]):
            best, undecided = first_on_stretch(stretches, table, candidates, layers, other, j)
            if undecided or best.limb >= 0.0:
                hits.stretch[i], hits.undecided[i], hits.limb[i] = j, undecided, int(best.limb)
                hits.lower[i], hits.upper[i], hits.face[i] = best.lower, best.upper, int(best.face)
                count += undecided
                break
    return count


@compiled
def first_on_stretch(
    stretches: StretchRows, table: MovingRows, candidates: Candidates, mask: int, ignored: int, j: int
) -> tuple[ClosestHit, bool]:
    """The first contact on a stretch, and whether float64 leaves it open."""
    best, row = no_hit(1.0), stretches.rows[j]
    bullet, alpha0, alpha1 = Flight(vector(row, START), vector(row, END)), row[ALPHA0], row[ALPHA1]
    extent = max(largest_component(bullet.start), largest_component(bullet.end))
    for pair in range(candidates.begin[j], candidates.end[j]):
        block = candidates.block[pair]
        if block >= 0 and candidates.near[pair] <= best.upper:
            first = candidates.first[block]
            for k in range(first, first + candidates.limbs[block]):
                if is_considered(table.character[k], table.mask[k], mask, ignored):
                    best = closer(best, float(k), limb_bounds(bullet, extent, alpha0, alpha1, table, k))
    # the last moment of a stretch that is not the last belongs to the next one
    is_possible = (best.limb >= 0.0) | (best.next_possible < inf)
    ends_late = (best.upper >= 1.0) & (not stretches.is_last[j])
    return best, is_undecided(best) | (is_possible & (ends_late | stretches.is_open[j]))


@inlined
def limb_bounds(bullet: Flight, extent: float, alpha0: float, alpha1: float, table: MovingRows, k: int) -> HitBounds:
    """Bounds of the first contact of a bullet with limb k, as u of the stretch."""
    row = table.rows[k]
    limb = MovingLimb(
        table.solid[k], row[RADIUS], row[RADIUS2],
        vector_between(row, P1, P1_NEXT, alpha0), vector_between(row, P2, P2_NEXT, alpha0),
        vector_between(row, P1, P1_NEXT, alpha1), vector_between(row, P2, P2_NEXT, alpha1),
    )  # fmt: skip
    return moving_hit_bounds(bullet, limb, extent + row[EXTENT])


@inlined
def vector(row: Float64Array, first: int) -> Vector:
    """Three columns of a row, from `first` on."""
    return row[first], row[first + 1], row[first + 2]


@inlined
def vector_between(row: Float64Array, first: int, last: int, alpha: float) -> Vector:
    """The point between two points of a row."""
    return (
        between(row[first], row[last], alpha),
        between(row[first + 1], row[last + 1], alpha),
        between(row[first + 2], row[last + 2], alpha),
    )
