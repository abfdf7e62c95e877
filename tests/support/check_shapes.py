"""Compare the library's hits and chords of any shape with those of `any_shape`; a failure prints ray and limbs."""

import math
from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import NamedTuple

import numpy as np
from support.check_cylinders import (
    DISTANCE_ULPS,
    FIELDS,
    POSITION_ULPS,
    ExactPoint,
    ulp_at,
    worst_error,
    worst_error_along,
)
from support.oracle import any_shape
from support.oracle import cylinder as oracle
from support.oracle.algebraic import Param, value
from support.oracle.cylinder import INSIDE, NONE, Chord, Ray
from support.oracle.lines import Solid
from support.oracle.shapes.rows import Shots
from support.oracle.shapes.table import SHAPE_ROWS
from support.oracle.spots import Spot, length


class Place(NamedTuple):
    """A place on a ray: the parameter, the point, and one ulp of the largest coordinate."""

    at: Param
    point: ExactPoint
    ulp: float


def place_of(solid: Solid, query: Ray, at: Param) -> Place:
    """Return the place at a parameter of a ray that crosses a limb there."""
    point = oracle.position(query, at)
    return Place(at, point, ulp_at(solid, query, point))


@dataclass(frozen=True)
class Asked:
    """One ray, the limbs it may hit by index, and the true result: every chord, in order."""

    query: Ray
    solids: Mapping[int, Solid]
    found: Sequence[tuple[int, Chord]]

    def alone(self, row: int) -> "Asked":
        """Return this case of a single limb with another index."""
        (solid,) = self.solids.values()
        return Asked(self.query, {row: solid}, [(row, c) for _, c in self.found])


def row_truths(questions: Shots) -> list[Asked]:
    """Return the true chords of each row's ray and limb."""
    solids = questions.shapes.solids()
    queries = [questions.query(i) for i in range(len(questions))]
    rows = zip(queries, solids, strict=True)
    return [Asked(q, {i: s}, [(i, c) for c in any_shape.chords(s, q)]) for i, (q, s) in enumerate(rows)]


def world_truths(solids: Sequence[Solid], queries: Sequence[Ray]) -> list[Asked]:
    """Return the true chords of every ray through a world of limbs."""
    table = dict(enumerate(solids))
    return [Asked(q, table, any_shape.all_chords(table.items(), q)) for q in queries]


@dataclass
class ShapeTally:
    """Counts of a comparison, and of faces by shape, so that tests can assert that each case occurred."""

    rows: int = 0
    hits: int = 0
    started_inside: int = 0
    touches: int = 0  # hits of thickness 0
    worst_ulps: float = 0.0
    problems: list[str] = field(default_factory=list)
    entry_seen: Counter[tuple[int, int]] = field(default_factory=Counter)  # (kind, face)
    exit_seen: Counter[tuple[int, int]] = field(default_factory=Counter)
    seen: Counter[tuple[int, str]] = field(default_factory=Counter)  # (kind, "hit", "miss", "touch", "two chords")

    @property
    def misses(self) -> int:
        """Return the number of rows without a hit."""
        return self.rows - self.hits

    def report(self) -> str:
        """Return the number of differing rows and the first five."""
        return f"{len(self.problems)} of {self.rows} rows differ, the first:\n" + "\n".join(self.problems[:5])


def compare_hits(hits, truths: Sequence[Asked], inside: str, labels: Sequence[str] | None = None) -> ShapeTally:
    """Return the tally of comparing `hits`, a RayHits of the policy `inside`, with the truth."""
    tally = ShapeTally()
    assert len(hits) == len(truths)
    columns = {name: getattr(hits, name).tolist() for name in FIELDS}
    for i, asked in enumerate(truths):
        tally.rows += 1
        problem = _compare_row({name: column[i] for name, column in columns.items()}, asked, inside, tally)
        if problem:
            label = "" if labels is None else labels[i]
            shown = [asked.solids[k] for k in sorted({k for k, _ in asked.found} or set(list(asked.solids)[:1]))]
            tally.problems.append(f"row {i} {label} {inside=}: {problem}; {asked.query}; {shown}")
    return tally


def _compare_row(row: dict, asked: Asked, inside: str, tally: ShapeTally) -> str:
    """Return the first error of one row, "" if it is right."""
    started = any(c.started_inside for _, c in asked.found)
    best = any_shape.credited(asked.found, inside)
    tally.started_inside += started
    want = {"started_inside": started, "hit": best is not None}
    if best is None:
        for solid in asked.solids.values() if len(asked.solids) == 1 else ():
            tally.seen[solid.kind, "miss"] += 1
        want |= {"fraction": math.inf, "distance": math.inf, "limb": -1, "character": -1, "face": NONE}
        want |= {"exit_fraction": math.inf, "exit_distance": math.inf, "exit_face": NONE}
        nan = all(math.isnan(x) for name in ("position", "normal", "exit_position", "exit_normal") for x in row[name])
        nan = nan and math.isnan(row["thickness"])
        return _unequal(row, want) or ("" if nan else f"a miss has nan positions and normals, got {row}")
    chord, solid, query = best.chord, asked.solids[best.limb], asked.query
    wrong = _unequal(row, want | {"limb": best.limb, "face": best.face, "exit_face": chord.exit_face})
    if wrong:
        return f"{wrong}, at {float(value(best.at))}"
    touch = chord.entry == chord.exit
    tally.hits += 1
    tally.touches += touch
    tally.entry_seen[solid.kind, best.face] += 1
    tally.exit_seen[solid.kind, chord.exit_face] += 1
    tally.seen[solid.kind, "hit"] += 1
    tally.seen[solid.kind, "touch"] += touch
    tally.seen[solid.kind, "two chords"] += sum(i == best.limb for i, _ in asked.found) == 2
    assert chord.exit is not None
    entry, exit_ = place_of(solid, query, chord.entry), place_of(solid, query, chord.exit)
    return (
        _wrong_place(solid, query, exit_ if best.at is chord.exit else entry, best.face, row, "", tally)
        or _wrong_place(solid, query, exit_, chord.exit_face, row, "exit_", tally)
        or _wrong_thickness(query, entry, exit_, row)
    )


