"""Histories at their limits: a row per situation, tested by every kind of query; refused calls change nothing."""

import numpy as np
import pytest
from support.one_limb import about_z, one_bone_rig, one_limb_world

import cylcollide as cc
from cylcollide.history import PoseHistory

pytestmark = pytest.mark.plain_python

FIRST, LAST = 1.0, 12.0
"""Times of the first and last kept tick; tick k has time k."""


def one_limb_rig(length: float, name: str) -> cc.Rig:
    """A bone with a cylinder along its x axis."""
    limb = cc.Limbs.cylinders([0, 0, 0], [length, 0, 0], 0.1, name=name, mask=1)
    return one_bone_rig(limb)


def put(world: cc.HitWorld, who, x: float, teleport: bool = False) -> None:
    """Pose a character of one bone at x."""
    world.set_poses(who, [[x, 0.0, 0.0]], [about_z(0.0)], teleport=teleport)


@pytest.fixture(scope="module")
def story() -> PoseHistory:
    """A history that has kept ticks 1 to 12 of a character's life, and of one that comes after it."""
    world, _, who = one_limb_world(mask=1)
    history = PoseHistory(world, ticks=12, teleport_distance=5.0)
    put(world, who, -10.0)
    history.record(0)  # dropped later
    world.despawn(who)
    who = world.spawn(one_limb_rig(1.0, "arm"))
    history.record(1)  # not posed yet
    for tick, x in ((2, 0.0), (3, 1.0)):
        put(world, who, x)
        history.record(tick)
    put(world, who, 3.0, teleport=True)
    put(world, who, 4.0)
    history.record(4)  # by a teleport
    put(world, who, 9.0)
    history.record(5)  # exactly teleport_distance
    put(world, who, np.nextafter(14.0, np.inf))
    history.record(6)  # farther
    world.set_layers(who, 0)
    put(world, who, 16.0)
    history.record(7)  # hidden
    world.set_layers(who, 4)
    put(world, who, 18.0)
    history.record(8)  # shown again, in another layer
    put(world, who, 20.0)
    history.record(9)
    world.despawn(who)
    history.record(10)
    other = world.spawn(one_limb_rig(3.0, "leg"))
    put(world, other, 20.0)
    history.record(11)
    put(world, other, 22.0)
    history.record(12)
    world.despawn(other)  # the present world is empty
    return history


ROWS = {
    "the first kept tick, where it had no pose": (1.0, None),
    "before its first pose": (1.75, None),
    "at its first pose": (2.0, (1, 0.0, 1.0)),
    "between two ticks": (2.25, (1, 0.25, 1.0)),
    "just before a tick": (float(np.nextafter(3.0, 0.0)), (1, float(np.nextafter(3.0, 0.0)) - 2.0, 1.0)),
    "at a tick": (3.0, (1, 1.0, 1.0)),
    "before a teleport it stays where it was": (3.999, (1, 1.0, 1.0)),
    "at the tick of the teleport": (4.0, (1, 4.0, 1.0)),
    "on a way that is as long as teleport_distance": (4.5, (1, 6.5, 1.0)),
    "before a way that is longer by an ulp": (5.5, (1, 9.0, 1.0)),
    "at the end of that way": (6.0, (1, float(np.nextafter(14.0, np.inf)), 1.0)),
    "before it is hidden": (6.5, (1, 15.0, 1.0)),
    "hidden": (7.0, None),
    "hidden until the next tick": (7.5, None),
    "shown again, in the layer of that tick": (8.0, (4, 18.0, 1.0)),
    "before the last tick of its life": (8.5, (4, 19.0, 1.0)),
    "at that tick": (9.0, (4, 20.0, 1.0)),
    "before the tick without it": (9.99, (4, 20.0, 1.0)),
    "after it is gone": (10.0, None),
    "nobody, and somebody at the next tick": (10.5, None),
    "another character with another rig": (11.0, (1, 20.0, 3.0)),
    "that one between two ticks": (11.5, (1, 21.0, 3.0)),
    "the last tick": (12.0, (1, 22.0, 3.0)),
}
"""Times; layer, place and length of the only limb then, or None."""


