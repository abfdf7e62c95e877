"""Tapered cylinder, cone and ellipsoid of revolution: distance² from the axis at most a quadratic of the axial place.

With h = (x - p1)·a, a = p2 - p1 and the axial place u = h / a², the distance from the axis is |(x - p1) × a| / |a|.
"""

from collections.abc import Sequence
from dataclasses import dataclass

from cylcollide.exact.frame import axis_frame
from cylcollide.exact.line import RayNumbers, Triple
from cylcollide.exact.solid import Bound, Solid


@dataclass(frozen=True, slots=True)
class Tapered(Solid):
    """Closed tapered cylinder {0 <= u <= 1, distance <= r1 + (r2 - r1) u}; a cone if r2 = 0."""

    p1: Triple
    p2: Triple
    radius1: float
    radius2: float

    def bounds(self, ray: RayNumbers) -> Sequence[Bound]:
        """Between the caps, and a² |(x - p1) × a|² <= (r1 a² + (r2 - r1) h)².

        That holds in both nappes of the wall's cone; between the caps the other one never is.
        """
        frame = axis_frame(ray, self.p1, self.p2, self.radius1, self.radius2)
        r1, r2 = frame.radii
        start, change = r1 * frame.top, r2 - r1
        wall = frame.wall(start * start, start * change, change * change, scale=frame.top)
        return frame.slab(), wall


@dataclass(frozen=True, slots=True)
class Ellipsoid(Solid):
    """Closed ellipsoid of revolution with poles p1, p2 and equatorial radius r: distance² <= 4 r² u (1 - u)."""

    p1: Triple
    p2: Triple
    radius: float

    def bounds(self, ray: RayNumbers) -> Sequence[Bound]:
        """Where a² |(x - p1) × a|² <= 4 r² h (a² - h); that needs 0 <= h <= a²."""
        frame = axis_frame(ray, self.p1, self.p2, self.radius)
        (r,) = frame.radii
        return (frame.wall(0, 2 * r * r * frame.top, -4 * r * r, scale=frame.top),)
