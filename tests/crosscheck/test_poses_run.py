"""The sweep over poses: results depend on the seed, not on processes; errors of both sides are found; files."""

import json

import numpy as np
import pytest
from support.faulty_engines import flipped_world
from support.runs.pybullet_runs import PLAN, right_hits, swept, timeless

import cylcollide as cc
from cylcollide.crosscheck.compare.disagreements import VERDICTS, Kind
from cylcollide.crosscheck.generate.bullets import BULLET_FAMILIES, MISS, spread_poses
from cylcollide.crosscheck.run.plan import PosesPlan
from cylcollide.crosscheck.run.run import RAYS_SCHEMA, SCHEMA, run_plan, write_numbers, wrong_bullets
from cylcollide.crosscheck.workers import local_processes, worker_processes
from cylcollide.engines.bullet import BulletEngine


@pytest.fixture(scope="module")
def result():
    return swept()


@pytest.fixture(scope="module")
def wrong(result):
    return wrong_bullets(result, PLAN)


def test_bullet_is_wrong_and_everything_is_proved(result, wrong):
    rows = result.summary["families"]
    total = rows[-1]
    assert [row["family"] for row in rows] == [*BULLET_FAMILIES, "all"]
    assert total["rays"] == PLAN.rays == sum(row["rays"] for row in rows[:-1])
    assert total["phantom"] > 100
    assert total["missed"] > 0
    assert total["wrong_limb"] > 0
    assert total["proved"] == total["missed"] + total["phantom"] + total["wrong_limb"] == len(wrong["ray"])
    assert total["proved"] == total["disagreements"]
    assert wrong["proved"].all()
    assert 0.5 * PLAN.rays < total["hits"] < PLAN.rays
    aimed, _, _, miss = rows[:-1]
    assert aimed["hits"] == aimed["rays"]
    assert aimed["missed"] == 0
    assert miss["hits"] == 0
    assert len(right_hits(result.tally)[1]) == total["hits"] - total["missed"] - total["wrong_limb"]


def test_clearances_of_every_kind_are_in_bounds(wrong):
    assert (wrong["clearance"] > 0).all()
    phantom, missed = wrong["kind"] == Kind.PHANTOM, wrong["kind"] == Kind.MISSED
    # Bullet stops 1 mm from a limb; it misses no more than its rounded rim.
    assert wrong["clearance"][phantom].max() < 1.01e-3
    assert wrong["clearance"][missed].max() < 1.01e-3
    graze = np.isfinite(wrong["depth"])
    assert (wrong["depth"][graze & phantom] < 0).all()
    assert np.sum(graze & phantom) > 100
    about = PLAN.poses.radius[wrong["limb_engine"]]
    sideways = graze & phantom & (np.abs(wrong["depth"]) < 0.01)
    gap = (-wrong["depth"] * about)[sideways]
    np.testing.assert_allclose(wrong["clearance"][sideways], gap, rtol=0, atol=1e-13)


def test_missing_sides_are_nan(wrong):
    for kind, side in ((Kind.PHANTOM, "true"), (Kind.MISSED, "engine")):
        rows = wrong["kind"] == kind
        assert rows.any()
        assert (wrong[f"limb_{side}"][rows] == -1).all()
        for field in ("fraction", "position", "normal"):
            assert np.isnan(wrong[f"{field}_{side}"][rows]).all()
    rows = wrong["kind"] == Kind.WRONG_LIMB
    assert (wrong["limb_true"][rows] != wrong["limb_engine"][rows]).all()
    assert (wrong["limb_true"][rows] >= 0).all()


def test_errors_equal_recomputed_ones(result):
    """Bullets are drawn and cast again, and errors are computed here."""
    error, tilt = [], []
    for scene in (scene for key in PLAN.keys for scene in PLAN.draw(key)):
        limbs, shot = cc.Limbs.cylinders(scene.p1, scene.p2, scene.radius), scene.shots
        ours = cc.HitWorld(limbs).cast_segments(shot.start, shot.end)
        with BulletEngine() as engine:
            engine.build(limbs)
            theirs = engine.cast_segments(shot.start, shot.end)
        rows = np.flatnonzero(ours.hit & (ours.limb == theirs.limb))
        along = shot.end[rows] - shot.start[rows]
        along /= np.linalg.norm(along, axis=1)[:, None]
        error.append(np.einsum("ni,ni->n", theirs.position[rows] - ours.position[rows], along))
        tilt.append(np.einsum("ni,ni->n", ours.normal[rows], theirs.normal[rows]))
    _, measured, turned = right_hits(result.tally)
    np.testing.assert_allclose(measured, np.concatenate(error), rtol=0, atol=1e-12)
    np.testing.assert_allclose(np.cos(np.radians(turned)), np.concatenate(tilt), rtol=0, atol=1e-9)
    row, late = result.summary["families"][-1], measured > 0
    assert row["early_mm"][2] == pytest.approx(-1000 * measured.min())
    assert row["late_mm"][0] == pytest.approx(1000 * np.median(measured[late]))
    assert row["normal_deg"][1] == pytest.approx(np.percentile(turned, 99))


