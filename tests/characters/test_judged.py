"""Results of judging: columns of all rays and of some, sums of shots, decisions in words."""

import re
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from support.cases.everyday_shape_worlds import mixed, shots_at
from support.check_cylinders import same_bits, sized
from support.force_loop import MIXED, forced
from support.labelled import carried
from support.mixed_queries import grid_limbs, whole_segments
from support.one_limb import two_humanoids

import cylcollide as cc
from cylcollide import Reason
from cylcollide.characters.judged import WORDS, Impacts
from cylcollide.query.chords import Chords

POLICIES = {
    "first_surface": cc.Policy.first_surface({1: 4.0, 2: 0.0}),
    "most_important": cc.Policy.most_important([3, 1, 0]),
    "longest_chord": cc.Policy.longest_chord(default=2.0),
    "penetration": cc.Policy.penetration({1: 3.0, 2: 0.5, "default": 1.0}, {1: 4.0}),
}
OF_THE_LIMB = ("character", "limb_name", "hit_group", "bone", "rig_limb", "local_position", "local_normal")


def judged_by(kind: str, n: int = 300, **options: Any) -> tuple[cc.Snapshot, np.ndarray, np.ndarray, cc.Judged]:
    """Return a state with bones, segments, and their judgement by a policy."""
    state, (starts, ends) = carried(mixed(28).limbs()), shots_at(mixed(28), n)
    energy = np.random.default_rng(3).uniform(0.5, 5.0, n)
    return state, starts, ends, state.judge_segments(starts, ends, POLICIES[kind], energy=energy, **options)


@pytest.mark.parametrize("kind", POLICIES)
def test_columns_belong_to_the_chord_that_counts(kind: str):
    state, starts, ends, judged = judged_by(kind, sized(300))
    chords = state.chords_segments(starts, ends)
    assert judged.impacts.chords == chords
    impacts, named = judged.impacts, {name: f"entry_{name}" for name in ("position", "normal", "distance")}
    for i in range(len(starts)):
        rows = range(*impacts.offsets[i : i + 2].tolist())
        reasons = [Reason(impacts.reason[k]) for k in rows]
        counts = (Reason.COUNTED, Reason.PASSED_THROUGH, Reason.STOPPED)
        counted = [k for k, reason in zip(rows, reasons, strict=True) if reason in counts]
        assert judged.hit[i] == bool(counted)
        assert judged.damage[i] == sum(impacts.damage[k] for k in rows)
        if counted:
            for name in ("limb", *OF_THE_LIMB, *named):
                want = getattr(chords, named.get(name, name))[counted[0]]
                assert np.array_equal(np.asarray(getattr(judged, name)[i], object), np.asarray(want, object)) or (
                    np.isnan(want).all() and np.isnan(getattr(judged, name)[i]).all()
                ), name
        else:
            columns = ("limb", "character", "limb_name", "hit_group", "rig_limb")
            assert [getattr(judged, name)[i] for name in columns] == [-1, -1, None, -1, -1]
            assert np.isnan(judged.position[i]).all()
            assert judged.distance[i] == np.inf
    assert 0 < judged.hit.sum() < len(starts)
    assert set(Reason) > {Reason(x) for x in impacts.reason.tolist()} != set()
    assert (judged.limb_name != None).sum() == judged.hit.sum()  # noqa: E711  of objects


def test_positions_of_touches():
    """float64 does not decide these rays: positions have the bits of the hit, and of the chord."""
    world, (starts, ends) = cc.HitWorld(grid_limbs()), whole_segments(np.random.default_rng(5), sized(700))
    judged, hits = world.judge_segments(starts, ends, POLICIES["first_surface"]), world.cast_segments(starts, ends)
    first = judged.impacts.offsets[:-1][judged.hit]
    assert not same_bits(judged, hits, fields=["position", "normal", "distance"])
    for name in ("position", "normal", "distance"):
        chords = getattr(judged.impacts.chords, f"entry_{name}")[first]
        assert getattr(judged, name)[judged.hit].tobytes() == chords.tobytes(), name
    assert min(len(first), hits.rechecked) > 10


