"""The ray's line relative to a limb's point or axis, in integers of one common scale."""

from typing import NamedTuple

from cylcollide._types import Face
from cylcollide.exact.line import RayNumbers, Triple
from cylcollide.exact.numbers import Vector, cross, dot, scaled_integers, subtract
from cylcollide.exact.solid import Slab, Wall


def line_from(ray: RayNumbers, place: Triple, *lengths: float) -> tuple[Vector, Vector, Vector, list[int]]:
    """The line as x - place = offset + t step; returns offset, step, place and the lengths."""
    numbers = scaled_integers((*ray.origin, *ray.second, *place, *lengths))
    ox, oy, oz, sx, sy, sz, px, py, pz, *scaled = numbers
    step = (sx - ox, sy - oy, sz - oz) if ray.is_segment else (sx, sy, sz)
    return (ox - px, oy - py, oz - pz), step, (px, py, pz), scaled


class AxisFrame(NamedTuple):
    """A line along and across the axis p1 → p2; a = p2 - p1.

    The height (x - p1)·a = height + t rate is 0 at p1 and top = a² at p2. The distance from the axis, times |a|, is the
    length of (x - p1) × a, and its square is A t² + 2 B t + C with `spread` = (A, B, C).
    """

    height: int
    rate: int
    top: int
    spread: tuple[int, int, int]
    radii: list[int]

    def slab(self) -> Slab:
        """The bound between the caps."""
        return Slab("slab", self.height, self.rate, self.top, Face.CAP1, Face.CAP2)

    def wall(
        self, c0: int, c1: int = 0, c2: int = 0, scale: int = 1, name: str = "wall", face: Face = Face.SIDE
    ) -> Wall:
        """The bound scale |(x - p1) × a|² <= c0 + 2 c1 h + c2 h², h the height: within a surface of revolution."""
        a, b, c = self.spread
        slope = c1 + c2 * self.height
        return Wall(
            name,
            face,
            scale * a - c2 * self.rate**2,
            scale * b - slope * self.rate,
            scale * c - (c0 + (c1 + slope) * self.height),
        )


def axis_frame(ray: RayNumbers, p1: Triple, p2: Triple, *radii: float) -> AxisFrame:
    """The ray's line along and across an axis, with the radii in the same scale."""
    offset, step, first, (x, y, z, *scaled) = line_from(ray, p1, *p2, *radii)
    axis = subtract((x, y, z), first)
    across, turn = cross(offset, axis), cross(step, axis)
    return AxisFrame(
        dot(offset, axis),
        dot(step, axis),
        dot(axis, axis),
        (dot(turn, turn), dot(across, turn), dot(across, across)),
        scaled,
    )
