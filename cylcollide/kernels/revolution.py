"""When is a ray inside a solid whose squared radius is a quadratic of the axial place: taper, cone, ellipsoid?

Across the axis the ray is at q + p s, along it at z = height + rate s; inside means Q(s) = |q + p s|² - ρ²(z) <= 0 with
ρ²(z) = g0 + g1 z + g2 z². That is Greg James' remark on scaling the radius by the dot product, carried through. Growing
and shrinking the limb is done on g0: by `slack`, which covers all errors of Q over the limb (`docs/numerics.md`).
"""

from math import inf, sqrt

from cylcollide._types import Face
from cylcollide.kernels.cylinder import capped
from cylcollide.kernels.interval import EVERYTHING, NOTHING, Bracket, Interval, Span, empty, intersection
from cylcollide.kernels.line import Frame, Line, line_about, slab
from cylcollide.kernels.ray import Ray, dot
from cylcollide.simd import compiled

SIDE = int(Face.SIDE)


@compiled
def quadratic_roots(a: float, b: float, c: float) -> tuple[float, float]:
    """Roots of a s² + 2 b s + c, a not 0, b² >= a c, the smaller first; each right for a nearby quadratic."""
    root = sqrt(b * b - a * c)
    if root == 0.0 and b == 0.0:
        return 0.0, 0.0
    larger = -(b + root) if b > 0.0 else root - b
    first, second = larger / a, c / larger
    return min(first, second), max(first, second)


@compiled
def below_zero(a: float, b: float, c: float, between: Interval, generous: bool) -> Interval:
    """Where a s² + 2 b s + c <= 0. If that is two half lines, the one that meets `between`.

    If both do: everything for a generous answer, nothing for a strict one.
    """
    if a == 0.0 and b == 0.0:
        return EVERYTHING if c <= 0.0 else NOTHING
    if a == 0.0:
        return (-inf, -0.5 * c / b) if b > 0.0 else (-0.5 * c / b, inf)
    if b * b < a * c:
        return NOTHING if a > 0.0 else EVERYTHING
    first, second = quadratic_roots(a, b, c)
    if a > 0.0:
        return first, second
    meets_first = not empty(intersection(between, (-inf, first)))
    meets_second = not empty(intersection(between, (second, inf)))
    if meets_first and meets_second:
        return EVERYTHING if generous else NOTHING
    return (-inf, first) if meets_first else (second, inf)


@compiled
def moved(interval: Interval, shift: float) -> Interval:
    """The interval, later by shift."""
    return interval[0] + shift, interval[1] + shift


@compiled
def quadric(line: Line, limb: Frame, g0: float, g1: float, g2: float, between: Bracket) -> Bracket:
    """When Q <= 0 on the nappe that meets `between`."""
    reach = sqrt(limb.half_length * limb.half_length + limb.radius * limb.radius)
    slack = 2.0 * line.delta * (2.0 * reach * (1.0 + abs(g2)) + abs(g1))
    z, rate = line.height, line.rate
    a = dot(line.p, line.p) - g2 * rate * rate
    b = dot(line.q, line.p) - (0.5 * g1 + g2 * z) * rate
    c = dot(line.q, line.q) - (g0 + (g1 + g2 * z) * z)
    outer = below_zero(a, b, c - slack, moved(between.outer, -line.shift), True)
    inner = below_zero(a, b, c + slack, moved(between.inner, -line.shift), False)
    return Bracket(moved(outer, line.shift), moved(inner, line.shift))


@compiled
def ray_tapered(ray: Ray, limb: Frame, radius1: float, radius2: float) -> Span:
    """When the ray's line is inside a tapered cylinder: its wall is a cone, of which the caps leave one nappe."""
    line = line_about(ray, limb)
    mean, slope = 0.5 * (radius1 + radius2), (radius2 - radius1) / (2.0 * limb.half_length)
    caps = slab(line, limb.half_length)
    walls = quadric(line, limb, mean * mean, 2.0 * mean * slope, slope * slope, caps)
    return capped(walls, caps, line.rate > 0.0)


@compiled
def ray_ellipsoid(ray: Ray, limb: Frame) -> Span:
    """When the ray's line is inside an ellipsoid of revolution: ρ² = r² (1 - z² / h²)."""
    line = line_about(ray, limb)
    ratio = limb.radius / limb.half_length
    inside = quadric(line, limb, limb.radius * limb.radius, 0.0, -ratio * ratio, Bracket(EVERYTHING, EVERYTHING))
    return Span(inside.outer, inside.inner, SIDE, SIDE)
