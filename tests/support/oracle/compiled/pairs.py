"""One ray and one limb: the chord of any shape, from products that all shapes share.

With y = base - p1, d the direction, a the axis: h = y·a + s d·a is the height times |a|, and the squared distance from
the axis, times a², is a² |y + s d|² - h². There is no cross product, no unit vector and no square root.
"""

from math import inf
from typing import NamedTuple

from numba import njit
from numpy.typing import NDArray
from support.oracle.compiled.chords import (
    HIT,
    UNKNOWN,
    Chord,
    Extent,
    Quadratic,
    between,
    intersection,
    nothing,
    outside,
    union,
    whole,
    within,
)
from support.oracle.compiled.enclosures import Enclosure, add, difference, exact, multiply, sign, subtract, times
from support.oracle.cylinder import CAP1, CAP2, INSIDE, SIDE
from support.oracle.lines import BORE, BOX, CAPSULE, CYLINDER, ELLIPSOID, NEG_X, SPHERE, TAPERED, TUBE

Vector = tuple[Enclosure, Enclosure, Enclosure]

KIND, P1, P2, RADIUS, RADIUS2, AXES, HALF, LIMB_COLUMNS = 0, 1, 4, 7, 8, 9, 18, 21
"""Columns of a limb; `AXES` has a box's axes, one after another."""

ORIGIN, SECOND, SEGMENT, LIMIT, RAY_COLUMNS = 0, 3, 6, 7, 8
"""Columns of a ray: its end if `SEGMENT` is 1 and the limit 1, else its direction; the limit may be infinite."""


class Line(NamedTuple):
    """A ray relative to one limb."""

    extent: Extent
    direction: Vector
    start: Vector  # from p1, or the centre
    base: Vector  # likewise: the point near the limb from which times count
    at: float  # time of the base on the ray
    limit: float


@njit
def dot(x: Vector, y: Vector) -> Enclosure:
    """Return the scalar product."""
    return add(add(multiply(x[0], y[0]), multiply(x[1], y[1])), multiply(x[2], y[2]))


@njit
def numbers(row: NDArray, first: int) -> Vector:
    """Return three numbers of a row, from column `first` on."""
    return exact(row[first]), exact(row[first + 1]), exact(row[first + 2])


@njit
def apart(one: NDArray, first: int, other: NDArray, second: int) -> Vector:
    """Return the difference of three numbers of two rows."""
    return (
        difference(one[first], other[second]),
        difference(one[first + 1], other[second + 1]),
        difference(one[first + 2], other[second + 2]),
    )


@njit
def line(ray: NDArray, limb: NDArray) -> Line:
    """Return the ray with its base near the middle of the limb, computed in float64; any base would be correct."""
    segment, limit = ray[SEGMENT] == 1.0, ray[LIMIT]
    d = apart(ray, SECOND, ray, ORIGIN) if segment else numbers(ray, SECOND)
    start = apart(ray, ORIGIN, limb, P1)
    along, square = 0.0, 0.0
    for k in range(3):
        step = ray[SECOND + k] - ray[ORIGIN + k] if segment else ray[SECOND + k]
        along += (0.5 * (limb[P1 + k] + limb[P2 + k]) - ray[ORIGIN + k]) * step
        square += step * step
    at = min(max(along / square, 0.0), limit) if square > 0.0 else 0.0
    t = exact(at)
    base = add(start[0], multiply(t, d[0])), add(start[1], multiply(t, d[1])), add(start[2], multiply(t, d[2]))
    endless = limit == inf
    end = exact(0.0) if endless else difference(limit, at)
    return Line(Extent(exact(-at), end, endless), d, start, base, at, limit)


@njit
def ends(line: Line, normal: Vector, offset: Enclosure, at_start: Enclosure) -> tuple[Enclosure, Enclosure, Enclosure]:
    """Return the height along a normal, plus `offset`, at the base and at the end, and its rate."""
    rate = dot(line.direction, normal)
    finish = at_start if line.extent.endless else add(at_start, multiply(exact(line.limit), rate))
    return add(dot(line.base, normal), offset), finish, rate


