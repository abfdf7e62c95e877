"""A policy per row: the bits of separate calls, in the present and the past; one weapon for all pellets of a shot."""

import pickle

import numpy as np
import pytest
from support.cases.everyday_shape_worlds import mixed, shots_at
from support.check_cylinders import same_bits, sized
from support.labelled import carried

import cylcollide as cc

N = 240
WEAPONS = [
    cc.Policy.first_surface({1: 4.0, 2: 0.0}),
    cc.Policy.most_important([3, 1, 0]),
    cc.Policy.longest_chord(default=2.0),
    cc.Policy.penetration({1: 3.0, 2: 0.5, "default": 1.0}, {1: 4.0}),
    cc.Policy.penetration(0.25),
]


def scene(n: int = N):
    """A state, segments, their energies, and the weapon of each."""
    rng = np.random.default_rng(7)
    return carried(mixed(28).limbs()), *shots_at(mixed(28), n), rng.uniform(0.5, 5.0, n), rng.integers(0, 5, n)


def check_same(judged: cc.Judged, alone: cc.Judged) -> None:
    """Assert equal bits of every column and impact, and equal words of every decision."""
    assert not same_bits(judged, alone, fields=set(judged.fields) - {"shot"})
    assert not same_bits(judged.impacts, alone.impacts, fields=("offsets", *alone.impacts.fields))
    for i in range(len(alone)):
        assert str(judged.explain(i)) == str(alone.explain(i))


def test_rows_equal_separate_calls():
    state, starts, ends, energy, which = scene(sized(N))
    judged = state.judge_segments(starts, ends, [WEAPONS[k] for k in which], energy=energy)
    kinds = ["first_surface", "longest_chord", "most_important", "penetration"]
    assert sorted(repr(judged).splitlines()[0].split(" by ")[1].split(", ")[:-1]) == kinds
    for number, policy in enumerate(WEAPONS):
        rows = np.flatnonzero(which == number)
        alone = state.judge_segments(starts[rows], ends[rows], policy, energy=energy[rows])
        assert alone.hit.any()
        check_same(judged[rows], alone)
    assert len(set(judged.impacts.reason.tolist())) >= 7


def test_rays_and_the_past_accept_them():
    state, starts, ends, energy, which = scene()
    world = cc.HitWorld(state.limbs)
    history = cc.PoseHistory(world)
    for time in (0.0, 1.0):
        history.record(time)
    weapons = [WEAPONS[k] for k in which]
    expected = world.judge_segments(starts, ends, weapons, energy=energy)
    check_same(history.judge_segments(starts, ends, weapons, 0.5, energy=energy), expected)
    along = world.judge_rays(starts, ends - starts, weapons, max_distance=1e9, energy=energy)
    check_same(history.judge_rays(starts, ends - starts, weapons, 0.5, max_distance=1e9, energy=energy), along)
    alone = world.judge_rays(starts[:1], (ends - starts)[:1], weapons[0], max_distance=1e9, energy=energy[:1])
    check_same(along[:1], alone)


def test_no_rows():
    state = scene()[0]
    judged = state.judge_segments(np.empty((0, 3)), np.empty((0, 3)), [])
    assert len(judged) == 0
    assert "no policy" in repr(judged)


def test_forms_of_sequences():
    state, starts, ends, energy, which = scene()
    weapons = [WEAPONS[k] for k in which]
    expected = state.judge_segments(starts, ends, weapons, energy=energy)
    array = np.empty(N, object)
    array[:] = weapons
    for given in (tuple(weapons), array):
        check_same(state.judge_segments(starts, ends, given, energy=energy), expected)
    check_same(
        state.judge_segments(starts, ends, [pickle.loads(pickle.dumps(one)) for one in weapons], energy=energy),
        expected,
    )


def test_pellets_of_one_shot_have_one_weapon():
    state, starts, ends, energy, _ = scene()
    shot = np.arange(N) // 8 * 5
    weapons = [WEAPONS[k % 5] for k in shot // 5]
    totals = state.judge_segments(starts, ends, weapons, energy=energy, shot=shot).by_shot()
    assert totals.rays.tolist() == [8] * (N // 8)
    weapons[11] = WEAPONS[0]
    with pytest.raises(
        ValueError, match="policy: expected one policy per shot, got different ones in rows 8 and 11 of shot 5"
    ):
        state.judge_segments(starts, ends, weapons, energy=energy, shot=shot)


@pytest.mark.parametrize(
    ("policy", "message"),
    [
        ("first_surface", "policy: expected a Policy in row 0, got str"),
        (None, "policy: expected a Policy, got NoneType; see"),
        ([WEAPONS[0], "shotgun", WEAPONS[1]], "policy: expected a Policy in row 1, got str"),
        (WEAPONS[:2], "policy: expected 3, one per row, or one Policy for all, got 2"),
        (WEAPONS[:1], "policy: expected 3, one per row, or one Policy for all, got 1"),
        ([WEAPONS[0], WEAPONS[1], cc.Policy.first_surface({"haed": 4.0})], "damage: .*'haed'"),
    ],
)
def test_bad_arguments(policy, message: str):
    state, starts, ends, *_ = scene(3)
    with pytest.raises(ValueError, match=message):
        state.judge_segments(starts, ends, policy)
