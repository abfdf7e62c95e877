"""Where exactly does a ray cross a face, and which way does the surface look there?

Double-double throughout, so that a grazing hit, whose discriminant cancels, is as accurate as any other. Verdict and
face are known when these are called: a face that is not crossed is never asked for. A fraction inside the limb is known
too; moving the origin there first leaves a quadratic of the limb's size, however far away the ray begins.
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
from cylcollide.kernels.ray import dot, largest_component
from cylcollide.kernels.table import Limb
from cylcollide.simd import compiled

SIDE, CAP1, CAP2, BORE, INSIDE = (
    int(Face.SIDE),
    int(Face.CAP1),
    int(Face.CAP2),
    int(Face.BORE),
    int(Face.INSIDE),
)
NEG_X = int(Face.NEG_X)
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
def wall_quadratic(
    x: DoubleDoubleVector, displacement: DoubleDoubleVector, axis: DoubleDoubleVector, limb: Limb, radius: float
) -> tuple[DoubleDouble, DoubleDouble, DoubleDouble]:
    """Coefficients of a t² + 2 b t + c, not positive within the wall, from x = point - p1.

    Across the axis, turned by 90 degrees and scaled by |a|, the ray is m + t n with m = x × a, n = d × a. That keeps a
    ray nearly parallel to the axis accurate: an error in m displaces the ray, and no more.
    """
    m, n = dd_cross(x, axis), dd_cross(displacement, axis)
    a, b, c = dd_dot(n, n), dd_dot(m, n), dd_dot(m, m)
    top = dd_dot(axis, axis)
    if limb.kind != TAPERED and limb.kind != ELLIPSOID:
        return a, b, dd_subtract(c, dd_multiply(two_product(radius, radius), top))
    height, rate = dd_dot(x, axis), dd_dot(displacement, axis)
    a, b, c = dd_multiply(a, top), dd_multiply(b, top), dd_multiply(c, top)
    if limb.kind == TAPERED:
        # a² |m + t n|² <= (start + t change)²
        taper = two_difference(limb.radius2, radius)
        start = dd_add(dd_multiply((radius, 0.0), top), dd_multiply(taper, height))
        change = dd_multiply(taper, rate)
        return (
            dd_subtract(a, dd_multiply(change, change)),
            dd_subtract(b, dd_multiply(start, change)),
            dd_subtract(c, dd_multiply(start, start)),
        )
    # a² |m + t n|² <= 4 r² h (a² - h)
    four = scaled(two_product(radius, radius), 4.0)
    rest = dd_subtract(top, height)
    return (
        dd_add(a, dd_multiply(four, dd_multiply(rate, rate))),
        dd_subtract(b, scaled(dd_multiply(four, dd_multiply(rate, dd_subtract(rest, height))), 0.5)),
        dd_subtract(c, dd_multiply(four, dd_multiply(height, rest))),
    )


@compiled
def ball_root(
    place: DoubleDoubleVector, displacement: DoubleDoubleVector, centre: Vector, radius: float, entering: bool
) -> DoubleDouble:
    """Fraction from `place` to where the ray enters or leaves a ball."""
    x = from_point(place, centre)
    room = dd_subtract(dd_dot(x, x), two_product(radius, radius))
    return near_root(dd_dot(displacement, displacement), dd_dot(x, displacement), room, entering)


@compiled
def plane_root(
    place: DoubleDoubleVector, displacement: DoubleDoubleVector, base: Vector, normal: DoubleDoubleVector, height: float
) -> DoubleDouble:
    """Fraction from `place` to the plane normal·(x - base) = height."""
    gap = dd_subtract((height, 0.0), dd_dot(from_point(place, base), normal))
    return dd_divide(gap, dd_dot(displacement, normal))


@compiled
def box_face(limb: Limb, face: int) -> tuple[Vector, float]:
    """Axis that belongs to a face of a box, and the signed height of the face along it."""
    k = (face - NEG_X) // 2
    axis, half = limb.box.axes[0], limb.box.half[0]
    if k == 1:
        axis, half = limb.box.axes[1], limb.box.half[1]
    elif k == 2:
        axis, half = limb.box.axes[2], limb.box.half[2]
    return axis, half if (face - NEG_X) % 2 else -half


@compiled
def flat_or_ball_root(
    place: DoubleDoubleVector, displacement: DoubleDoubleVector, limb: Limb, face: int, entering: bool
) -> DoubleDouble:
    """Fraction from `place` to a cap, a ball or a box's face."""
    if face >= NEG_X:
        normal, height = box_face(limb, face)
        exact_normal = ((normal[0], 0.0), (normal[1], 0.0), (normal[2], 0.0))
        return plane_root(place, displacement, limb.p1, exact_normal, height)
    end = limb.p2 if face == CAP2 else limb.p1
    if limb.kind in (SPHERE, CAPSULE):
        return ball_root(place, displacement, end, limb.radius, entering)
    return plane_root(place, displacement, end, vector_difference(limb.p2, limb.p1), 0.0)


