"""The loops over rays and their clearance: from one given limb each, and from the limb that needs the least growth.

For rays in the past, limbs are placed at the time of each ray.

If the numbers of a limb are not certain, its ray is left OPEN: `query.clearance` computes it with fractions.
"""

from math import inf, nan, sqrt
from typing import TypeAlias

import numpy as np

from cylcollide._types import NO_LIMB, POLICY_HIT, Column, RayNumbers
from cylcollide.bvh.layout import Tree
from cylcollide.bvh.near_points import visit_nearest_to_segment
from cylcollide.bvh.traverse import Stack
from cylcollide.kernels.about_limb import line_about_limb
from cylcollide.kernels.clearance import SLACK, ball_radius, corner_speed, touching_growth
from cylcollide.kernels.distance import distance_bounds
from cylcollide.kernels.double_double import Vector
from cylcollide.kernels.limb_table import Limb, LimbRows, is_considered, limb_at
from cylcollide.kernels.ray import Rays, as_vector, dot, limit_of
from cylcollide.query.loops.inputs import RayBatch, filter_of
from cylcollide.query.loops.recorded_candidates import tree_at
from cylcollide.query.loops.recorded_nearest import AtMoment, PastPoints, at_moment, is_placed_near
from cylcollide.runtime.compile import compiled, compiled_loop, inlined

OPEN = -2
"""In place of a limb's row: left to `query.clearance`."""


Cleared: TypeAlias = tuple[Column[np.float64], Column[np.int32]]
"""The least growth at which a limb touches each of n rays, 0 or more, inf without a limb; its limb, NO_LIMB or OPEN."""


def nothing_cleared(n: int) -> Cleared:
    """Columns of n rays without a limb."""
    return np.full(n, inf), np.full(n, NO_LIMB, np.int32)


Best: TypeAlias = tuple[float, int]
"""The least growth so far, and the limb, or OPEN."""

NO_BEST: Best = (inf, NO_LIMB)


@inlined
def ray_line(rays: Rays, i: int) -> RayNumbers:
    """Ray i."""
    return RayNumbers(as_vector(rays.origin, i), as_vector(rays.second, i), rays.is_segment, limit_of(rays, i))


@inlined
def step_of(line: RayNumbers) -> Vector:
    """The displacement for a fraction of 1."""
    (x, y, z), (u, v, w) = line.origin, line.second
    return (u - x, v - y, w - z) if line.is_segment else line.second


@compiled
def less_growth(line: RayNumbers, limb: Limb, k: int, skips: bool, memory: Column[np.float64], best: Best) -> Best:
    """The better of limb k and the best one so far; `skips`: a limb in which the ray starts does not count."""
    least, row = best
    if row == OPEN:
        return best
    about = line_about_limb(line, limb, memory)
    if not about.certain:
        return -1.0, OPEN
    beyond = least * about.unit
    distance = sqrt(dot(about.place, about.place)) - ball_radius(about.limb)
    if distance - SLACK * (1.0 + distance) > beyond * corner_speed(about.limb):
        return best
    growth, _ = touching_growth(about.place, about.direction, -about.before, about.behind, about.limb, beyond)
    growth /= about.unit
    if not growth > -inf:  # its shape is not supported here
        return -1.0, OPEN
    if growth <= 0.0 and skips:
        lower, upper = distance_bounds(line.origin, limb)
        if upper <= 0.0:
            return best
        if lower <= 0.0:
            return -1.0, OPEN
    growth = max(growth, 0.0)
    return (growth, k) if growth < least or (growth == least and k < row) else best


@inlined
def reach_of(best: Best, fastest: float) -> float:
    """How far away a limb may be that is as good as the best; `fastest`: upper bound of the speed of corners."""
    return best[0] * fastest if best[0] > 0.0 else 0.0


