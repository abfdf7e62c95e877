"""Every shape as bounds along a line, in integers of one common scale.

With a = p2 - p1, the height of a point x above p1 is h = (x - p1)·a, which is a² at p2, and its distance from the axis
is |(x - p1) × a| / |a|.
"""

from collections.abc import Sequence
from dataclasses import dataclass
from fractions import Fraction

from cylcollide._types import Face, RayNumbers
from cylcollide.exact.about_axis import AboutAxis
from cylcollide.exact.ball_and_box import feet_of_box, foot_of_ball, scaled_axes
from cylcollide.exact.foot import Foot
from cylcollide.exact.line import Triple
from cylcollide.exact.numbers import Vector, cross, dot, scaled_integers, subtract
from cylcollide.exact.solid import Bound, LimbSolid, bore, slab, wall


def line_from(ray: RayNumbers, place: Triple, *lengths: float | Fraction) -> tuple[Vector, Vector, Vector, list[int]]:
    """The line as x - place = offset + t step; returns offset, step, place and the lengths."""
    numbers = scaled_integers((*ray.origin, *ray.second, *place, *lengths))
    ox, oy, oz, sx, sy, sz, px, py, pz, *scaled = numbers
    step = (sx - ox, sy - oy, sz - oz) if ray.is_segment else (sx, sy, sz)
    return (ox - px, oy - py, oz - pz), step, (px, py, pz), scaled


@dataclass(frozen=True, slots=True)
class AxisFrame:
    """A line along and across the axis p1 → p2.

    Its height above p1 is height + t rate, and top = a² at p2. The square of |(x - p1) × a| is A t² + 2 B t + C with
    `spread` = (A, B, C).
    """

    height: int
    rate: int
    top: int
    spread: tuple[int, int, int]
    radii: list[int]

    def slab(self) -> Bound:
        """The bound between the caps."""
        return slab("slab", self.height, self.rate, self.top, Face.CAP1, Face.CAP2)

    def quadric(self, c0: int, c1: int = 0, c2: int = 0, scale: int = 1) -> tuple[int, int, int]:
        """The condition scale |(x - p1) × a|² <= c0 + 2 c1 h + c2 h² as coefficients A, B, C; see `solid.wall`."""
        a, b, c = self.spread
        slope = c1 + c2 * self.height
        return (
            scale * a - c2 * self.rate**2,
            scale * b - slope * self.rate,
            scale * c - (c0 + (c1 + slope) * self.height),
        )


def axis_frame(ray: RayNumbers, p1: Triple, p2: Triple, *radii: float | Fraction) -> AxisFrame:
    """The ray's line along and across an axis, with the radii in the same scale."""
    offset, step, first, (x, y, z, *scaled) = line_from(ray, p1, *p2, *radii)
    axis = subtract((x, y, z), first)
    across, turn = cross(offset, axis), cross(step, axis)
    spread = dot(turn, turn), dot(across, turn), dot(across, across)
    return AxisFrame(dot(offset, axis), dot(step, axis), dot(axis, axis), spread, scaled)


@dataclass(frozen=True, slots=True)
class Cylinder(LimbSolid):
    """Closed cylinder with flat caps: 0 <= h <= a², |(x - p1) × a|² <= r² a²."""

    p1: Triple
    p2: Triple
    radius: float

    def bounds(self, ray: RayNumbers) -> Sequence[Bound]:
        """Between the caps, caps first, and within the wall."""
        frame = axis_frame(ray, self.p1, self.p2, self.radius)
        (r,) = frame.radii
        return frame.slab(), wall("wall", Face.SIDE, *frame.quadric(r * r * frame.top))

    def feet(self, point: Triple) -> Sequence[Foot]:
        """On a cap, the wall or a rim."""
        return AboutAxis.of(point, self.p1, self.p2, self.radius, self.radius, 0.0).feet()


@dataclass(frozen=True, slots=True)
class Tube(LimbSolid):
    """Closed cylinder less the open infinite cylinder of `inner_radius`: the bore's wall belongs to it."""

    p1: Triple
    p2: Triple
    radius: float
    inner_radius: float

    def bounds(self, ray: RayNumbers) -> Sequence[Bound]:
        """The bounds of the cylinder, and not strictly inside the bore."""
        frame = axis_frame(ray, self.p1, self.p2, self.radius, self.inner_radius)
        r, inner = (frame.quadric(radius * radius * frame.top) for radius in frame.radii)
        return frame.slab(), wall("wall", Face.SIDE, *r), bore("bore", Face.BORE, *inner)

    def feet(self, point: Triple) -> Sequence[Foot]:
        """On a cap, a wall or a rim."""
        return AboutAxis.of(point, self.p1, self.p2, self.radius, self.radius, self.inner_radius).feet()


