"""The order in which a ray enters pieces of limbs: by bounds, else by the numbers of the limbs."""

from typing import TypeAlias

from cylcollide._types import POLICY_HIT
from cylcollide.kernels.hit_bounds import span_of
from cylcollide.kernels.inside_policy import HitBounds, ray_hit_bounds
from cylcollide.kernels.interval import UNDECIDED_FACE, Span
from cylcollide.kernels.limb_table import LimbRows, limb_at
from cylcollide.kernels.ray import Ray
from cylcollide.kernels.thick import touches_between_edges
from cylcollide.kernels.ties import EARLIER, TIED, UNKNOWN, hit_order
from cylcollide.runtime.compile import compiled, inlined, noinline

TimeBounds: TypeAlias = tuple[float, float]
"""The earliest and the latest time at which a ray may enter a limb."""


@noinline
def piece_span(ray: Ray, table: LimbRows, code: int) -> Span:
    """Bounds of when a ray is in a piece of a limb; not inlined, for callers that rarely need it."""
    return span_of(ray, limb_at(table.rows, table.kernel_shape, code // 2), code % 2)


@inlined
def precedes(ray: Ray, table: LimbRows, code: int, times: TimeBounds, other: int, others: TimeBounds) -> bool:
    """Whether a ray enters a piece before another one, by the latest times; by index for starts inside and ties."""
    (lower, upper), (earliest, latest) = times, others
    is_overlap = upper > 0.0 and lower <= latest and earliest <= upper
    order = entry_order(ray, table, code, other) if is_overlap else UNKNOWN
    if order == TIED or (order == UNKNOWN and upper == latest):
        return code < other
    return order == EARLIER or bool(order == UNKNOWN and upper < latest)


@noinline
def entry_order(ray: Ray, table: LimbRows, one: int, other: int) -> int:
    """The order in which a ray enters two pieces, as far as the numbers of their limbs prove it."""
    rows, shapes, k, j = table.rows, table.kernel_shape, one // 2, other // 2
    if one % 2 != other % 2:  # of tubes
        return UNKNOWN
    if hit_order(rows, shapes, (k, UNDECIDED_FACE), (j, UNDECIDED_FACE), False, False, False) == TIED:  # equal limbs
        return TIED
    (bounds, is_flat), (others, other_is_flat) = entry_of(ray, table, one), entry_of(ray, table, other)
    if not (bounds.certain and others.certain):
        return UNKNOWN
    have_planes = is_flat and other_is_flat
    return hit_order(rows, shapes, (k, bounds.face), (j, others.face), have_planes, True, False)


@compiled
def entry_of(ray: Ray, table: LimbRows, code: int) -> tuple[HitBounds, bool]:
    """The entry of a ray into a piece, and whether a face of a box that it enters determines a plane."""
    limb, bounds = code // 2, ray_hit_bounds(ray, piece_span(ray, table, code), POLICY_HIT)
    return bounds, ray.radius == 0.0 or touches_between_edges(
        ray, limb_at(table.rows, table.kernel_shape, limb), bounds
    )
