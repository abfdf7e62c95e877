"""The capped cylinder, exactly: {x : 0 <= (x - p1)·a <= a², |(x - p1) × a|² <= r² a²} with a = p2 - p1.

A ray is inside during slab ∩ wall ∩ [0, limit]. Everything is an integer polynomial of the inputs, so nothing rounds.
"""

from typing import NamedTuple

from cylcollide._types import Face, Side
from cylcollide.exact.numbers import ZERO, QuadraticNumber, Vector, cross, dot, scaled_integers, subtract

Triple = tuple[float, float, float]


class CylinderNumbers(NamedTuple):
    """The float64 numbers that define a cylinder."""

    p1: Triple
    p2: Triple
    radius: float


class RayNumbers(NamedTuple):
    """The float64 numbers that define a ray: start and end, or origin and direction, and the largest fraction."""

    origin: Triple
    second: Triple
    is_segment: bool
    limit: float  # may be infinite


class Chord(NamedTuple):
    """The stretch of a ray inside a limb, as fractions of the ray."""

    entry: QuadraticNumber
    exit: QuadraticNumber | None  # None: never, the ray has no end and does not move
    entry_face: Face  # INSIDE if the ray starts in the limb
    exit_face: Face  # INSIDE if it ends there

    @property
    def started_inside(self) -> bool:
        """Whether the ray starts in the limb."""
        return self.entry_face == Face.INSIDE


class Stretch(NamedTuple):
    """A stretch of the ray's line; None is without bound on that side."""

    near: QuadraticNumber | None
    far: QuadraticNumber | None


def slab_stretch(height: int, rate: int, top: int) -> Stretch | None:
    """Where 0 <= height + t rate <= top; None if nowhere."""
    if rate == 0:
        return Stretch(None, None) if 0 <= height <= top else None
    bottom_crossing, top_crossing = QuadraticNumber(-height, rate), QuadraticNumber(top - height, rate)
    return Stretch(bottom_crossing, top_crossing) if rate > 0 else Stretch(top_crossing, bottom_crossing)


def quadratic_stretch(a: int, b: int, c: int) -> Stretch | None:
    """Where a t² + 2 b t + c <= 0 for a >= 0, and b = 0 where a = 0; None if nowhere."""
    if a == 0:
        return Stretch(None, None) if c <= 0 else None
    radicand = b * b - a * c
    if radicand < 0:
        return None
    return Stretch(QuadraticNumber(-b, a, -1, radicand), QuadraticNumber(-b, a, 1, radicand))


def cap_at(time: QuadraticNumber, height: int, rate: int, top: int) -> Face | None:
    """The cap whose plane the ray is in at that time, if any: there cap and side meet, and the cap has it."""
    for level, cap in ((0, Face.CAP1), (top, Face.CAP2)):
        if rate == 0 and height == level:
            return cap
        if rate != 0 and time == QuadraticNumber(level - height, rate):
            return cap
    return None


def ray_cylinder(ray: RayNumbers, limb: CylinderNumbers) -> Chord | None:
    """The chord of the ray in the closed cylinder, or None for a miss."""
    numbers = scaled_integers((*ray.origin, *ray.second, *limb.p1, *limb.p2, limb.radius))
    origin, second, p1, p2 = (_vector(numbers, k) for k in range(4))
    radius = numbers[12]
    direction = subtract(second, origin) if ray.is_segment else second
    axis, from_p1 = subtract(p2, p1), subtract(origin, p1)

    # caps first: one dot product
    height, rate, top = dot(from_p1, axis), dot(direction, axis), dot(axis, axis)
    slab = slab_stretch(height, rate, top)
    if slab is None:
        return None

    # the wall: |(v + t d) × a|² <= r² a²
    across, turn = cross(from_p1, axis), cross(direction, axis)
    wall = quadratic_stretch(dot(turn, turn), dot(across, turn), dot(across, across) - radius * radius * top)
    if wall is None:
        return None

    # the last to begin and the first to end
    limit = None if ray.limit == float("inf") else QuadraticNumber.of_float(ray.limit)
    entry = max(time for time in (slab.near, wall.near, ZERO) if time is not None)
    exits = [time for time in (slab.far, wall.far) if time is not None]
    leaving = min(exits) if exits else None
    started_inside = entry == ZERO and all(time is None or time <= ZERO for time in (slab.near, wall.near))
    ends_inside = limit is not None and (leaving is None or leaving > limit)
    last = limit if ends_inside else leaving
    if last is not None and entry > last:
        return None
    entry_face = Face.INSIDE if started_inside else cap_at(entry, height, rate, top) or Face.SIDE
    if ends_inside or last is None:
        exit_face = Face.INSIDE
    else:
        exit_face = cap_at(last, height, rate, top) or Face.SIDE
    return Chord(entry, last, entry_face, exit_face)


def point_cylinder(point: Triple, limb: CylinderNumbers) -> Side:
    """Where the point lies with respect to the closed cylinder."""
    numbers = scaled_integers((*point, *limb.p1, *limb.p2, limb.radius))
    position, p1, p2 = (_vector(numbers, k) for k in range(3))
    radius = numbers[9]
    axis, from_p1 = subtract(p2, p1), subtract(position, p1)
    height, top = dot(from_p1, axis), dot(axis, axis)
    across = cross(from_p1, axis)
    distance, wall = dot(across, across), radius * radius * top
    if not 0 <= height <= top or distance > wall:
        return Side.OUTSIDE
    on_surface = height in (0, top) or distance == wall
    return Side.SURFACE if on_surface else Side.INSIDE


def _vector(numbers: list[int], k: int) -> Vector:
    return numbers[3 * k], numbers[3 * k + 1], numbers[3 * k + 2]