@pytest.mark.parametrize("kind", POLICIES)
def test_one_by_one_split_and_by_threads(kind: str):
    n = sized(301)
    state, starts, ends, judged = judged_by(kind, n)
    energy = np.random.default_rng(3).uniform(0.5, 5.0, n)
    for threads in (1, 3):
        with forced(MIXED, RAYS_PER_TASK=60, LEAST_RAYS_PER_TASK=60):
            again = state.judge_segments(starts, ends, POLICIES[kind], energy=energy, threads=threads)
        assert not same_bits(again, judged, fields=judged.fields)
        assert again.impacts == judged.impacts
    for i in range(0, n, 7):
        alone = state.judge_segments(starts[i], ends[i], POLICIES[kind], energy=energy[i])
        assert not same_bits(judged, alone, [i], set(judged.fields) - {"shot"})


def test_the_options_of_queries():
    """A mask, an ignored shooter, a limit, a start inside: the chords equal those of the chord queries."""
    state, starts, ends, _ = judged_by("first_surface")
    n, policy = len(starts), POLICIES["penetration"]
    limbs = state.limbs
    for options in ({"inside": "ignore"}, {"inside": "exit"}, {"mask": 0}, {"ignore_character": 3}, {"threads": 2}):
        judged = state.judge_segments(starts, ends, policy, **options)
        assert np.array_equal(judged.impacts.limb, state.chords_segments(starts, ends, **options).limb)
        assert judged.hit.any() == ("mask" not in options)
    limit = np.linspace(0.1, 8.0, n)
    rays = state.judge_rays(starts, ends - starts, policy, max_distance=limit)
    assert np.array_equal(rays.impacts.limb, state.chords_rays(starts, ends - starts, max_distance=limit).limb)
    assert 0 < rays.hit.sum() < state.judge_rays(starts, ends - starts, policy).hit.sum()
    assert (rays.distance[rays.hit] <= limit[rays.hit] * (1 + 1e-15)).all()
    world = cc.HitWorld(limbs)
    assert np.array_equal(
        world.judge_segments(starts, ends, policy).limb, state.judge_segments(starts, ends, policy).limb
    )


def test_nothing_to_judge():
    empty, policy = cc.HitWorld(cc.Limbs.spheres(np.zeros((0, 3)), 1.0)), POLICIES["penetration"]
    one = cc.HitWorld(cc.Limbs.spheres([0, 0, 0], 1.0))
    for world in (empty, one):
        for n in (0, 1, 250):
            judged = world.judge_segments(
                np.full((n, 3), 5.0), np.full((n, 3), 6.0), policy, energy=3.0, shot=np.ones(n, int)
            )
            assert (len(judged), len(judged.impacts)) == (n, 0)
            assert judged.damage.tolist() == [0.0] * n
            assert judged.energy_left.tolist() == [3.0] * n
            assert judged.limb_name.tolist() == [None] * n
            assert judged.position.shape == (n, 3)
            totals = judged.by_shot()
            assert totals.rays.tolist() == ([n] if n else [])
            assert len(totals.victims.shot) == 0
            if n:
                assert "0 limbs crossed, no hit" in str(judged.explain(0))


def test_judged_shots_stay_when_the_world_moves_on():
    """Columns that are read late belong to the query's time: places in bones' frames, names of despawned characters."""
    rig, rng = cc.Rig.humanoid(), np.random.default_rng(9)
    world = cc.HitWorld(cc.Limbs.spheres([[0.0, 0, 9], [5, 0, 9]], 1.0, name=["lamp", "bell"]))
    ids = world.spawn(rig, 6)
    joints = np.repeat(rig.rest_orientations[None], 6, axis=0)

    def walk(to: float) -> None:
        root = np.column_stack([np.arange(6.0) + to, rng.normal(size=6), np.ones(6)])
        world.set_poses(ids, *rig.forward(root, rng.normal(size=(6, 4)), joints + 0.1 * rng.normal(size=joints.shape)))

    def shots() -> tuple[cc.RayHits, cc.Chords, cc.Judged]:
        at = 0.5 * (world.limbs.p1 + world.limbs.p2)
        starts = at + np.array([0.0, 5.0, 1.0])
        rays = starts, 2 * at - starts
        judged = world.judge_segments(*rays, POLICIES["penetration"], energy=9.0)
        return world.cast_segments(*rays), world.chords_segments(*rays), judged

    walk(0.0)
    soon = [[repr(getattr(answer, name).tolist()) for name in OF_THE_LIMB] for answer in shots()]
    late = shots()
    for step in range(5):
        walk(step + 1.0)
    world.despawn(ids[:5])
    walk_alone = rig.forward(np.zeros((1, 3)), [[0, 0, 0, 1]], joints[:1])
    world.set_poses(ids[5:], *walk_alone)
    assert [[repr(getattr(answer, name).tolist()) for name in OF_THE_LIMB] for answer in late] == soon
    assert np.isfinite(late[0].local_position).all(axis=1).sum() > 50
    assert late[0].limb_name[:2].tolist() == ["lamp", "bell"]


