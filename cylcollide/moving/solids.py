"""Each shape on a window of a tick interval: polynomials of the time, not positive where the bullet is in the limb.

With the bullet at y from the middle of the axis, and h half the axis, both affine in the time, all polynomials follow
from three quadratics, A = h·h, H = y·h, Y = y·y:

- caps: ±H - A, the slab after Greg James, "Fast Point-In-Cylinder Test": one dot product, tested first;
- cylinder: A Y - H² - r² A, the squared distance from the axis (a quartic);
- tapered cylinder, cone: A (A Y - H²) - (r A + s H)², r the mean radius and s half their difference (a sextic);
- ellipsoid: A (A Y - H²) - r² (A² - H²); balls of a capsule: Y ± 2 H + A - r².

A limb is where all of its polynomials are <= 0 (a capsule: all of one of its parts). `docs/moving.md` derives it, and
the errors of the coefficients (`Errors`).
"""

from typing import NamedTuple, TypeAlias

from cylcollide._types import Face, Shape
from cylcollide.kernels.double_double import Vector
from cylcollide.kernels.interval import UNDECIDED_FACE
from cylcollide.kernels.ray import dot
from cylcollide.moving.bernstein import (
    NO_CROSSING,
    Quadratic,
    Quartic,
    Sextic,
    SignBounds,
    as_quartic,
    as_sextic,
    intersection,
    least,
    polynomial_signs,
    product,
    quartic_difference,
    sextic_difference,
    sextic_product,
    square,
    union,
)
from cylcollide.runtime.compile import compiled, inlined
from cylcollide.runtime.simd import Real, Truth, select, smaller

SIDE, CAP1, CAP2, BORE = float(Face.SIDE), float(Face.CAP1), float(Face.CAP2), float(Face.BORE)
CYLINDER, TUBE, TAPERED = int(Shape.CYLINDER), int(Shape.TUBE), int(Shape.TAPERED)
ELLIPSOID, CAPSULE, SPHERE = int(Shape.ELLIPSOID), int(Shape.CAPSULE), int(Shape.SPHERE)


Affine: TypeAlias = tuple[Vector, Vector]
"""A vector at both ends of a time interval, affine in the time in between."""

Window: TypeAlias = tuple[Affine, Affine]
"""Bullet and limb in an interval or a part of it: the bullet relative to the axis' middle, and half the axis, to p2."""

Crossing: TypeAlias = tuple[SignBounds, Real]
"""Where in a window the bullet is certainly outside or inside, and the face through which it would enter.

The face is `UNDECIDED_FACE` if the window does not decide it.
"""


class Errors(NamedTuple):
    """Bounds on the errors of coefficients, all rounding included."""

    cap: Real
    ball: Real
    wall: Real  # of a cylinder
    slope: Real  # of a tapered cylinder or an ellipsoid


@inlined
def mixed(a: Affine, b: Affine) -> Quadratic:
    """Scalar product of two affine vectors."""
    return dot(a[0], b[0]), 0.5 * (dot(a[0], b[1]) + dot(a[1], b[0])), dot(a[1], b[1])


@inlined
def squared(a: Affine) -> Quadratic:
    """Square of an affine vector."""
    return dot(a[0], a[0]), dot(a[0], a[1]), dot(a[1], a[1])


@inlined
def less(a: Quadratic, number: Real) -> Quadratic:
    """A - number."""
    return a[0] - number, a[1] - number, a[2] - number


@inlined
def difference(a: Quadratic, b: Quadratic) -> Quadratic:
    """A - b."""
    return a[0] - b[0], a[1] - b[1], a[2] - b[2]


@inlined
def negative_sum(a: Quadratic, b: Quadratic) -> Quadratic:
    """-(a + b)."""
    return -a[0] - b[0], -a[1] - b[1], -a[2] - b[2]


@compiled
def window_crossing(window: Window, kind: int, radius: Real, radius2: Real, errors: Errors) -> Crossing:
    """The `Crossing` of a bullet and a limb of any kind but a box."""
    if kind == SPHERE:
        return polynomial_signs(less(squared(window[0]), radius * radius), errors.ball), SIDE
    if kind == CAPSULE:
        return capsule_crossing(window, radius, errors)
    if kind == ELLIPSOID:
        return ellipsoid_crossing(window, radius, errors)
    if kind in (CYLINDER, TUBE, TAPERED):
        return capped_crossing(window, kind, radius, radius2, errors)
    return SignBounds(0.0, 1.0, False, False, False, NO_CROSSING), UNDECIDED_FACE  # nothing is known


@compiled
def is_outside(window: Window, kind: int, radius: Real, radius2: Real, errors: Errors) -> Truth:
    """Whether the bullet is certainly outside of a limb, any but a box, all along a window; no branch in lanes."""
    s, y = radius * radius, squared(window[0])
    if kind == SPHERE:
        return least(less(y, s)) > errors.ball
    a, h = squared(window[1]), mixed(window[0], window[1])
    distance = quartic_difference(product(a, y), square(h))
    if kind == ELLIPSOID:
        return least(ellipsoid_wall(a, h, distance, radius)) > errors.slope
    beyond = (least(negative_sum(h, a)) > errors.cap) | (least(difference(h, a)) > errors.cap)
    if kind == TAPERED:
        return beyond | (least(taper_wall(a, h, distance, radius, radius2)) > errors.slope)
    outside = beyond | (least(quartic_difference(distance, as_quartic(a, s))) > errors.wall)
    if kind == CAPSULE:
        ball1, ball2 = end_balls(a, h, y, s)
        return outside & (least(ball1) > errors.ball) & (least(ball2) > errors.ball)
    if kind == TUBE:
        bore = quartic_difference(as_quartic(a, radius2 * radius2), distance)
        return outside | (least(bore) > errors.wall)
    if kind == CYLINDER:
        return outside
    return errors.wall < 0.0  # never


