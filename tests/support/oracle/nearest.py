"""Signed distance of a point from one limb in 90 digits: to the nearest edge of its profile, signed by edge sides.

It shares no formula with the library: no regions, no multipliers. The profile of a solid of revolution is a chain of
edges in the half plane of axis and point; for an ellipse, bisection finds the nearest point of the arc.
"""

from decimal import Context, Decimal, localcontext
from itertools import pairwise
from typing import Any

from support.oracle.lines import BOX, ELLIPSOID
from support.oracle.shapes.record import Profile
from support.oracle.shapes.table import NAMES, SHAPE_ROWS

import cylcollide as cc

DIGITS = 90
PRECISE = Context(prec=DIGITS, Emax=10**9, Emin=-(10**9))
Vector = tuple[Decimal, Decimal, Decimal]


def vector(numbers) -> Vector:
    """Return the numbers as exact decimals."""
    return tuple(Decimal(float(x)) for x in numbers)


def dot(a: Vector, b: Vector) -> Decimal:
    """Return the scalar product."""
    return sum((x * y for x, y in zip(a, b, strict=True)), Decimal(0))


def subtract(a: Vector, b: Vector) -> Vector:
    """Return a - b."""
    return tuple(x - y for x, y in zip(a, b, strict=True))


def _from_edge(x: Decimal, y: Decimal, a: tuple, b: tuple) -> Decimal:
    """Return the distance of (x, y) from the edge a to b."""
    step, start = (b[0] - a[0], b[1] - a[1]), (x - a[0], y - a[1])
    square = step[0] * step[0] + step[1] * step[1]
    along = (start[0] * step[0] + start[1] * step[1]) / square if square else Decimal(0)
    along = min(max(along, Decimal(0)), Decimal(1))
    over = start[0] - along * step[0], start[1] - along * step[1]
    return (over[0] * over[0] + over[1] * over[1]).sqrt()


def _from_arc(x: Decimal, y: Decimal, a: Decimal, b: Decimal) -> Decimal:
    """Return the distance of a point from the arc, both in the first quadrant; w is the tangent of half the angle."""

    def place(w: Decimal) -> tuple[Decimal, Decimal]:
        return (1 - w * w) / (1 + w * w), 2 * w / (1 + w * w)

    low, high = Decimal(0), Decimal(1)
    for _ in range(150):
        w = (low + high) / 2
        c, s = place(w)
        rises = (b * b - a * a) * s * c + a * x * s - b * y * c > 0
        low, high = (low, w) if rises else (w, high)
    found = [((x - a * c) ** 2 + (y - b * s) ** 2).sqrt() for c, s in map(place, (low, Decimal(0), Decimal(1)))]
    return min(found)


def signed_distance(limbs: cc.Limbs, row: int, point) -> Decimal:
    """Return the distance of a point (3,) from the surface of a limb, negative inside."""
    with localcontext(PRECISE):
        return _signed_distance(limbs, row, vector(point))


def _signed_distance(limbs: cc.Limbs, row: int, point: Vector) -> Decimal:
    kind = int(limbs.kind[row])
    p1, p2 = vector(limbs.p1[row]), vector(limbs.p2[row])
    r1, r2 = Decimal(limbs.radius.item(row)), Decimal(limbs.radius2.item(row))
    if kind == BOX:
        return _from_box([vector(axis) for axis in limbs.box_axes[row]], vector(limbs.half_extents[row]), p1, point)
    v, axis = subtract(point, p1), subtract(p2, p1)
    square = dot(axis, axis)
    if square == 0:
        return dot(v, v).sqrt() - r1
    top, height = square.sqrt(), dot(v, axis) / square.sqrt()
    radial = tuple(x - height / top * w for x, w in zip(v, axis, strict=True))
    radius = dot(radial, radial).sqrt()
    if kind == ELLIPSOID:
        x, a = abs(height - top / 2), top / 2
        distance = _from_arc(x, radius, a, r1)
        return -distance if (x / a) ** 2 + (radius / r1) ** 2 < 1 else distance
    corners, ball = profile_of(kind, top, r1, r2)
    edges = [(a, b) for a, b in pairwise(corners) if a != b]
    inside = all((b[0] - a[0]) * (radius - a[1]) < (b[1] - a[1]) * (height - a[0]) for a, b in edges)
    least = min(_from_edge(height, radius, a, b) for a, b in edges)
    return -least if inside else least - ball


def profile_of(kind: int, *numbers: Any) -> Profile:
    """Return the profile of a shape of this length and these radii."""
    make = SHAPE_ROWS[kind].profile
    assert make, f"the row of a {NAMES[kind]} has no profile, and `oracle/` no distance from it"
    return make(*numbers)


def _from_box(axes: list[Vector], half: Vector, centre: Vector, point: Vector) -> Decimal:
    """Return the signed distance from a box whose axes are orthonormal up to rounding, by alternating projections."""
    v = subtract(point, centre)
    depths = [(h - abs(dot(v, n))) / dot(n, n).sqrt() for n, h in zip(axes, half, strict=True)]
    if min(depths) > 0:
        return -min(depths)
    # Dykstra's method gains about 15 digits per round, because slabs are orthogonal up to rounding.
    place, corrections = v, [(Decimal(0),) * 3] * 3
    for _ in range(12):
        for k, (n, h) in enumerate(zip(axes, half, strict=True)):
            start = tuple(x + c for x, c in zip(place, corrections[k], strict=True))
            along = dot(start, n)
            beyond = (along - min(max(along, -h), h)) / dot(n, n)
            place = tuple(x - beyond * w for x, w in zip(start, n, strict=True))
            corrections[k] = subtract(start, place)
    way = subtract(v, place)
    return dot(way, way).sqrt()
