"""Independent oracle for every limb shape: results of real arithmetic on the given float64 numbers.

It shares neither code nor formulation with the library. Every solid is defined once, by signs of polynomials in the
coordinates, and the oracle uses nothing but these signs:

1. *solid*: the sign of an intersection is the minimum of its parts' signs, that of a union the maximum: -1 outside, 0
   on the surface, +1 inside. The signs also give the face of a surface point (which cap plane is zero, ...);
2. *ray*: with x = origin + t·direction each polynomial has degree <= 2 in t. The roots split the line into cells
   (points and open intervals) of constant signs. The signs of an interval are those at any rational number in it; the
   signs at a root are those of an adjacent interval, with zero for the polynomials that have the root;
3. *chords*: the longest runs of cells that belong to the solid, clipped to [0, limit] as the last step.

No intervals are intersected and caps and walls are not treated separately, so tangents, rays in a face plane, along a
generator or the bore wall, and second nappes are no special cases. Roots are kept as algebraic numbers
(`support.oracle.algebraic.Root`), so verdicts, faces, order and point classes are exact. Lengths are scaled to
integers; no decision uses floats.
"""

from collections.abc import Iterable
from dataclasses import dataclass
from fractions import Fraction
from functools import cmp_to_key
from itertools import pairwise
from math import sqrt

from support.oracle.algebraic import Param, compare, enclosure
from support.oracle.cylinder import INSIDE, SIDE, Chord, Hit, Ray, segment
from support.oracle.lines import BOX, Poly, Seen, Signs, Solid
from support.oracle.shapes.table import SHAPE_ROWS


def polynomials(solid: Solid, query: Ray) -> dict[str, Poly]:
    """Return the polynomials in t whose signs define the solid, along the line of the ray; each has its own unit."""
    return SHAPE_ROWS[solid.shape].polynomials(Seen(solid, query))


def where(shape: int, s: Signs) -> int:
    """Return -1, 0 or 1 for outside, surface or inside, from the signs."""
    return SHAPE_ROWS[shape].where(s)


def face(shape: int, s: Signs) -> int:
    """Return the face of a surface point from its signs."""
    return SHAPE_ROWS[shape].face(s)


# Chords -------------------------------------------------------------------------------------------------------------


@dataclass(frozen=True)
class Run:
    """An interval of the whole line inside the solid. An unbounded end is None; its face is SIDE and never read."""

    first: Param | None
    last: Param | None
    first_face: int
    last_face: int


def runs(solid: Solid, query: Ray) -> list[Run]:
    """Return the intervals of the whole line inside the solid, in order."""
    polys = polynomials(solid, query)
    zeros = {name: poly.roots() for name, poly in polys.items()}
    cuts = sorted(set().union(*zeros.values()), key=cmp_to_key(compare))
    found: list[Run] = []
    begun: tuple[Param | None, int] | None = None
    before: tuple[Param | None, int] = (None, SIDE)
    for k, sample in enumerate(_samples(cuts)):
        stretch = {name: poly.sign(sample) for name, poly in polys.items()}
        if where(solid.shape, stretch) < 0:
            if begun is not None:
                found.append(Run(begun[0], before[0], begun[1], before[1]))
            begun = None
        elif begun is None:
            assert k == 0, "a closed solid is entered at a root"
            begun = before
        if k == len(cuts):
            break
        at = {name: 0 if cuts[k] in zeros[name] else sign for name, sign in stretch.items()}
        if where(solid.shape, at) >= 0:
            before = cuts[k], face(solid.shape, at) if where(solid.shape, at) == 0 else SIDE
            begun = before if begun is None else begun
        else:
            assert begun is None, "a closed solid is left at a root"
    if begun is not None:
        found.append(Run(begun[0], None, begun[1], SIDE))
    return found


def _samples(cuts: list[Param]) -> list[Fraction]:
    """Return a rational number before, between and after the sorted distinct cuts."""
    if not cuts:
        return [Fraction(0)]
    between = [_between(s, t) for s, t in pairwise(cuts)]
    return [enclosure(cuts[0], 64)[0] - 1, *between, enclosure(cuts[-1], 64)[1] + 1]


def _between(s: Param, t: Param) -> Fraction:
    """Return a rational number strictly between s < t."""
    bits = 64
    while enclosure(s, bits)[1] >= enclosure(t, bits)[0]:
        bits *= 2
    return (enclosure(s, bits)[1] + enclosure(t, bits)[0]) / 2


