"""Walk: the items a ray or a point may meet, one after another, nearest first for rays.

The caller keeps a `Stack` and asks for the next item until there is none. Between two calls it may have found a hit, so
it says each time how far the walk still matters. No callback, no shape: the loop over limbs is the caller's.

The box test is the slab test with near and far planes chosen by the signs of the direction, eight boxes at once, in the
tree's own frame and in float32. That it never loses a true hit is shown in `docs/numerics.md`, "Boxes".
"""

from math import inf
from typing import Any, NamedTuple, TypeAlias

import numpy as np

from cylcollide._types import Float32Array, Int32Array
from cylcollide.bvh.layout import Space, Tree
from cylcollide.constants import BOX_PAD, FARTHEST_START, STEEPEST_RECIPROCAL, TREE_WIDTH
from cylcollide.runtime.compile import compiled, inlined
from cylcollide.runtime.simd import (
    Real,
    Truth,
    absolute,
    broadcast,
    broadcast_like,
    larger,
    load,
    logical_not,
    lowest_bit,
    movemask,
    smaller,
    store,
    with_sign,
)

Vector: TypeAlias = tuple[Real, Real, Real]


NO_ITEM = -1


class LocalRay(NamedTuple):
    """A ray in the frame of the tree, or eight: it begins where it comes near, and time counts from there."""

    untrusted: Truth  # it cannot be brought near: it may meet any box
    misses_root: Truth  # it meets no box at all
    start: Real  # how far along it begins, in units of the tree
    reciprocal: Vector  # of the direction, finite
    product: Vector  # origin times reciprocal
    reach: Real  # how far it goes from there; a little more


class Stack(NamedTuple):
    """What a walk has yet to visit. One per thread, used for ray after ray."""

    code: Int32Array  # node, or code of an item
    near: Float32Array  # where the ray enters the box
    entry: Float32Array  # of the eight boxes being tested


def make_stack(tree: Tree) -> Stack:
    """A stack deep enough for any walk of this tree."""
    size = tree.stack_size
    near, entry = np.empty(size, np.float32), np.empty(TREE_WIDTH, np.float32)
    return Stack(np.empty(size, np.int32), near, entry)


@inlined
def local_ray(space: Space, origin: Vector, direction: Vector, extent: Real, limit: Real) -> LocalRay:
    """A ray, with a unit direction and a limit in metres, seen from the tree."""
    scale = space.scale
    o = (
        (origin[0] - space.centre[0]) * scale,
        (origin[1] - space.centre[1]) * scale,
        (origin[2] - space.centre[2]) * scale,
    )
    r = (bounded_reciprocal(direction[0]), bounded_reciprocal(direction[1]), bounded_reciprocal(direction[2]))
    x = slab_times(o[0], r[0], space.low[0], space.high[0])
    y = slab_times(o[1], r[1], space.low[1], space.high[1])
    z = slab_times(o[2], r[2], space.low[2], space.high[2])
    start = larger(larger(x[0], y[0]), larger(z[0], 0.0))
    leave = smaller(smaller(x[1], y[1]), z[1])
    begin = (o[0] + start * direction[0], o[1] + start * direction[1], o[2] + start * direction[2])
    product = (begin[0] * r[0], begin[1] * r[1], begin[2] * r[2])
    farthest = larger(absolute(o[0]), larger(absolute(o[1]), absolute(o[2])))
    blind = logical_not((farthest <= FARTHEST_START) & (extent < inf) & (broadcast_like(scale, extent) > 0.0))
    return LocalRay(blind, start > leave, start, r, product, local_reach(limit, scale, start))


@inlined
def bounded_reciprocal(component: Real) -> Real:
    """1 / component, bounded: a component that vanishes counts as a very small one of its sign."""
    return with_sign(smaller(1.0 / larger(absolute(component), 1e-300), STEEPEST_RECIPROCAL), component)


@inlined
def slab_times(origin: Real, reciprocal: Real, low: float, high: float) -> tuple[Real, Real]:
    """When a coordinate is between two."""
    first, last = (low - origin) * reciprocal, (high - origin) * reciprocal
    return smaller(first, last), larger(first, last)


@inlined
def local_reach(limit: Real, scale: float, start: Real) -> Real:
    """Time left until a limit in metres, from where the local ray begins; larger by more than it errs in float32."""
    return (limit * scale - start) * (1.0 + BOX_PAD) + BOX_PAD


