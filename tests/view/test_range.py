"""The range: shots along a click's ray, judged at the time on the screen; PyBullet's answer; smooth motion."""

import re

import numpy as np
import pytest

import cylcollide as cc

pytest.importorskip("viser", reason="the extra view")

from cylcollide.view import firing as room
from cylcollide.view.firing import REACH, Firing, make_firing
from cylcollide.view.people import People, range_rig, walk
from cylcollide.view.range import GAP, Range, words_of

EYE = np.array([1.0, -9.5, 2.6])


@pytest.fixture
def firing() -> Firing:
    """4 people after 2 seconds."""
    rig, world = range_rig(), cc.HitWorld()
    people = People(world, rig, [walk(rig)], 4)
    world.add_static(room.WALLS)
    made = Firing(people, world)
    for tick in range(60):
        made.step(tick / 30)
    return made


def aimed_at(limbs: cc.Limbs, row: int) -> np.ndarray:
    return 0.5 * (limbs.p1 + limbs.p2)[row] + [0.01, 0.0, 0.02] - EYE


@pytest.mark.parametrize("latency", [0.0, 0.21])
def test_a_shot_is_judged_by_its_ray_at_the_time_seen(firing, latency):
    seen = firing.seen_with(latency)
    assert seen == pytest.approx(59 / 30 - latency)
    limbs, hits = firing.history.limbs_at(seen), 0
    policy = cc.Policy.first_surface(damage={1: 4.0, 2: 1.0, 3: 0.6, 4: 0.75})
    for row in range(0, len(limbs), 7):
        way = aimed_at(limbs, row)
        shot = firing.fire(EYE, way, seen)
        fresh = cc.HitWorld(limbs)
        hit = fresh.cast_rays([EYE], [shot.direction], max_distance=REACH)
        judged = fresh.judge_rays([EYE], [shot.direction], policy, max_distance=REACH, energy=firing.energy)
        assert (shot.ours.limb, shot.ours.distance) == (hit.limb[0], hit.distance[0])
        assert shot.judged.limb[0] == judged.limb[0]
        if not shot.frame.is_static[judged.limb[0]]:
            assert shot.judged.damage[0] == judged.damage[0]
        assert shot.live.limb[0] == firing.world.cast_rays([EYE], [shot.direction], max_distance=REACH).limb[0]
        assert (shot.gap == 0.0) == bool(hit.hit[0])
        hits += bool(hit.hit[0])
    assert hits > 4


def test_pybullet_hits_limbs_missed_by_half_a_millimetre(firing):
    if firing.peer is None:
        pytest.skip("PyBullet is not installed")
    frame, differ = room.frame_at(firing.history, firing.now), 0
    for seed in range(3):
        way = firing.past_a_limb(frame, EYE, GAP, seed)
        assert way is not None
        shot = firing.fire(EYE, way, firing.now)
        assert shot.ours.limb == -1
        assert shot.gap == pytest.approx(GAP, rel=1e-3)
        assert shot.bullet is not None
        differ += shot.differs
        assert ("color:#c8372d" in words_of(shot, firing)) == shot.differs
    assert differ >= 2


def test_without_pybullet_the_extra_is_named(firing):
    firing.peer = None
    shot = firing.fire(EYE, aimed_at(firing.world.limbs, 4), firing.now)
    assert (shot.bullet, shot.differs) == (None, False)
    assert "pip install '.[crosscheck]' in a clone" in words_of(shot, firing)


def test_shapes_that_pybullet_lacks_are_not_compared(firing):
    limbs = cc.Limbs.tapered_cylinders([[0, 0, 0]], [[0, 0, 1]], 0.2, 0.1)
    assert firing._bullet(limbs, EYE, -EYE / np.linalg.norm(EYE)) is None


def test_people_move_without_jumps(firing):
    before = firing.world.limbs
    for tick in range(60, 120):
        firing.step(tick / 30)
        now = firing.world.limbs
        step = np.linalg.norm(now.p1 - before.p1, axis=1)
        assert step.max() < 0.2  # 6 m/s: swinging hands and feet
        before = now
    pelvis = np.flatnonzero(np.array(now.names) == "pelvis")
    middle = firing._people._middle
    away = np.linalg.norm(now.p1[pelvis][:, :2] - middle, axis=1)
    assert np.ptp(away) < 0.3
    assert away.min() > 0.5


def test_the_page_is_frozen_after_a_shot():
    page = Range(make_firing(range_rig(), [], 2))
    try:
        page._slider.value = 100
        for tick in range(1, 20):
            page.step(tick / 30)
        assert page._ghosts._limbs
        limbs, seen = page._frame.limbs, page._seen
        shot = page.fire(EYE, aimed_at(limbs, 4))
        assert page._frame.limbs == limbs
        assert shot.seen == seen == pytest.approx(page.firing.now - 0.1)
        assert "seen 100 ms ago" in page._result.content
        assert {"path", "entries"} <= page._stage._lines.keys()
        now = page.firing.now
        page.step(1.0)  # a step of the clock thread, which waited while the shot was judged
        assert (page._frame.limbs, page.firing.now) == (limbs, now)
        assert page._stage._lines
        page.go_on()
        page.step(1.1)
        assert page._frame.limbs != limbs
        page._slider.value = 0
        page.draw()
        assert not page._ghosts._limbs
    finally:
        page.close()


@pytest.mark.parametrize("words", [["--rig", "none.json"], ["--policy", "bad.json"], ["--motion", "bad.json"]])
def test_bad_files_end_in_one_line(refused, words, tmp_path):
    (tmp_path / "bad.json").write_text("nothing of ours")
    refused("range", words[0], tmp_path / words[1])


def test_a_motion_of_other_bones_is_named(tmp_path):
    head = "HIERARCHY\nROOT {}\n{{\nOFFSET 0 0 0\nCHANNELS 1 Yposition\n}}\nMOTION\nFrames: 1\nFrame Time: 1\n0\n"
    path = tmp_path / "tail.bvh"
    path.write_text(head.format("tail"))
    with pytest.raises(ValueError, match=rf"^{re.escape(str(path))}: bones: expected bones of equal or of standard"):
        make_firing(range_rig(), [path], 2)


def test_suffixes_of_motions_may_be_capitals(tmp_path):
    for name in ("a.GLB", "a.glTF", "a.vrm", "a.VRMA"):
        (tmp_path / name).write_bytes(b"glTF")
        with pytest.raises(ValueError, match=rf"{name}: expected a glTF 2.0 file with an animation"):
            make_firing(range_rig(), [tmp_path / name], 2)