@dataclass(frozen=True, slots=True)
class Tapered(LimbSolid):
    """Closed tapered cylinder: 0 <= h <= a², distance from the axis <= r1 + (r2 - r1) h / a²; a cone if r2 = 0."""

    p1: Triple
    p2: Triple
    radius1: float
    radius2: float

    def bounds(self, ray: RayNumbers) -> Sequence[Bound]:
        """Between the caps, and a² |(x - p1) × a|² <= (r1 a² + (r2 - r1) h)².

        That holds in both nappes of the wall's cone; the other nappe is never between the caps.
        """
        frame = axis_frame(ray, self.p1, self.p2, self.radius1, self.radius2)
        r1, r2 = frame.radii
        start, change = r1 * frame.top, r2 - r1
        nappes = frame.quadric(start * start, start * change, change * change, frame.top)
        return frame.slab(), wall("wall", Face.SIDE, *nappes)

    def feet(self, point: Triple) -> Sequence[Foot]:
        """On a cap, the wall, a rim or the apex."""
        return AboutAxis.of(point, self.p1, self.p2, self.radius1, self.radius2, 0.0).feet()


@dataclass(frozen=True, slots=True)
class Ellipsoid(LimbSolid):
    """Closed ellipsoid of revolution with poles p1, p2 and equatorial radius r."""

    p1: Triple
    p2: Triple
    radius: float

    def bounds(self, ray: RayNumbers) -> Sequence[Bound]:
        """Where a² |(x - p1) × a|² <= 4 r² h (a² - h), which implies 0 <= h <= a²."""
        frame = axis_frame(ray, self.p1, self.p2, self.radius)
        (r,) = frame.radii
        return (wall("wall", Face.SIDE, *frame.quadric(0, 2 * r * r * frame.top, -4 * r * r, frame.top)),)

    def feet(self, point: Triple) -> Sequence[Foot]:
        """The one on the ellipse of the half plane."""
        return [AboutAxis.of(point, self.p1, self.p2, self.radius, self.radius, 0.0).foot_of_ellipsoid()]


@dataclass(frozen=True, slots=True)
class Capsule(LimbSolid):
    """All points within r of the segment p1 → p2, p1 and p2 different; its balls are its caps, the seams included."""

    p1: Triple
    p2: Triple
    radius: float | Fraction

    def bounds(self, ray: RayNumbers) -> Sequence[Bound]:
        """Those of the cylinder and, by Pythagoras, |(x - p1) × a|² + h² <= r² a² for p1; for p2, h - a² replaces h."""
        frame = axis_frame(ray, self.p1, self.p2, self.radius)
        (r,), top = frame.radii, frame.top
        square = r * r * top
        return (
            frame.slab(),
            wall("wall", Face.SIDE, *frame.quadric(square)),
            wall("ball at p1", Face.CAP1, *frame.quadric(square, 0, -1)),
            wall("ball at p2", Face.CAP2, *frame.quadric(square - top * top, top, -1)),
        )

    def parts(self, ray: RayNumbers) -> Sequence[Sequence[Bound]]:
        """The cylinder and the balls, whose union is convex."""
        between, body, first, last = self.bounds(ray)
        return (between, body), (first,), (last,)

    def feet(self, point: Triple) -> Sequence[Foot]:
        """The one on the wall or a ball."""
        return [AboutAxis.of(point, self.p1, self.p2, self.radius, self.radius, 0.0).foot_of_capsule()]


@dataclass(frozen=True, slots=True)
class Sphere(LimbSolid):
    """Closed ball."""

    center: Triple
    radius: float | Fraction

    def bounds(self, ray: RayNumbers) -> Sequence[Bound]:
        """Where |x - center|² <= r²."""
        offset, step, _, (r,) = line_from(ray, self.center, self.radius)
        return (wall("wall", Face.SIDE, dot(step, step), dot(offset, step), dot(offset, offset) - r * r),)

    def feet(self, point: Triple) -> Sequence[Foot]:
        """The one on the line from the centre to the point."""
        return [foot_of_ball(point, self.center, self.radius)]


@dataclass(frozen=True, slots=True)
class Box(LimbSolid):
    """Closed box: |axis_i · (x - center)| <= half_i for i = 0, 1, 2, with the axes as given in float64."""

    center: Triple
    axes: tuple[Triple, Triple, Triple]
    half_extents: Triple

    def bounds(self, ray: RayNumbers) -> Sequence[Bound]:
        """Three slabs: axis·(x - center) + half runs from 0 to 2 half, all times the common scale of the axes."""
        offset, step, _, (a, b, c) = line_from(ray, self.center, *self.half_extents)
        (x, y, z), unit = scaled_axes(self.axes)
        a, b, c = unit * a, unit * b, unit * c
        return (
            slab("slab x", dot(x, offset) + a, dot(x, step), 2 * a, Face.NEG_X, Face.POS_X),
            slab("slab y", dot(y, offset) + b, dot(y, step), 2 * b, Face.NEG_Y, Face.POS_Y),
            slab("slab z", dot(z, offset) + c, dot(z, step), 2 * c, Face.NEG_Z, Face.POS_Z),
        )

    def feet(self, point: Triple) -> Sequence[Foot]:
        """One on each face if the point is inside, else a single one."""
        return feet_of_box(point, self.center, self.axes, self.half_extents)
