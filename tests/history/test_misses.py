"""Explanations of misses: the nearest limb then, the times at which the same segment hits, and the text."""

import numpy as np
import pytest
from support.beside import repeated
from support.cases.everyday_worlds import make_crowd
from support.character_life import Life
from support.one_limb import about_z, one_limb_history, two_humanoids
from support.oracle import distance as oracle

import cylcollide as cc
from cylcollide.limbs.distance import DISTANCE_BOUND


def lived(seed: int, bare: int, ticks: int = 12) -> tuple[Life, cc.PoseHistory]:
    """Return a random life of characters, and its history."""
    life = Life(np.random.default_rng(seed), make_crowd(bare))
    history = cc.PoseHistory(life.world, ticks)
    for k in range(2 * ticks):
        for _ in range(4):
            life.step()
        history.record(0.1 * k)
    return life, history


def walker(**labels) -> tuple[cc.HitWorld, cc.PoseHistory, int]:
    """Return the history of a rod of radius 0.1 along x, from 0 to 1, that moves by 1 along z each tick: -4 to 4."""
    world, ids, history = one_limb_history(*((0, 0, k - 4.0, 0) for k in range(9)), **labels)
    return world, history, int(ids[0])


def judged(limbs: cc.Limbs, group: int | None, mask: int, ignored: int) -> np.ndarray:
    """Return the rows that may be hit."""
    allowed = ((limbs.mask & mask) != 0) & ((limbs.character != ignored) | (ignored < 0))
    return np.flatnonzero(allowed if group is None else allowed & (limbs.hit_group == group))


@pytest.mark.parametrize("seed", [1, *(pytest.param(seed, marks=pytest.mark.long) for seed in (0, 2))])
def test_random_lives(seed: int):
    """Verdict, gap and intervals against single queries and distances, for all limbs and for heads."""
    life, history = lived(seed, 6)
    rng, begin, end = life.rng, *history.times[[0, -1]]
    verdicts, found = [], 0
    for k in range(16 if seed != 1 else 8):
        time, group = float(rng.uniform(begin, end)), (None, "head", 3)[k % 3]
        number, mask = {"head": 1}.get(group, group), (0xFFFFFFFF, 6)[k % 2]
        limbs = history.limbs_at(time)
        ignored = int(rng.choice(limbs.character)) if k % 4 == 0 else -1
        options = {"mask": mask, "ignore_character": ignored}
        aim = limbs.p1[rng.integers(len(limbs))] + 0.15 * rng.normal(size=3)
        start = rng.uniform(-6, 6, 3)
        stop = start + 2.0 * (aim - start)
        why = history.explain_miss(start, stop, time, hit_group=group, **options)
        rows = judged(limbs, number, mask, ignored)
        hit = bool(len(rows)) and bool(limbs[rows].cast_segments(start, stop).hit.any())
        assert (why.hit, why.asked_group, why.time) == (hit, number, time)
        if hit:
            assert why.gap == 0.0
            assert why.limb in rows
            assert limbs[why.limb].inflated(1e-9).classify_points(why.point)[0] != cc.Side.OUTSIDE
        elif len(rows):
            near = [i for i in rows if oracle.least_distance(limbs[i], start, stop) <= why.gap + 1e-9]
            gaps = [oracle.segment_distance(limbs[i], start, stop)[0] for i in near]
            assert abs(why.gap - min(gaps)) <= DISTANCE_BOUND * (4.0 + min(gaps))
            assert gaps[near.index(why.limb)] <= min(gaps) + 1e-12
            assert np.linalg.norm(why.point - why.segment_point) == pytest.approx(why.gap, abs=1e-13)
        if why.limb >= 0:
            assert why.limb_name == limbs.names[why.limb]
            assert (why.character, why.hit_group) == (limbs.character[why.limb], limbs.hit_group[why.limb])
        check_intervals(history, why, start, stop, options)
        verdicts.append((hit, group is None))
        found += len(why.intervals)
    assert len({hit for hit, _ in verdicts}) == 2
    assert found > 4


def hits_at(history: cc.PoseHistory, why: cc.MissExplanation, start, stop, time: float, options: dict) -> bool:
    chords = history.chords_segments(start, stop, time, **options)
    return bool(len(chords) if why.asked_group is None else (chords.hit_group == why.asked_group).any())


