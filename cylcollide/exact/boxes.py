"""Whether two boxes overlap or touch, in exact arithmetic: if no plane across a face or two edges separates them."""

from collections.abc import Iterator
from itertools import product
from typing import TypeAlias

from cylcollide.exact.numbers import Vector, cross, dot, scaled_integers, subtract, vector_of

Numbers: TypeAlias = tuple[tuple[float, ...], tuple[float, ...]]
"""Of a box: its centre, and its three axes and half extents; the axes count as they are."""


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
    """The directions across faces and across two edges."""
    for own in (sides, others):
        for k in range(3):
            yield cross(own[k], own[k - 1])
    for u, v in product(sides, others):
        yield cross(u, v)


def _solid(numbers: list[int]) -> tuple[Vector, list[Vector], int]:
    """The centre; the vectors from it to three faces, along the edges, times the volume that the axes span; and that.

    Where the vector of face i ends, axis_i · x is half_i, and the other axes' are 0.
    """
    centre, u, v, w, half = (vector_of(numbers[k : k + 3]) for k in range(0, 15, 3))
    across = cross(v, w), cross(w, u), cross(u, v)
    sides = [vector_of([part * size for part in edge]) for edge, size in zip(across, half, strict=True)]
    return centre, sides, dot(across[0], u)