def assert_same(one, other):
    assert timeless(one) == timeless(other)
    for name in one.tally.chunks[PLAN.keys[0]].columns:
        np.testing.assert_array_equal(one.tally.column(name), other.tally.column(name))


def test_same_seed_same_result_and_processes_change_nothing(result):
    with worker_processes(1) as executor:
        assert_same(result, run_plan(PLAN, executor))
    (one, *_), (other, *_) = (plan.draw(PLAN.keys[0]) for plan in (PLAN, PosesPlan(PLAN.rays, 8, PLAN.motions)))
    assert not np.array_equal(one.shots.start, other.shots.start)


def test_a_stopped_sweep_resumes(result, tmp_path):
    def stops(_what, done, _of):
        if done == 2:
            raise KeyboardInterrupt

    with pytest.raises(KeyboardInterrupt):
        run_plan(PLAN, folder=tmp_path, progress=stops)
    kept = {path: path.stat().st_mtime_ns for path in (tmp_path / "chunks").iterdir()}
    assert 0 < len(kept) < len(PLAN.keys)
    said = []
    again = run_plan(PLAN, folder=tmp_path, warn=said.append)
    assert_same(result, again)
    assert json.dumps(timeless(again)) == json.dumps(timeless(result)), "columns of tables are in the same order"
    assert {path: path.stat().st_mtime_ns for path in kept} == kept
    assert len(list((tmp_path / "chunks").iterdir())) == len(PLAN.keys)
    assert said == []
    # Other motions are another run.
    with pytest.raises(KeyboardInterrupt):
        run_plan(PosesPlan(PLAN.rays, 7, ("kick", "cartwheel")), folder=tmp_path, warn=said.append, progress=stops)
    assert len(said) == len(PLAN.keys)


def test_fewer_bullets_than_poses_and_progress_counts_every_chunk_once():
    done = []
    found = run_plan(PosesPlan(3, 0, ("run",)), progress=lambda *news: done.append(news))
    assert done == [("chunks", 1, 2), ("chunks", 2, 2)]
    assert found.summary["rays"] == found.summary["families"][-1]["rays"] == 3
    assert found.summary["poses"] == 10


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
        ({"motions": ("moonwalk",)}, "out of backflip, .*, walk, got 'moonwalk'"),
    ],
)
def test_bad_arguments(wrong, message):
    with pytest.raises(ValueError, match=message):
        PosesPlan(**{"rays": 10, "seed": 0, **wrong})


def test_jobs_0_is_refused():
    with pytest.raises(ValueError, match="jobs must be at least 1, got 0"), local_processes(0):
        pass


# Planted faults -------------------------------------------------------------------------------------------------------


def test_a_fault_on_our_side_is_not_proved(monkeypatch):
    monkeypatch.setattr("cylcollide.crosscheck.compare.truth.HitWorld", flipped_world(10))
    plan = PosesPlan(2000, 7, ("walk",))
    found = run_plan(plan)
    wrong = wrong_bullets(found, plan)
    flipped = ~wrong["proved"]
    assert flipped.sum() > 10
    assert (wrong["kind"][flipped] == Kind.PHANTOM).all()
    assert found.summary["families"][-1]["proved"] == wrong["proved"].sum() < len(wrong["ray"])
    assert found.unproved == flipped.sum()


# Files ----------------------------------------------------------------------------------------------------------------


@pytest.fixture(scope="module")
def folder(result, tmp_path_factory):
    path = tmp_path_factory.mktemp("poses")
    write_numbers(result, path)
    return path


def test_summary_is_json_with_the_rows(result, folder):
    summary = json.loads((folder / "summary.json").read_text())
    assert (summary["schema"], summary["run"]) == (SCHEMA, "poses")
    assert (summary["rays"], summary["seed"], summary["engine"]) == (PLAN.rays, 7, "PyBullet")
    assert summary["motions"] == ["walk", "cartwheel"]
    assert summary["poses"] == 20
    assert {"cylcollide", "pybullet", "numpy", "python"} <= set(summary["versions"])
    assert len(summary["limbs"]) == 15
    assert [row["family"] for row in summary["families"]] == [*BULLET_FAMILIES, "all"]
    assert summary["families"][-1]["phantom"] == result.summary["families"][-1]["phantom"]
    assert summary["families"][MISS]["early_mm"] == [None, None, None]


def test_rays_file_replays_every_disagreement(result, folder):
    with np.load(folder / "rays.npz") as file:
        said = {name: file[name].item() for name in ("schema", "engine", "seed", "rays")}
        assert said == {"schema": RAYS_SCHEMA, "engine": "PyBullet", "seed": 7, "rays": PLAN.rays}
        assert json.loads(file["versions"].item()) == result.summary["versions"]
        rays = dict(file)
    assert len(rays["ray"]) == result.summary["families"][-1]["disagreements"] > 100
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
    assert rays["kinds"].tolist() == [kind.label for kind in VERDICTS]
    assert rays["pose_motion"].tolist() == list(PLAN.poses.motion)