def answers(history: PoseHistory, x: float, **when) -> list[bool]:
    """Whether each kind of query, in every layer, hits a limb at x."""
    start, end = np.array([x, -1.0, 0.0]), np.array([x, 1.0, 0.0])
    shot, ray, policy = (start, end), (start, end - start), cc.Policy.first_surface()
    return [
        bool(history.cast_segments(*shot, **when).hit[0]),
        bool(history.cast_rays(*ray, **when).hit[0]),
        bool(history.occluded_segments(*shot, **when)[0]),
        bool(history.occluded_rays(*ray, **when)[0]),
        len(history.chords_segments(*shot, **when)) > 0,
        len(history.chords_rays(*ray, **when)) > 0,
        bool(history.judge_segments(*shot, policy, **when).hit[0]),
        bool(history.judge_rays(*ray, policy, **when).hit[0]),
    ]


@pytest.mark.coverage("hidden")
@pytest.mark.parametrize("what", ROWS)
def test_situations(story: PoseHistory, what: str):
    time, limb = ROWS[what]
    limbs = story.limbs_at(time)
    if limb is None:
        assert not limbs.mask.any()  # a hidden limb keeps its row, in no layer
        for x in (0.5, 1.5, 4.5, 9.5, 15.5, 16.5, 18.5, 20.5, 22.5):
            assert not any(answers(story, x, time=time))
        return
    layer, place, length = limb
    assert limbs.p1.tolist() == [[place, 0.0, 0.0]]
    assert limbs.p2[0, 0] - limbs.p1[0, 0] == pytest.approx(length, abs=1e-14)
    assert limbs.mask.tolist() == [layer]
    assert limbs.names == ("arm",) if length == 1.0 else ("leg",)
    for x, there in ((place, True), (place - 1e-9, False), (place + 0.999, True), (place + length + 1e-9, False)):
        assert answers(story, x, time=time) == [there] * 8
        assert story.contains_points([x, 0.0, 0.0], time).count[0] == there
    shot = [place + 0.5, -1, 0], [place + 0.5, 1, 0]
    assert story.occluded_segments(*shot, time, mask=layer)
    assert not story.occluded_segments(*shot, time, mask=0xFFFFFFFF & ~layer)
    hits = story.cast_segments(*shot, time)
    assert (hits.rig_limb[0], hits.bone[0], hits.character[0]) == (0, 0, 1 if length == 1.0 else 2)
    assert hits.tick[0] == int(time)
    assert hits.alpha[0] == time - int(time)


# Times that are not kept --------------------------------------------------------------------------------------------

OUTSIDE = {
    "a tick that is forgotten": 0.0,
    "just before the first tick": float(np.nextafter(FIRST, 0.0)),
    "just after the last tick": float(np.nextafter(LAST, np.inf)),
    "long ago": -(2.0**500),
    "far ahead": 2.0**500,
}


@pytest.mark.parametrize("what", OUTSIDE)
def test_times_outside(story: PoseHistory, what: str):
    time = OUTSIDE[what]
    nearest = FIRST if time < FIRST else LAST
    x = 22.5
    policy, shot = cc.Policy.first_surface(), ([x, -1, 0], [x, 1, 0])
    expected = rf"time: expected {FIRST} to {LAST}, which is kept, got .* in row 0"
    for ask in (
        story.cast_segments, story.cast_rays, story.occluded_segments, story.occluded_rays, story.chords_segments,
        story.chords_rays, lambda *s, **o: story.judge_segments(*s, policy, **o),
        lambda *s, **o: story.judge_rays(*s, policy, **o), lambda s, e, **o: story.contains_points(s, **o),
        lambda *s, **o: story.limbs_at(**o),
    ):  # fmt: skip
        with pytest.raises(ValueError, match=expected):
            ask(*shot, time=time)
    assert answers(story, x, time=time, on_old="clamp") == answers(story, x, time=nearest) == [time > LAST] * 8
    assert answers(story, x, time=time, on_old="miss") == [False] * 8
    clamped, missed = (story.cast_segments(*shot, time, on_old=on_old) for on_old in ("clamp", "miss"))
    assert (clamped.clamped[0], clamped.time[0], clamped.tick[0], clamped.alpha[0]) == (True, nearest, int(nearest), 0)
    assert (missed.clamped[0], missed.time[0], missed.tick[0]) == (False, time, -1)
    assert np.isnan(missed.alpha[0])
    assert missed.limb[0] == missed.character[0] == -1