# Shots of many pellets ------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("kind", POLICIES)
def test_pellets_are_summed_by_shot(kind: str):
    shot = np.random.default_rng(6).integers(-40, 40, 300) * 10**12
    _, _, _, judged = judged_by(kind, shot=shot)
    totals, impacts = judged.by_shot(), judged.impacts
    assert totals.shot.tolist() == sorted({*shot.tolist()})
    assert np.array_equal(judged.shot, shot)
    victims: dict[tuple[int, int], tuple[set[int], float]] = {}
    counted = {Reason.COUNTED, Reason.PASSED_THROUGH, Reason.STOPPED}
    for k in range(len(impacts)):
        ray = int(impacts.ray[k])
        if Reason(impacts.reason[k]) in counted:
            rays, damage = victims.setdefault((int(shot[ray]), int(impacts.character[k])), (set(), 0.0))
            victims[int(shot[ray]), int(impacts.character[k])] = rays | {ray}, damage + impacts.damage[k]
    for k, each in enumerate(totals.shot.tolist()):
        rows = np.flatnonzero(shot == each)
        assert totals.rays[k] == len(rows)
        assert totals.hits[k] == judged.hit[rows].sum()
        assert totals.damage[k] == pytest.approx(judged.damage[rows].sum(), rel=1e-14)
        assert totals.energy_left[k] == pytest.approx(judged.energy_left[rows].sum(), rel=1e-14)
    found = zip(totals.victims.shot.tolist(), totals.victims.character.tolist(), strict=True)
    assert [*found] == sorted(victims)
    assert totals.victims.rays.tolist() == [len(victims[key][0]) for key in sorted(victims)]
    assert totals.victims.damage.tolist() == pytest.approx([victims[key][1] for key in sorted(victims)], rel=1e-14)
    assert totals.rays.max() > 3
    assert np.isclose(totals.victims.damage.sum(), judged.damage.sum())


@pytest.mark.parametrize("characters", [[0, 1], [-1, 1]])
def test_victims_need_no_damage(characters: list[int]):
    """Each character that a shot passes through is hit; a limb without a character hides none behind it."""
    world = cc.HitWorld(cc.Limbs.spheres([[0, 0, 0], [3, 0, 0]], 1.0, character=characters))
    judged = world.judge_segments([-5, 0, 0], [9, 0, 0], cc.Policy.penetration(0.0))
    victims = judged.by_shot().victims
    assert victims.character.tolist() == characters
    assert (victims.rays.tolist(), victims.damage.tolist()) == ([1, 1], [0.0, 0.0])
    assert judged.victim[0] in victims.character


def test_without_ids_each_ray_is_a_shot():
    _, _, _, judged = judged_by("first_surface")
    assert judged.shot.tolist() == [*range(300)]
    totals = judged.by_shot()
    assert np.array_equal(totals.damage, judged.damage)
    assert np.array_equal(totals.victims.shot, np.flatnonzero(judged.hit))
    assert np.array_equal(totals.victims.damage, judged.damage[judged.hit])
    assert 0 < (totals.victims.damage == 0.0).sum() < len(totals.victims.damage), "some are hit and not hurt"


# Some rays ------------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("kind", ["most_important", "penetration"])
def test_some_rays_of_judged_shots(kind: str):
    """Columns, impacts, sums and decisions of a part equal those of its rays in the whole."""
    judged = judged_by(kind)[-1]
    rays = np.random.default_rng(4).permutation(len(judged))[:120]
    for chosen in (rays, slice(5, 90, 2), judged.hit, 7, []):
        part, rows = judged[chosen], np.atleast_1d(np.arange(len(judged))[chosen])
        assert not same_bits(judged, part, rows, judged.fields)
        counts = np.diff(judged.impacts.offsets)[rows]
        assert np.diff(part.impacts.offsets).tolist() == counts.tolist()
        taken = np.concatenate([np.arange(*judged.impacts.offsets[i : i + 2]) for i in rows] or [np.zeros(0, int)])
        counted_anew = {"ray"}
        assert not same_bits(judged.impacts, part.impacts, taken.astype(int), {*Impacts.fields} - counted_anew)
        for k, i in enumerate(rows.tolist()):
            assert str(part.explain(k)).partition(",")[2] == str(judged.explain(i)).partition(",")[2]
        assert part.by_shot().damage.sum() == pytest.approx(judged.damage[rows].sum())
    assert len(judged[rays].impacts) > 30


