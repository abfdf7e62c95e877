"""The first contact of a point that moves along a line with a grown limb: the set of points within R of the limb.

The distance D from the limb is a convex function along the line, except in a tube's bore (`bore.py`). At a point with
nearest place k, a plane through k has the limb behind it, so D is at least the distance from that plane, which is
linear along the line; and D is at most the distance from k. The lower bound crosses R before the contact, the upper
bound after it. Newton's method narrows both (`docs/numerics.md`).
"""

from math import inf

from cylcollide.constants import SLOPE_FLOOR
from cylcollide.kernels.limb_table import Limb
from cylcollide.kernels.line import Line
from cylcollide.kernels.near_line import Near, near_limb
from cylcollide.runtime.compile import inlined
from cylcollide.runtime.simd import (
    Real,
    Truth,
    broadcast_like,
    larger,
    logical_not,
    movemask,
    select,
    smaller,
    square_root,
)

LEAST_STEPS, MOST_STEPS = 6, 32
"""Steps to a contact: two or three suffice except at grazes. After LEAST_STEPS, every second one is a bisection."""

STEEP = 2.0**-20
"""Least sine of the angle of contact for which bounds need be narrow."""

TIGHT = 8.0
"""Bounds are narrow enough if they differ by this many rounding bounds over the sine of the angle of contact."""

PLACE_ERROR = 2.0**-46
"""Bound on the error of a radicand relative to the squared distance from the place, 128 roundings. Seen from a place
many radii away, it is no longer small beside the radius, so without it a contact would be certain too early."""


@inlined
def first_contact(
    line: Line, limb: Limb, begin: Real, end: Real, radius: Real, steps: int
) -> tuple[Real, Real, Real, Truth]:
    """Earliest and latest t, on the line, of the first contact in begin <= t <= end, and the last t of any contact.

    No contact exists if the earliest t is greater than the last one; none is certain if the latest is inf. The fourth
    result is whether more than `steps` steps would narrow the bounds.
    """
    grown, shrunk = radius + line.delta, radius - line.delta
    t, lower, last = begin, begin, end
    upper = broadcast_like(inf, begin)
    is_open = begin <= end
    for n in range(steps):
        if steps > 1 and movemask(is_open) == 0:
            break
        near = near_limb(line, limb, t)
        # the plane is farther away than the radius on one side of its crossing
        falling = near.rate < 0.0
        rate = select(falling, smaller(near.rate, -SLOPE_FLOOR), larger(near.rate, SLOPE_FLOOR))
        crossing = t + (grown - near.height) * near.unit / rate
        lower = select(is_open & falling, larger(lower, crossing), lower)
        last = select(is_open & logical_not(falling), smaller(last, crossing), last)
        touched = certain_contact(near, shrunk, t, begin, end)
        upper = select(is_open, smaller(upper, touched), upper)
        top = smaller(upper, last)
        # the slope of D at lower, times height and unit: from there to t it changes by at most (t - lower) / D
        height = larger(near.height, line.delta)
        steep = larger(-rate, STEEP * near.unit) * height + larger(t - lower, 0.0) * near.unit
        wide = (upper - lower) * steep > TIGHT * line.delta * height * near.unit
        step = newton_step(near, radius)
        halved = 0.5 * (lower + top)
        step = select(near.square > 0.0, larger(lower, smaller(t + step, top)), halved)
        t = select(is_open, select(n > LEAST_STEPS and n % 2 == 1, halved, step), t)
        is_open = is_open & (lower <= last) & wide & (upper > begin)
    return lower, upper, last, is_open


@inlined
def certain_contact(near: Near, radius: Real, t: Real, begin: Real, end: Real) -> Real:
    """The first t from `begin` on at which the point is within `radius` of the given place; inf if there is none.

    The squared distance from a fixed place is s² + 2 b s + square at t + s.
    """
    b, c = near.half_slope, near.square - radius * radius
    radicand = b * b - c - PLACE_ERROR * near.square
    root = square_root(larger(radicand, 0.0))
    first = larger(t - (b + root), begin)
    exists = (radius > 0.0) & (radicand >= 0.0) & (first <= smaller(t + (root - b), end))
    return select(exists, first, inf)


@inlined
def newton_step(near: Near, radius: Real) -> Real:
    """The step to the first root of a s² + 2 b s + square = radius², or, if it has none, to its least value."""
    a, b, c = larger(near.curvature, SLOPE_FLOOR), near.half_slope, near.square - radius * radius
    radicand = b * b - a * c
    root = square_root(larger(radicand, 0.0))
    ahead = (b < 0.0) & (radicand >= 0.0)
    return select(ahead, c, -(b + root)) / select(ahead, larger(root - b, SLOPE_FLOOR), a)
