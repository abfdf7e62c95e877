"""The loop over segments and boxes: which segments enter any box of a tree."""

import numpy as np

from cylcollide._types import Column, Vectors
from cylcollide.bvh.layout import Tree
from cylcollide.bvh.traverse import NO_FURTHER, local_ray, stack_in, visit_on_ray
from cylcollide.kernels.ray import as_vector, make_ray
from cylcollide.runtime.compile import compiled_loop, inlined


@inlined
def _stop(_query: None, _item: int, _found: bool) -> tuple[bool, float]:
    """Go no further than to the first box."""
    return True, NO_FURTHER


@compiled_loop
def entering_rows(
    tree: Tree,
    starts: Vectors,
    ends: Vectors,
    until: Column[np.float64],
    memory: Column[np.float64],
    rows: Column[np.int64],
) -> int:
    """Write the rows of the segments (n, 3), (n, 3) that enter a box up to their fraction `until` (n,); how many.

    Boxes are those of the tree, which are larger than the ones it was built over: never smaller, by rounding. A segment
    that is too long or too far away for float64 is taken for one that enters. `memory` as in `stack_in`; `rows` (n,).
    """
    stack, count = stack_in(memory, tree.stack_size), 0
    for i in range(len(starts)):
        origin, end = as_vector(starts, i), as_vector(ends, i)
        ray = make_ray(origin, (end[0] - origin[0], end[1] - origin[1], end[2] - origin[2]), True, 0.0)
        limit = ray.limit * min(until[i], 1.0)
        local = local_ray(tree.space, ray.origin, ray.direction, ray.extent, limit)
        if local.untrusted or visit_on_ray(tree, stack, local, _stop, None, False):
            rows[count] = i
            count += 1
    return count
