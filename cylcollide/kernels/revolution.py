"""The tapered cylinder, the cone and the ellipsoid: solids whose squared radius is quadratic along the axis.

Across the axis the ray is at q + p s, along it at z = height + rate s; inside means Q(s) = |q + p s|² - ρ²(z) <= 0 with
ρ²(z) = g0 + g1 z + g2 z². This carries out Greg James' remark on scaling the radius by the dot product. The limb grows
and shrinks by a change of g0, `slack`, which covers all errors of Q over the limb (`docs/numerics.md`).
"""

from math import inf, sqrt

from cylcollide._types import Face, Shape
from cylcollide.kernels.axis import (
    SurfacePoint,
    axis_of,
    cap_normal,
    centred_aabb,
    disc_half_widths,
    ends_aabb,
    has_safe_axis,
    height_and_distance,
    on_slope,
    slanted_direction,
    slope_of,
)
from cylcollide.kernels.curve import Curve, cap_curve, cap_step, near_root, relative_to, wall_quadratic
from cylcollide.kernels.double_double import (
    DoubleDouble,
    DoubleDoubleVector,
    Vector,
    dd_add,
    dd_dot,
    dd_multiply,
    dd_subtract,
    scaled,
    two_difference,
    two_product,
    vector_difference,
)
from cylcollide.kernels.interval import EVERYTHING, Bracket, Interval, Span, empty, intersection, select_interval
from cylcollide.kernels.limb_table import Limb
from cylcollide.kernels.line import Line, capped, line_about, slab
from cylcollide.kernels.ray import Ray, dot
from cylcollide.runtime.compile import compiled, inlined
from cylcollide.runtime.simd import Real, absolute, broadcast_like, larger, select, smaller, square_root, with_sign

SIDE = float(Face.SIDE)
TAPERED, ELLIPSOID = int(Shape.TAPERED), int(Shape.ELLIPSOID)

BISECTIONS = 120
"""Bisections from the size of a limb to below its last digit, and as many again for a growth near zero."""
SECULAR_STEPS = 8
"""Steps to the place of an ellipsoid that is nearest to a point. Each doubles the correct digits; if they do not
suffice, the bounds stay apart."""
SMALLEST_SHIFT, FLATTEST = 2.0**-100, 1e-300
"""Replace divisors of zero: a shift, relative to the shorter half axis squared, and a slope."""


@inlined
def below_zero(a: Real, b: Real, c: Real, between: Interval, generous: bool) -> Interval:
    """The interval in which a s² + 2 b s + c <= 0. Of two half lines, the one that intersects `between`.

    If both do: everything if `generous`, as for an outer bound, else nothing.
    """
    # both roots without cancellation; of a line (a = 0) the second is the root
    square = b * b - a * c
    real = square >= 0.0
    sum_of_both = -(b + with_sign(square_root(select(real, square, 0.0)), b))
    touching = sum_of_both == 0.0
    one = select(touching, 0.0, sum_of_both / select(a == 0.0, 1.0, a))
    other = select(touching, 0.0, c / select(touching, 1.0, sum_of_both))
    near, far = smaller(one, other), larger(one, other)

    # convex (a > 0): below zero between the roots; concave: outside of them
    bowl = select_interval(real, (near, far), (inf, -inf))
    before, behind = (-inf, near), (far, inf)
    clear_before, clear_behind = empty(intersection(between, before)), empty(intersection(between, behind))
    one_of_them = select_interval(clear_before, behind, before)
    if generous:
        outside = select_interval(clear_before | clear_behind, one_of_them, EVERYTHING)
    else:
        outside = select_interval(clear_before | clear_behind, one_of_them, (inf, -inf))
    dome = select_interval(real, outside, EVERYTHING)
    level = select_interval(c <= 0.0, EVERYTHING, (inf, -inf))
    slope = select_interval(b > 0.0, (-inf, other), (other, inf))
    straight = select_interval(b == 0.0, level, slope)
    return select_interval(a > 0.0, bowl, select_interval(a < 0.0, dome, straight))


@inlined
def moved(interval: Interval, shift: Real) -> Interval:
    """The interval moved by shift."""
    return interval[0] + shift, interval[1] + shift


