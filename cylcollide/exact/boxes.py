"""Whether two boxes overlap or touch, in exact arithmetic: if no plane across a face or two edges separates them."""

from collections.abc import Iterator
from fractions import Fraction
from itertools import product
from typing import TypeAlias

from cylcollide.exact.numbers import cross, dot

Point: TypeAlias = tuple[Fraction, Fraction, Fraction]

Numbers: TypeAlias = tuple[tuple[float, ...], tuple[float, ...]]
"""Of a box: its centre, and its three axes and half extents; the axes count as they are."""


def boxes_touch(one: Numbers, other: Numbers) -> bool:
    """Whether two closed boxes have a point in common."""
    (a, sides), (b, others) = _solid(one), _solid(other)
    way: Point = (b[0] - a[0], b[1] - a[1], b[2] - a[2])
    return all(
        abs(dot(way, plane)) <= sum(abs(dot(side, plane)) for side in (*sides, *others))
        for plane in _planes(sides, others)
    )


def _planes(sides: list[Point], others: list[Point]) -> Iterator[Point]:
    """The directions across faces and across two edges."""
    for own in (sides, others):
        for k in range(3):
            yield cross(own[k], own[k - 1])
    for u, v in product(sides, others):
        yield cross(u, v)


def _solid(numbers: Numbers) -> tuple[Point, list[Point]]:
    """The centre, and the vectors from it to three faces, along the edges: axis_i · x is half_i there."""
    x, y, z = map(Fraction, numbers[0])
    rows = [Fraction(number) for number in numbers[1]]
    u, v, w, half = (_point(rows[k : k + 3]) for k in (0, 3, 6, 9))
    volume = dot(cross(u, v), w)
    across = cross(v, w), cross(w, u), cross(u, v)
    return (x, y, z), [_point([part * size / volume for part in edge]) for edge, size in zip(across, half, strict=True)]


def _point(numbers: list[Fraction]) -> Point:
    x, y, z = numbers
    return x, y, z