@compiled
def on_wall(limb: Limb, face: int) -> bool:
    """Whether the face lies on the surface about the axis, not on a cap, a ball or a box."""
    if face == BORE:
        return True
    return face == SIDE and limb.kind != SPHERE and not (limb.kind == CAPSULE and limb.p1 == limb.p2)


@compiled
def face_crossings(
    origin: Vector, displacement: DoubleDoubleVector, limb: Limb, first: int, last: int, guess: float
) -> tuple[DoubleDouble, DoubleDouble]:
    """Fractions at which the ray enters through face `first` and leaves through `last`, 0 for INSIDE.

    `guess` is some fraction in the limb: the origin is moved there first.
    """
    place = point_at(origin, displacement, (guess, 0.0))
    entry, leave = (0.0, 0.0), (0.0, 0.0)
    if on_wall(limb, first) or on_wall(limb, last):
        x, axis = from_point(place, limb.p1), vector_difference(limb.p2, limb.p1)
        a, b, c = wall_quadratic(x, displacement, axis, limb, limb.radius)
        if first == SIDE:
            entry = near_root(a, b, c, True)
        if last == SIDE:
            leave = near_root(a, b, c, False)
        if first == BORE or last == BORE:
            # the bore is left where a cylinder of its radius would be entered
            a, b, c = wall_quadratic(x, displacement, axis, limb, limb.radius2)
            if first == BORE:
                entry = near_root(a, b, c, False)
            if last == BORE:
                leave = near_root(a, b, c, True)
    if first != INSIDE:
        if not on_wall(limb, first):
            entry = flat_or_ball_root(place, displacement, limb, first, True)
        entry = dd_add((guess, 0.0), entry)
    if last != INSIDE:
        if not on_wall(limb, last):
            leave = flat_or_ball_root(place, displacement, limb, last, False)
        leave = dd_add((guess, 0.0), leave)
    return entry, leave


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
def outward_normal(point: DoubleDoubleVector, limb: Limb, face: int) -> Vector:
    """Unit outward normal of a face at a point of it; zero where there is no face, and at the apex of a cone.

    Caps look along the axis, balls away from their centre, a bore towards the axis. On a wall of radius ρ(u) it is the
    part M (P - p1) across the axis (M = I - d dᵗ, the lecture note's projection) less half the slope of ρ² along it.
    """
    p1, p2 = limb.p1, limb.p2
    kind, radius, radius2 = limb.kind, limb.radius, limb.radius2
    if face == INSIDE:
        return 0.0, 0.0, 0.0
    if face >= NEG_X:
        normal, height = box_face(limb, face)
        sign = 1.0 if height > 0.0 else -1.0
        return unit((sign * normal[0], sign * normal[1], sign * normal[2]))
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