@inlined
def quadric(line: Line, half_length: Real, radius: Real, g: Vector, between: Bracket) -> Bracket:
    """Bounds of when Q <= 0 on the nappe that intersects `between`; `g`: (g0, g1, g2); `radius`: the limb's largest."""
    g0, g1, g2 = g
    reach = square_root(half_length * half_length + radius * radius)
    slack = 2.0 * line.delta * (2.0 * reach * (1.0 + absolute(g2)) + absolute(g1))
    z, rate = line.height, line.rate
    a = dot(line.p, line.p) - g2 * rate * rate
    b = dot(line.q, line.p) - (0.5 * g1 + g2 * z) * rate
    c = dot(line.q, line.q) - (g0 + (g1 + g2 * z) * z)
    outer = below_zero(a, b, c - slack, moved(between.outer, -line.shift), True)
    inner = below_zero(a, b, c + slack, moved(between.inner, -line.shift), False)
    return Bracket(moved(outer, line.shift), moved(inner, line.shift))


@inlined
def ray_tapered(ray: Ray, limb: Limb) -> Span:
    """Bounds of when the ray's line is inside a tapered cylinder, metres; one nappe of a cone between two caps."""
    half_length, radius1, radius2 = limb.half_length, limb.radius, limb.radius2
    line = line_about(ray, limb)
    mean, slope = 0.5 * (radius1 + radius2), (radius2 - radius1) / (2.0 * half_length)
    caps = slab(line, half_length)
    g = (mean * mean, 2.0 * mean * slope, slope * slope)
    walls = quadric(line, half_length, larger(radius1, radius2), g, caps)
    return capped(walls, caps, line.rate > 0.0)


@inlined
def ray_ellipsoid(ray: Ray, limb: Limb) -> Span:
    """Bounds of when the ray's line is inside an ellipsoid of revolution, ρ² = r² (1 - z² / h²); metres."""
    half_length, radius = limb.half_length, limb.radius
    line = line_about(ray, limb)
    ratio = radius / half_length
    g = (radius * radius, 0.0, -ratio * ratio)
    inside = quadric(line, half_length, radius, g, Bracket(EVERYTHING, EVERYTHING))
    side = broadcast_like(SIDE, ray.limit)
    return Span(inside.outer, inside.inner, side, side)


@inlined
def sloping_quadratic(
    x: DoubleDoubleVector, d: DoubleDoubleVector, axis: DoubleDoubleVector, limb: Limb
) -> tuple[DoubleDouble, DoubleDouble, DoubleDouble]:
    """Coefficients (A, B, C) of A t² + 2 B t + C = a² |m + t n|² - a⁴ ρ²(u), <= 0 within the wall; x from p1."""
    a, b, c = wall_quadratic(x, d, axis)
    top = dd_dot(axis, axis)
    height, rate = dd_dot(x, axis), dd_dot(d, axis)
    a, b, c = dd_multiply(a, top), dd_multiply(b, top), dd_multiply(c, top)
    if limb.kind == TAPERED:
        # a⁴ ρ² = (r1 a² + (r2 - r1) h)² = (start + t change)²
        taper = two_difference(limb.radius2, limb.radius)
        start = dd_add(dd_multiply((limb.radius, broadcast_like(0.0, limb.radius)), top), dd_multiply(taper, height))
        change = dd_multiply(taper, rate)
        return (
            dd_subtract(a, dd_multiply(change, change)),
            dd_subtract(b, dd_multiply(start, change)),
            dd_subtract(c, dd_multiply(start, start)),
        )
    # a⁴ ρ² = 4 r² h (a² - h)
    four = scaled(two_product(limb.radius, limb.radius), 4.0)
    rest = dd_subtract(top, height)
    return (
        dd_add(a, dd_multiply(four, dd_multiply(rate, rate))),
        dd_subtract(b, scaled(dd_multiply(four, dd_multiply(rate, dd_subtract(rest, height))), 0.5)),
        dd_subtract(c, dd_multiply(four, dd_multiply(height, rest))),
    )