NO_MOMENTS = {
    "no time": {},
    "NaN": {"time": np.nan},
    "infinite": {"time": np.inf},
    "minus infinite": {"time": -np.inf},
    "beyond the accepted numbers": {"time": 2.0**501},
    "a word": {"time": "now"},
    "a truth value": {"time": True},
    "complex": {"time": 1j},
    "rows of unequal length": {"time": [[3.0], [4.0, 5.0]]},
    "a tick that is no integer": {"tick": 3.5},
    "time and tick": {"time": 3.0, "tick": 3},
    "time and alpha": {"time": 3.0, "alpha": 0.5},
    "alpha alone": {"alpha": 0.5},
    "alpha below 0": {"tick": 3, "alpha": -5e-324},
    "alpha above 1": {"tick": 3, "alpha": float(np.nextafter(1.0, 2.0))},
    "alpha NaN": {"tick": 3, "alpha": np.nan},
}


@pytest.mark.parametrize("what", NO_MOMENTS)
@pytest.mark.parametrize("on_old", ["error", "clamp", "miss"])
def test_invalid_times(story: PoseHistory, what: str, on_old: str):
    """Refused whatever `on_old` says; `limbs_at` has no such option."""
    when = NO_MOMENTS[what]
    with pytest.raises(ValueError, match=r"^(time|tick|alpha): "):
        story.cast_segments([0, -1, 0], [0, 1, 0], on_old=on_old, **when)
    with pytest.raises(ValueError, match=r"^(time|tick|alpha): "):
        story.contains_points([0, -1, 0], on_old=on_old, **when)
    with pytest.raises(ValueError, match=r"^(time|tick|alpha): "):
        story.limbs_at(**when)


def test_the_first_bad_row_is_named_among_many(story: PoseHistory):
    n = 100
    shot = np.tile([0.0, -1.0, 0.0], (n, 1)), np.tile([0.0, 1.0, 0.0], (n, 1))
    for bad, message in ((np.nan, "time: expected finite .*row 37"), (12.5, "got 12.5 in row 37, 2 rows in all")):
        times = np.full(n, 3.0)
        times[[37, 61]] = bad
        with pytest.raises(ValueError, match=message):
            story.cast_segments(*shot, times)
    alphas = np.zeros(n)
    alphas[[37, 61]] = 1.5
    with pytest.raises(ValueError, match=r"alpha: expected 0 to 1, got 1.5 in row 37"):
        story.cast_segments(*shot, tick=3, alpha=alphas)


def test_no_rays_at_no_times(story: PoseHistory):
    nothing = np.empty((0, 3))
    assert len(story.cast_segments(nothing, nothing, np.empty(0))) == 0
    assert len(story.chords_rays(nothing, nothing, np.empty(0))) == 0
    assert len(story.contains_points(nothing, np.empty(0))) == 0
    assert len(story.judge_segments(nothing, nothing, cc.Policy.first_surface(), np.empty(0))) == 0
    assert len(story.cast_segments(nothing, nothing, 3.0, on_old="miss")) == 0


@pytest.mark.parametrize("interpolate", ["bones", "ends"])
def test_an_empty_world(interpolate: str):
    history = PoseHistory(cc.HitWorld(), interpolate=interpolate)
    with pytest.raises(ValueError, match="history: expected at least one tick, got none"):
        history.limbs_at(0.0)
    for ask in (
        lambda: answers(history, 0.0, time=0.0),
        lambda: history.contains_points([0, 0, 0], 0.0),
        lambda: history.cast_moving([0, 0, 0], [1, 0, 0], 0.0, 0.0),
        lambda: history.explain_miss([0, 0, 0], [1, 0, 0], 0.0),
    ):
        with pytest.raises(ValueError, match="history: expected at least one tick, got none"):
            ask()
    assert (len(history), history.ticks.tolist(), history.times.tolist()) == (0, [], [])
    for tick in range(3):
        assert history.record(tick) == tick
    for time in (0.0, 0.5, 2.0):
        assert len(history.limbs_at(time)) == 0
        assert answers(history, 0.0, time=time) == [False] * 8
        assert history.contains_points([0, 0, 0], time).count.tolist() == [0]


