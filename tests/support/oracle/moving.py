"""Independent oracle for a bullet and a moving limb: results of real arithmetic on the given numbers.

It shares neither code nor formulation with `cylcollide.exact.moving`, whose `Motion` it reads. Every quantity of the
solid is computed from its definition at seven rational times, in fractions, and interpolated. The roots of these
polynomials, and of s, s - begin and end - s, split the interval into cells of constant signs (`support.oracle.sturm`).
The signs give the cells in contact and the face, by the same table as for rays. No interval is intersected or united,
and no limb is a special case, except that it needs an axis.
"""

from collections.abc import Sequence
from dataclasses import dataclass
from fractions import Fraction
from itertools import pairwise
from math import lcm

from support.oracle.cylinder import INSIDE, Point
from support.oracle.lines import CAPSULE, SPHERE, Poly, Seen, Signs, Solid
from support.oracle.shapes.table import SHAPE_ROWS
from support.oracle.spots import Spot
from support.oracle.sturm import Coefficients, Curve, Cut, cuts, sign, whole

from cylcollide.exact.moving import Motion

NODES = [Fraction(k) for k in range(-3, 4)]
"""Times at which the quantities are computed: seven, for polynomials of degree 6 at most."""


def place(motion: Motion, s: Fraction) -> Spot:
    """Return the bullet relative to the limb at s."""
    alpha = motion.interval.alpha0 + motion.interval.alpha1 * s

    def between(ends: tuple[Point, Point], share: Fraction) -> tuple[Fraction, ...]:
        return tuple((1 - share) * Fraction(u) + share * Fraction(v) for u, v in zip(*ends, strict=True))

    p1, p2 = between(motion.p1, alpha), between(motion.p2, alpha)
    return Spot(Solid(motion.shape, p1, p2, motion.radius, motion.radius2), between((motion.start, motion.end), s))


class RelativePoint(Seen):
    """A bullet at one time relative to the limb: constant polynomials."""

    def __init__(self, spot: Spot) -> None:
        self.a, self.aa, self.r, self.r2 = [*spot.a], spot.aa, spot.r, spot.r2
        self.m, self.n = ([Poly(x) for x in spot.away(Fraction(end))] for end in (0, 1))


def values(motion: Motion, s: Fraction) -> dict[str, Fraction]:
    """Return the quantities at s whose signs decide; the limb's have the names of its row in the table."""
    spot, interval = place(motion, s), motion.interval
    found = {"zero": s, "begin": s - interval.begin, "end": interval.end - s}
    at = SHAPE_ROWS[motion.shape].polynomials(RelativePoint(spot))
    return found | {"axis": spot.aa} | {name: Fraction(constant.c0) for name, constant in at.items()}


def dot(u: Sequence[Fraction | int], v: Sequence[Fraction | int]) -> Fraction | int:
    """Return the scalar product."""
    return sum(x * y for x, y in zip(u, v, strict=True))


def curves(motion: Motion) -> dict[str, Curve]:
    """Return the quantities as interpolating polynomials of s."""
    rows = [values(motion, node) for node in NODES]
    return {name: Curve(interpolated([row[name] for row in rows])) for name in rows[0]}


def _basis() -> list[list[int]]:
    """Return the Lagrange polynomials of the nodes times one number, a row of integer coefficients each."""
    rows = []
    for node in NODES:
        row = [Fraction(720)]  # makes all coefficients integers
        for other in NODES:
            if other != node:
                shifted, kept = [Fraction(0), *row], [*row, Fraction(0)]
                row = [(x - other * y) / (node - other) for x, y in zip(shifted, kept, strict=True)]
        assert all(x.denominator == 1 for x in row)
        rows.append([x.numerator for x in row])
    return rows


BASIS = _basis()


def interpolated(ordinates: list[Fraction]) -> Coefficients:
    """Return the polynomial with these values at the nodes, up to a positive factor, by Lagrange's formula."""
    common = lcm(*(x.denominator for x in ordinates))
    integers = [x.numerator * (common // x.denominator) for x in ordinates]
    return whole([Fraction(dot(integers, column)) for column in zip(*BASIS, strict=True)])


@dataclass(frozen=True)
class Run:
    """One interval of contact, whether each of its ends is open, and the face at its entry."""

    entry: Cut
    exit: Cut
    entry_open: bool
    exit_open: bool
    face: int


def side(motion: Motion, signs: Signs) -> int:
    """Return -1, 0 or 1: no contact, the bullet is on the surface, or inside."""
    if signs["begin"] < 0 or signs["end"] < 0 or (signs["end"] == 0 and not motion.interval.is_closed):
        return -1
    return SHAPE_ROWS[shape_at(motion, signs)].where(signs) if shape_at(motion, signs) >= 0 else -1


def shape_at(motion: Motion, signs: Signs) -> int:
    """Return the shape; SPHERE for a capsule without length, -1 for another limb without length."""
    if motion.shape == SPHERE or signs["axis"] > 0:
        return int(motion.shape)
    return SPHERE if motion.shape == CAPSULE else -1


def face(motion: Motion, signs: Signs) -> int:
    """Return the face at the first moment of a contact."""
    if signs["zero"] == 0 or side(motion, signs) > 0:
        return INSIDE
    return SHAPE_ROWS[shape_at(motion, signs)].face(signs)


def runs(motion: Motion) -> list[Run]:
    """Return all intervals of contact, in order."""
    found, given, interval = [], curves(motion), motion.interval
    reach = (interval.end - interval.begin or Fraction(1)) / 5
    far = Curve(whole([-interval.end - reach, Fraction(1)]))
    curved = {name: curve for name, curve in given.items() if curve.coefficients} | {"far": far}
    times = cuts(curved, interval.begin - reach, interval.end + reach)
    begun: tuple[Cut, bool, int] | None = None
    for cut, following in pairwise(times):
        sample = between(cut, following)
        after = {name: sign(c.coefficients, sample) for name, c in given.items()}
        at = {name: 0 if name in cut.curves else s for name, s in after.items()}
        for signs in (at, after):
            if "ball1" in signs:
                signs["ball"] = signs["ball1"]
        contact = SHAPE_ROWS[motion.shape].holds(place(motion, sample)) and shape_at(motion, after) >= 0
        in_interval = after["begin"] > 0 and after["end"] > 0
        assert (side(motion, after) >= 0) == (contact and in_interval), "signs and definition disagree"
        if begun is None and side(motion, at) >= 0:
            begun = cut, False, face(motion, at)
        elif begun is not None and side(motion, at) < 0:
            found.append(Run(begun[0], cut, begun[1], True, begun[2]))
            begun = None
        if begun is None and side(motion, after) >= 0:
            begun = cut, True, INSIDE
        elif begun is not None and side(motion, after) < 0:
            found.append(Run(begun[0], cut, begun[1], False, begun[2]))
            begun = None
    assert begun is None
    return found


def between(one: Cut, other: Cut) -> Fraction:
    """Return a rational number between two cuts."""
    while one.high >= other.low:
        one.narrow()
        other.narrow()
    return (one.high + other.low) / 2