@inlined
def sloping_curve(origin: Vector, displacement: DoubleDoubleVector, fraction: Real, limb: Limb, face: float) -> Curve:
    """The `Curve` of the sloping wall along the ray, or of a cap of a tapered cylinder."""
    if face != SIDE:
        return cap_curve(origin, displacement, fraction, limb, face)
    x, axis = relative_to(origin, displacement, fraction, limb.p1), vector_difference(limb.p2, limb.p1)
    a, b, c = sloping_quadratic(x, displacement, axis, limb)
    return Curve(c[0], b[0], a[0], b[0] * b[0])


@inlined
def sloping_step(
    origin: Vector, displacement: DoubleDoubleVector, fraction: float, limb: Limb, face: float, entering: bool
) -> DoubleDouble:
    """The step from the guess to the sloping wall, or to a cap of a tapered cylinder."""
    if face != SIDE:
        return cap_step(origin, displacement, fraction, limb, face)
    x, axis = relative_to(origin, displacement, fraction, limb.p1), vector_difference(limb.p2, limb.p1)
    a, b, c = sloping_quadratic(x, displacement, axis, limb)
    return near_root(a, b, c, entering)


@inlined
def tapered_normal(point: SurfacePoint, face: float) -> Vector:
    """The outward direction, of any length: along the axis on a cap, else at right angles to the sloping wall."""
    if face != SIDE:
        return cap_normal(point, face)
    size = square_root(dot(point.radial, point.radial))
    return slanted_direction(point, point.axis_squared, point.taper_along * size)


@inlined
def ellipsoid_normal(point: SurfacePoint) -> Vector:
    """The outward direction, of any length: the gradient of distance² - 4 r² u (1 - u)."""
    return slanted_direction(point, 1.0, 2.0 * point.radius * point.radius_along * point.middle)


@inlined
def tapered_outside_by(height: Real, distance: Real, limb: Limb) -> Real:
    """Larger of a point's distances beyond the caps and beyond the sloping wall, at right angles to each; metres."""
    h = limb.half_length
    slope = (limb.radius2 - limb.radius) / (2.0 * h)
    wall = 0.5 * (limb.radius + limb.radius2) + slope * height
    return larger(absolute(height) - h, (distance - wall) / square_root(1.0 + slope * slope))


@inlined
def ellipsoid_outside_by(height: Real, distance: Real, limb: Limb) -> Real:
    """The gauge √(distance²/r² + height²/h²) of a point, less 1, times the smaller half axis; metres."""
    h = limb.half_length
    x, z = distance / limb.radius, height / h
    return (square_root(x * x + z * z) - 1.0) * smaller(limb.radius, h)


@inlined
def tapered_distance(height: Real, distance: Real, limb: Limb) -> Real:
    """Signed distance of a point from the surface, negative inside; metres.

    In the half plane of axis and point the limb has three sides: two caps and the wall. Inside, the nearest of their
    lines counts; outside, the nearest side.
    """
    length, (_, _, slant) = 2.0 * limb.half_length, slope_of(limb)
    x, y = height + limb.half_length, distance - limb.radius
    on_wall, off_wall = on_slope(height, distance, limb)
    beyond = larger(larger(-x, x - length), off_wall)
    past_wall = on_wall - smaller(larger(on_wall, 0.0), slant)
    past_rim1, past_rim2 = larger(y, 0.0), larger(distance - limb.radius2, 0.0)
    from_caps = smaller(x * x + past_rim1 * past_rim1, (x - length) * (x - length) + past_rim2 * past_rim2)
    nearest = square_root(smaller(from_caps, off_wall * off_wall + past_wall * past_wall))
    return select(beyond < 0.0, beyond, nearest)