@njit
def ball(line: Line, radius: float, base: Vector, face: int) -> Chord:
    """Return the chord in a ball; `base` is relative to its centre."""
    r, d = exact(radius), line.direction
    q = Quadratic(subtract(dot(base, base), multiply(r, r)), dot(base, d), dot(d, d))
    return within(q, whole(line.extent), line.extent.endless, face, radius * radius)


@njit
def box(line: Line, limb: NDArray) -> Chord:
    """Return the chord between three pairs of planes."""
    found = whole(line.extent)
    for k in range(3):
        half, axis = exact(limb[HALF + k]), numbers(limb, AXES + 3 * k)
        begin = add(dot(line.start, axis), half)
        base, finish, rate = ends(line, axis, half, begin)
        found = intersection(found, between(line.extent, base, begin, finish, rate, times(half, 2.0), NEG_X + 2 * k))
    if found.verdict == HIT and found.last_face != INSIDE and sign(subtract(found.last, found.first)) != 1:
        # a chord of one point may lie in, and belong to, planes by which the ray does not leave
        return Chord(HIT, found.first, found.first_face, found.last, UNKNOWN, False)
    return found


@njit
def chord_of(ray: NDArray, limb: NDArray) -> tuple[Chord, float]:
    """Return the first chord of a ray in a limb, and the time on the ray from which the chord's times count."""
    seen, kind = line(ray, limb), int(limb[KIND])
    r, radius, extent = exact(limb[RADIUS]), limb[RADIUS], seen.extent
    a = apart(limb, P2, limb, P1)
    if kind == BOX:
        return box(seen, limb), seen.at
    if kind == SPHERE or (kind == CAPSULE and a[0][0] == 0.0 and a[1][0] == 0.0 and a[2][0] == 0.0):
        return ball(seen, radius, seen.base, SIDE), seen.at
    aa, begin = dot(a, a), dot(seen.start, a)
    h, finish, k = ends(seen, a, exact(0.0), begin)
    y, d = seen.base, seen.direction
    off = Quadratic(
        subtract(multiply(aa, dot(y, y)), multiply(h, h)),
        subtract(multiply(aa, dot(y, d)), multiply(h, k)),
        subtract(multiply(aa, dot(d, d)), multiply(k, k)),
    )
    part = between(extent, h, begin, finish, k, aa, CAP1)
    rr = multiply(multiply(r, r), aa)
    if kind == ELLIPSOID:
        rest = subtract(aa, h)
        q = Quadratic(
            subtract(multiply(aa, off.c), times(multiply(multiply(r, r), multiply(h, rest)), 4.0)),
            subtract(multiply(aa, off.b), times(multiply(multiply(r, r), multiply(k, subtract(rest, h))), 2.0)),
            add(multiply(aa, off.a), times(multiply(multiply(r, r), multiply(k, k)), 4.0)),
        )
        return within(q, whole(extent), extent.endless, SIDE, rr[0] * aa[0]), seen.at
    if kind == TAPERED:
        change = difference(limb[RADIUS2], radius)
        radius_there, grows = add(multiply(r, aa), multiply(change, h)), multiply(change, k)
        q = Quadratic(
            subtract(multiply(aa, off.c), multiply(radius_there, radius_there)),
            subtract(multiply(aa, off.b), multiply(radius_there, grows)),
            subtract(multiply(aa, off.a), multiply(grows, grows)),
        )
        return within(q, part, extent.endless, SIDE, rr[0] * aa[0]), seen.at
    wall = Quadratic(subtract(off.c, rr), off.b, off.a)
    found = within(wall, part, extent.endless, SIDE, rr[0])
    if kind == CYLINDER:
        return found, seen.at
    if kind == TUBE:
        inner = exact(limb[RADIUS2])
        bore = Quadratic(subtract(off.c, multiply(multiply(inner, inner), aa)), off.b, off.a)
        return outside(bore, found, SIDE, BORE), seen.at
    if kind == CAPSULE:
        beyond = subtract(y[0], a[0]), subtract(y[1], a[1]), subtract(y[2], a[2])
        balls = ball(seen, radius, y, CAP1), ball(seen, radius, beyond, CAP2)
        return union(union(found, balls[0]), balls[1]), seen.at
    return nothing(0), seen.at
