"""One batch of a soak: results compared with the compiled oracle, and with rationals where that is open.

Every pair of ray and limb is judged. Row by row a pair is a row. In a crowd, chords give the limbs that are crossed,
casts give the first limb and its place, and `occluded` gives whether any limb is hit.
"""

from dataclasses import dataclass, field, replace
from time import perf_counter
from typing import Any

import numpy as np
from support.check_cylinders import POSITION_ULPS, worst_error, worst_error_along
from support.check_shapes import place_of
from support.oracle import any_shape
from support.oracle.compiled import crowds
from support.oracle.compiled.chords import HIT
from support.oracle.compiled.crowds import Array, Truths
from support.oracle.compiled.enclosures import OPEN
from support.oracle.compiled.pairs import (
    AXES,
    HALF,
    KIND,
    LIMB_COLUMNS,
    LIMIT,
    ORIGIN,
    P1,
    P2,
    RADIUS,
    RADIUS2,
    RAY_COLUMNS,
    SECOND,
    SEGMENT,
)
from support.oracle.cylinder import NONE, Chord
from support.oracle.lines import BOX, Solid
from support.oracle.shapes.rows import Shapes, Shots, box_axes
from support.soak.batches import ROWS, Batch

import cylcollide as cc

VAGUE = 0.1
"""Rationals compute a true place if the oracle's error bound exceeds this number of ulps."""


@dataclass
class Answers:
    """The library's results for a batch."""

    hits: cc.RayHits
    crossed: np.ndarray | None  # (n, m), from chords; None if row by row
    blocked: np.ndarray | None  # (n,)


@dataclass
class Wrong:
    """A ray with a wrong result: its row and the error."""

    row: int
    what: str


@dataclass
class Judged:
    """Columns with one number per ray of a batch, and the wrong rays."""

    columns: dict[str, Array] = field(default_factory=dict)
    wrong: list[Wrong] = field(default_factory=list)


def ask(batch: Batch, inside: Any) -> Answers:
    """Evaluate a batch with the library."""
    s, limbs = batch.shots, batch.limbs.limbs()
    if batch.way == ROWS:
        return Answers(s.cast(inside), None, None)
    world = cc.HitWorld(limbs)
    cast, occluded, chords = world.cast_segments, world.occluded_segments, world.chords_segments
    rays: dict[str, Any] = {}
    if s.limit is not None:
        cast, occluded, chords = world.cast_rays, world.occluded_rays, world.chords_rays
        rays = {"max_distance": s.limit}
    found, crossed = chords(s.start, s.end, **rays), np.zeros((len(s), len(limbs)), bool)
    crossed[found.ray, found.limb] = True
    rays |= {"inside": inside}
    return Answers(cast(s.start, s.end, **rays), crossed, occluded(s.start, s.end, **rays))