def test_impacts_have_chords(tmp_path: Path):
    """Of the whole, of a part, and of a loaded file."""
    state, starts, ends, judged = judged_by("penetration")
    impacts, chords, expected = judged.impacts, judged.impacts.chords, state.chords_segments(starts, ends)
    assert len(expected) > 100
    assert type(chords) is Chords
    assert expected == chords == expected
    assert impacts != chords
    assert impacts[3:40].chords == chords[3:40] == expected[3:40]
    assert not hasattr(chords, "energy_in")
    impacts.save(tmp_path / "impacts.npz")
    loaded = Impacts.load(tmp_path / "impacts.npz").chords
    assert loaded == expected
    assert loaded[3:40] == expected[3:40]


def test_chords_of_impacts_keep_times_and_shape():
    history, _ = two_humanoids()
    starts, ends = np.tile([[[-3.0, 0, 1]], [[-3.0, 0, 1.2]]], (1, 4, 1)), np.array([9.0, 0, 1])
    past = history.judge_segments(starts, ends, POLICIES["penetration"], 0.55)
    chords = past.impacts.chords
    assert chords.shape == past.shape == (2, 4)
    assert len(chords) > 7
    assert chords.tick.tolist() == past.tick.tolist()
    assert chords == history.chords_segments(starts, ends, 0.55)
    assert np.array_equal(chords.present_position(), past.impacts.present_position())


# Decisions in words ---------------------------------------------------------------------------------------------------


def test_a_decision_has_all_steps():
    boxes = [
        cc.Limbs.boxes([x, 0, 0], [0, 0, 0, 1], [half, 1, 1], character=who, hit_group=group, name=name)
        for x, half, who, group, name in ((3, 1, 7, 2, "arm"), (5, 2, 7, 3, "chest"), (5, 0.5, 7, 1, "heart"),
                                          (9, 1, -1, 4, ""), (12, 1, 8, 2, "hand"))
    ]  # fmt: skip
    world = cc.HitWorld(cc.Limbs.concat(boxes))
    policy = cc.Policy.penetration({2: 1.0, 4: 50.0}, {2: 2.0, 4: 0.0})
    judged = world.judge_segments([[0, 0, 0], [0, 9, 0]], [[16, 0, 0], [16, 9, 0]], policy, energy=10.0)
    text = str(judged.explain(0))
    for line, said in zip(text.splitlines(), ("5 limbs crossed, judged by arm, damage 10, energy left 0",
            "arm of character 7, hit group 2, from 0.125 to 0.25, 2 thick: .* 10 -> 8, damage 4",
            "chest .* as hit group 2, that of step 1; energy 8 -> 5, damage 6", "heart .* 1 thick: takes nothing",
            "limb 3 of nobody, .* energy 5 -> 0, damage 0", "hand .* not reached"), strict=True):  # fmt: skip
        assert re.search(said, line)
    assert "0 limbs crossed, no hit, damage 0, energy left 10" in str(judged.explain(-1))
    assert judged.explain(0).steps[1].ruling == 0
    first = world.judge_segments([0, 0, 0], [16, 0, 0], cc.Policy.most_important([3])).explain(0)
    assert [step.reason for step in first.steps] == [
        Reason.LESS_IMPORTANT, Reason.COUNTED, Reason.LESS_IMPORTANT, Reason.NOT_FIRST, Reason.NOT_FIRST,
    ]  # fmt: skip
    assert "chest" in str(first).splitlines()[0]
    assert {*WORDS} == {*Reason}


@pytest.mark.parametrize("ray", [3, -4, 1.0, [0], None, True])
def test_no_decision_beyond_the_last_ray(ray):
    judged = judged_by("penetration", 3)[-1]
    with pytest.raises(IndexError, match=re.escape(f"ray: expected -3 to 2, got {ray!r}; 3 rays were judged")):
        judged.explain(ray)
    assert judged.explain(-1).ray == 2