@inlined
def capped_crossing(window: Window, kind: int, radius: Real, radius2: Real, errors: Errors) -> Crossing:
    """The bullet and a cylinder, a tube or a tapered cylinder; for most windows, the caps suffice."""
    a, h = squared(window[1]), mixed(window[0], window[1])
    first = polynomial_signs(negative_sum(h, a), errors.cap)
    second = polynomial_signs(difference(h, a), errors.cap)
    caps = intersection(first, second)
    if caps.positive_until >= 1.0:
        return caps, UNDECIDED_FACE
    distance = quartic_difference(product(a, squared(window[0])), square(h))
    if kind == TAPERED:
        side = polynomial_signs(taper_wall(a, h, distance, radius, radius2), errors.slope)
    else:
        side = polynomial_signs(quartic_difference(distance, as_quartic(a, radius * radius)), errors.wall)
    whole, face = intersection(caps, side), entered_face(first, second, side)
    if kind != TUBE:
        return whole, face
    bore = polynomial_signs(quartic_difference(as_quartic(a, radius2 * radius2), distance), errors.wall)
    return intersection(whole, bore), select(whole.negative, BORE, select(bore.negative, face, UNDECIDED_FACE))


@inlined
def entered_face(first: SignBounds, second: SignBounds, side: SignBounds) -> Real:
    """The only face of a capped solid left to enter through, if the bounds of the others hold all along a window."""
    cap = select(side.negative & second.negative, CAP1, select(side.negative & first.negative, CAP2, UNDECIDED_FACE))
    return select(first.negative & second.negative, SIDE, cap)


@inlined
def taper_wall(a: Quadratic, h: Quadratic, distance: Quartic, radius: Real, radius2: Real) -> Sextic:
    """The sloping wall of a tapered cylinder."""
    mean, slope = 0.5 * (radius + radius2), 0.5 * (radius2 - radius)
    width = (mean * a[0] + slope * h[0], mean * a[1] + slope * h[1], mean * a[2] + slope * h[2])
    return sextic_difference(sextic_product(distance, a), as_sextic(square(width)))


@inlined
def ellipsoid_wall(a: Quadratic, h: Quadratic, distance: Quartic, radius: Real) -> Sextic:
    """The surface of an ellipsoid of revolution."""
    x, y, z, v, w = quartic_difference(square(a), square(h))
    s = radius * radius
    room = as_sextic((s * x, s * y, s * z, s * v, s * w))
    return sextic_difference(sextic_product(distance, a), room)


@inlined
def ellipsoid_crossing(window: Window, radius: Real, errors: Errors) -> Crossing:
    """The bullet and an ellipsoid of revolution. The bullet may enter it without a face where the axis vanishes."""
    a, h = squared(window[1]), mixed(window[0], window[1])
    distance = quartic_difference(product(a, squared(window[0])), square(h))
    has_axis = least(a) > errors.cap
    side = polynomial_signs(ellipsoid_wall(a, h, distance, radius), errors.slope)
    return side, select(has_axis, SIDE, UNDECIDED_FACE)


@inlined
def capsule_crossing(window: Window, radius: Real, errors: Errors) -> Crossing:
    """The bullet and a capsule: a ball around each end, or the cylinder between the ends."""
    a, h, y = squared(window[1]), mixed(window[0], window[1]), squared(window[0])
    s = radius * radius
    first = polynomial_signs(negative_sum(h, a), errors.cap)
    second = polynomial_signs(difference(h, a), errors.cap)
    wall = polynomial_signs(
        quartic_difference(quartic_difference(product(a, y), square(h)), as_quartic(a, s)), errors.wall
    )
    end1, end2 = end_balls(a, h, y, s)
    ball1, ball2 = polynomial_signs(end1, errors.ball), polynomial_signs(end2, errors.ball)
    whole = union(intersection(intersection(first, second), wall), union(ball1, ball2))
    return whole, zone(a, h, errors.cap, first, second)


@inlined
def end_balls(a: Quadratic, h: Quadratic, y: Quadratic, s: Real) -> tuple[Quadratic, Quadratic]:
    """The balls around both ends of a capsule's axis; s is the square of their radius."""
    about = (y[0] + a[0] - s, y[1] + a[1] - s, y[2] + a[2] - s)
    return (
        (about[0] + 2.0 * h[0], about[1] + 2.0 * h[1], about[2] + 2.0 * h[2]),
        (about[0] - 2.0 * h[0], about[1] - 2.0 * h[1], about[2] - 2.0 * h[2]),
    )


@inlined
def zone(a: Quadratic, h: Quadratic, error: Real, first: SignBounds, second: SignBounds) -> Real:
    """The face of a capsule nearest to the bullet all along a window: a ball's beyond its end of the axis."""
    before = smaller(smaller(-h[0] - a[0], -h[1] - a[1]), -h[2] - a[2]) > error
    behind = smaller(smaller(h[0] - a[0], h[1] - a[1]), h[2] - a[2]) > error
    end = select(before, CAP1, select(behind, CAP2, UNDECIDED_FACE))
    return select(first.negative & second.negative, SIDE, end)