@pytest.mark.parametrize("time", [5.0, 4.0, np.nan, np.inf, -np.inf, 2.0**501, "soon", None, True, [6.0, 7.0]])
def test_a_refused_record_changes_nothing(time):
    world, _, who = one_limb_world()
    history = PoseHistory(world, ticks=3)
    for tick, at in enumerate((1.0, 2.0, 3.0, 5.0)):
        put(world, who, at)
        assert history.record(at) == tick
    put(world, who, 100.0)
    before = [history.limbs_at(t) for t in (2.0, 2.5, 4.0, 5.0)]
    with pytest.raises(ValueError, match=r"^time: "):
        history.record(time)
    assert (history.ticks.tolist(), history.times.tolist()) == ([1, 2, 3], [2.0, 3.0, 5.0])
    assert [history.limbs_at(t) for t in (2.0, 2.5, 4.0, 5.0)] == before
    assert history.record(np.nextafter(5.0, 6.0)) == 4
    assert history.limbs_at(tick=4).p1[0, 0] == 100.0


# Limbs that leave the accepted numbers half-way are hidden -----------------------------------------------------------

BIG = 2.0**500


def swinging(others: int, interpolate: str = "bones") -> tuple[PoseHistory, list[float]]:
    """Two ticks of characters whose arm turns from 60 to -60 degrees; some arms leave the accepted range half-way.

    The bone is at 0.8 BIG and the arm 0.3 BIG long: its end is at 0.95 BIG at both ticks, and at 1.1 BIG between them.
    """
    limb = cc.Limbs.capsules([0, 0, 0], [0.3 * BIG, 0, 0], 0.01 * BIG)
    rig = one_bone_rig(limb)
    world = cc.HitWorld()
    history, ids = PoseHistory(world, interpolate=interpolate), world.spawn(rig, others)
    places = [0.8 * BIG if i % 3 == 1 else 0.2 * BIG for i in range(others)]
    at = [[[x, 0.02 * i * BIG, 0]] for i, x in enumerate(places)]
    for tick, angle in enumerate((60.0, -60.0)):
        world.set_poses(ids, at, [[about_z(np.radians(angle))]] * others)
        history.record(tick)
    return history, places


@pytest.mark.coverage("1", "2")
@pytest.mark.parametrize("others", [1, 2, 7])
def test_an_arm_that_leaves_the_accepted_range_is_hidden(others: int):
    """Other limbs stay; the arm keeps its place at its tick, in no layer, and answers equal those of a fresh world."""
    history, places = swinging(others)
    hidden = [x > 0.5 * BIG for x in places]
    for alpha in (0.0, 0.5, 1.0):
        limbs = history.limbs_at(alpha)
        gone = np.array(hidden) & (alpha == 0.5)
        assert (limbs.mask == 0).tolist() == gone.tolist()
        assert np.abs([limbs.p1, limbs.p2]).max() <= BIG
        assert np.array_equal(limbs.p2[gone], history.limbs_at(0.0).p2[gone])
        fresh = cc.HitWorld(limbs)
        aim = np.array([[x + 0.2 * BIG, 0.02 * i * BIG, 0] for i, x in enumerate(places)])
        shots = aim - np.array([0, 0, BIG / 2]), aim + np.array([0, 0, BIG / 2])
        hits, want = history.cast_segments(*shots, alpha), fresh.cast_segments(*shots)
        assert hits.limb.tolist() == want.limb.tolist()
        assert hits.fraction.tolist() == want.fraction.tolist()
        held = history.contains_points(limbs.p2, alpha)
        assert held.count.tolist() == fresh.contains_points(limbs.p2).count.tolist()
        assert not np.isin(held.limb, np.flatnonzero(gone)).any()
        assert (held.limb >= 0).any()
        if alpha == 0.5:
            assert hits.hit[~gone].all()
            assert not np.isin(hits.limb, np.flatnonzero(gone)).any()


def test_ends_stay_in_the_accepted_range():
    history, _ = swinging(3, "ends")
    limbs = history.limbs_at(0.5)
    assert limbs.mask.all()
    assert np.abs(limbs.p2).max() <= 0.951 * BIG
