"""Changes of one thing at a time, on the installed PyBullet: the predictions of each cause hold."""

from dataclasses import replace

import numpy as np
import pytest
from support.runs.pybullet_runs import sampled

import cylcollide as cc
from cylcollide.crosscheck.cases.trials import Trial, is_proved, trials
from cylcollide.crosscheck.cases.variants import CaseVariant, cast_both
from cylcollide.crosscheck.compare.disagreements import Cause, Kind
from cylcollide.crosscheck.engine import BulletClient, Setup
from cylcollide.crosscheck.generate.one_limb import grazes
from cylcollide.crosscheck.generate.shots import Target, shots
from cylcollide.engines.bullet import BulletEngine

pytestmark = pytest.mark.long  # a sweep of its own

TURNED = Target.draw(np.random.default_rng(4), 0.05, 0.2, aligned=False)


def near_tangent(n=1500):
    scene = TURNED.scene(grazes(np.random.default_rng(5), TURNED, n))
    # Gaps of 5 µm to 1 mm: scaled by 1000 they exceed the distance at which PyBullet stops.
    near = (np.abs(scene.shots.depth) < 1.1e-3) & (np.abs(scene.shots.depth) > 4e-6)
    shot = scene.shots
    return replace(scene, shots=replace(shot, **{n: getattr(shot, n)[near] for n in shot.__dataclass_fields__}))


def test_client_and_engine_build_the_same_bodies():
    rng = np.random.default_rng(6)
    p1, p2 = rng.normal(size=(2, 4, 3))
    limbs, start = cc.Limbs.cylinders(p1, p2, 0.2), 4 * rng.normal(size=(2000, 3))
    end = rng.normal(size=(2000, 3)) - start
    with BulletEngine() as one, BulletClient() as other:
        one.build(limbs)
        other.build(limbs)
        mine, its = one.cast_segments(start, end), other.cast_segments(start, end)
    assert (its.limb >= 0).sum() > 300
    for name in ("limb", "fraction", "position", "normal"):
        np.testing.assert_array_equal(getattr(mine, name), getattr(its, name))


def test_spin_uncovers_a_phantom_that_the_box_hides():
    end = np.array([[0.0, 0.0, 0.2]])
    segment = shots(np.array([[-1.0, 0.0505, 0.0]]), np.array([[1.0, 0.0505, 0.0]]))
    variant = CaseVariant(-end, end, np.array([0.05]), segment)
    assert cast_both(BulletClient, variant)[0].verdicts_agree
    assert cast_both(BulletClient, variant.built(spin=0.4))[0].causes[Kind.PHANTOM] == Cause.TERMINATION


def test_an_ulp_and_a_start_elsewhere_move_the_hit():
    scene = near_tangent()
    rows = np.flatnonzero(scene.shots.depth > 0)[:40]
    moved, nudged = [], []
    for row in rows:
        segment = shots(scene.shots.start[[row]], scene.shots.end[[row]])
        variant = CaseVariant(scene.p1, scene.p2, scene.radius, segment, scene.setup)
        changed = [variant, variant.begun(0.3), variant.begun(0.7), variant.nudged(1)]
        early = [outcome.error(Kind.EARLY) for outcome in cast_both(BulletClient, variant, *changed)]
        moved.append(max(early[:3]) - min(early[:3]))
        nudged.append(abs(early[3] - early[0]))
    assert np.median(moved) > 1e-4
    assert max(nudged) > 1e-5


def test_changes_leave_the_case_unchanged():
    rng = np.random.default_rng(11)
    p1, p2 = rng.normal(size=(2, 1, 3))
    variant = CaseVariant(p1, p2, np.array([0.1]), shots(*rng.normal(size=(2, 1, 3))))
    before = variant.start.copy()
    nudged = variant.nudged(-2)
    assert (nudged.start < variant.start).all()
    np.testing.assert_array_equal(nudged.nudged(2).start, variant.start)
    np.testing.assert_allclose(variant.begun(2.0).begun(-2.0).start, variant.start, atol=1e-15)
    np.testing.assert_allclose(np.linalg.norm(variant.ended(1.5).end - variant.end), 1.5)
    grown = variant.scaled(10.0).scaled(100.0)
    assert grown.size == 1000.0
    np.testing.assert_array_equal(grown.radius, 100.0)
    assert variant.built(margin=0.1).setup == Setup(margin=0.1)
    assert variant.built(fresh=True).setup == Setup(fresh=True)
    np.testing.assert_array_equal(variant.start, before)


def test_proof_needs_a_trial_and_no_contradiction():
    good, bad = Trial("world x 10", "vanishes", True), Trial("world x 10", "vanishes", False)
    assert is_proved([good, good])
    assert not is_proved([good, bad])
    assert not is_proved([])


# On cases of every cause ----------------------------------------------------------------------------------------------


def test_interventions_prove_the_causes():
    rows = {row["cause"]: row["interventions"] for row in sampled().summary["causes"]}
    tested = sum(row["tested"] for row in rows.values())
    assert tested > 80
    assert sum(row["proved"] for row in rows.values()) > 0.9 * tested
    for cause in (Cause.TERMINATION, Cause.RIM_ROUNDING, Cause.INSIDE_START, Cause.SHAPE, Cause.SEGMENT_END):
        row = rows[cause.label]
        assert row["tested"] > 5
        assert row["proved"] >= 0.9 * row["tested"], cause


def test_a_wrong_cause_is_not_proved():
    """A phantom caused by the stop remains with another construction, a rounded rim with a longer segment."""
    cases = sampled().tally.cases
    phantom = [c for c in cases if c.kind == "phantom" and c.cause_code == Cause.TERMINATION and c.family == "rim"]
    rim = [c for c in cases if c.kind == "missed" and c.cause_code == Cause.RIM_ROUNDING and min(c.radius) < 0.5]
    swapped = [replace(c, cause=Cause.SEGMENT_END.label) for c in rim]
    swapped += [replace(c, cause=Cause.NO_CORE_DISTANCE.label) for c in rim]
    swapped += [replace(c, cause=Cause.BROAD_PHASE.label) for c in phantom]
    ran = [trials(case, BulletClient) for case in swapped]
    assert len(ran) > 10
    assert np.mean([is_proved(run) for run in ran]) < 0.3
