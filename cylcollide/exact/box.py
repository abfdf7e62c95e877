"""Box: {x : |axis_i · (x - center)| <= half_i for i = 0, 1, 2}, the axes as the float64 numbers they are."""

from typing import NamedTuple

from cylcollide._types import Face, Side
from cylcollide.exact.line import EVERYWHERE, Crossing, RayNumbers, Triple, common, side_of, slab, vector
from cylcollide.exact.numbers import QuadraticNumber, dot, scaled_integers, subtract

FACES = ((Face.NEG_X, Face.POS_X), (Face.NEG_Y, Face.POS_Y), (Face.NEG_Z, Face.POS_Z))


class Box(NamedTuple):
    """Closed box with three axes."""

    center: Triple
    axes: tuple[Triple, Triple, Triple]
    half_extents: Triple

    def crossing(self, ray: RayNumbers) -> Crossing:
        """Three slabs. An edge belongs to the lowest face code."""
        numbers = scaled_integers((*ray.origin, *ray.second, *self.center, *self.half_extents))
        origin, second, center, half = (vector(numbers, k) for k in range(4))
        direction = subtract(second, origin) if ray.is_segment else second
        turns, unit = self._axes()
        x = subtract(origin, center)
        # axis·(x - center) + half runs from 0 to 2 half, all times the common scale of the axes
        slabs = [
            (dot(turn, x) + unit * h, dot(turn, direction), 2 * unit * h) for turn, h in zip(turns, half, strict=True)
        ]
        inside = [EVERYWHERE]
        for height, rate, top in slabs:
            inside = common(inside, slab(height, rate, top))

        def face(time: QuadraticNumber) -> Face:
            for (height, rate, top), (low, high) in zip(slabs, FACES, strict=True):
                for level, code in ((0, low), (top, high)):
                    if height == level if rate == 0 else time == QuadraticNumber(level - height, rate):
                        return code
            raise AssertionError("a stretch ends on a face")

        return Crossing(inside, face)

    def side(self, point: Triple) -> Side:
        """Where a point lies."""
        numbers = scaled_integers((*point, *self.center, *self.half_extents))
        position, center, half = (vector(numbers, k) for k in range(3))
        turns, unit = self._axes()
        x = subtract(position, center)
        rooms = [unit * h - abs(dot(turn, x)) for turn, h in zip(turns, half, strict=True)]
        return side_of(min(rooms) >= 0, min(rooms) == 0)

    def _axes(self) -> tuple[list[tuple[int, int, int]], int]:
        """The axes in integers, and their common scale."""
        numbers = scaled_integers((*self.axes[0], *self.axes[1], *self.axes[2], 1.0))
        return [vector(numbers, k) for k in range(3)], numbers[9]
