"""The cross-check: nothing depends on seed or processes but what should, and wrong answers of either side show."""

import json
from dataclasses import fields
from typing import ClassVar

import numpy as np
import pytest

import cylcollide as cc
from cylcollide.crosscheck.generate.bullets import BULLET_FAMILIES, MISS
from cylcollide.crosscheck.judge.result import KINDS
from cylcollide.crosscheck.run import humanoid
from cylcollide.crosscheck.run.humanoid import run_crosscheck, spread_poses
from cylcollide.crosscheck.run.humanoid_summary import SCHEMA, write_rays, write_summary
from cylcollide.engines import EngineHits
from cylcollide.engines.bullet import BulletEngine

RAYS = 6000
MISSED, PHANTOM, WRONG_LIMB = range(len(KINDS))


@pytest.fixture(scope="module")
def result():
    return run_crosscheck(RAYS, seed=7, motions=["walk", "cartwheel"])


def test_bullet_is_wrong_and_everything_is_proved(result):
    total = result.rows[-1]
    assert [row.family for row in result.rows] == [*BULLET_FAMILIES, "all"]
    assert total.rays == RAYS == sum(row.rays for row in result.rows[:-1])
    assert total.phantom > 100
    assert total.missed > 0
    assert total.wrong_limb > 0
    assert total.proved == total.missed + total.phantom + total.wrong_limb == len(result.disagreements.ray)
    assert result.disagreements.proved.all()
    assert 0.5 * RAYS < total.hits < RAYS
    aimed, _, _, miss = result.rows[:-1]
    assert aimed.hits == aimed.rays
    assert aimed.missed == 0
    assert miss.hits == 0
    assert len(result.agreed.ray) == total.hits - total.missed - total.wrong_limb


def test_every_kind_has_the_clearance_it_promises(result):
    wrong = result.disagreements
    assert (wrong.clearance > 0).all()
    phantom, missed = wrong.kind == PHANTOM, wrong.kind == MISSED
    # Bullet stops 1 mm from a limb; it misses no more than its rounded rim.
    assert wrong.clearance[phantom].max() < 1.01e-3
    assert wrong.clearance[missed].max() < 1.01e-3
    graze = np.isfinite(wrong.depth)
    assert (wrong.depth[graze & phantom] < 0).all()
    assert np.sum(graze & phantom) > 100
    about = result.poses.radius[wrong.limb_engine]
    sideways = graze & phantom & (np.abs(wrong.depth) < 0.01)
    np.testing.assert_allclose(wrong.clearance[sideways], (-wrong.depth * about)[sideways], rtol=0, atol=1e-13)


def test_missing_sides_are_nan(result):
    wrong = result.disagreements
    for kind, limb, name in ((PHANTOM, wrong.limb_true, "true"), (MISSED, wrong.limb_engine, "engine")):
        rows = wrong.kind == kind
        assert rows.any()
        assert (limb[rows] == -1).all()
        for field in ("fraction", "position", "normal"):
            assert np.isnan(getattr(wrong, f"{field}_{name}")[rows]).all()
    rows = wrong.kind == WRONG_LIMB
    assert (wrong.limb_true[rows] != wrong.limb_engine[rows]).all()
    assert (wrong.limb_true[rows] >= 0).all()


def test_errors_are_those_of_the_two_points(result):
    agreed = result.agreed
    along = agreed.end - agreed.start
    along /= np.linalg.norm(along, axis=1)[:, None]
    shift = np.einsum("ni,ni->n", agreed.position_engine - agreed.position_true, along)
    np.testing.assert_allclose(agreed.distance_error, shift, rtol=0, atol=1e-12)
    cosine = np.einsum("ni,ni->n", agreed.normal_true, agreed.normal_engine)
    np.testing.assert_allclose(np.cos(np.radians(agreed.normal_error)), cosine, rtol=0, atol=1e-9)
    row, late = result.rows[-1], agreed.distance_error > 0
    assert row.early_mm[2] == pytest.approx(-1000 * agreed.distance_error.min())
    assert row.late_mm[0] == pytest.approx(1000 * np.median(agreed.distance_error[late]))
    assert row.normal_deg[1] == pytest.approx(np.percentile(agreed.normal_error, 99))


def assert_same(one, other):
    for mine, its in ((one.agreed, other.agreed), (one.disagreements, other.disagreements)):
        for field in fields(mine):
            np.testing.assert_array_equal(getattr(mine, field.name), getattr(its, field.name))
    np.testing.assert_equal([one.rows, one.rechecked], [other.rows, other.rechecked])


def test_same_seed_same_result_and_processes_change_nothing(result):
    assert_same(result, run_crosscheck(RAYS, seed=7, motions=["walk", "cartwheel"], jobs=2))
    other = run_crosscheck(RAYS, seed=8, motions=["walk", "cartwheel"])
    assert not np.array_equal(other.disagreements.ray, result.disagreements.ray)


def test_progress_counts_every_bullet_once():
    told = []
    run_crosscheck(101, seed=0, motions=["run", "jump"], progress=told.append)
    assert len(told) == 4
    assert sum(told) == 101


def test_fewer_bullets_than_poses():
    found = run_crosscheck(3, seed=0, motions=["run"])
    assert found.rows[-1].rays == 3
    assert len(found.poses.motion) == 10


