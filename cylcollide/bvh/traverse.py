"""Traversal: the items whose boxes a ray intersects, the nearest first, or whose boxes contain a point.

The caller passes a function that is called at each item. The build compiles a traversal once for each of them.

The box test is the slab test with near and far planes chosen by the signs of the direction, eight boxes at once, in the
tree's own frame and in float32. `docs/numerics.md`, "Boxes", shows that no true hit is lost.
"""

from collections.abc import Callable
from math import inf
from typing import Any, NamedTuple, TypeAlias, TypeVar

import numpy as np

from cylcollide._types import Column, Float32Array, Float64Array, Rows
from cylcollide.bvh.layout import Tree, TreeFrame
from cylcollide.constants import BOX_PAD, FARTHEST_BOX, FARTHEST_START, STEEPEST_RECIPROCAL, TREE_WIDTH
from cylcollide.runtime.compile import inlined
from cylcollide.runtime.simd import (
    Real,
    Truth,
    absolute,
    broadcast,
    larger,
    load,
    logical_not,
    lowest_bit,
    movemask,
    select,
    smaller,
    store,
    with_sign,
)

Vector: TypeAlias = tuple[Real, Real, Real]

Query = TypeVar("Query")
Found = TypeVar("Found")
END_OF_TRAVERSAL = -inf
"""A reach that ends the traversal of a ray."""

REACH_PAD = 2.0**-50
"""Pad of reaches, relative to the distance from a ray's origin to its middle: more than the rounding of float64."""

LARGEST_GROWTH = 4.0 * FARTHEST_BOX
"""Upper limit of the growth of boxes, in the frame of the tree: no trusted ray starts so far away."""

STACK_ENTRY_SIZE = 2
"""Float64 numbers of memory per entry of a stack."""


class LocalRay(NamedTuple):
    """A ray in the frame of the tree, or eight; its middle is the point nearest to the centre of the tree.

    It crosses the plane at coordinate c of an axis at c * reciprocal - product from its middle, in units of the tree.
    """

    untrusted: Truth  # too far away or too large to be transformed: it may intersect any box
    misses_root: Truth  # it intersects no box
    middle: Real  # distance from the origin to the middle, in units of the tree
    reciprocal: Vector  # of the direction, finite
    product: Vector  # coordinates of the middle times reciprocal
    growth: Real  # growth of all boxes, in units of the tree: 0 for a line
    reach: Real  # length from the middle, rounded up, in units of the tree; may be negative
    earliest: Real  # signed distance from the middle to the origin, rounded down


class Stack(NamedTuple):
    """The nodes and items that a traversal has yet to visit. One per thread, reused by its rays."""

    code: Column[np.int32]  # (stack_size,): as in `Tree.child`
    near: Column[np.float32]  # (stack_size,): where the ray enters the box
    entry: Column[np.float32]  # (2 stack_size,): where it enters the boxes of the nodes being tested


def make_stack(tree: Tree) -> Stack:
    """A stack deep enough for any traversal of this tree."""
    size = tree.stack_size
    return stack_in(np.empty(STACK_ENTRY_SIZE * size), size)


@inlined
def stack_in(memory: Float64Array, size: int) -> Stack:
    """A stack in the caller's memory of at least `STACK_ENTRY_SIZE * size` numbers."""
    numbers = memory.view(np.float32)
    return Stack(memory.view(np.int32)[:size], numbers[size : 2 * size], numbers[2 * size : 4 * size])


