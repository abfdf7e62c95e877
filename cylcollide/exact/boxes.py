"""Whether two boxes overlap or touch, in exact arithmetic: the separating axis test."""

from collections.abc import Iterator
from itertools import product
from typing import TypeAlias

from cylcollide.exact.numbers import Vector, cross, dot, scaled_integers, subtract, vector_of

Numbers: TypeAlias = tuple[tuple[float, ...], tuple[float, ...]]
"""A box: its centre, and its three axes and half extents; the axes count as given."""


def boxes_touch(one: Numbers, other: Numbers) -> bool:
    """Whether two closed boxes have a point in common."""
    unit, *numbers = scaled_integers((1.0, *one[0], *one[1], *other[0], *other[1]))
    centre, sides, volume = _solid(numbers[:15])
    middle, others, volume_of_other = _solid(numbers[15:])
    way, factor = subtract(middle, centre), volume * volume_of_other
    vectors = [(side, unit * volume_of_other) for side in sides] + [(side, unit * volume) for side in others]
    return all(
        abs(factor * dot(way, plane)) <= sum(abs(by * dot(side, plane)) for side, by in vectors)
        for plane in _planes(sides, others)
    )


def _planes(sides: list[Vector], others: list[Vector]) -> Iterator[Vector]:
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