@inlined
def ellipsoid_distance(height: Real, distance: Real, limb: Limb) -> Interval:
    """Bounds of the signed distance of a point from the surface, up to rounding; metres.

    With half axes a, b and the point (x, y) in the half plane, t(x²/(a² + t) + y²/(b² + t) - 1) is at most the squared
    distance for t >= -min(a², b²), and equals it at its maximum (the Lagrange dual). For any t, the place of the
    surface that belongs to t bounds the distance from above.
    """
    a, b, x, y = limb.half_length, limb.radius, absolute(height), distance
    least = smaller(a, b)
    more_a, more_b = (a - least) * (a + least), (b - least) * (b + least)
    ax, by, floor = a * x, b * y, least * least * SMALLEST_SHIFT
    s = ellipse_shift(ax, by, more_a, more_b, least * least)
    t, from_a, from_b = s - least * least, s + more_a, s + more_b
    dual = t * (x * (x / from_a) + y * (y / from_b) - 1.0)
    below = square_root(larger(dual, 0.0))
    # the place (a u, b v) with u² + v² = 1; where s stays at its floor, this gives the coordinate on the shorter axis
    u, v = ax / from_a, by / from_b
    is_medial = s <= floor
    u, v = (
        select(is_medial & (a < b), square_root(larger(1.0 - v * v, 0.0)), u),
        select(is_medial & (a >= b), square_root(larger(1.0 - u * u, 0.0)), v),
    )
    size = square_root(u * u + v * v)
    off_x, off_y = x - a * (u / size), y - b * (v / size)
    above = square_root(off_x * off_x + off_y * off_y)
    # for a point outside, a shift that is still too small bounds the distance from above only
    beyond, far = x / a * (x / a) + y / b * (y / b) > 1.0, t > 0.0
    return (
        select(far, below, select(beyond, 0.0, -above)),
        select(far | beyond, above, -below),
    )


@inlined
def ellipse_shift(ax: Real, by: Real, more_a: Real, more_b: Real, least: Real) -> Real:
    """The s > 0 at which (a x / (s + more_a))² + (b y / (s + more_b))² = 1; near 0 if there is none.

    Newton's method for the reciprocal of the left side's square root. That is concave and increasing, so the steps
    converge from below (J. J. Moré, D. C. Sorensen, "Computing a trust region step", 1983).
    """
    s = larger(larger(ax - more_a, by - more_b), least * SMALLEST_SHIFT)
    for _ in range(SECULAR_STEPS):
        u, v = ax / (s + more_a), by / (s + more_b)
        square = u * u + v * v
        fall = u * u / (s + more_a) + v * v / (s + more_b)
        s = s + larger(square * (square_root(square) - 1.0) / larger(fall, FLATTEST), 0.0)
    return s


@compiled
def ellipsoid_growth_to_reach(point: Vector, limb: Limb) -> float:
    """The growth g at which (distance / (r + g))² + (height / (h + g))² = 1, by bisection; at least -min(r, h)."""
    (height, distance), h, r = height_and_distance(point, limb), limb.half_length, limb.radius
    low, high = -min(r, h), sqrt(distance * distance + height * height)
    for _ in range(BISECTIONS):
        middle = 0.5 * (low + high)
        if not low < middle < high:
            break
        x, z = distance / (r + middle), height / (h + middle)
        if x * x + z * z <= 1.0:
            high = middle
        else:
            low = middle
    return high


@inlined
def tapered_aabb(limb: Limb) -> tuple[Vector, Vector]:
    """Low and high corner around both discs."""
    return ends_aabb(limb, limb.radius, limb.radius2, disc_half_widths(limb))


@inlined
def ellipsoid_aabb(limb: Limb) -> tuple[Vector, Vector]:
    """Low and high corner around the ellipsoid; around its cylinder, if the square of the axis has lost digits."""
    half_widths = disc_half_widths(limb)
    if not has_safe_axis(limb):
        return ends_aabb(limb, limb.radius, limb.radius, half_widths)
    (x, y, z), r, (a, b) = axis_of(limb), limb.radius, (limb.p1, limb.p2)
    reach = (
        sqrt(0.25 * (x * x) + r * r * half_widths[0] * half_widths[0]),
        sqrt(0.25 * (y * y) + r * r * half_widths[1] * half_widths[1]),
        sqrt(0.25 * (z * z) + r * r * half_widths[2] * half_widths[2]),
    )
    return centred_aabb((0.5 * (a[0] + b[0]), 0.5 * (a[1] + b[1]), 0.5 * (a[2] + b[2])), reach)