def check_intervals(history: cc.PoseHistory, why: cc.MissExplanation, start, stop, options: dict) -> None:
    """Assert that the segment hits at the ends, not beside them, and at each tick as the intervals predict."""
    first, last = history.times[[0, -1]]
    for begin, end in why.intervals:
        assert hits_at(history, why, start, stop, begin, options)
        assert hits_at(history, why, start, stop, end, options)
        assert begin == first or not hits_at(history, why, start, stop, np.nextafter(begin, -np.inf), options)
        assert end == last or not hits_at(history, why, start, stop, np.nextafter(end, np.inf), options)
    for time in history.times:
        inside = any(begin <= time <= end for begin, end in why.intervals)
        assert inside == hits_at(history, why, start, stop, time, options)
    assert any(begin <= why.time <= end for begin, end in why.intervals) or not why.hit or why.resolution > 0.0


# By hand ------------------------------------------------------------------------------------------------------------


def test_a_rod_that_walks_past():
    """At 3.5 the rod is 0.5 from the segment, less its radius; it is hit from 3.9 to 4.1, though steps are 0.25."""
    _, history, character = walker(hit_group=7)
    why = history.explain_miss([0.5, -3, 0], [0.5, 1, 0], 3.5)
    assert not why.hit
    assert not why.first.hit
    assert (why.limb, why.limb_name, why.character, why.hit_group) == (0, "arm", character, 7)
    assert why.gap == pytest.approx(0.4, abs=1e-15)
    assert why.point == pytest.approx([0.5, 0, -0.4], abs=1e-8)
    assert why.segment_point == pytest.approx([0.5, 0, 0], abs=1e-8)
    assert why.fraction == pytest.approx(0.75, abs=1e-8)
    assert why.intervals == pytest.approx(np.array([[3.9, 4.1]]), abs=1e-15)
    assert (why.tick, why.alpha, why.resolution) == (3, 0.5, 0.25)
    assert why.ticks.tolist() == list(range(9))
    assert "the same segment would have hit a limb: 3.9 to 4.1 (0.4 later)" in str(why)
    for name in ("point", "segment_point", "intervals", "start", "end", "ticks"):
        assert not getattr(why, name).flags.writeable


@pytest.mark.parametrize(("moved", "epoch"), [(0.0, 0.0), (2e4, 1.7e9)])
def test_text_resolves_gap_and_times_anywhere(moved: float, epoch: float):
    """Coordinates in centimetres or on a map, and times since 1970: rounding them to a few digits hides the gap."""
    world = cc.HitWorld(cc.Limbs.capsules([moved, 0.0, 1.0], [moved, 0.0, 1.5], 0.1))
    history = cc.PoseHistory(world, 4)
    for k in range(3):
        history.record(epoch + k / 64)
    why = history.explain_miss([moved + 0.125, -3, 1.25], [moved + 0.125, 3, 1.25], epoch + 1 / 64)
    assert f"at time {epoch + 1 / 64:.15g} " in str(why)
    assert f"({moved + 0.125:.3f}, 0, 1.25)" in str(why)
    assert f"({moved + 0.1:.15g}, 0, 1.25)" in str(why)
    assert f"{history.times[-1]:.13g}" in repr(history)


def test_a_time_without_limbs():
    world, history, character = walker()
    world.despawn(character)
    history.record(9)
    why = history.explain_miss([0.5, -3, 0], [0.5, 1, 0], 9.0)
    said = (why.hit, why.limb, why.limb_name, why.character, why.hit_group, why.gap)
    assert said == (False, -1, None, -1, -1, np.inf)
    assert np.isnan([*why.point, *why.segment_point]).all()
    assert "3.9 to 4.1 (4.9 earlier)" in str(why)


def test_of_many_intervals_the_nearest_are_printed():
    _, _, history = one_limb_history(*((0, 0, -1.0 if k % 2 else 1.0, 0) for k in range(12)))
    why = history.explain_miss([0.5, -3, 0], [0.5, 1, 0], 6.0)
    assert len(why.intervals) == 11
    line = str(why).splitlines()[2]
    assert line.count(" to ") == 3
    assert line.endswith("; and in 8 intervals farther away")
    assert "5.45 to 5.55 (0.45 earlier); 6.45 to 6.55 (0.45 later)" in line