@compiled
def start_traversal(stack: Stack) -> int:
    """Put the root on the stack; the new stack height."""
    stack.code[0], stack.near[0] = 0, 0.0
    return 1


@inlined
def broadcast_float32(v: Vector) -> Any:
    """Each component eight times, in float32."""
    return broadcast(np.float32(v[0])), broadcast(np.float32(v[1])), broadcast(np.float32(v[2]))


@inlined
def planes(bounds: Float32Array, offset: int, reciprocal: Any, product: Any) -> Any:
    """When the ray meets eight planes."""
    return load(bounds, offset) * reciprocal - product


@inlined
def next_item_on_ray(tree: Tree, stack: Stack, height: int, ray: LocalRay, reach: float) -> tuple[int, int]:
    """The next item whose box the ray meets within `limb_aabb`, which counts as in `LocalRay`.

    Returns the stack height and the item, NO_ITEM at the end of the walk.
    """
    # where in a node the planes are that the ray meets first and last
    near_x = 0 if ray.reciprocal[0] >= 0.0 else 3 * TREE_WIDTH
    near_y = TREE_WIDTH if ray.reciprocal[1] >= 0.0 else 4 * TREE_WIDTH
    near_z = 2 * TREE_WIDTH if ray.reciprocal[2] >= 0.0 else 5 * TREE_WIDTH
    far_x, far_y, far_z = 3 * TREE_WIDTH - near_x, 5 * TREE_WIDTH - near_y, 7 * TREE_WIDTH - near_z
    bounds, children = tree.bounds, tree.child
    codes, nears, entries = stack.code, stack.near, stack.entry
    limit = np.float32(reach)
    rx, ry, rz = broadcast_float32(ray.reciprocal)
    px, py, pz = broadcast_float32(ray.product)
    while height > 0:
        height -= 1
        code = codes[height]
        if nears[height] > limit:
            continue
        if code < 0:
            return height, -2 - code
        # all eight boxes, then sort in those that the ray meets, the nearest on top
        base = code * 6 * TREE_WIDTH
        entry = larger(planes(bounds, base + near_x, rx, px), planes(bounds, base + near_y, ry, py))
        entry = larger(entry, larger(planes(bounds, base + near_z, rz, pz), np.float32(0.0)))
        leave = smaller(planes(bounds, base + far_x, rx, px), planes(bounds, base + far_y, ry, py))
        leave = smaller(leave, smaller(planes(bounds, base + far_z, rz, pz), limit))
        store(entries, 0, entry)
        met = movemask(entry <= leave)
        bottom = height
        while met != 0:
            slot = lowest_bit(met)
            met &= met - 1
            distance, position = entries[slot], height
            while position > bottom and nears[position - 1] < distance:
                codes[position] = codes[position - 1]
                nears[position] = nears[position - 1]
                position -= 1
            codes[position], nears[position] = children[code, slot], distance
            height += 1
    return 0, NO_ITEM


@inlined
def local_point(space: Space, point: Vector) -> Vector:
    """A point in the frame of the tree."""
    return (
        (point[0] - space.centre[0]) * space.scale,
        (point[1] - space.centre[1]) * space.scale,
        (point[2] - space.centre[2]) * space.scale,
    )


@inlined
def next_item_at_point(tree: Tree, stack: Stack, height: int, point: Vector) -> tuple[int, int]:
    """The next item whose box holds the point, given in the frame of the tree; returns as `next_item_on_ray` does."""
    bounds, children, codes = tree.bounds, tree.child, stack.code
    x, y, z = broadcast_float32(point)
    while height > 0:
        height -= 1
        code = codes[height]
        if code < 0:
            return height, -2 - code
        base = code * 6 * TREE_WIDTH
        above = (load(bounds, base) <= x) & (load(bounds, base + 8) <= y) & (load(bounds, base + 16) <= z)
        below = (x <= load(bounds, base + 24)) & (y <= load(bounds, base + 32)) & (z <= load(bounds, base + 40))
        met = movemask(above & below)
        while met != 0:
            slot = lowest_bit(met)
            met &= met - 1
            codes[height] = children[code, slot]
            height += 1
    return 0, NO_ITEM


@compiled
def next_item_of_all(height: int) -> tuple[int, int]:
    """The next of all items, for what no box can be trusted with: from `tree.items` down, returned as the others do."""
    return height - 1, height - 1 if height > 0 else NO_ITEM
