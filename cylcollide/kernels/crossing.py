"""Where exactly does a ray cross a face, and which way does the surface look there?

Double-double throughout, so that a grazing hit, whose discriminant cancels, is as accurate as any other. Verdict and face
are known when these are called: a face that is not crossed is never asked for. A `guess` of the fraction is known too;
moving the origin there first leaves a small quadratic whose small root is the correction.
"""

from math import sqrt

from cylcollide._types import Face, Shape
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
    scaled,
    two_difference,
    two_product,
    vector_difference,
    vector_sum,
)
from cylcollide.kernels.ray import as_vector, dot, largest_component
from cylcollide.kernels.table import LimbTable
from cylcollide.simd import compiled

SIDE, CAP1, CAP2, BORE, INSIDE = (
    int(Face.SIDE),
    int(Face.CAP1),
    int(Face.CAP2),
    int(Face.BORE),
    int(Face.INSIDE),
)
NEG_X, POS_Z = int(Face.NEG_X), int(Face.POS_Z)
TAPERED, ELLIPSOID = int(Shape.TAPERED), int(Shape.ELLIPSOID)
CAPSULE, SPHERE = int(Shape.CAPSULE), int(Shape.SPHERE)


@compiled
def point_at(origin: Vector, displacement: DoubleDoubleVector, fraction: DoubleDouble) -> DoubleDoubleVector:
    """Origin + fraction displacement."""
    return vector_sum(
        ((origin[0], 0.0), (origin[1], 0.0), (origin[2], 0.0)),
        (
            dd_multiply(fraction, displacement[0]),
            dd_multiply(fraction, displacement[1]),
            dd_multiply(fraction, displacement[2]),
        ),
    )


@compiled
def from_point(place: DoubleDoubleVector, base: Vector) -> DoubleDoubleVector:
    """Place - base."""
    return vector_sum(place, ((-base[0], 0.0), (-base[1], 0.0), (-base[2], 0.0)))


@compiled
def near_root(a: DoubleDouble, b: DoubleDouble, c: DoubleDouble, entering: bool) -> DoubleDouble:
    """The root of a t² + 2 b t + c at which it falls (entering) or rises: a t + b = -√(b² - a c) or +√(b² - a c)."""
    root = dd_square_root(dd_subtract(dd_multiply(b, b), dd_multiply(a, c)))
    if entering:
        root = (-root[0], -root[1])
    if (root[0] > 0.0) == (b[0] > 0.0) or a[0] == 0.0:
        # no cancellation in b + root
        return dd_divide((-c[0], -c[1]), dd_add(b, root))
    return dd_divide(dd_subtract(root, b), a)


@compiled
def wall_correction(
    x: DoubleDoubleVector,
    displacement: DoubleDoubleVector,
    axis: DoubleDoubleVector,
    kind: int,
    radius: float,
    radius2: float,
    entering: bool,
) -> DoubleDouble:
    """Root of the wall's quadratic, from x = point - p1.

    Across the axis, turned by 90 degrees and scaled by |a|, the ray is m + t n with m = x × a, n = d × a. That keeps a ray
    nearly parallel to the axis accurate: an error in m displaces the ray, and no more.
    """
    m, n = dd_cross(x, axis), dd_cross(displacement, axis)
    a, b, c = dd_dot(n, n), dd_dot(m, n), dd_dot(m, m)
    top = dd_dot(axis, axis)
    if kind != TAPERED and kind != ELLIPSOID:
        wall = dd_multiply(two_product(radius, radius), top)
        return near_root(a, b, dd_subtract(c, wall), entering)
    height, rate = dd_dot(x, axis), dd_dot(displacement, axis)
    a, b, c = dd_multiply(a, top), dd_multiply(b, top), dd_multiply(c, top)
    if kind == TAPERED:
        # a² |m + t n|² <= (start + t change)²
        taper = two_difference(radius2, radius)
        start = dd_add(dd_multiply((radius, 0.0), top), dd_multiply(taper, height))
        change = dd_multiply(taper, rate)
        return near_root(
            dd_subtract(a, dd_multiply(change, change)),
            dd_subtract(b, dd_multiply(start, change)),
            dd_subtract(c, dd_multiply(start, start)),
            entering,
        )
    # a² |m + t n|² <= 4 r² h (a² - h)
    four = scaled(two_product(radius, radius), 4.0)
    rest = dd_subtract(top, height)
    return near_root(
        dd_add(a, dd_multiply(four, dd_multiply(rate, rate))),
        dd_subtract(b, scaled(dd_multiply(four, dd_multiply(rate, dd_subtract(rest, height))), 0.5)),
        dd_subtract(c, dd_multiply(four, dd_multiply(height, rest))),
        entering,
    )


@compiled
def plane_correction(
    x: DoubleDoubleVector, displacement: DoubleDoubleVector, normal: DoubleDoubleVector
) -> DoubleDouble:
    """Fraction from x to the plane through 0."""
    distance = dd_dot(x, normal)
    return dd_divide((-distance[0], -distance[1]), dd_dot(displacement, normal))


