"""Compare the library's answers with the oracle's, row by row, and say what reproduces a difference."""

import math
from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass, field
from fractions import Fraction
from functools import cached_property

import numpy as np
from support.oracle import cylinder as oracle
from support.oracle.algebraic import Param, value
from support.oracle.cylinder import Chord, Limb, Ray
from support.oracle.lines import Solid
from support.oracle.spots import length

from cylcollide.runtime import levels

IS_COMPILED = levels.CHOICE.level != levels.PLAIN
"""Whether machine code is in use; plain Python is some hundred times slower."""

JIT = IS_COMPILED  # the older name

POSITION_ULPS = 4
"""The promise: positions within 4 ulp of the largest coordinate among ray ends, limb ends and hit point."""

DISTANCE_ULPS = 16
"""A t that is good to 4 ulp in every coordinate is good to 4√3 < 7 ulp of distance; the root and the products round by
less than 2√3·4 half ulps of a coordinate."""


def sized(count: int, interpreted: int | None = None) -> int:
    """Return how large a sample to draw: `count`, or a quarter (at least 60) where kernels are interpreted.

    Where no machine code takes part, the larger sample is `interpreted`: the gate runs those in plain Python, too.
    """
    return count if IS_COMPILED else min(count, max(60, count // 4)) if interpreted is None else interpreted


ExactPoint = Sequence[Fraction]
"""Three coordinates without rounding, or within 2^-160 relative."""


def ulp_at(limb: Limb | Solid, query: Ray, point: ExactPoint) -> float:
    """Return one ulp of the largest coordinate among ray ends, limb ends (a centre) and the point."""
    end = query.target if query.segment else ()
    return math.ulp(max(abs(float(x)) for x in (*query.origin, *end, *limb.p1, *limb.p2, *point)))


def worst_error(point: ExactPoint, answer: Sequence[float]) -> float:
    """Return how far the coordinate of an answer that is farthest off is from that of the point; inf if one is none."""
    if not all(map(math.isfinite, answer)):
        return math.inf
    return _worst([a.as_integer_ratio() for a in answer], point)


def worst_error_along(point: ExactPoint, query: Ray, fraction: float) -> float:
    """Return the same of origin + fraction·direction without rounding."""
    if not math.isfinite(fraction):
        return math.inf
    (n, m), along = fraction.as_integer_ratio(), []
    for o, d in zip(query.origin, query.direction, strict=True):
        (p, q), below = o.as_integer_ratio(), m * d.denominator
        along.append((p * below + n * d.numerator * q, q * below))
    return _worst(along, point)


def _worst(answer: Sequence[tuple[int, int]], point: ExactPoint) -> float:
    """Return the largest difference, rounded once; of an answer, numerators and denominators with common factors."""
    return max(
        abs(n * x.denominator - x.numerator * m) / (m * x.denominator) for (n, m), x in zip(answer, point, strict=True)
    )


@dataclass(frozen=True)
class Truth:
    """The oracle's chord of one limb and one ray, with its points to 2^-160 relative."""

    limb: Limb
    query: Ray
    chord: Chord

    @cached_property
    def entry(self) -> tuple[Fraction, ...]:
        """Return where the ray enters, or starts."""
        return oracle.position(self.query, self.chord.entry)

    @cached_property
    def exit(self) -> tuple[Fraction, ...]:
        """Return where the ray leaves, or ends."""
        assert self.chord.exit is not None
        return oracle.position(self.query, self.chord.exit)

    def ulp(self, point: ExactPoint) -> float:
        """Return one ulp of the largest coordinate, in which the accuracy of `point` is measured."""
        return ulp_at(self.limb, self.query, point)

    def ulps(self, point: ExactPoint, answer: Sequence[float]) -> float:
        """Return the worst error of a coordinate in ulp of the largest coordinate."""
        return worst_error(point, answer) / self.ulp(point)


def truth_of(limb: Limb, query: Ray) -> Truth | None:
    """Return the truth about one limb, None for a miss."""
    found = oracle.chord(limb, query)
    return None if found is None else Truth(limb, query, found)


@dataclass
class Tally:
    """What a comparison has seen: a check that saw nothing has shown nothing."""

    rows: int = 0
    hits: int = 0
    started_inside: int = 0
    entry_faces: Counter[int] = field(default_factory=Counter)
    exit_faces: Counter[int] = field(default_factory=Counter)
    touches: int = 0  # hits of thickness 0
    worst_ulps: float = 0.0
    problems: list[str] = field(default_factory=list)

    @property
    def misses(self) -> int:
        """Return how many rows hit nothing."""
        return self.rows - self.hits

    def report(self) -> str:
        """Return how many differ and the first of them."""
        return f"{len(self.problems)} of {self.rows} rows differ, the first:\n" + "\n".join(self.problems[:5])


FIELDS = [
    *("hit", "limb", "character", "started_inside", "thickness"),
    *("fraction", "distance", "position", "normal", "face"),
    *("exit_fraction", "exit_distance", "exit_position", "exit_normal", "exit_face"),
]
"""Every array of a RayHits."""


def compare_hits(hits, truths: Sequence[dict[int, Truth]], inside: str, labels: Sequence[str] | None = None) -> Tally:
    """Return what was seen when `hits` is held against the truth.

    `truths[i]` has, by limb index, every limb that ray i crosses. `hits` is a RayHits of the policy `inside`.
    """
    tally = Tally()
    assert len(hits) == len(truths)
    columns = {name: getattr(hits, name).tolist() for name in FIELDS}
    for i, found in enumerate(truths):
        tally.rows += 1
        row = {name: column[i] for name, column in columns.items()}
        problem = _compare_row(row, found, inside, tally)
        if problem:
            label = "" if labels is None else labels[i]
            shown = [(t.limb, t.query) for t in found.values()]
            tally.problems.append(f"row {i} {label} {inside=}: {problem}; crossed: {shown}")
    return tally


def _compare_row(row: dict, found: dict[int, Truth], inside: str, tally: Tally) -> str:
    """Return what is wrong with one row, "" if nothing is."""
    started = any(t.chord.started_inside for t in found.values())
    best = oracle.credited(((i, t.chord) for i, t in found.items()), inside)
    tally.started_inside += started
    want = {"started_inside": started, "hit": best is not None}
    if best is None:
        want |= {"fraction": math.inf, "distance": math.inf, "limb": -1, "character": -1, "face": oracle.NONE}
        want |= {"exit_face": oracle.NONE}
        nan = all(math.isnan(x) for name in ("position", "normal", "exit_position", "exit_normal") for x in row[name])
        return _unequal(row, want) or ("" if nan else f"a miss has nan positions and normals, got {row}")
    want |= {"limb": best.limb, "face": best.face, "exit_face": best.chord.exit_face}
    wrong = _unequal(row, want)
    if wrong:
        return wrong
    truth = found[best.limb]
    tally.hits += 1
    tally.entry_faces[best.face] += 1
    tally.exit_faces[best.chord.exit_face] += 1
    tally.touches += best.chord.entry == best.chord.exit
    point = truth.exit if best.at is best.chord.exit else truth.entry
    return (
        _wrong_place(truth, point, best.at, best.face, row, "", tally)
        or _wrong_place(truth, truth.exit, best.chord.exit, best.chord.exit_face, row, "exit_", tally)
        or (_wrong_thickness(truth, row) if inside == "hit" else "")
    )


def _unequal(row: dict, want: dict) -> str:
    """Return the exact fields that differ."""
    wrong = {name: (row[name], value) for name, value in want.items() if row[name] != value}
    return f"(got, true) {wrong}" if wrong else ""


def _wrong_place(truth: Truth, point: ExactPoint, at: Param, face: int, row: dict, prefix: str, tally: Tally) -> str:
    """Return what is wrong with position, fraction, distance and normal of entry or exit."""
    t, ulp = row[f"{prefix}fraction"], truth.ulp(point)
    ulps = worst_error(point, row[f"{prefix}position"]) / ulp
    tally.worst_ulps = max(tally.worst_ulps, ulps)
    if ulps > POSITION_ULPS:
        return f"{prefix}position is {ulps:.3g} ulp off: {row[f'{prefix}position']}, true {[float(x) for x in point]}"
    if (ulps := worst_error_along(point, truth.query, t) / ulp) > POSITION_ULPS:
        return f"start + {prefix}fraction·direction is {ulps:.3g} ulp off, {prefix}fraction {t}"
    distance = float(value(at)) * length(truth.query.direction)
    if not abs(row[f"{prefix}distance"] - distance) <= DISTANCE_ULPS * ulp:
        return f"{prefix}distance {row[f'{prefix}distance']}, true {distance}"
    normal, want = row[f"{prefix}normal"], _normal(truth.limb, point, face)
    # The side's normal is the position's offset over the radius: 4√3 + 1 ulp of position, and its own rounding.
    bound = 16 * 2.0**-53 + (8 * ulp / truth.limb.radius if face == oracle.SIDE else 0.0)
    if not max(abs(g - w) for g, w in zip(normal, want, strict=True)) <= bound:
        return f"{prefix}normal {normal}, true {want}, face {face}"
    return ""


def _wrong_thickness(truth: Truth, row: dict) -> str:
    """Return what is wrong with the thickness, the way from entry to exit."""
    assert truth.chord.exit is not None
    span = value(truth.chord.exit) - value(truth.chord.entry)
    thickness = float(span) * length(truth.query.direction)
    bound = 2 * DISTANCE_ULPS * max(truth.ulp(truth.entry), truth.ulp(truth.exit))
    return "" if abs(row["thickness"] - thickness) <= bound else f"thickness {row['thickness']}, true {thickness}"


def _normal(limb: Limb, point: Sequence[Fraction], face: int) -> list[float]:
    """Return the outward unit normal at a surface point, zero for INSIDE; within 2 ulp."""
    if face == oracle.INSIDE:
        return [0.0, 0.0, 0.0]
    a = [Fraction(v) - Fraction(u) for u, v in zip(limb.p1, limb.p2, strict=True)]
    axis2 = sum(x * x for x in a)
    if face == oracle.SIDE:
        m = [x - Fraction(u) for u, x in zip(limb.p1, point, strict=True)]
        u = sum(x * y for x, y in zip(m, a, strict=True)) / axis2
        outward = [x - u * y for x, y in zip(m, a, strict=True)]
        return [float(x / Fraction(limb.radius)) for x in outward]
    sign = 1 if face == oracle.CAP2 else -1
    return [sign * float(x) / math.sqrt(axis2) for x in a]


def same_bits(one, other, rows=slice(None)) -> list[str]:
    """Return the names of the fields of two RayHits that are not equal bit for bit (nan equals nan)."""
    names = []
    for name in FIELDS:
        x, y = getattr(one, name)[rows], getattr(other, name)
        if x.shape != y.shape or x.dtype != y.dtype or not np.array_equal(x, y, equal_nan=x.dtype.kind == "f"):
            names.append(name)
        elif x.dtype.kind == "f" and not np.array_equal(np.signbit(x[~np.isnan(x)]), np.signbit(y[~np.isnan(y)])):
            names.append(f"{name} (sign of zero)")
    return names
