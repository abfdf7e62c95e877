"""The feet of balls and boxes."""

from collections.abc import Sequence
from decimal import Decimal
from fractions import Fraction
from itertools import product

from cylcollide._types import Face
from cylcollide.exact.foot import Digits, Foot, Rational, difference, digits_of, sum_of, times, unit_of
from cylcollide.exact.line import Triple
from cylcollide.exact.numbers import QuadraticNumber, dot, scaled_integers, subtract
from cylcollide.exact.shapes import Box


def foot_of_ball(point: Triple, center: Triple, radius: float) -> Foot:
    """The foot of a ball; at its centre +x."""
    x, y, z, px, py, pz, r, scale = scaled_integers((*point, *center, radius, 1.0))
    v = subtract((x, y, z), (px, py, pz))
    square = dot(v, v)

    def way() -> tuple[Digits, Digits]:
        unit = unit_of(v if square else (1, 0, 0))
        off = (Decimal(square).sqrt() - r) / scale
        return sum_of((off, unit)), unit

    return Foot(lambda: QuadraticNumber(square + r * r, scale * scale, -1, 4 * r * r * square), Face.SIDE, way)


def feet_of_box(point: Triple, box: Box) -> list[Foot]:
    """The feet of a box; outside there is one: faces in whose planes it is have multipliers that are not negative.

    The axes are the numbers they are, not quite at right angles.
    """
    v = difference(point, box.center)
    planes = [
        (times(Fraction(s), axis), Fraction(half), Face.NEG_X + 2 * k + (s > 0))
        for k, (axis, half) in enumerate(zip(box.axes, box.half_extents, strict=True))
        for s in (-1, 1)
    ]
    over = [dot(v, n) - half for n, half, _ in planes]
    if max(over) <= 0:
        return [
            _foot_from(times(e / dot(n, n), n), n, Face(face)) for e, (n, _, face) in zip(over, planes, strict=True)
        ]
    every = product((None, 0, 1), repeat=3)
    return [next(foot for signs in every if (foot := _foot_on_planes(planes, over, signs)) is not None)]


def _foot_on_planes(
    planes: Sequence[tuple[Rational, Fraction, int]], over: Sequence[Fraction], signs: Sequence[int | None]
) -> Foot | None:
    """The foot in a plane of some axes each, if it is the nearest place; `over`: how far the point is beyond planes."""
    active = [2 * k + s for k, s in enumerate(signs) if s is not None]
    way = _projection([planes[k][0] for k in active], [over[k] for k in active])
    if way is None:
        return None
    beyond = [e - dot(way, n) for e, (n, _, _) in zip(over, planes, strict=True)]
    if max(beyond) > 0:
        return None
    k = beyond.index(Fraction(0))
    return _foot_from(way, planes[k][0], Face(planes[k][2]))


def _projection(normals: Sequence[Rational], over: Sequence[Fraction]) -> Rational | None:
    """The way from the planes' common points to the point, None if a multiplier of it is negative."""
    gram = [[dot(n, m) for m in normals] + [e] for n, e in zip(normals, over, strict=True)]
    for i, row in enumerate(gram):  # Gauss and Jordan; the matrix is positive definite
        gram[i] = row = [c / row[i] for c in row]
        for k, other in enumerate(gram):
            if k != i:
                gram[k] = [c - other[i] * d for c, d in zip(other, row, strict=True)]
    multipliers = [row[-1] for row in gram]
    if not multipliers or min(multipliers) < 0:
        return None
    x, y, z = (sum((m * n[k] for m, n in zip(multipliers, normals, strict=True)), Fraction()) for k in range(3))
    return x, y, z


def _foot_from(way: Rational, normal: Rational, face: Face) -> Foot:
    """The foot from which the way to the point is a vector."""
    square = dot(way, way)
    return Foot(
        lambda: QuadraticNumber(square.numerator, square.denominator), face, lambda: (digits_of(way), unit_of(normal))
    )