def test_a_hit_of_less_than_a_step_needs_a_finer_resolution():
    """Steps of 0.01 find a rod that crosses within 0.02 of a tick; the explanation gives the searched resolution."""
    _, _, history = one_limb_history((0, 0, -4.3, 0), (0, 0, 5.7, 0))
    steps = (None, 10.0, 0.01)
    coarse, whole, fine = (history.explain_miss([0.5, -3, 0], [0.5, 1, 0], 0.0, resolution=step) for step in steps)
    assert len(coarse.intervals) == len(whole.intervals) == 0
    assert fine.intervals == pytest.approx(np.array([[0.42, 0.44]]), abs=1e-15)
    assert [why.resolution for why in (coarse, whole, fine)] == pytest.approx([0.25, 1.0, 0.01])
    assert str(coarse).splitlines()[2].endswith("would have hit a limb: never")


@pytest.mark.parametrize("epoch", [-4.0, -1e6, 1e9])
def test_ends_are_exact_at_any_times(epoch: float):
    _, _, history = one_limb_history(*((0, 0, k - 4.0, 0) for k in range(9)), first=epoch)
    why = history.explain_miss([0.5, -3, 0], [0.5, 1, 0], epoch + 3.5)
    assert len(why.intervals) == 1
    check_intervals(history, why, why.start, why.end, {})


def test_hits_at_a_tick_alone_and_just_before_it_are_found():
    shot = [0.5, -3, 0], [0.5, 1, 0]
    touching = one_limb_history(*((0, 0, z, 0) for z in (0.7, 0.1, 0.7)))[2]
    assert touching.explain_miss(*shot, 0.0).intervals.tolist() == [[1.0, 1.0]]
    world, ids, history = one_limb_history((0, 0, 1, 0))
    world.set_layers(ids, 0)  # from the next tick on
    world.set_poses(ids, [[0, 0, 0]], [about_z(0.0)])
    history.record(1)
    assert history.explain_miss(*shot, 0.0).intervals == pytest.approx(np.array([[0.9, 1.0]]))


def test_a_teleport_ends_an_interval_at_its_tick():
    _, _, history = one_limb_history(*((0, 0, z, 0) for z in (0.0, 0.0, 20.0, 20.0)), teleport_distance=5.0)
    why = history.explain_miss([0.5, -3, 0], [0.5, 1, 0], 2.5)
    assert why.intervals.tolist() == [[0.0, np.nextafter(2.0, 0.0)]]
    assert why.gap == pytest.approx(19.9)


# Options ------------------------------------------------------------------------------------------------------------


def test_when_the_head_would_be_hit():
    history, ids = two_humanoids()
    start, end = [-5, 0.2, 1.3], [2, 0.2, 1.6]  # through the neck, upwards
    why = history.explain_miss(start, end, 0.6, hit_group="head")
    assert not why.hit
    assert why.first.hit
    assert (why.limb_name, why.character, why.asked_group) == ("head", ids[0], 1)
    assert 0.01 < why.gap < 0.2
    assert f"first on its way at that time: {why.first.limb_name!r}" in str(why)
    assert history.explain_miss(start, end, 0.6).hit
    by_number = history.explain_miss(start, end, 0.6, hit_group=1)
    assert (by_number.gap, by_number.limb) == (why.gap, why.limb)


def test_a_group_counts_even_behind_others():
    """The head of the character behind is hit if the character in front is ignored."""
    history, ids = two_humanoids()
    start, end = [-5, 0, 1.65], [5, 0, 1.65]
    why = history.explain_miss(start, end, 0.5, hit_group="head", ignore_character=int(ids[0]))
    assert why.hit
    assert why.character == ids[1]
    away = history.explain_miss(start, end, 0.5, hit_group="arm")
    assert not away.hit
    assert away.first.limb_name == "head"


def test_options_equal_query_options():
    _, history, character = walker(mask=2)
    start, end = [0.5, -3, 0], [0.5, 1, 0]
    why = history.explain_miss(start, end, 4.0, mask=2)
    assert (why.hit, why.gap, why.fraction) == (True, 0.0, pytest.approx(0.725, abs=1e-15))
    assert why.point.tolist() == why.segment_point.tolist() == pytest.approx([0.5, -0.1, 0.0], abs=1e-15)
    for options in ({"mask": 1}, {"ignore_character": character}, {"protected_since": {character: 4.0}}):
        why = history.explain_miss(start, end, 4.0, **options)
        assert (why.hit, why.limb, why.gap) == (False, -1, np.inf)
    later = history.explain_miss(start, end, 4.0, protected_since={character: 4.05})
    assert later.hit
    assert later.intervals == pytest.approx(np.array([[3.9, 4.05]]), abs=1e-15)
    assert history.explain_miss(start, end, 4.0, ignore_character=-1, threads=1).hit


