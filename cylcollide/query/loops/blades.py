"""The loop over swept blades: finds the first limb that each touches, through the tree."""

from collections.abc import Callable
from math import inf, nan, sqrt
from typing import NamedTuple, TypeAlias, TypeVar

import numpy as np

from cylcollide._types import NO_LIMB, Column, Vectors
from cylcollide.bvh.layout import Tree
from cylcollide.bvh.near_points import visit_nearest
from cylcollide.bvh.traverse import Stack
from cylcollide.kernels.aabb import padded_box
from cylcollide.kernels.double_double import Vector, as_double_double, high_words
from cylcollide.kernels.limb_table import Limb, LimbRows, is_considered, limb_at
from cylcollide.kernels.nearest_place import nearest_place
from cylcollide.kernels.ray import dot, subtract
from cylcollide.kernels.thick_surface import nearest_place as place_nearest_to
from cylcollide.query.loops.approach import PAD
from cylcollide.query.loops.blade_touch import ALL_THE_TIME, Blade, blade_of, first_touch, moved
from cylcollide.query.loops.inputs import PointFilters, filter_of
from cylcollide.runtime.compile import compiled_loop, inlined

Query = TypeVar("Query")


class Swept(NamedTuple):
    """The first contacts of n blades."""

    limb: Column[np.int32]  # NO_LIMB for none
    fraction: Column[np.float64]
    undecided: Column[np.bool_]
    position: Vectors  # of the limb


def missed_strokes(n: int) -> Swept:
    """Columns of n blades that touch nothing."""
    undecided, position = np.zeros(n, np.bool_), np.full((n, 3), nan)
    return Swept(np.full(n, NO_LIMB, np.int32), np.full(n, inf), undecided, position)


class Stroke(NamedTuple):
    """A blade, and a ball that contains it throughout its stroke."""

    blade: Blade
    centre: Vector
    reach: float
    resolution: float


Touched: TypeAlias = tuple[float, float, int, float]
"""Time of a blade's first contact, place on the blade, limb, and the earliest time for which nothing is proved."""


@inlined
def stroke_of(blade: Blade, resolution: float) -> Stroke:
    """The stroke of a blade."""
    p, q = moved(blade.p, blade.by_p, 0.5), moved(blade.q, blade.by_q, 0.5)
    c = moved(p, subtract(q, p), 0.5)
    a, b = subtract(blade.p, c), subtract(blade.q, c)
    u, v = subtract(moved(blade.p, blade.by_p, 1.0), c), subtract(moved(blade.q, blade.by_q, 1.0), c)
    reach = sqrt(max(dot(a, a), dot(b, b), dot(u, u), dot(v, v))) + blade.radius + PAD * blade.size
    return Stroke(blade, c, reach, resolution)


@inlined
def may_touch(stroke: Stroke, limb: Limb, growth: float) -> bool:
    """Whether the grown box of a limb intersects the ball and the box around the blade; independent of the tree."""
    low, high = padded_box(limb)
    blade, square, pad = stroke.blade, 0.0, growth + stroke.blade.radius + PAD * (stroke.blade.size + limb.extent)
    p, q = blade.p, blade.q
    u, v = moved(p, blade.by_p, 1.0), moved(q, blade.by_q, 1.0)
    for k in range(3):
        beyond = max(low[k] - stroke.centre[k], stroke.centre[k] - high[k], 0.0)
        square += beyond * beyond
        if min(p[k], q[k], u[k], v[k]) - pad > high[k] or max(p[k], q[k], u[k], v[k]) + pad < low[k]:
            return False
    return square <= (stroke.reach + growth) * (stroke.reach + growth)


@inlined
def earlier(found: Touched, k: int, touch: tuple[float, float, float]) -> Touched:
    """The earlier of the first contact so far and that with limb k; at equal times, that with the lower limb."""
    best, where, touched, is_open = found
    t, s, may_be = touch
    if t < best or (t == best and k < touched):
        best, where, touched = t, s, k
    return best, where, touched, min(is_open, may_be)


@inlined
def write_touched(
    swept: Swept, i: int, stroke: Stroke, found: Touched, place: Callable[[Query, float], Limb], query: Query
) -> None:
    """Write the first contact of blade i; `place` is as in `first_touch`, for the limb that is touched."""
    (t, where, limb, is_open), blade = found, stroke.blade
    swept.limb[i], swept.fraction[i], swept.undecided[i] = limb, t, is_open < t - stroke.resolution
    if limb >= 0:
        a, b = moved(blade.p, blade.by_p, t), moved(blade.q, blade.by_q, t)
        x = moved(a, subtract(b, a), where)
        touched = place(query, t)
        near = nearest_place(x, touched)
        is_known = near.certain and near.distance > 0.0  # inside it would be the nearest place of the surface
        position = near.position if is_known else high_words(place_nearest_to(as_double_double(x), touched))
        swept.position[i, 0], swept.position[i, 1], swept.position[i, 2] = position


@compiled_loop
def sweep_blades(
    ends: tuple[Vectors, Vectors, Vectors, Vectors],
    radius: Column[np.float64],
    resolution: float,
    filters: PointFilters,
    table: LimbRows,
    tree: Tree,
    stack: Stack,
    begin: int,
    end: int,
    swept: Swept,
) -> None:
    """Write the first contacts of blades `begin` to `end`, except the positions of misses.

    `ends`: both ends of each blade before, then after its stroke, (n, 3) each.
    """
    for i in range(begin, end):
        stroke = stroke_of(blade_of(ends, radius[i], i), resolution)
        query, nothing = (stroke, table, filter_of(filters, i)), (inf, 0.0, NO_LIMB, inf)
        found = visit_nearest(tree, stack, stroke.centre, stroke.reach, test_touch, query, nothing)
        write_touched(swept, i, stroke, found, in_table, (table, found[2]))


@inlined
def in_table(query: tuple[LimbRows, int], _: float) -> Limb:
    """A limb at rest."""
    table, limb = query
    return limb_at(table.rows, table.kernel_shape, limb)


@inlined
def test_touch(query: tuple[Stroke, LimbRows, tuple[int, int]], k: int, found: Touched) -> tuple[Touched, float]:
    """The first contact so far including limb k, and how far away other limbs may be."""
    stroke, table, (mask, ignored) = query
    one = table, k
    if is_considered(table.character[k], table.mask[k], mask, ignored) and may_touch(stroke, in_table(one, 0.0), 0.0):
        touch = first_touch(stroke.blade, ALL_THE_TIME, in_table, one, stroke.resolution, min(found[0], 1.0))
        found = earlier(found, k, touch)
    return found, stroke.reach