def judge(batch: Batch, inside: str) -> Judged:
    """Return the comparison of the library's results with the truth; seconds are divided among the rays."""
    begun = perf_counter()
    answers = ask(batch, inside)
    asked = perf_counter() - begun
    truths, off, vague = truths_of(batch, inside, answers.hits)
    hits, n = answers.hits, len(batch.shots)
    open_rays = truths.open | vague
    sure = ~open_rays
    got = {"limb": np.asarray(hits.limb), "face": np.asarray(hits.face), "inside": np.asarray(hits.started_inside)}
    judged, reasons = Judged(), {}
    for name, column in got.items():
        for i in np.flatnonzero(sure & (column != getattr(truths, name))).tolist():
            reasons.setdefault(i, f"{name} {column[i]}, true {getattr(truths, name)[i]}")
    for name, column in (("fraction", off[:, 0]), ("position", off[:, 1])):
        for i in np.flatnonzero(sure & (column > POSITION_ULPS)).tolist():
            reasons.setdefault(i, f"{name} {getattr(hits, name)[i]} is {column[i]:.3g} ulp off")
    for i in np.flatnonzero(sure & (truths.limb < 0) & ~(np.isposinf(hits.fraction) & ~hits.hit)).tolist():
        reasons.setdefault(i, f"a miss with fraction {hits.fraction[i]}")
    if answers.crossed is not None:
        known = truths.verdict != OPEN
        for i in np.flatnonzero((known & ((truths.verdict == HIT) != answers.crossed)).any(axis=1)).tolist():
            reasons.setdefault(i, "chords of other limbs than are crossed")
        for i in np.flatnonzero(answers.blocked != hits.hit).tolist():
            reasons.setdefault(i, "occluded is not hit")
    verdict_hits = (truths.verdict == HIT).sum(axis=1)
    left = left_open(batch, truths, np.flatnonzero(open_rays))
    solids = exact_solids(batch.limbs, left)
    for i, near in left.items():
        found = any_shape.all_chords(((k, solids[k]) for k in near), batch.shots.query(i))
        reason, off[i] = by_rationals(batch, inside, answers, found, i, solids)
        verdict_hits[i] = len({k for k, _ in found})
        if reason:
            reasons[i] = reason
    judged.wrong = [Wrong(i, reason) for i, reason in sorted(reasons.items())]
    rechecked = np.zeros(n) if hits._resolved is None else hits._resolved.undecided.astype(float)
    judged.columns = {
        "rays": np.ones(n),
        "pairs": np.full(n, batch.pairs / n),
        "hits": verdict_hits.astype(float),
        "misses": batch.pairs / n - verdict_hits,
        "grazes": truths.graze.astype(float),
        "inside": np.asarray(hits.started_inside, float),
        "undecided": rechecked,
        "exact": open_rays.astype(float),
        "wrong": np.isin(np.arange(n), list(reasons)).astype(float),
        "fraction_ulps": np.nan_to_num(off[:, 0]),
        "position_ulps": np.nan_to_num(off[:, 1]),
        "library_seconds": np.full(n, asked / n),
        "seconds": np.full(n, (perf_counter() - begun) / n),
    }
    return judged


# The oracle ---------------------------------------------------------------------------------------------------------


def power_below(x: float) -> float:
    """Return the power of two that scales x to between 1/2 and 1."""
    return float(2.0 ** -np.frexp(x)[1])


def truths_of(batch: Batch, inside: str, hits: cc.RayHits) -> tuple[Truths, Array, np.ndarray]:
    """Return the truths, the errors of the library's places in ulp (n, 2), and the rows whose place is not decided."""
    s, limbs = batch.shots, batch.limbs
    segments = s.limit is None
    ends = (s.end,) if segments else ()
    numbers = (s.start, *ends, limbs.p1, limbs.p2, limbs.radius, limbs.radius2, limbs.half)
    unit = power_below(max(np.abs(x).max(initial=0.0) for x in numbers) or 1.0)
    rows, rows_exact = limb_rows(limbs, unit)
    rays, rays_exact, pace = ray_rows(s, unit)
    found = crowds.empty_truths(len(s), 1 if batch.crowd is None else len(limbs))
    crowds.cast(rays, rows, batch.crowd is None, crowds.POLICIES.index(inside), found)
    off = np.empty((len(s), 3))
    with np.errstate(over="ignore", invalid="ignore", under="ignore"):
        fraction, position = hits.fraction * pace, hits.position * unit
        same = (fraction / pace == hits.fraction) & (position / unit == hits.position).all(axis=1)
    crowds.places(rays, rows, found, fraction, position, off)
    exact = rays_exact & (rows_exact if batch.crowd is None else rows_exact.all())
    found.verdict[~exact], found.open[~exact] = OPEN, True
    return found, off[:, :2], (found.limb >= 0) & (~same | ~(off[:, 2] <= VAGUE))


def limb_rows(limbs: Shapes, unit: float) -> tuple[Array, np.ndarray]:
    """Return the limbs' numbers times `unit`, a power of two, and which rows were scaled without rounding."""
    rows, is_box = np.zeros((len(limbs), LIMB_COLUMNS)), limbs.kind == BOX
    rows[:, P1 : P1 + 3], rows[:, P2 : P2 + 3] = limbs.p1, limbs.p2
    rows[:, RADIUS], rows[:, RADIUS2], rows[:, HALF : HALF + 3] = limbs.radius, limbs.radius2, limbs.half
    scaled = rows * unit
    exact = (scaled / unit == rows).all(axis=1)
    scaled[:, KIND] = limbs.kind
    scaled[is_box, AXES : AXES + 9] = box_axes(limbs.orientation)[is_box].reshape(-1, 9)
    return scaled, exact