def _unequal(row: dict, want: dict) -> str:
    """Return a message with the differing fields, which must be exact."""
    wrong = {name: (row[name], value) for name, value in want.items() if row[name] != value}
    return f"(got, true) {wrong}" if wrong else ""


def _wrong_place(solid: Solid, query: Ray, place: Place, face: int, row: dict, prefix: str, tally: ShapeTally) -> str:
    """Return the first error of position, fraction, distance and normal of entry or exit, or ""."""
    (at, point, ulp), position, fraction = place, row[f"{prefix}position"], row[f"{prefix}fraction"]
    ulps = worst_error(point, position) / ulp
    tally.worst_ulps = max(tally.worst_ulps, ulps)
    if ulps > POSITION_ULPS:
        return f"{prefix}position is {ulps:.3g} ulp off: {position}, true {[float(x) for x in point]}, {face=}"
    if (ulps := worst_error_along(point, query, fraction) / ulp) > POSITION_ULPS:
        return f"start + {prefix}fraction·direction is {ulps:.3g} ulp off: {fraction}, {face=}"
    distance = float(value(at)) * length(query.direction)
    if not abs(row[f"{prefix}distance"] - distance) <= DISTANCE_ULPS * ulp:
        return f"{prefix}distance {row[f'{prefix}distance']}, true {distance}"
    normal, (want, curvature) = row[f"{prefix}normal"], normal_at(solid, point, face)
    # 4√3 ulp of position and 1 of the offset, times the curvature, turn the normal; then it is rounded.
    bound = 16 * 2.0**-53 + 8 * ulp * curvature
    if not max(abs(g - w) for g, w in zip(normal, want, strict=True)) <= bound:
        return f"{prefix}normal {normal}, true {want}, {face=}, bound {bound:.3g}"
    return ""


def _wrong_thickness(query: Ray, entry: Place, exit_: Place, row: dict) -> str:
    """Return the error of the thickness (the length from entry to exit), or ""."""
    thickness = float(value(exit_.at) - value(entry.at)) * length(query.direction)
    bound = 2 * DISTANCE_ULPS * max(entry.ulp, exit_.ulp)
    return "" if abs(row["thickness"] - thickness) <= bound else f"thickness {row['thickness']}, true {thickness}"


def normal_at(solid: Solid, point: ExactPoint, face: int) -> tuple[list[float], float]:
    """Return the outward unit normal of a face at a point, to a few roundings, and the largest curvature there.

    Zero for INSIDE. The curvature bounds how fast the normal turns, per length.
    """
    return ([0.0] * 3, 0.0) if face == INSIDE else SHAPE_ROWS[solid.shape].normal(Spot(solid, point), face)


def compare_chords(chords, truths: Sequence[Asked], inside: str = "hit") -> tuple[int, list[str]]:
    """Return the true number of chords under a policy, and the errors of `chords`, a `Chords` of segments, by ray."""
    count, problems = 0, []
    for i, asked in enumerate(truths):
        rows = slice(*chords.offsets[i : i + 2])
        want = any_shape.counted(asked.found, inside)
        names = ("limb", "entry_face", "exit_face", "entry_fraction", "exit_fraction")
        got = list(zip(*(getattr(chords, name)[rows].tolist() for name in names), strict=True))
        count += len(want)
        wrong = [g[:3] for g in got] != [(k, c.entry_face, c.exit_face) for k, c in want]
        for (k, c), (*_, first, last) in zip(want, got, strict=False) if not wrong else ():
            assert c.exit is not None
            for at, fraction in ((c.entry, first), (c.exit, last)):
                _, point, ulp = place_of(asked.solids[k], asked.query, at)
                wrong |= worst_error_along(point, asked.query, fraction) / ulp > POSITION_ULPS
        if wrong or not (np.asarray(chords.ray[rows]) == i).all():
            true = [(k, c.entry_face, c.exit_face, float(value(c.entry)), float(value(c.exit))) for k, c in want]
            shown = {k: asked.solids[k] for k, _ in asked.found}
            problems.append(f"ray {i} {inside=}: got {got}, true {true}; {asked.query}; {shown}")
    return count, problems
