"""When is a ray inside a solid whose squared radius is a quadratic of the axial place: taper, cone, ellipsoid?

Across the axis the ray is at q + p s, along it at z = height + rate s; inside means Q(s) = |q + p s|² - ρ²(z) <= 0 with
ρ²(z) = g0 + g1 z + g2 z². That is Greg James' remark on scaling the radius by the dot product, carried through. Growing
and shrinking the limb is done on g0: by `slack`, which covers all errors of Q over the limb (`docs/numerics.md`).
"""

from math import inf

from cylcollide._types import Face
from cylcollide.compiling import merged
from cylcollide.kernels.cylinder import capped
from cylcollide.kernels.double_double import Vector
from cylcollide.kernels.interval import EVERYTHING, Bracket, Interval, Span, chosen, empty, intersection
from cylcollide.kernels.line import Frame, Line, line_about, slab
from cylcollide.kernels.ray import Ray, dot
from cylcollide.simd import Real, alike, larger, magnitude, select, smaller, square_root, with_sign

SIDE = float(Face.SIDE)


@merged
def below_zero(a: Real, b: Real, c: Real, between: Interval, generous: bool) -> Interval:
    """Where a s² + 2 b s + c <= 0. If that is two half lines, the one that meets `between`.

    If both do: everything for a generous answer, nothing for a strict one.
    """
    # both roots without cancellation; of a line (a = 0) the second is the root
    square = b * b - a * c
    real = square >= 0.0
    sum_of_both = -(b + with_sign(square_root(select(real, square, 0.0)), b))
    touching = sum_of_both == 0.0
    one = select(touching, 0.0, sum_of_both / select(a == 0.0, 1.0, a))
    other = select(touching, 0.0, c / select(touching, 1.0, sum_of_both))
    near, far = smaller(one, other), larger(one, other)

    # a bowl is below zero between its roots, a dome outside of them
    bowl = chosen(real, (near, far), (inf, -inf))
    before, behind = (-inf, near), (far, inf)
    clear_before, clear_behind = empty(intersection(between, before)), empty(intersection(between, behind))
    one_of_them = chosen(clear_before, behind, before)
    if generous:
        outside = chosen(clear_before | clear_behind, one_of_them, (-inf, inf))
    else:
        outside = chosen(clear_before | clear_behind, one_of_them, (inf, -inf))
    dome = chosen(real, outside, (-inf, inf))
    level = chosen(c <= 0.0, (-inf, inf), (inf, -inf))
    slope = chosen(b > 0.0, (-inf, other), (other, inf))
    straight = chosen(b == 0.0, level, slope)
    return chosen(a > 0.0, bowl, chosen(a < 0.0, dome, straight))


@merged
def moved(interval: Interval, shift: Real) -> Interval:
    """The interval, later by shift."""
    return interval[0] + shift, interval[1] + shift


@merged
def quadric(line: Line, half_length: Real, radius: Real, g: Vector, between: Bracket) -> Bracket:
    """When Q <= 0 on the nappe that meets `between`; `g` are g0, g1, g2, `radius` the largest of the limb."""
    g0, g1, g2 = g
    reach = square_root(half_length * half_length + radius * radius)
    slack = 2.0 * line.delta * (2.0 * reach * (1.0 + magnitude(g2)) + magnitude(g1))
    z, rate = line.height, line.rate
    a = dot(line.p, line.p) - g2 * rate * rate
    b = dot(line.q, line.p) - (0.5 * g1 + g2 * z) * rate
    c = dot(line.q, line.q) - (g0 + (g1 + g2 * z) * z)
    outer = below_zero(a, b, c - slack, moved(between.outer, -line.shift), True)
    inner = below_zero(a, b, c + slack, moved(between.inner, -line.shift), False)
    return Bracket(moved(outer, line.shift), moved(inner, line.shift))


@merged
def ray_tapered(ray: Ray, limb: Frame, radius1: Real, radius2: Real) -> Span:
    """When the ray's line is inside a tapered cylinder: its wall is a cone, of which the caps leave one nappe."""
    line = line_about(ray, limb)
    mean, slope = 0.5 * (radius1 + radius2), (radius2 - radius1) / (2.0 * limb.half_length)
    caps = slab(line, limb.half_length)
    g = (mean * mean, 2.0 * mean * slope, slope * slope)
    walls = quadric(line, limb.half_length, larger(radius1, radius2), g, caps)
    return capped(walls, caps, line.rate > 0.0)


@merged
def ray_ellipsoid(ray: Ray, limb: Frame) -> Span:
    """When the ray's line is inside an ellipsoid of revolution: ρ² = r² (1 - z² / h²)."""
    line = line_about(ray, limb)
    ratio = limb.radius / limb.half_length
    g = (limb.radius * limb.radius, 0.0, -ratio * ratio)
    inside = quadric(line, limb.half_length, limb.radius, g, Bracket(EVERYTHING, EVERYTHING))
    side = alike(SIDE, ray.limit)
    return Span(inside.outer, inside.inner, side, side)
