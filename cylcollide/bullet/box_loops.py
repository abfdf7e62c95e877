"""Loops over segments and boxes: which segments enter any box of a tree, or any of a few boxes."""

import numpy as np

from cylcollide._types import Column, Float64Array, Rows, Vectors
from cylcollide.bvh.layout import Tree
from cylcollide.bvh.traverse import END_OF_TRAVERSAL, local_ray, stack_in, visit_on_ray
from cylcollide.kernels.ray import as_vector, make_ray, subtract
from cylcollide.runtime.compile import compiled_loop, inlined


@inlined
def _stop(_query: None, _item: int, _found: bool) -> tuple[bool, float]:
    """Stop at the first box."""
    return True, END_OF_TRAVERSAL


@compiled_loop
def entering_rows(
    tree: Tree,
    starts: Vectors,
    ends: Vectors,
    until: Column[np.float64],
    memory: Column[np.float64],
    rows: Column[np.int64],
) -> int:
    """Write the rows of segments (n, 3), (n, 3) that enter a box up to fraction `until` (n,); returns how many.

    The boxes of the tree contain those it was built over: rounding never makes them smaller. A segment that is too long
    or too far away for float64 counts as entering. `memory` as in `stack_in`; `rows` (n,).
    """
    stack, count = stack_in(memory, tree.stack_size), 0
    for i in range(len(starts)):
        origin, end = as_vector(starts, i), as_vector(ends, i)
        ray = make_ray(origin, subtract(end, origin), True, 0.0, 0.0)
        limit = ray.limit * min(until[i], 1.0)
        local = local_ray(tree.frame, ray.origin, ray.direction, ray.extent, limit, 0.0)
        if local.untrusted or visit_on_ray(tree, stack, local, _stop, None, False):
            rows[count] = i
            count += 1
    return count


SLACK = 1e-12
"""Growth of a box relative to the coordinates, far above the rounding errors of entry fractions."""


@inlined
def enters(box: Float64Array, padding: float, starts: Float64Array, ends: Float64Array, i: int, until: float) -> bool:
    """Whether segment i enters a box up to a fraction; True if float64 cannot resolve it or the box is NaN.

    `box`: its low corner, then its high one, (6,), without the padding.
    """
    first, last = 0.0, until
    for axis in range(3):
        start, low, high = starts[i, axis], box[axis], box[3 + axis]
        if not low <= high:
            return True
        way = ends[i, axis] - start
        slack = padding + SLACK * (abs(start) + abs(way) + abs(low) + abs(high))
        below, above = low - start - slack, high - start + slack
        if way == 0.0:
            if below > 0.0 or above < 0.0:
                return False
        else:
            one, other = below / way, above / way
            first, last = max(first, min(one, other)), min(last, max(one, other))
    return not first > last


@compiled_loop
def entering_any(
    boxes: Rows[np.float64], starts: Vectors, ends: Vectors, until: Column[np.float64], rows: Column[np.int64]
) -> int:
    """`entering_rows` for boxes (k, 6), tested one by one; each row has the corners of one box."""
    count = 0
    for i in range(len(starts)):
        for k in range(len(boxes)):
            if enters(boxes[k], 0.0, starts, ends, i, min(until[i], 1.0)):
                rows[count] = i
                count += 1
                break
    return count