@inlined
def local_ray(frame: TreeFrame, origin: Vector, direction: Vector, extent: Real, limit: Real, radius: Real) -> LocalRay:
    """A ray with a unit direction, a limit and a radius in metres, transformed to the frame of the tree.

    `extent` as in `Ray`. Boxes grow by the radius.
    """
    scale, growth, o = frame.scale, local_growth(frame, radius), local_point(frame, origin)
    r = (bounded_reciprocal(direction[0]), bounded_reciprocal(direction[1]), bounded_reciprocal(direction[2]))
    x = slab_times(o[0], r[0], frame.low[0] - growth, frame.high[0] + growth)
    y = slab_times(o[1], r[1], frame.low[1] - growth, frame.high[1] + growth)
    z = slab_times(o[2], r[2], frame.low[2] - growth, frame.high[2] + growth)
    enter, leave = larger(larger(x[0], y[0]), larger(z[0], 0.0)), smaller(smaller(x[1], y[1]), z[1])
    d = direction
    middle = smaller(larger(-(o[0] * d[0] + o[1] * d[1] + o[2] * d[2]), 0.0), limit * scale)
    m = (o[0] + middle * d[0], o[1] + middle * d[1], o[2] + middle * d[2])
    product = (m[0] * r[0], m[1] * r[1], m[2] * r[2])
    farthest = larger(absolute(o[0]), larger(absolute(o[1]), absolute(o[2])))
    near = larger(farthest - middle, 1.0)  # the middle is at least as far from the centre, if farther than 1
    untrusted = logical_not((farthest <= smaller(FARTHEST_START * near, FARTHEST_BOX)) & (extent < inf))
    earliest = middle * -(1.0 + BOX_PAD) - BOX_PAD
    return LocalRay(untrusted, enter > leave, middle, r, product, growth, local_reach(limit, scale, middle), earliest)


@inlined
def local_growth(frame: TreeFrame, radius: Real) -> Real:
    """Growth of boxes for rays of a radius, in units of the tree; 0 for lines.

    The tree's pad is added once more, times the size of the grown frame, since rounding errors grow with that.
    """
    growth = smaller(radius * frame.scale, LARGEST_GROWTH)
    return select(radius > 0.0, growth + BOX_PAD * (1.0 + growth), 0.0)


@inlined
def bounded_reciprocal(component: Real) -> Real:
    """1 / component, its magnitude at most `STEEPEST_RECIPROCAL`, also for a component of zero."""
    return with_sign(smaller(1.0 / larger(absolute(component), 1e-300), STEEPEST_RECIPROCAL), component)


@inlined
def slab_times(origin: Real, reciprocal: Real, low: float, high: float) -> tuple[Real, Real]:
    """When the ray enters and leaves the slab between two coordinates of one axis."""
    first, last = (low - origin) * reciprocal, (high - origin) * reciprocal
    return smaller(first, last), larger(first, last)


@inlined
def local_reach(limit: Real, scale: float, middle: Real) -> Real:
    """Signed length of the local ray from its middle to a limit in metres, larger by more than its rounding errors."""
    length = limit * scale - middle
    return length + BOX_PAD * (1.0 + absolute(length)) + REACH_PAD * middle


@inlined
def broadcast_float32(v: Vector) -> Any:
    """Each component of a vector, rounded to float32, in eight lanes."""
    return broadcast(np.float32(v[0])), broadcast(np.float32(v[1])), broadcast(np.float32(v[2]))


@inlined
def grown_product(ray: LocalRay, growth: Real) -> Vector:
    """`LocalRay.product` for planes that are nearer by a growth."""
    r, p = ray.reciprocal, ray.product
    return p[0] + growth * absolute(r[0]), p[1] + growth * absolute(r[1]), p[2] + growth * absolute(r[2])


@inlined
def plane_times(bounds: Float32Array, offset: int, reciprocal: Any, product: Any) -> Any:
    """When the ray intersects eight planes across one axis, `offset` numbers into `bounds`."""
    return load(bounds, offset) * reciprocal - product


@inlined
def push_sorted(stack: Stack, children: Rows[np.int32], node: int, slots: int, height: int) -> int:
    """Push the children of a node in some of its slots, the nearest on top; returns the height of the stack then.

    `slots` has a bit for each of them; distances are in `stack.entry`.
    """
    codes, nears, entries, bottom = stack.code, stack.near, stack.entry, height
    while slots != 0:
        slot = lowest_bit(slots)
        slots &= slots - 1
        distance, position = entries[slot], height
        while position > bottom and nears[position - 1] < distance:
            codes[position] = codes[position - 1]
            nears[position] = nears[position - 1]
            position -= 1
        codes[position], nears[position] = children[node, slot], distance
        height += 1
    return height


@inlined
def visit_all(
    tree: Tree, visit: Callable[[Query, int, Found], tuple[Found, float]], query: Query, found: Found
) -> Found:
    """Visit all items."""
    for k in range(tree.items):
        found, _ = visit(query, tree.items - 1 - k, found)
    return found


