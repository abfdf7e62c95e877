"""A line in exact numbers: the stretches of it where a condition holds, and how a solid is asked about it."""

from collections.abc import Callable
from typing import NamedTuple, Protocol

from cylcollide._types import Face, Side
from cylcollide.exact.numbers import QuadraticNumber, Vector, cross, dot, scaled_integers, subtract

Triple = tuple[float, float, float]


class RayNumbers(NamedTuple):
    """The float64 numbers that define a ray: start and end, or origin and direction, and the largest fraction."""

    origin: Triple
    second: Triple
    is_segment: bool
    limit: float  # may be infinite


class Stretch(NamedTuple):
    """A closed stretch of a line, as fractions of the ray; None is without bound on that side."""

    near: QuadraticNumber | None
    far: QuadraticNumber | None


EVERYWHERE = Stretch(None, None)


class Crossing(NamedTuple):
    """Where a line is inside a closed solid, in order, and the face of each end."""

    stretches: list[Stretch]
    face: Callable[[QuadraticNumber], Face]


class Solid(Protocol):
    """A closed solid in exact numbers: the specification of one shape."""

    def crossing(self, ray: RayNumbers) -> Crossing:
        """Where the ray's line is inside, and through which faces it goes."""

    def side(self, point: Triple) -> Side:
        """Where a point lies."""


def slab(height: int, rate: int, top: int) -> list[Stretch]:
    """Where 0 <= height + t rate <= top."""
    if rate == 0:
        return [EVERYWHERE] if 0 <= height <= top else []
    bottom_crossing, top_crossing = QuadraticNumber(-height, rate), QuadraticNumber(top - height, rate)
    return [Stretch(bottom_crossing, top_crossing) if rate > 0 else Stretch(top_crossing, bottom_crossing)]


def quadratic(a: int, b: int, c: int) -> list[Stretch]:
    """Where a t² + 2 b t + c <= 0: between its roots, outside them, on one side of one, everywhere or nowhere."""
    if a == 0 and b == 0:
        return [EVERYWHERE] if c <= 0 else []
    if a == 0:
        root = QuadraticNumber(-c, 2 * b)
        return [Stretch(None, root) if b > 0 else Stretch(root, None)]
    radicand = b * b - a * c
    if a > 0:
        if radicand < 0:
            return []
        return [Stretch(QuadraticNumber(-b, a, -1, radicand), QuadraticNumber(-b, a, 1, radicand))]
    if radicand <= 0:
        return [EVERYWHERE]
    smaller, larger = QuadraticNumber(-b, a, 1, radicand), QuadraticNumber(-b, a, -1, radicand)
    return [Stretch(None, smaller), Stretch(larger, None)]


def later(a: QuadraticNumber | None, b: QuadraticNumber | None) -> QuadraticNumber | None:
    """The later of two beginnings."""
    return b if a is None else a if b is None else max(a, b)


def earlier(a: QuadraticNumber | None, b: QuadraticNumber | None) -> QuadraticNumber | None:
    """The earlier of two ends."""
    return b if a is None else a if b is None else min(a, b)


def common(first: list[Stretch], second: list[Stretch]) -> list[Stretch]:
    """What two lists of stretches share, touching ends included."""
    shared = (Stretch(later(a.near, b.near), earlier(a.far, b.far)) for a in first for b in second)
    return [s for s in shared if s.near is None or s.far is None or s.near <= s.far]


class AxisFrame(NamedTuple):
    """A line seen from the axis p1 → p2, in integers of one common scale.

    At parameter t the point has (x - p1)·a = height + t rate, which is 0 at p1 and `top` at p2, and
    (x - p1) × a = across + t turn, whose length is |a| times the distance from the axis.
    """

    height: int
    rate: int
    top: int
    across: Vector
    turn: Vector
    radii: tuple[int, ...]

    def distance_terms(self) -> tuple[int, int, int]:
        """Coefficients of |across + t turn|² = a t² + 2 b t + c."""
        return dot(self.turn, self.turn), dot(self.across, self.turn), dot(self.across, self.across)

    def sign_above(self, time: QuadraticNumber, level: int) -> int:
        """Sign of height + t rate - level."""
        if self.rate == 0:
            return (self.height > level) - (self.height < level)
        crossing = time.compare(QuadraticNumber(level - self.height, self.rate))
        return crossing if self.rate > 0 else -crossing

    def cap(self, time: QuadraticNumber) -> Face | None:
        """The cap whose plane the line is in at that time, if any: there cap and wall meet, and the cap has it."""
        if self.sign_above(time, 0) == 0:
            return Face.CAP1
        return Face.CAP2 if self.sign_above(time, self.top) == 0 else None


def axis_frame(ray: RayNumbers, p1: Triple, p2: Triple, *radii: float) -> AxisFrame:
    """The ray's line seen from an axis."""
    numbers = scaled_integers((*ray.origin, *ray.second, *p1, *p2, *radii))
    origin, second, first, last = (vector(numbers, k) for k in range(4))
    direction = subtract(second, origin) if ray.is_segment else second
    axis, from_p1 = subtract(last, first), subtract(origin, first)
    return AxisFrame(
        dot(from_p1, axis),
        dot(direction, axis),
        dot(axis, axis),
        cross(from_p1, axis),
        cross(direction, axis),
        tuple(numbers[12:]),
    )


def point_frame(point: Triple, p1: Triple, p2: Triple, *radii: float) -> tuple[int, int, int, tuple[int, ...]]:
    """(x - p1)·a, a², |(x - p1) × a|² and the radii, in integers of one common scale."""
    frame = axis_frame(RayNumbers(point, point, True, 1.0), p1, p2, *radii)
    return frame.height, frame.top, dot(frame.across, frame.across), frame.radii


def vector(numbers: list[int], k: int) -> Vector:
    """The k-th triple of numbers."""
    return numbers[3 * k], numbers[3 * k + 1], numbers[3 * k + 2]


def side_of(inside: bool, on_surface: bool) -> Side:
    """Where a point lies that is in the closed solid or not, and on its surface or not."""
    if not inside:
        return Side.OUTSIDE
    return Side.SURFACE if on_surface else Side.INSIDE
