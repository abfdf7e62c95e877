"""The nearest place of a limb's profile to a point of the half plane of axis and point, in double-double.

A point is at a height above p1, along the axis, and at a distance from the axis. A comparison that errors may reverse
is uncertain: `exact/` decides it.
"""

from typing import NamedTuple

from cylcollide._types import Face, Shape
from cylcollide.kernels.double_double import (
    DoubleDouble,
    dd_add,
    dd_divide,
    dd_multiply,
    dd_square_root,
    dd_subtract,
    scaled,
    two_difference,
    two_product,
)
from cylcollide.kernels.limb_table import Limb
from cylcollide.kernels.revolution import ellipse_shift
from cylcollide.runtime.compile import compiled, inlined

SIDE, CAP1, CAP2, BORE = float(Face.SIDE), float(Face.CAP1), float(Face.CAP2), float(Face.BORE)
TUBE, TAPERED = int(Shape.TUBE), int(Shape.TAPERED)

ZERO, ONE, MINUS_ONE = (0.0, 0.0), (1.0, 0.0), (-1.0, 0.0)
MOST_STEPS, CONVERGED = 8, 2.0**-92
"""Limit of Newton steps to a place of an ellipse, and the residual of the ellipse's equation at which they end."""
CLOSE_TO_AXIS = 2.0**50
"""In units of the error bound: a point inside that is closer to the longer axis is left to exact arithmetic."""
NOWHERE = (-(2.0**400), 0.0)
"""Stands for the distance beyond a side that does not exist."""


class AboutAxis(NamedTuple):
    """A point in coordinates about the axis of a limb."""

    height: DoubleDouble  # along the axis, from p1
    below: float  # sign of the height: -1, 0, 1, or UNKNOWN
    above: float  # sign of the height above p2
    distance: DoubleDouble  # from the axis
    is_on_axis: bool  # certainly; false proves nothing
    length: DoubleDouble  # of the axis
    error: float  # bound of the errors of all these, metres


UNKNOWN = 2.0
"""A sign that rounding errors may reverse."""


class Foot(NamedTuple):
    """The nearest place: the vector from there to the point is distance times the direction."""

    certain: bool
    distance: DoubleDouble  # negative inside
    along: DoubleDouble  # the outward unit direction: along the axis,
    across: DoubleDouble  # and away from it
    face: float


@inlined
def to_place(x: DoubleDouble, y: DoubleDouble, face: float, error: float) -> Foot:
    """The foot of a point outside that is at (x, y) from it, along and across the axis."""
    distance = dd_square_root(dd_add(dd_multiply(x, x), dd_multiply(y, y)))
    if not distance[0] > error:
        return Foot(False, ZERO, ZERO, ZERO, face)
    return Foot(True, distance, dd_divide(x, distance), dd_divide(y, distance), face)


@compiled
def foot_on_walls(at: AboutAxis, limb: Limb) -> Foot:
    """The foot on a cylinder, a tube or a tapered cylinder: on one of the caps, the wall or the bore, or a rim."""
    radius1, bore = limb.radius, limb.radius2 if limb.kind == TUBE else 0.0
    radius2 = limb.radius2 if limb.kind == TAPERED else limb.radius
    past_rim1 = past_rim2 = dd_subtract(at.distance, (radius1, 0.0))
    if radius2 != radius1:
        past_rim2 = dd_subtract(at.distance, (radius2, 0.0))
    in_bore = dd_subtract(at.distance, (bore, 0.0)) if bore > 0.0 else ONE
    over = dd_subtract(at.height, at.length)
    if at.below == UNKNOWN or at.above == UNKNOWN:
        return Foot(False, ZERO, ZERO, ZERO, SIDE)
    # exactly on a cap, or an apex
    if at.below == 0.0 and in_bore[0] > at.error and (past_rim1[0] < -at.error or at.is_on_axis):
        return Foot(True, ZERO, MINUS_ONE, ZERO, CAP1)
    if at.above == 0.0 and in_bore[0] > at.error and (past_rim2[0] < -at.error or at.is_on_axis):
        return Foot(True, ZERO, ONE, ZERO, CAP2)
    # in front of a cap or of the bore's opening
    if at.below <= 0.0 and past_rim1[0] <= 0.0:
        return to_place(at.height, in_bore if in_bore[0] < 0.0 else ZERO, CAP1, at.error)
    if at.above >= 0.0 and past_rim2[0] <= 0.0:
        return to_place(over, in_bore if in_bore[0] < 0.0 else ZERO, CAP2, at.error)
    # the wall's line through both rims; a cylinder's is along the axis
    taper, off_wall, along, across = two_difference(radius2, radius1), past_rim1, ZERO, ONE
    first, last = at.below, at.above
    if taper[0] != 0.0:
        square = dd_add(dd_multiply(at.length, at.length), dd_multiply(taper, taper))
        slant = dd_square_root(square)
        on_wall = dd_add(dd_multiply(at.height, at.length), dd_multiply(past_rim1, taper))
        off_wall = dd_subtract(dd_multiply(past_rim1, at.length), dd_multiply(at.height, taper))
        off_wall = dd_divide(off_wall, slant)
        along, across = dd_divide((-taper[0], -taper[1]), slant), dd_divide(at.length, slant)
        first = sign_beyond(on_wall, at.error * slant[0])
        last = sign_beyond(dd_subtract(on_wall, square), at.error * slant[0])
    if at.below > 0.0 and at.above < 0.0 and off_wall[0] < 0.0:
        if in_bore[0] < 0.0:
            return Foot(-in_bore[0] > at.error, (-in_bore[0], -in_bore[1]), ZERO, MINUS_ONE, BORE)
        off_bore = (-in_bore[0], -in_bore[1]) if bore > 0.0 else NOWHERE
        return nearest_side(at.height, over, off_wall, (along, across), off_bore, at.error)
    if first == UNKNOWN or last == UNKNOWN:
        return Foot(False, ZERO, ZERO, ZERO, SIDE)
    if first <= 0.0:
        return to_place(at.height, past_rim1, CAP1, at.error)
    if last >= 0.0:
        return to_place(over, past_rim2, CAP2, at.error)
    return Foot(off_wall[0] > at.error, off_wall, along, across, SIDE)


