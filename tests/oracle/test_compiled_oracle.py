"""The compiled oracle: its error bounds hold, and rational arithmetic confirms its certain results."""

from collections import Counter
from fractions import Fraction

import numpy as np
import pytest
from support.check_cylinders import sized
from support.oracle import any_shape
from support.oracle.algebraic import value
from support.oracle.compiled import crowds
from support.oracle.compiled.chords import HIT, MISS
from support.oracle.compiled.enclosures import OPEN, Enclosure
from support.oracle.compiled.pairs import LIMIT
from support.oracle.lines import BOX
from support.oracle.shapes.rows import Shots
from support.oracle.shapes.table import NAMES, SHAPE_ROWS
from support.soak.batches import ROWS, batches
from support.soak.judge import limb_rows, power_below, ray_rows


def off(x: Enclosure, true: Fraction) -> Fraction:
    """Return the distance of a number from an enclosure, 0 or less inside."""
    return abs(Fraction(x[0]) + Fraction(x[1]) - true) - Fraction(x[2])


@pytest.mark.long
@pytest.mark.parametrize("count", [pytest.param(0, marks=pytest.mark.ci_long), 1])
def test_certain_results_are_true(count: int):
    """Adversarial rows of every shape, whole numbers and ulps beside them: verdict, face, inside, fraction."""
    seen: Counter[object] = Counter()
    for chunk in (0, 10, 12, 14):
        for batch, _ in batches(900 + count, chunk):
            rows = np.random.default_rng(chunk).permutation(len(batch.shots))[: 20_000 if count else sized(100)]
            for inside in crowds.POLICIES if batch.way == ROWS else ():
                check_rows(batch.shots.take(rows), inside, seen)
    for row in SHAPE_ROWS.values():
        for what in ("hit", "miss", "inside"):
            assert seen[row.kind, what] > 10, (NAMES[row.kind], seen)
    assert seen["open"] < 0.4 * seen["rows"]
    assert seen["rounded"] < 0.1 * seen["rows"]
    assert seen["zero"] > 10


def check_rows(s: Shots, inside: str, seen: Counter) -> None:
    """Assert that rational arithmetic agrees with every decided row, and count the rows."""
    largest = max(np.abs(x).max() for x in (s.start, s.end, s.shapes.p1, s.shapes.p2, s.shapes.radius, s.shapes.half))
    unit = power_below(largest if s.limit is None else max(np.abs(s.start).max(), np.abs(s.shapes.p1).max(), 1e-100))
    limbs, limbs_exact = limb_rows(s.shapes, unit)
    rays, rays_exact, pace = ray_rows(s, unit)
    found = crowds.empty_truths(len(s), 1)
    crowds.cast(rays, limbs, True, crowds.POLICIES.index(inside), found)
    usable, solids = limbs_exact & rays_exact, s.shapes.solids()
    for i in np.flatnonzero(usable).tolist():
        query = s.query(i)
        if query.limit is not None and query.limit != Fraction(rays[i, LIMIT] / pace[i]):
            seen["rounded"] += 1  # the quotient max_distance / |direction|, by an ulp to one side or the other
            continue
        chords = [(i, c) for c in any_shape.chords(solids[i], query)]
        best, verdict, kind = any_shape.credited(chords, inside), found.verdict[i, 0], solids[i].kind
        label = f"row {i} {s.family[i]} {inside}: {query} {solids[i]}"
        assert verdict in (OPEN, HIT if chords else MISS), label
        seen["rows"] += 1
        seen["open"] += found.open[i]
        if found.open[i]:
            continue
        seen[kind, "hit" if chords else "miss"] += 1
        assert found.limb[i] == (-1 if best is None else i), label
        assert found.inside[i] == any(c.started_inside for _, c in chords), label
        seen[kind, "inside"] += found.inside[i]
        if best is not None and np.isfinite(found.time[i, 2]):
            time = tuple(found.time[i].tolist())
            assert found.face[i] == best.face, label
            assert off(time, value(best.at) * Fraction(pace[i])) <= abs(value(best.at)) / 2**150, label
            seen["zero"] += time[2] == 0.0