def test_poses_are_spread_over_the_motion():
    poses = spread_poses(["kick"], frames=4)
    assert poses.motion == ("kick",) * 4
    np.testing.assert_allclose(poses.time / poses.time[0], [1, 3, 5, 7])
    assert poses.p1.shape == poses.p2.shape == (4, 15, 3)
    assert len(set(spread_poses([]).motion)) == 15


@pytest.mark.parametrize(
    ("wrong", "message"),
    [
        ({"rays": 0}, "rays must be at least 1, got 0"),
        ({"seed": -1}, "seed must be at least 0, got -1"),
        ({"jobs": 0}, "jobs must be at least 1, got 0"),
        ({"motions": ["moonwalk"]}, "out of backflip, .*, walk, got 'moonwalk'"),
    ],
)
def test_bad_arguments(wrong, message):
    with pytest.raises(ValueError, match=message):
        run_crosscheck(**{"rays": 10, "seed": 0, **wrong})


# Planted faults -------------------------------------------------------------------------------------------------------


class BlindEngine(BulletEngine):
    """PyBullet, but blind to one limb."""

    blind: ClassVar[int] = 1

    def cast_segments(self, starts, ends):
        found = super().cast_segments(starts, ends)
        seen = found.limb != self.blind
        return EngineHits(
            np.where(seen, found.limb, -1).astype(np.int32),
            np.where(seen, found.fraction, np.nan),
            np.where(seen[:, None], found.position, np.nan),
            np.where(seen[:, None], found.normal, np.nan),
        )


def test_an_engine_blind_to_a_limb_is_found_out(result):
    found = run_crosscheck(RAYS, seed=7, motions=["walk", "cartwheel"], engine=BlindEngine)
    wrong = found.disagreements
    blind = (wrong.kind == MISSED) & (wrong.limb_true == BlindEngine.blind)
    before = np.sum(result.agreed.limb == BlindEngine.blind)
    assert before > 100
    assert np.sum(blind) >= before
    assert not np.any(found.agreed.limb == BlindEngine.blind)
    assert wrong.proved.all()
    assert wrong.clearance[blind].max() > 0.01


class FlippedHits:
    """Our hits, but every tenth that hits the chest is told as a miss."""

    def __init__(self, hits):
        flipped = np.flatnonzero(hits.limb == 1)[::10]
        self.limb = hits.limb.copy()
        self.limb[flipped] = -1
        self.hit = self.limb >= 0
        self.fraction, self.rechecked = hits.fraction, hits.rechecked
        self.position, self.normal = (np.where(self.hit[:, None], v, np.nan) for v in (hits.position, hits.normal))


class FaultyWorld(cc.HitWorld):
    def cast_segments(self, starts, ends):
        return FlippedHits(super().cast_segments(starts, ends))


def test_a_fault_on_our_side_is_not_proved(monkeypatch):
    monkeypatch.setattr(humanoid, "HitWorld", FaultyWorld)
    found = run_crosscheck(2000, seed=7, motions=["walk"])
    wrong = found.disagreements
    flipped = ~wrong.proved
    assert flipped.sum() > 10
    assert (wrong.kind[flipped] == PHANTOM).all()
    assert (wrong.limb_engine[flipped] == 1).sum() > 10
    assert found.rows[-1].proved == wrong.proved.sum() < len(wrong.ray)


# Files ----------------------------------------------------------------------------------------------------------------


def test_summary_is_json_with_the_rows(result, tmp_path):
    summary = json.loads(write_summary(result, tmp_path).read_text())
    assert summary["schema"] == SCHEMA
    assert (summary["rays"], summary["seed"], summary["engine"]) == (RAYS, 7, "PyBullet")
    assert summary["motions"] == ["walk", "cartwheel"]
    assert summary["poses"] == 20
    assert {"cylcollide", "pybullet", "numpy", "numba", "python"} <= set(summary["versions"])
    assert len(summary["limbs"]) == 15
    assert [row["family"] for row in summary["rows"]] == [*BULLET_FAMILIES, "all"]
    assert summary["rows"][-1]["phantom"] == result.rows[-1].phantom
    assert summary["rows"][MISS]["early_mm"] == [None, None, None]


def test_rays_file_replays_every_disagreement(result, tmp_path):
    with np.load(write_rays(result, tmp_path)) as file:
        told = {name: file[name].item() for name in ("engine", "seed", "rays")}
        assert told == {"engine": "PyBullet", "seed": 7, "rays": RAYS}
        assert json.loads(file["versions"].item()) == result.versions
        rays = dict(file)
    assert len(rays["ray"]) == len(result.disagreements.ray) > 100
    for row in range(0, len(rays["ray"]), 10):
        pose = rays["pose"][row]
        limbs = cc.Limbs.cylinders(rays["pose_p1"][pose], rays["pose_p2"][pose], rays["limb_radius"])
        hits = cc.HitWorld(limbs).cast_segments(rays["start"][[row]], rays["end"][[row]])
        assert hits.limb[0] == rays["limb_true"][row]
        with BulletEngine() as engine:
            engine.build(limbs)
            theirs = engine.cast_segments(rays["start"][[row]], rays["end"][[row]])
        assert theirs.limb[0] == rays["limb_engine"][row]
        np.testing.assert_array_equal(theirs.fraction[0], rays["fraction_engine"][row])
    assert rays["kinds"].tolist() == list(KINDS)
    assert rays["pose_motion"].tolist() == list(result.poses.motion)