@pytest.mark.parametrize(
    ("change", "message"),
    [
        ({"end": [[0, 0, 0]] * 2}, "end: expected 1 rows, got 2"),
        ({"time": 8.5}, r"time: expected 0.0 to 8.0, which is kept, got 8.5 in row 0"),
        ({"time": [1.0, 2.0]}, "time: expected one number"),
        ({"hit_group": "heed"}, r"hit_group: expected a hit group of the rigs .* \(known: none\), got 'heed'"),
        ({"resolution": 0.0}, "resolution: expected a time > 0, got 0.0"),
        ({"resolution": 1e-9}, "resolution: expected at most 1000000 steps from 0.0 to 8.0"),
        ({"resolution": 5e-324}, "at most 1000000 steps from 0.0 to 8.0, got 5e-324, which are inf"),
        ({"mask": -1}, "mask: expected 0 to"),
    ],
)
def test_bad_input(change: dict, message: str):
    _, history, _ = walker()
    with pytest.raises(ValueError, match=message):
        history.explain_miss(**{"start": [0.5, -3, 0], "end": [0.5, 1, 0], "time": 4.0, **change})


def test_an_explanation_keeps_its_ticks():
    """While a short ring is recorded on, an explanation that has begun keeps its oldest tick."""
    life, history = lived(5, 5, ticks=4)

    def ask() -> None:
        times = history.times
        try:
            why = history.explain_miss([-9, 0, 0], [9, 0, 0], float(times[-1]))
        except ValueError as error:
            if f"which is kept, got {times[-1]} " not in str(error):  # the shot may be too old when it begins
                raise
        else:
            assert len(why.ticks) == 4
            assert why.time in why.ticks

    with repeated(ask):
        for k in range(60):
            life.step()
            history.record(100.0 + k)


# Messages -------------------------------------------------------------------------------------------------------------


def test_the_given_time_is_searched():
    """A rod that turns through a point between two searched times is hit at the given time, and reported."""
    _, _, history = one_limb_history(*((0, 0, 0, 1.5 * k) for k in range(3)))
    time = 0.5670001
    limbs = history.limbs_at(time)
    far = limbs.p1[0] + 0.999 * (limbs.p2[0] - limbs.p1[0])
    across = np.array([0.0, 0.0, 1.0])
    thin = {"resolution": 1.0, "time": time}
    why = history.explain_miss(far - across, far + across, **thin)
    assert why.hit
    assert len(why.intervals) == 1
    assert why.intervals[0, 0] <= time <= why.intervals[0, 1]
    assert not (why.intervals[0] == np.round(why.intervals[0])).any()
    assert "(now)" in str(why)


def test_a_miss_without_targets_has_reasons():
    history, ids = two_humanoids()
    n, time = 2 * len(cc.Rig.humanoid().limbs), float(history.times[0])
    ends = ([0, 0, 9], [1, 0, 9])
    one, other = ids.tolist()
    for options, reason in (
        ({"mask": 0}, f"of {n} limbs: {n} in no layer of the mask"),
        ({"ignore_character": one, "protected_since": {other: 0.0}},
         f"of {n} limbs: {n // 2} of the ignored character, {n // 2} of protected characters"),
        ({"hit_group": 77}, f"of {n} limbs: {n} in another group"),
        ({"hit_group": "head", "mask": 0}, f"of {n} limbs: {n - 2} in another group, 2 in no layer of the mask"),
    ):  # fmt: skip
        text = str(history.explain_miss(*ends, time, **options))
        assert reason in text
        assert "can be hit at time" in text
    empty = cc.PoseHistory(cc.HitWorld())
    empty.record(0.0)
    assert "miss: no limb can be hit at time 0 (tick 0, alpha 0)\n  there are no limbs then" in str(
        empty.explain_miss(*ends, 0.0)
    )


def test_one_mask_may_be_a_list():
    history, _ = two_humanoids()
    asked = ([0, 0, 9], [1, 0, 9], float(history.times[0]))
    assert str(history.explain_miss(*asked, mask=[1])) == str(history.explain_miss(*asked, mask=1))
    with pytest.raises(ValueError, match=r"mask: expected one integer or shape \(1,\), got shape \(2,\)"):
        history.explain_miss(*asked, mask=[1, 2])
