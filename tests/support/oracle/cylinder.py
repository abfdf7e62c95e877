"""Independent oracle for closed cylinders: what real arithmetic says about the given float64 numbers.

It shares nothing with the library, neither code nor formulation. Lengths are scaled to integers, and no float takes
part in a decision. The library intersects intervals; the oracle asks instead

1. *verdict*: is the least value of the convex quadratic q(t) = |a|² (dist² - r²) on the stretch of the ray that lies
   between the caps and within the limit <= 0? Its least point is the vertex clamped to that stretch: rational, no root;
2. *entry*: q at the near end of that stretch says whether the ray comes in there (start or cap plane) or at the lower
   root of q; likewise the exit. A root is kept as an algebraic number (`support.oracle.algebraic.Root`);
3. *order*: two such numbers are equal iff polynomial and branch are; if they differ, integer square roots of growing
   length tell them apart.

Error: verdicts, faces, order and point classes are exact. `value` and `Chord` positions are within 2^-160 relative of
the true parameter; everything else that is returned is an exact Fraction.
"""

from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from fractions import Fraction
from functools import cached_property, cmp_to_key
from math import sqrt

from support.oracle.algebraic import Param, compare, root, value

SIDE, CAP1, CAP2, INSIDE, NONE = 0, 1, 2, 10, 11
"""Face codes, spelled here again so that a wrong code in the library is seen."""

POINT_OUTSIDE, POINT_SURFACE, POINT_INSIDE = 0, 1, 2
"""Codes of `classify`."""

Point = tuple[float, float, float]
Integers = Sequence[int]


@dataclass(frozen=True)
class Limb:
    """One closed cylinder of radius `radius` about the segment p1 → p2, any length unit."""

    p1: Point
    p2: Point
    radius: float


@dataclass(frozen=True)
class Ray:
    """The points origin + t·direction, 0 <= t <= limit; `limit` None: no limit.

    Of a segment `target` is its end, direction the real difference end - origin and limit 1; of a ray it is the
    direction.
    """

    origin: Point
    target: Point
    segment: bool
    limit: Fraction | None

    @cached_property
    def direction(self) -> tuple[Fraction, ...]:
        """Return the exact direction, three Fractions."""
        start = (Fraction(x) for x in self.origin)
        return tuple(Fraction(x) - (s if self.segment else 0) for x, s in zip(self.target, start, strict=True))


def segment(start: Iterable[float], end: Iterable[float]) -> Ray:
    """Return the closed segment start → end."""
    return Ray(_point(start), _point(end), True, Fraction(1))


def ray(origin: Iterable[float], direction: Iterable[float], max_distance: float = float("inf")) -> Ray:
    """Return a ray, limit the float64 `max_distance / |direction|`; |direction| is exact if it fits, else to 1 ulp."""
    target = _point(direction)
    length = sqrt(sum(Fraction(x) ** 2 for x in target))
    limit = None if max_distance == float("inf") else Fraction(max_distance / length)
    return Ray(_point(origin), target, False, limit)


# One limb and one ray -----------------------------------------------------------------------------------------------


@dataclass(frozen=True)
class Chord:
    """The stretch of a ray inside one limb; `leaves` says that the ray leaves the limb within its limit."""

    entry: Param
    exit: Param | None  # None: a ray of zero length without limit never ends nor leaves
    entry_face: int
    exit_face: int
    started_inside: bool
    leaves: bool


def chord(limb: Limb, query: Ray) -> Chord | None:
    """Return the chord of one limb along one ray, None for a miss."""
    axis2, (s0, s1), (c2, c1, c0) = _coefficients(limb, query)

    def q(t: Fraction) -> int:
        """Return an integer with the sign of dist²(t) - r²."""
        n, m = t.numerator, t.denominator
        return c2 * n * n + 2 * c1 * n * m + c0 * m * m

    # The stretch of the whole line between the caps, [first, last]; None: unbounded on that side.
    first: Fraction | None = None
    last: Fraction | None = None
    if s1 == 0:
        if not 0 <= s0 <= axis2:
            return None
    else:
        first, last = sorted((Fraction(-s0, s1), Fraction(axis2 - s0, s1)))

    # Of it, the stretch that the ray covers, and where on it the ray comes nearest to the axis line.
    near = Fraction(0) if first is None else max(first, Fraction(0))
    far = _least(last, query.limit)
    if far is not None and far < near:
        return None
    middle = near if c2 == 0 else max(near, Fraction(-c1, c2))
    middle = middle if far is None else min(middle, far)
    if q(middle) > 0:
        return None

    # q decreases up to `middle`, so the ray enters at `near` if it is within the wall there, else at the lower root.
    entry: Param = near if q(near) <= 0 else root(c2, c1, c0, upper=False)
    started_inside = entry == 0

    # q increases after `middle`: the line leaves at the far cap if it is within the wall there, else at the upper root.
    leave: Param | None
    if last is not None and q(last) <= 0:
        leave = last
    else:
        leave = None if c2 == 0 else root(c2, c1, c0, upper=True)
    leaves = leave is not None and (query.limit is None or compare(leave, query.limit) <= 0)
    exit_ = leave if leaves else query.limit

    def face(t: Param | None) -> int:
        """Return the face of the surface point at t: a cap wherever the point lies in its plane."""
        for plane, code in ((0, CAP1), (axis2, CAP2)):
            if (s1 == 0 and s0 == plane) or (s1 != 0 and t == Fraction(plane - s0, s1)):
                return code
        return SIDE

    entry_face = INSIDE if started_inside else face(entry)
    return Chord(entry, exit_, entry_face, face(exit_) if leaves else INSIDE, started_inside, leaves)