@inlined
def visit_on_ray(
    tree: Tree, stack: Stack, ray: LocalRay, visit: Callable[[Query, int, Found], tuple[Found, float]], query: Query,
    found: Found,
) -> Found:  # fmt: skip
    """Visit the items whose boxes a ray intersects, the nearest first; all items, if the ray is untrusted.

    `visit(query, item, found)` is called at each item. It returns the new `found`, and the new reach of the ray, as in
    `LocalRay`: a hit shortens the ray. The result is the last `found`.
    """
    if ray.untrusted:
        return visit_all(tree, visit, query, found)
    # offsets, in a node's bounds, of the planes through which the ray enters and leaves boxes
    near_x = 0 if ray.reciprocal[0] >= 0.0 else 3 * TREE_WIDTH
    near_y = TREE_WIDTH if ray.reciprocal[1] >= 0.0 else 4 * TREE_WIDTH
    near_z = 2 * TREE_WIDTH if ray.reciprocal[2] >= 0.0 else 5 * TREE_WIDTH
    far_x, far_y, far_z = 3 * TREE_WIDTH - near_x, 5 * TREE_WIDTH - near_y, 7 * TREE_WIDTH - near_z
    bounds, codes, nears = tree.bounds, stack.code, stack.near
    rx, ry, rz = broadcast_float32(ray.reciprocal)
    nx, ny, nz = broadcast_float32(grown_product(ray, ray.growth))
    px, py, pz = broadcast_float32(grown_product(ray, -ray.growth))
    codes[0], nears[0] = 0, -inf
    height, limit, earliest = 0 if ray.misses_root else 1, np.float32(ray.reach), np.float32(ray.earliest)
    while height > 0:
        height -= 1
        code = codes[height]
        if nears[height] > limit:
            continue
        if code < 0:
            found, reach = visit(query, -2 - code, found)
            limit = np.float32(reach)
            continue
        # slab test of all eight boxes
        base = code * 6 * TREE_WIDTH
        entry = larger(plane_times(bounds, base + near_x, rx, nx), plane_times(bounds, base + near_y, ry, ny))
        entry = larger(entry, larger(plane_times(bounds, base + near_z, rz, nz), earliest))
        leave = smaller(plane_times(bounds, base + far_x, rx, px), plane_times(bounds, base + far_y, ry, py))
        leave = smaller(leave, smaller(plane_times(bounds, base + far_z, rz, pz), limit))
        store(stack.entry, 0, entry)
        height = push_sorted(stack, tree.child, code, movemask(entry <= leave), height)
    return found


@inlined
def local_point(frame: TreeFrame, point: Vector) -> Vector:
    """A point in the frame of the tree."""
    return (
        (point[0] - frame.centre[0]) * frame.scale,
        (point[1] - frame.centre[1]) * frame.scale,
        (point[2] - frame.centre[2]) * frame.scale,
    )


@inlined
def in_boxes(bounds: Float32Array, base: int, point: Vector) -> Truth:
    """Whether each of a node's eight boxes, whose bounds begin at number `base`, contains the point."""
    x, y, z = point
    above = (
        (load(bounds, base) <= x) & (load(bounds, base + TREE_WIDTH) <= y) & (load(bounds, base + 2 * TREE_WIDTH) <= z)
    )
    below = (
        (x <= load(bounds, base + 3 * TREE_WIDTH))
        & (y <= load(bounds, base + 4 * TREE_WIDTH))
        & (z <= load(bounds, base + 5 * TREE_WIDTH))
    )
    return above & below


@inlined
def visit_at_point(
    tree: Tree, stack: Stack, point: Vector, visit: Callable[[Query, int, Found], Found], query: Query, found: Found
) -> Found:
    """Visit the items whose boxes contain the point, in world coordinates; `visit` returns `found` alone."""
    bounds, children, codes = tree.bounds, tree.child, stack.code
    local = broadcast_float32(local_point(tree.frame, point))
    codes[0], height = 0, 1
    while height > 0:
        height -= 1
        code = codes[height]
        if code < 0:
            found = visit(query, -2 - code, found)
            continue
        containing = movemask(in_boxes(bounds, code * 6 * TREE_WIDTH, local))
        while containing != 0:
            slot = lowest_bit(containing)
            containing &= containing - 1
            codes[height] = children[code, slot]
            height += 1
    return found
