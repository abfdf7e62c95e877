"""The feet of balls and boxes; and whether two boxes overlap or touch, by the separating axis test."""

from collections.abc import Iterator, Sequence
from decimal import Decimal
from fractions import Fraction
from functools import lru_cache
from itertools import chain, product
from typing import TypeAlias

from cylcollide._types import Face
from cylcollide.exact.foot import ONE, Digits, Foot, digits_of, sum_of, unit_of
from cylcollide.exact.line import Triple
from cylcollide.exact.numbers import QuadraticNumber, Vector, cross, dot, scaled_integers, subtract, vector_of

Plane: TypeAlias = tuple[int, Vector, Face]
"""A face: the distance of a point beyond it, times the length of the normal; the normal; its code."""

Numbers: TypeAlias = tuple[tuple[float, ...], tuple[float, ...]]
"""A box: its centre, and its three axes and half extents; the axes count as given."""


@lru_cache(256)
def scaled_axes(axes: tuple[Triple, Triple, Triple]) -> tuple[tuple[Vector, Vector, Vector], int]:
    """The axes of a box as integers, and the integer that represents 1."""
    a, b, c, d, e, f, g, h, i, unit = scaled_integers((*axes[0], *axes[1], *axes[2], 1.0))
    return ((a, b, c), (d, e, f), (g, h, i)), unit


def foot_of_ball(point: Triple, center: Triple, radius: float | Fraction) -> Foot:
    """The foot of a ball; for a point at its centre, the foot in direction +x."""
    x, y, z, px, py, pz, r, scale = scaled_integers((*point, *center, radius, 1.0))
    v = subtract((x, y, z), (px, py, pz))
    square = dot(v, v)

    def way() -> tuple[Digits, Digits]:
        unit = unit_of(v if square else (1, 0, 0))
        off = (Decimal(square).sqrt() - r) / scale
        return sum_of((off, unit)), unit

    return Foot(lambda: QuadraticNumber(square + r * r, scale * scale, -1, 4 * r * r * square), Face.SIDE, way)


def feet_of_box(point: Triple, center: Triple, axes: tuple[Triple, Triple, Triple], half_extents: Triple) -> list[Foot]:
    """The feet of a box; for a point outside, one: the multipliers of the faces in whose planes it is are >= 0.

    The axes count as given, not exactly orthogonal. Lengths are integers: times `scale`.
    """
    x, y, z, px, py, pz, *halves, scale = scaled_integers((*point, *center, *half_extents, 1.0))
    v, (normals, unit) = subtract((x, y, z), (px, py, pz)), scaled_axes(axes)
    planes: list[Plane] = []
    for k, (n, half) in enumerate(zip(normals, halves, strict=True)):
        along = dot(v, n)
        planes += [
            (-along - unit * half, (-n[0], -n[1], -n[2]), Face(Face.NEG_X + 2 * k)),
            (along - unit * half, n, Face(Face.POS_X + 2 * k)),
        ]
    if all(over <= 0 for over, _, _ in planes):
        return [_foot_from((over * n[0], over * n[1], over * n[2]), dot(n, n) * scale, n, f) for over, n, f in planes]
    nearly = tuple(next((s for s in (0, 1) if planes[2 * k + s][0] > 0), None) for k in range(3))
    every = chain((nearly,), product((None, 0, 1), repeat=3))
    return [next(foot for signs in every if (foot := _foot_on_planes(planes, signs, scale)) is not None)]


def _foot_on_planes(planes: Sequence[Plane], signs: Sequence[int | None], scale: int) -> Foot | None:
    """The foot in the chosen planes, at most one per axis, if it is the nearest place; else None."""
    way, denominator = _projection([planes[2 * k + s] for k, s in enumerate(signs) if s is not None])
    beyond = [over * denominator - dot(way, n) for over, n, _ in planes]
    if denominator == 0 or max(beyond) > 0:
        return None
    _, normal, face = planes[beyond.index(0)]
    return _foot_from(way, denominator * scale, normal, face)


def _projection(planes: Sequence[Plane]) -> tuple[Vector, int]:
    """The vector from the planes' intersection to the point, and its denominator: 0 if a multiplier is negative."""
    over, gram = [over for over, _, _ in planes], [[dot(n, m) for _, m, _ in planes] for _, n, _ in planes]
    # by Cramer's rule: the matrix is symmetric and its determinant positive
    multipliers = [determinant([*gram[:k], over, *gram[k + 1 :]]) for k in range(len(planes))]
    if not multipliers or min(multipliers) < 0:
        return (0, 0, 0), 0
    way = [sum(m * n[k] for m, (_, n, _) in zip(multipliers, planes, strict=True)) for k in range(3)]
    return vector_of(way), determinant(gram)


def determinant(rows: Sequence[Sequence[int]]) -> int:
    """The determinant of one, two or three rows."""
    if len(rows) == 1:
        return rows[0][0]
    if len(rows) == 2:
        (a, b), (c, d) = rows
        return a * d - b * c
    (a, b, c), second, third = rows
    return dot((a, b, c), cross(vector_of(second), vector_of(third)))


def _foot_from(way: Vector, denominator: int, normal: Vector, face: Face) -> Foot:
    """The foot from which the vector to the point is `way` over `denominator`."""
    return Foot(
        lambda: QuadraticNumber(dot(way, way), denominator * denominator),
        face,
        lambda: (sum_of((ONE / denominator, digits_of(way))), unit_of(normal)),
    )


# Two boxes ------------------------------------------------------------------------------------------------------------


def boxes_touch(one: Numbers, other: Numbers) -> bool:
    """Whether two closed boxes have a point in common."""
    unit, *numbers = scaled_integers((1.0, *one[0], *one[1], *other[0], *other[1]))
    centre, sides, volume = _solid(numbers[:15])
    middle, others, volume_of_other = _solid(numbers[15:])
    way, factor = subtract(middle, centre), volume * volume_of_other
    vectors = [(side, unit * volume_of_other) for side in sides] + [(side, unit * volume) for side in others]
    return all(
        abs(factor * dot(way, plane)) <= sum(abs(by * dot(side, plane)) for side, by in vectors)
        for plane in _directions(sides, others)
    )


def _directions(sides: list[Vector], others: list[Vector]) -> Iterator[Vector]:
    """The directions to test: face normals, and the cross products of one edge of each box."""
    for own in (sides, others):
        for k in range(3):
            yield cross(own[k], own[k - 1])
    for u, v in product(sides, others):
        yield cross(u, v)


def _solid(numbers: list[int]) -> tuple[Vector, list[Vector], int]:
    """The centre; vectors along the edges from it to three faces, times the volume that the axes span; the volume.

    At the end of vector i, axis_i · x is half_i, and the products with the other axes are 0.
    """
    centre, u, v, w, half = (vector_of(numbers[k : k + 3]) for k in range(0, 15, 3))
    across = cross(v, w), cross(w, u), cross(u, v)
    sides = [vector_of([part * size for part in edge]) for edge, size in zip(across, half, strict=True)]
    return centre, sides, dot(across[0], u)