@pytest.mark.long
@pytest.mark.ci_long
def test_a_ray_that_leaves_a_box_at_its_start_is_open():
    """A point on an edge belongs to the lowest face, which need not be the face that the ray crosses."""
    ray = np.array([[1.0, 0.0, -1.0, 0.5, 0.0, -3.0, 1.0, 1.0]])
    limb = np.zeros((1, 21))
    limb[0, 0], limb[0, 9:18], limb[0, 18:] = BOX, np.eye(3).ravel(), 1.0
    for policy, is_open in enumerate((False, True, False)):
        found = crowds.empty_truths(1, 1)
        crowds.cast(ray, limb, True, policy, found)
        assert (found.verdict[0, 0], found.open[0], found.inside[0]) == (HIT, is_open, True)


@pytest.mark.long
@pytest.mark.ci_long
def test_the_first_of_a_crowd_and_ties():
    """Limbs with equal exact entries are ordered by index; with inexact entries the order is left open."""
    times = np.array([[0.5, 0.0, 0.0], [0.25, 0.0, 1e-30], [0.25, 0.0, 0.0], [0.125, 0.0, 0.0], [0.125, 0.0, 0.0]])
    states = np.array([HIT, HIT, HIT, MISS, MISS])
    assert crowds.first_of(states, times) == -2
    states[1] = MISS
    assert crowds.first_of(states, times) == 2
    states[3:] = HIT
    assert crowds.first_of(states, times) == 3
    assert crowds.first_of(np.array([MISS, OPEN, MISS, MISS, HIT]), times) == -2
    assert crowds.first_of(np.zeros(5, np.int64), times) == -1


@pytest.mark.long
@pytest.mark.ci_long
def test_wrong_places_are_measured():
    (batch, _), *_ = batches(5, 0)
    s = batch.shots.take(np.arange(0, len(batch.shots), 50))
    near = s.take(np.flatnonzero(np.abs(s.shapes.p1).max(axis=1) < 1e3))
    unit = power_below(float(max(np.abs(near.start).max(), np.abs(near.end).max(), np.abs(near.shapes.p2).max(), 1e3)))
    limbs, rays = limb_rows(near.shapes, unit)[0], ray_rows(near, unit)[0]
    found = crowds.empty_truths(len(near), 1)
    crowds.cast(rays, limbs, True, 0, found)
    hits = near.cast("hit")
    assert (found.limb >= 0).sum() > 50
    for name in ("as it is", "late", "beside", "nan"):
        fraction, position, measured = hits.fraction.copy(), hits.position * unit, np.empty((len(near), 3))
        largest = np.abs(np.stack([near.start, near.end, near.shapes.p1, near.shapes.p2, hits.position])).max(
            axis=(0, 2)
        )
        if name == "late":
            fraction += 8 * np.spacing(largest) / np.abs(near.end - near.start).max(axis=1).clip(1e-300)
        elif name == "beside":
            position[:, 1] += 8 * np.spacing(largest) * unit
        elif name == "nan":
            position[:, 2] = np.nan
        crowds.places(rays, limbs, found, fraction, position, measured)
        known = measured[~np.isnan(measured[:, 0]) & (np.abs(near.end - near.start).max(axis=1) > 0)]
        column = {"late": 0, "beside": 1, "nan": 1, "as it is": 0}[name]
        assert len(known) > 50
        assert (known[:, column] > 4).all() if name != "as it is" else (known[:, :2] < 4).all(), name


def test_oracle_imports_nothing_of_ours():
    """Not even the error-free product."""
    from pathlib import Path

    import support.oracle.compiled as package

    for file in Path(package.__file__).parent.glob("*.py"):
        assert "cylcollide" not in file.read_text(), file