@inlined
def sign_beyond(value: DoubleDouble, error: float) -> float:
    """The sign of a value that may be off by an error, or UNKNOWN."""
    return 1.0 if value[0] > error else -1.0 if value[0] < -error else UNKNOWN


@compiled
def nearest_side(
    height: DoubleDouble,
    over: DoubleDouble,
    off_wall: DoubleDouble,
    wall: tuple[DoubleDouble, DoubleDouble],
    off_bore: DoubleDouble,
    error: float,
) -> Foot:
    """The foot of a point inside: uncertain if two sides are equally near, or the point is on one."""
    best, second = off_wall, off_bore
    foot = Foot(True, best, wall[0], wall[1], SIDE)
    if second[0] > best[0]:
        best, second, foot = second, best, Foot(True, second, ZERO, MINUS_ONE, BORE)
    below = (-height[0], -height[1])
    for k in range(2):
        depth = below if k == 0 else over
        if dd_subtract(depth, best)[0] > 0.0:
            second, best = best, depth
            foot = Foot(True, depth, MINUS_ONE if k == 0 else ONE, ZERO, CAP1 if k == 0 else CAP2)
        elif dd_subtract(depth, second)[0] > 0.0:
            second = depth
    apart = dd_subtract(best, second)[0] > error
    return Foot(apart and best[0] < -error, foot.distance, foot.along, foot.across, foot.face)


@compiled
def foot_on_ellipse(at: AboutAxis, limb: Limb) -> Foot:
    """The foot on an ellipsoid: at (a² x / (a² + t), b² y / (b² + t)), its outward direction (x/(a² + t), y/(b² + t)).

    t is found from the condition that the foot is on the ellipse, by Newton's method in double-double.
    """
    half, radius = scaled(at.length, 0.5), limb.radius
    x, y = dd_subtract(at.height, half), at.distance
    upper = x[0] >= 0.0
    x = x if upper else (-x[0], -x[1])
    square_a, square_b = dd_multiply(half, half), two_product(radius, radius)
    difference = dd_subtract(square_a, square_b)
    least = square_b if difference[0] > 0.0 else square_a
    more_a = difference if difference[0] > 0.0 else ZERO
    more_b = (-difference[0], -difference[1]) if difference[0] < 0.0 else ZERO
    if at.is_on_axis:
        return foot_on_ellipse_from_axis(at, x, half, dd_divide(difference, half), upper, radius)
    ax, by = dd_multiply(half, x), dd_multiply((radius, 0.0), y)
    s, converged = (ellipse_shift(ax[0], by[0], more_a[0], more_b[0], least[0]), 0.0), False
    for _ in range(MOST_STEPS):
        from_a, from_b = dd_add(s, more_a), dd_add(s, more_b)
        u, v = dd_divide(ax, from_a), dd_divide(by, from_b)
        square_u, square_v = dd_multiply(u, u), dd_multiply(v, v)
        off = dd_subtract(dd_add(square_u, square_v), ONE)
        if abs(off[0]) <= CONVERGED:
            converged = True
            break
        s = dd_add(s, (0.5 * off[0] / (square_u[0] / from_a[0] + square_v[0] / from_b[0]), 0.0))
    shorter = x[0] if more_b[0] > 0.0 else y[0]
    if not (converged and (s[0] >= 0.5 * least[0] or shorter > CLOSE_TO_AXIS * at.error)):
        return Foot(False, ZERO, ZERO, ZERO, SIDE)
    t, along, across = dd_subtract(s, least), dd_divide(x, dd_add(s, more_a)), dd_divide(y, dd_add(s, more_b))
    steep = dd_square_root(dd_add(dd_multiply(along, along), dd_multiply(across, across)))
    distance, along, across = dd_multiply(t, steep), dd_divide(along, steep), dd_divide(across, steep)
    return Foot(abs(distance[0]) > at.error, distance, along if upper else (-along[0], -along[1]), across, SIDE)


@inlined
def foot_on_ellipse_from_axis(
    at: AboutAxis, x: DoubleDouble, half: DoubleDouble, focal: DoubleDouble, upper: bool, radius: float
) -> Foot:
    """`foot_on_ellipse` of a point on the axis, at x from the middle: an end of the axis, or the equator.

    An end of the axis is nearest from x = `focal` on; for smaller x only the middle is decided.
    """
    end = ONE if upper else MINUS_ONE
    if at.below == 0.0 or at.above == 0.0:
        return Foot(True, ZERO, end, ZERO, SIDE)
    if abs(x[0]) <= at.error:
        return Foot(focal[0] > at.error, (-radius, 0.0), ZERO, ONE, SIDE)
    distance = dd_subtract(x, half)
    return Foot(abs(distance[0]) > at.error and dd_subtract(x, focal)[0] > at.error, distance, end, ZERO, SIDE)