@compiled
def box_axis(table: LimbTable, limb: int, face: int) -> tuple[Vector, float, float]:
    """Axis, sign along it and half extent that belong to a face of a box."""
    row, k = table.boxes[table.box[limb]], (face - NEG_X) // 2
    sign = 1.0 if (face - NEG_X) % 2 else -1.0
    return (row[3 * k], row[3 * k + 1], row[3 * k + 2]), sign, row[9 + k]


@compiled
def face_crossing(
    origin: Vector,
    displacement: DoubleDoubleVector,
    table: LimbTable,
    limb: int,
    face: int,
    guess: float,
    entering: bool,
) -> DoubleDouble:
    """Fraction at which the ray crosses the given face of a limb, near `guess`."""
    kind, radius, radius2 = table.kind[limb], table.radius[limb], table.radius2[limb]
    p1, p2 = as_vector(table.p1, limb), as_vector(table.p2, limb)
    place = point_at(origin, displacement, (guess, 0.0))
    if NEG_X <= face <= POS_Z:
        edge, sign, half = box_axis(table, limb, face)
        normal = ((edge[0], 0.0), (edge[1], 0.0), (edge[2], 0.0))
        height = dd_subtract(dd_dot(from_point(place, p1), normal), (sign * half, 0.0))
        correction = dd_divide((-height[0], -height[1]), dd_dot(displacement, normal))
    elif kind == SPHERE or (kind == CAPSULE and (face != SIDE or p1 == p2)):
        x = from_point(place, p2 if face == CAP2 else p1)
        room = dd_subtract(dd_dot(x, x), two_product(radius, radius))
        correction = near_root(dd_dot(displacement, displacement), dd_dot(x, displacement), room, entering)
    elif face in (CAP1, CAP2):
        cap = p1 if face == CAP1 else p2
        correction = plane_correction(from_point(place, cap), displacement, vector_difference(p2, p1))
    else:
        # the bore is left where a cylinder of its radius would be entered
        r, inward = (radius2, not entering) if face == BORE else (radius, entering)
        x = from_point(place, p1)
        correction = wall_correction(x, displacement, vector_difference(p2, p1), kind, r, radius2, inward)
    return dd_add((guess, 0.0), correction)


@compiled
def unit(v: Vector) -> Vector:
    """V / |v|, for any v but zero; scaled first, so that nothing overflows."""
    size = largest_component(v)
    if size == 0.0:
        return v
    x, y, z = v[0] / size, v[1] / size, v[2] / size
    length = sqrt(dot((x, y, z), (x, y, z)))
    return x / length + 0.0, y / length + 0.0, z / length + 0.0  # no negative zeros


@compiled
def heads(v: DoubleDoubleVector) -> Vector:
    """The high words."""
    return v[0][0], v[1][0], v[2][0]


@compiled
def outward_normal(point: DoubleDoubleVector, table: LimbTable, limb: int, face: int) -> Vector:
    """Unit outward normal of a face at a point of it; zero where there is no face, and at the apex of a cone.

    Caps look along the axis, balls away from their centre, a bore towards the axis. On a wall of radius ρ(u) it is the part
    M (P - p1) across the axis (M = I - d dᵗ, the lecture note's projection) less half the slope of ρ² along the axis.
    """
    p1, p2 = as_vector(table.p1, limb), as_vector(table.p2, limb)
    kind, radius, radius2 = table.kind[limb], table.radius[limb], table.radius2[limb]
    if face == INSIDE:
        return 0.0, 0.0, 0.0
    if NEG_X <= face <= POS_Z:
        edge, sign, _ = box_axis(table, limb, face)
        return unit((sign * edge[0], sign * edge[1], sign * edge[2]))
    if kind == SPHERE or (kind == CAPSULE and (face != SIDE or p1 == p2)):
        return unit(heads(from_point(point, p2 if face == CAP2 else p1)))
    if face == CAP2:
        return unit((p2[0] - p1[0], p2[1] - p1[1], p2[2] - p1[2]))
    if face == CAP1:
        return unit((p1[0] - p2[0], p1[1] - p2[1], p1[2] - p2[2]))
    axis = vector_difference(p2, p1)
    x, top = from_point(point, p1), dd_dot(axis, axis)
    along = dd_divide(dd_dot(x, axis), top)
    across = (
        dd_subtract(x[0], dd_multiply(along, axis[0])),
        dd_subtract(x[1], dd_multiply(along, axis[1])),
        dd_subtract(x[2], dd_multiply(along, axis[2])),
    )
    if face == BORE:
        return unit((-across[0][0], -across[1][0], -across[2][0]))
    if kind != TAPERED and kind != ELLIPSOID:
        return unit(heads(across))
    if kind == TAPERED:
        taper = two_difference(radius2, radius)
        slope = dd_multiply(dd_add((radius, 0.0), dd_multiply(taper, along)), taper)
    else:
        squared = scaled(two_product(radius, radius), 2.0)
        slope = dd_multiply(squared, dd_subtract((1.0, 0.0), scaled(along, 2.0)))
    tilt = dd_divide(slope, top)
    return unit(
        (
            dd_subtract(across[0], dd_multiply(tilt, axis[0]))[0],
            dd_subtract(across[1], dd_multiply(tilt, axis[1]))[0],
            dd_subtract(across[2], dd_multiply(tilt, axis[2]))[0],
        )
    )