def position(query: Ray, t: Param) -> tuple[Fraction, ...]:
    """Return the point at t, each coordinate within 2^-160 |t·direction|."""
    at = value(t)
    return tuple(Fraction(o) + at * d for o, d in zip(query.origin, query.direction, strict=True))


def graze_depth(limb: Limb, query: Ray) -> float:
    """Return 1 - dist/r for the distance of the whole line from the whole axis line: > 0 cuts, < 0 passes; about 1e-16.

    Only for lines that are not parallel to the axis.
    """
    aa, _, (c2, c1, c0) = _coefficients(limb, query)
    radius = _integers(_numbers(limb, query))[6]
    excess = Fraction(c0 * c2 - c1 * c1, c2 * aa * radius * radius)  # dist²/r² - 1
    return float(-excess) / (1 + sqrt(1 + excess))


# Several limbs ------------------------------------------------------------------------------------------------------


@dataclass(frozen=True)
class Hit:
    """The hit that is credited: which limb, where along the ray, on what face, and the limb's chord."""

    limb: int
    at: Param
    face: int
    chord: Chord


def chords(limbs: Iterable[tuple[int, Limb]], query: Ray) -> list[tuple[int, Chord]]:
    """Return every limb crossed with its chord, sorted by entry, exact ties by limb index."""
    found = [(i, c) for i, limb in limbs if (c := chord(limb, query)) is not None]
    return sorted(found, key=cmp_to_key(lambda x, y: compare(x[1].entry, y[1].entry) or x[0] - y[0]))


def credited(found: Iterable[tuple[int, Chord]], inside: str) -> Hit | None:
    """Return the first event along the ray under the policy `inside` ("hit", "exit", "ignore"), ties by limb index."""
    best: Hit | None = None
    for i, c in found:
        event = _event(c, inside)
        if event is None:
            continue
        order = -1 if best is None else compare(event[0], best.at) or i - best.limb
        if order < 0:
            best = Hit(i, *event, c)
    return best


def _event(c: Chord, inside: str) -> tuple[Param, int] | None:
    """Return place and face of what one chord counts as, None if the policy skips it."""
    if not c.started_inside or inside == "hit":
        return c.entry, c.entry_face
    if inside == "ignore" or not c.leaves or c.exit is None:
        return None
    return c.exit, c.exit_face


# Points -------------------------------------------------------------------------------------------------------------


def classify(limb: Limb, point: Iterable[float]) -> int:
    """Return POINT_OUTSIDE, POINT_SURFACE or POINT_INSIDE; exact."""
    along, length2, wall = _point_facts(limb, point)
    if along < 0 or along > length2 or wall > 0:
        return POINT_OUTSIDE
    return POINT_SURFACE if along in (0, length2) or wall == 0 else POINT_INSIDE


def _point_facts(limb: Limb, point: Iterable[float]) -> tuple[Fraction, Fraction, Fraction]:
    """Return (x - p1)·a, |a|² and |a|² (dist² - r²)."""
    p1, p2, x = ([Fraction(c) for c in p] for p in (limb.p1, limb.p2, point))
    a = [v - u for u, v in zip(p1, p2, strict=True)]
    m = [v - u for u, v in zip(p1, x, strict=True)]
    along, length2 = _dot(m, a), _dot(a, a)
    return along, length2, length2 * (_dot(m, m) - Fraction(limb.radius) ** 2) - along**2


# The numbers of one question, as integers ---------------------------------------------------------------------------


def _coefficients(limb: Limb, query: Ray) -> tuple[int, tuple[int, int], tuple[int, int, int]]:
    """Return |a|², the height (x - p1)·a = s0 + s1 t, and |a|² (dist² - r²) = c2 t² + 2 c1 t + c0, all in one unit."""
    numbers = _integers(_numbers(limb, query))
    p1, p2, r, origin, target = numbers[:3], numbers[3:6], numbers[6], numbers[7:10], numbers[10:]
    a = [v - u for u, v in zip(p1, p2, strict=True)]
    m = [v - u for u, v in zip(p1, origin, strict=True)]
    d = [v - u for u, v in zip(origin, target, strict=True)] if query.segment else target
    aa, ma, da = _dot(a, a), _dot(m, a), _dot(d, a)
    c2, c1, c0 = aa * _dot(d, d) - da * da, aa * _dot(m, d) - ma * da, aa * (_dot(m, m) - r * r) - ma * ma
    return aa, (ma, da), (c2, c1, c0)


def _numbers(limb: Limb, query: Ray) -> list[float]:
    """Return the thirteen numbers of one question."""
    return [*limb.p1, *limb.p2, limb.radius, *query.origin, *query.target]


def _integers(numbers: Iterable[float]) -> list[int]:
    """Return the floats multiplied by the least power of two that makes all of them whole."""
    ratios = [float(x).as_integer_ratio() for x in numbers]
    common = max(den for _, den in ratios)
    return [num * (common // den) for num, den in ratios]


def _least(x: Fraction | None, y: Fraction | None) -> Fraction | None:
    """Return the smaller of two bounds, None meaning no bound."""
    if x is None or y is None:
        return x if y is None else y
    return min(x, y)


def _dot(x: Sequence, y: Sequence):  # type: ignore[no-untyped-def, type-arg]
    """Return the scalar product, exact for int and Fraction."""
    return x[0] * y[0] + x[1] * y[1] + x[2] * y[2]


def _point(x: Iterable[float]) -> Point:
    """Return three Python floats."""
    a, b, c = (float(v) for v in x)
    return a, b, c