def ray_rows(s: Shots, unit: float) -> tuple[Array, np.ndarray, Array]:
    """Return the rays' numbers times `unit`, which rows were scaled exactly, and the factors of their fractions.

    Each direction is scaled to a length of about 1 by its own power of two.
    """
    rows = np.zeros((len(s), RAY_COLUMNS))
    rows[:, ORIGIN : ORIGIN + 3] = s.start * unit
    exact = (rows[:, ORIGIN : ORIGIN + 3] / unit == s.start).all(axis=1)
    if s.limit is None:
        rows[:, SECOND : SECOND + 3], rows[:, SEGMENT], rows[:, LIMIT] = s.end * unit, 1.0, 1.0
        return rows, exact & (rows[:, SECOND : SECOND + 3] / unit == s.end).all(axis=1), np.ones(len(s))
    shrink = 2.0 ** -np.frexp(np.abs(s.end).max(axis=1))[1].astype(float)
    with np.errstate(all="ignore"):
        pace = unit / shrink
        limit = s.limit / np.sqrt((s.end * s.end).sum(axis=1))
        rows[:, SECOND : SECOND + 3], rows[:, LIMIT] = s.end * shrink[:, None], limit * pace
        exact &= (rows[:, SECOND : SECOND + 3] / shrink[:, None] == s.end).all(axis=1)
        exact &= (rows[:, LIMIT] / pace == limit) & (pace > 0.0) & np.isfinite(pace)
    return rows, exact, pace


def left_open(batch: Batch, truths: Truths, rows: np.ndarray) -> dict[int, list[int]]:
    """Return the limbs that each of some rays may hit: those that the oracle does not exclude."""
    if batch.crowd is None:
        return {i: [i] for i in rows.tolist()}
    return {i: np.flatnonzero(truths.verdict[i]).tolist() for i in rows.tolist()}


def exact_solids(limbs: Shapes, left: dict[int, list[int]]) -> dict[int, Solid]:
    """Return the limbs of all these rays for the rational oracle."""
    needed = sorted({k for near in left.values() for k in near})
    return dict(zip(needed, limbs.take(np.array(needed, np.int64)).solids() if needed else [], strict=True))


def by_rationals(
    batch: Batch, inside: str, answers: Answers, found: list[tuple[int, Chord]], i: int, solids: dict[int, Solid]
) -> tuple[str, Array]:
    """Return the error of ray i, whose true chords are `found`, and the ulp errors of fraction and position."""
    query, hits, off = batch.shots.query(i), answers.hits, np.zeros(2)
    best, started = any_shape.credited(found, inside), any(c.started_inside for _, c in found)
    want = (-1, NONE, started) if best is None else (best.limb, best.face, started)
    got = (int(hits.limb[i]), int(hits.face[i]), bool(hits.started_inside[i]))
    if got != want:
        return f"limb, face, inside {got}, true {want}", off
    crossed = sorted({k for k, _ in found})
    if answers.crossed is not None and np.flatnonzero(answers.crossed[i]).tolist() != crossed:
        return f"chords of {np.flatnonzero(answers.crossed[i])}, crossed are {crossed}", off
    if best is None:
        return "" if np.isposinf(hits.fraction[i]) else f"a miss with fraction {hits.fraction[i]}", off
    solid, position = solids[best.limb], hits.position[i].tolist()
    _, point, ulp = place_of(solid, query, best.at)
    off[0] = worst_error_along(point, query, float(hits.fraction[i])) / ulp
    off[1] = worst_error(point, position) / ulp
    return f"fraction and position are {off.tolist()} ulp off" if (off > POSITION_ULPS).any() else "", off


def one_ray(batch: Batch, row: int, times: int) -> Batch:
    """Return a batch with one row's ray, repeated `times` times so that the library uses the same loop."""
    return replace(batch, shots=batch.shots.take(np.full(times, row)))