def chords(solid: Solid, query: Ray) -> list[Chord]:
    """Return every chord of one limb along one ray, in order; a tube may have two."""
    start, found = Fraction(0), []
    for run in runs(solid, query):
        if run.last is not None and compare(run.last, start) < 0:
            continue
        if run.first is not None and query.limit is not None and compare(run.first, query.limit) > 0:
            continue
        inside = run.first is None or compare(run.first, start) <= 0
        leaves = run.last is not None and (query.limit is None or compare(run.last, query.limit) <= 0)
        entry = start if inside or run.first is None else run.first
        entry_face, exit_face = INSIDE if inside else run.first_face, run.last_face if leaves else INSIDE
        found.append(Chord(entry, run.last if leaves else query.limit, entry_face, exit_face, inside, leaves))
    return found


def all_chords(solids: Iterable[tuple[int, Solid]], query: Ray) -> list[tuple[int, Chord]]:
    """Return every chord of every limb, sorted by entry; exact ties are sorted by limb index."""
    found = [(i, c) for i, solid in solids for c in chords(solid, query)]
    return sorted(found, key=cmp_to_key(lambda x, y: compare(x[1].entry, y[1].entry) or x[0] - y[0]))


def counted(found: Iterable[tuple[int, Chord]], inside: str) -> list[tuple[int, Chord]]:
    """Return the chords that count under the policy `inside` ("hit", "exit", "ignore")."""
    pairs = list(found)
    holding = {i for i, c in pairs if c.started_inside}
    if inside == "ignore":
        return [(i, c) for i, c in pairs if i not in holding]
    return [(i, c) for i, c in pairs if inside == "hit" or not c.started_inside or c.leaves]


def credited(found: Iterable[tuple[int, Chord]], inside: str) -> Hit | None:
    """Return the first event along the ray under the policy, ties by limb index."""
    best: Hit | None = None
    for i, c in counted(found, inside):
        at, side = (c.exit, c.exit_face) if inside == "exit" and c.started_inside else (c.entry, c.entry_face)
        assert at is not None
        if best is None or (compare(at, best.at) or i - best.limb) < 0:
            best = Hit(i, at, side, c)
    return best


# Points -------------------------------------------------------------------------------------------------------------


def classify(solid: Solid, point: Iterable[float]) -> int:
    """Return `POINT_OUTSIDE`, `POINT_SURFACE` or `POINT_INSIDE` of `support.oracle.cylinder`; exact."""
    x = tuple(point)
    found = polynomials(solid, segment(x, x))
    return 1 + where(solid.shape, {name: poly.sign(Fraction(0)) for name, poly in found.items()})


def axis_distance_squared(solid: Solid, point: Iterable[float]) -> Fraction:
    """Return the exact squared distance from the axis line; a box's axis is its z axis, a sphere's is its centre."""
    p1, p2, x = ([Fraction(c) for c in p] for p in (solid.p1, solid.p2, point))
    m = [v - u for u, v in zip(p1, x, strict=True)]
    a = [Fraction(c) for c in solid.axes[2]] if solid.kind == BOX else [v - u for u, v in zip(p1, p2, strict=True)]
    mm, ma, aa = (sum(map(Fraction.__mul__, *pair)) for pair in ((m, m), (m, a), (a, a)))
    return mm - Fraction(ma) ** 2 / aa if aa else Fraction(mm)


def graze_depth(limb: Solid, query: Ray) -> float:
    """Return 1 - dist/r for the distance of the line from the axis line: > 0 cuts, < 0 misses; error about 1e-16.

    Only for cylinders and lines that are not parallel to their axis.
    """
    p1, p2, origin = ([Fraction(x) for x in point] for point in (limb.p1, limb.p2, query.origin))
    a, m = ([v - u for u, v in zip(p1, point, strict=True)] for point in (p2, origin))
    n = [a[k - 2] * query.direction[k - 1] - a[k - 1] * query.direction[k - 2] for k in range(3)]
    across, size = sum(x * y for x, y in zip(m, n, strict=True)), sum(x * x for x in n)
    excess = across * across / (size * Fraction(limb.radius) ** 2) - 1  # dist²/r² - 1
    return float(-excess) / (1 + sqrt(1 + excess))