@compiled_loop
def fastest_of(table: LimbRows) -> float:
    """Upper bound of how far any corner of the limbs moves as they grow by 1."""
    fastest = 0.0
    for k in range(table.kernel_shape.size):
        fastest = max(fastest, corner_speed(limb_at(table.rows, table.kernel_shape, k)))
    return fastest * (1.0 + SLACK)


@compiled_loop
def find_clearances(
    table: LimbRows,
    tree: Tree,
    batch: RayBatch,
    rows: Column[np.int64],
    fastest: float,
    stack: Stack,
    memory: Column[np.float64],
    begin: int,
    end: int,
    growth: Column[np.float64],
    limb: Column[np.int32],
) -> None:
    """Write the limb that needs the least growth to touch each ray of `rows[begin:end]`: `growth`, `limb` (`Cleared`).

    `fastest`: `fastest_of` the limbs. `memory`: a buffer of TERMS numbers.
    """
    skips = batch.policy != POLICY_HIT
    for k in range(begin, end):
        line, (mask, ignored) = ray_line(batch.rays, rows[k]), filter_of(batch, rows[k])
        query = line, table, mask, ignored, skips, fastest, memory
        best = visit_nearest_to_segment(
            tree, stack, line.origin, step_of(line), line.limit, inf, test_growth, query, NO_BEST
        )
        growth[k], limb[k] = best


@inlined
def test_growth(
    query: tuple[RayNumbers, LimbRows, int, int, bool, float, Column[np.float64]], k: int, best: Best
) -> tuple[Best, float]:
    """The best limb including limb k, and how far away a better one may be."""
    line, table, mask, ignored, skips, fastest, memory = query
    if is_considered(table.character[k], table.mask[k], mask, ignored):
        best = less_growth(line, limb_at(table.rows, table.kernel_shape, k), k, skips, memory, best)
    return best, reach_of(best, fastest)


@compiled_loop
def find_clearances_recorded(
    batch: RayBatch,
    past: PastPoints,
    rows: Column[np.int64],
    fastest: float,
    stack: Stack,
    placed: LimbRows,
    memory: Column[np.float64],
    begin: int,
    end: int,
    growth: Column[np.float64],
    limb: Column[np.int32],
) -> None:
    """`find_clearances` of rays at their times; `past` holds the start of each, its tick and alpha.

    `growth` and `limb` hold no limbs on entry, `fastest` may be infinite, `stack` is for the largest tree.
    """
    skips = batch.policy != POLICY_HIT
    for k in range(begin, end):
        i = rows[k]
        if past.tick[i] >= 0:
            line, tree = ray_line(batch.rays, i), tree_at(past.recorded, past.tick[i], stack.code.size)
            query = line, at_moment(past, i, placed), skips, fastest, memory
            reach = past.reach[0]
            best = visit_nearest_to_segment(
                tree, stack, line.origin, step_of(line), line.limit, reach, test_placed_growth, query, NO_BEST
            )
            growth[k], limb[k] = best


@inlined
def test_placed_growth(
    query: tuple[RayNumbers, AtMoment, bool, float, Column[np.float64]], row: int, best: Best
) -> tuple[Best, float]:
    """The best limb including this row, and how far away a better one may be."""
    line, at, skips, fastest, memory = query
    if is_placed_near(at, row):
        best = less_growth(line, limb_at(at[4].rows, at[4].kernel_shape, 0), row, skips, memory, best)
    return best, reach_of(best, fastest)


@compiled_loop
def write_growths(
    rays: Rays, table: LimbRows, limb: Column[np.int32], memory: Column[np.float64], growth: Column[np.float64]
) -> None:
    """Write the growth at which ray i touches its limb, negative for a hit; nan without one, or if not certain."""
    for i in range(limb.size):
        growth[i] = nan
        if limb[i] != NO_LIMB:
            about = line_about_limb(ray_line(rays, i), limb_at(table.rows, table.kernel_shape, limb[i]), memory)
            if about.certain:
                first, last = -about.before, about.behind
                growth[i], _ = touching_growth(about.place, about.direction, first, last, about.limb, inf)
                growth[i] /= about.unit
