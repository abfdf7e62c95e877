"""Where exactly does a ray cross a face of a cylinder, and which way does the surface look there?

Double-double throughout, so that a grazing hit, whose discriminant cancels, is as accurate as any other. The verdict
and the face are known when these are called: a face that is not crossed is never asked for.
"""

from math import nan, sqrt

from cylcollide._types import Face
from cylcollide.kernels.double_double import (
    DoubleDouble,
    DoubleDoubleVector,
    Vector,
    dd_add,
    dd_cross,
    dd_divide,
    dd_dot,
    dd_multiply,
    dd_square_root,
    dd_subtract,
    two_product,
    vector_difference,
)
from cylcollide.kernels.ray import dot, largest_component
from cylcollide.simd import compiled

SIDE, CAP1, CAP2, INSIDE = int(Face.SIDE), int(Face.CAP1), int(Face.CAP2), int(Face.INSIDE)


@compiled
def wall_crossings(
    origin: Vector, displacement: DoubleDoubleVector, p1: Vector, p2: Vector, radius: float
) -> tuple[DoubleDouble, DoubleDouble]:
    """Fractions at which the ray crosses the wall, on its way in and on its way out.

    Across the axis, turned by 90 degrees and scaled by |a|, the ray is m + t n with m = (o - p1) × a, n = d × a. It is
    nearest the axis at u = m + t₀ n, and inside for |t - t₀| <= √((r² a² - u²) / n²). Taking u from m and n, rather
    than the distance of the two lines, keeps this stable for a ray nearly parallel to the axis: an error in t₀ only
    moves the ray along itself.
    """
    a = vector_difference(p2, p1)
    m = dd_cross(vector_difference(origin, p1), a)
    n = dd_cross(displacement, a)
    n_squared = dd_dot(n, n)
    middle = dd_divide(dd_dot(m, n), n_squared)
    middle = (-middle[0], -middle[1])
    u = (
        dd_add(m[0], dd_multiply(middle, n[0])),
        dd_add(m[1], dd_multiply(middle, n[1])),
        dd_add(m[2], dd_multiply(middle, n[2])),
    )
    room = dd_subtract(dd_multiply(two_product(radius, radius), dd_dot(a, a)), dd_dot(u, u))
    half_chord = dd_square_root(dd_divide(room, n_squared))
    return dd_subtract(middle, half_chord), dd_add(middle, half_chord)


@compiled
def cap_crossing(origin: Vector, displacement: DoubleDoubleVector, p1: Vector, p2: Vector, face: int) -> DoubleDouble:
    """Fraction at which the ray crosses the plane of a cap."""
    a = vector_difference(p2, p1)
    cap = p1 if face == CAP1 else p2
    return dd_divide(dd_dot(vector_difference(cap, origin), a), dd_dot(displacement, a))


@compiled
def face_crossings(
    origin: Vector, displacement: DoubleDoubleVector, p1: Vector, p2: Vector, radius: float, first: int, last: int
) -> tuple[DoubleDouble, DoubleDouble]:
    """Fractions at which the ray enters through the face `first` and leaves through `last`; NaN for INSIDE."""
    entry, leave = (nan, 0.0), (nan, 0.0)
    if first == SIDE or last == SIDE:
        entry, leave = wall_crossings(origin, displacement, p1, p2, radius)
    if first != SIDE and first != INSIDE:
        entry = cap_crossing(origin, displacement, p1, p2, first)
    if last != SIDE and last != INSIDE:
        leave = cap_crossing(origin, displacement, p1, p2, last)
    return entry, leave


@compiled
def point_at(origin: Vector, displacement: DoubleDoubleVector, fraction: DoubleDouble) -> DoubleDoubleVector:
    """Origin + fraction displacement."""
    return (
        dd_add((origin[0], 0.0), dd_multiply(fraction, displacement[0])),
        dd_add((origin[1], 0.0), dd_multiply(fraction, displacement[1])),
        dd_add((origin[2], 0.0), dd_multiply(fraction, displacement[2])),
    )


@compiled
def unit(v: Vector) -> Vector:
    """V / |v|, for any v but zero; scaled first, so that nothing overflows."""
    size = largest_component(v)
    x, y, z = v[0] / size, v[1] / size, v[2] / size
    length = sqrt(dot((x, y, z), (x, y, z)))
    return x / length, y / length, z / length


@compiled
def outward_normal(point: DoubleDoubleVector, p1: Vector, p2: Vector, face: int) -> Vector:
    """Unit outward normal of a face at a point of it; zero where there is no face.

    On the side it is M (P - p1) normalised, M the projection perpendicular to the axis; on the caps -axis and +axis
    (the lecture note's projection matrices Q = d dᵗ and M = I - Q).
    """
    if face == CAP2:
        return unit((p2[0] - p1[0], p2[1] - p1[1], p2[2] - p1[2]))
    if face == CAP1:
        return unit((p1[0] - p2[0], p1[1] - p2[1], p1[2] - p2[2]))
    if face != SIDE:
        return 0.0, 0.0, 0.0
    a = vector_difference(p2, p1)
    from_p1 = (
        dd_subtract(point[0], (p1[0], 0.0)),
        dd_subtract(point[1], (p1[1], 0.0)),
        dd_subtract(point[2], (p1[2], 0.0)),
    )
    along = dd_divide(dd_dot(from_p1, a), dd_dot(a, a))
    across = (
        dd_subtract(from_p1[0], dd_multiply(along, a[0])),
        dd_subtract(from_p1[1], dd_multiply(along, a[1])),
        dd_subtract(from_p1[2], dd_multiply(along, a[2])),
    )
    return unit((across[0][0], across[1][0], across[2][0]))
