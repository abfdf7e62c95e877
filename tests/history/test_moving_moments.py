"""Flying bullets at the times that matter: between ticks, at ticks, and where limbs come, go, jump or are protected."""

import numpy as np
import pytest
from support.one_limb import AT_REST, one_bone_rig, one_limb_history, one_limb_world
from support.oracle.moving_bullets import Bullet, Ticks

import cylcollide as cc
from cylcollide._types import Face
from cylcollide.history import PoseHistory

pytestmark = pytest.mark.plain_python

UP = ([0.5, 0.0, -1.0], [0.5, 0.0, 1.0])
"""A bullet's path through the limb where that lies along x from 0 to 1; it is in the middle at s = 1/2."""


def moved(history: PoseHistory, world: cc.HitWorld, who: np.ndarray, places: list, **options) -> PoseHistory:
    """Record a tick at each of these y, the first at time 0, one unit of time apart."""
    for place in places:
        world.set_poses(who, [[[0.0, place, 0.0]]], [[[0, 0, 0, 1]]], **options)
        history.record(float(history.ticks[-1] + 1 if len(history) else 0))
    return history


def crossing(y0: float, y1: float, **options) -> tuple[PoseHistory, cc.HitWorld, np.ndarray]:
    """A limb that goes from y0 to y1 within the tick from 0 to 1."""
    world, _, who = one_limb_world(hit_group=3)
    return moved(PoseHistory(world, **options), world, who, [y0, y1]), world, who


@pytest.mark.parametrize("interpolate", ["bones", "ends"])
def test_a_fast_limb_that_crosses_between_two_ticks_is_hit(interpolate: str):
    history, *_ = crossing(-8.0, 8.0, interpolate=interpolate)
    for tick in (0, 1):
        assert not history.cast_segments(*UP, tick=tick).hit[0]
    # at s the limb is at y = 16 s - 8 and the bullet at z = 2 s - 1: within 0.1 of each other from s = 1/2 - 0.1 / √260
    hit = history.cast_moving(*UP, 0.0, 1.0)[0]
    s = 0.5 - 0.1 / np.sqrt(260.0)
    assert (hit.hit, hit.limb, hit.character, hit.rig_limb, hit.limb_name, hit.hit_group) == (True, 0, 0, 0, "arm", 3)
    assert hit.fraction == pytest.approx(s, rel=1e-15)
    assert hit.alpha == hit.time == hit.target_time == pytest.approx(s, rel=1e-15)
    assert (hit.tick, hit.face, hit.piece, hit.error) == (0, Face.SIDE, 0, 0.0)
    assert not (hit.clamped)
    assert not (hit.undecided)
    assert np.allclose(hit.position, [0.5, 0.0, 2 * s - 1], atol=1e-15)
    outward = np.array([0.0, 8.0 - 16 * s, 2 * s - 1])
    assert np.allclose(hit.normal, outward / np.linalg.norm(outward), atol=1e-13)
    assert hit.exit_fraction == pytest.approx(0.5 + 0.1 / np.sqrt(260.0), rel=1e-15)
    assert hit.duration == pytest.approx(0.2 / np.sqrt(260.0), rel=1e-13)
    assert hit.exit_time == hit.exit_fraction
    if interpolate == "bones":
        assert np.allclose(hit.local_position, [0.5, 8 - 16 * s, 2 * s - 1], atol=1e-14)
        assert np.array_equal(hit.local_normal, hit.normal)
    else:
        assert np.isnan(hit.local_position).all()


def test_ends_move_on_straight_lines_even_where_bones_turn():
    _, _, history = one_limb_history(AT_REST, (0, 0, 0, np.pi / 2))
    # the far end goes from (1, 0) to (0, 1) on the chord, through (½, ½): the bullet hits its cap there from outside
    hit = history.cast_moving([1.0, 1.0, 0.0], [0.0, 0.0, 0.0], 0.5, 0.5)[0]
    assert hit.face == Face.CAP2
    assert hit.fraction == pytest.approx(0.5, rel=1e-15)
    assert hit.alpha == 0.5


def test_a_bullet_that_flies_with_the_limb_stays_outside_or_inside():
    history, *_ = crossing(0.0, 4.0)
    beside = history.cast_moving([0.5, 0.25, 0.0], [0.5, 4.25, 0.0], 0.0, 1.0)
    assert not beside.hit[0]
    inside = history.cast_moving([0.5, 0.05, 0.0], [0.5, 4.05, 0.0], 0.0, 1.0)[0]
    assert (inside.fraction, inside.face, inside.duration, inside.exit_fraction) == (0.0, Face.INSIDE, 1.0, 1.0)
    assert not inside.normal.any()
    touching = history.cast_moving([0.5, 0.1, 0.0], [0.5, 4.125, 0.0], 0.0, 1.0)[0]
    assert (touching.hit, touching.fraction, touching.face, touching.duration) == (True, 0.0, Face.INSIDE, 0.0)


def test_a_contact_lasts_from_tick_to_tick():
    world, _, who = one_limb_world()
    history = moved(PoseHistory(world), world, who, [1.0, 0.0, 0.0, 0.0, 1.0])
    hit = history.cast_moving([0.5, 0.0, 0.0], [0.5, 0.0, 0.0], 0.0, 4.0)[0]
    assert hit.tick == 0
    assert hit.exit_time == pytest.approx(3.1, rel=1e-15)
    assert hit.duration == pytest.approx(3.1 - 0.9, rel=1e-14)
    world.despawn(who)
    history.record(5.0)
    assert history.cast_moving([0.5, 1.0, 0.0], [0.5, 1.0, 0.0], 4.0, 5.0).exit_time[0] == 5.0


def test_the_end_of_a_flight_at_a_tick_belongs_to_that_tick():
    world, rig, who = one_limb_world()
    history = moved(PoseHistory(world), world, who, [5.0])
    late = world.spawn(rig)
    world.set_poses(late, [[[0.0, 0.0, 0.0]]], [[[0, 0, 0, 1]]])
    history.record(1.0)
    hit = history.cast_moving([0.5, 0.0, 0.0], [0.5, 0.0, 0.0], 0.0, 1.0)[0]
    assert (hit.character, hit.tick, hit.alpha, hit.fraction, hit.face) == (1, 1, 0.0, 1.0, Face.INSIDE)
    assert not history.cast_moving([0.5, 0.0, 0.0], [0.5, 0.0, 0.0], 0.0, np.nextafter(1.0, 0.0)).hit[0]


def test_characters_count_from_tick_to_tick():
    history, world, who = crossing(0.0, 0.0)
    world.despawn(who)
    history.record(2.0)
    history.record(3.0)
    assert history.cast_moving(*UP, 1.5, 1.9).hit[0]  # despawned by tick 2; until then in its old place
    assert not history.cast_moving(*UP, 2.0, 2.9).hit[0]


@pytest.mark.parametrize("by", ["flag", "distance"])
def test_teleport_is_no_path(by: str):
    world, _, who = one_limb_world()
    history = PoseHistory(world, teleport_distance=1.0 if by == "distance" else np.inf)
    moved(history, world, who, [-8.0, 8.0], teleport=by == "flag")
    still = ([0.5, 0.0, 0.0], [0.5, 0.0, 0.0])
    assert not history.cast_moving(*still, 0.0, 1.0).hit[0]
    there = history.cast_moving([0.5, -8.0, 1.0], [0.5, -8.0, -1.0], 0.0, 0.99)[0]
    assert there.fraction == pytest.approx(0.45, rel=1e-15)
    arrived = history.cast_moving([0.5, 8.0, 0.0], [0.5, 8.0, 0.0], 0.0, 1.0)[0]
    assert (arrived.tick, arrived.time, arrived.face) == (1, 1.0, Face.INSIDE)


def test_layers_follow_the_tick():
    world, _, who = one_limb_world()
    history = PoseHistory(world)
    for k, mask in enumerate([1, 2, 0, 3]):
        world.set_layers(who, mask)
        moved(history, world, who, [0.0])
        assert len(history) == k + 1
    way = ([0.5, 0.0, 0.0], [0.5, 0.0, 0.0])
    for mask, begin, exit_time in ((1, 0.0, 1.0), (2, 1.0, 2.0)):
        hit = history.cast_moving(*way, 0.0, 2.5, mask=mask)[0]
        assert (hit.time, hit.exit_time) == (begin, exit_time)
    assert not history.cast_moving(*way, 2.0, 2.9).hit[0]
    assert history.cast_moving(*way, 2.0, 3.0).time[0] == 3.0
    each = history.cast_moving(*way, [0.0, 0.0, 0.0], 2.5, mask=[1, 2, 4])
    assert each.time[:2].tolist() == [0.0, 1.0]
    assert not each.hit[2]


def test_a_character_is_ignored_and_protected():
    history, *_ = crossing(0.0, 0.0)
    assert history.cast_moving(*UP, 0.0, 1.0).fraction[0] == pytest.approx(0.45, rel=1e-15)
    assert history.cast_moving(*UP, 0.0, [1.0, 1.0], ignore_character=[-1, 0]).hit.tolist() == [True, False]
    for since, hit in ((0.0, False), (0.4, False), (0.449, False), (0.451, True), (1.0, True), (2.0, True)):
        assert history.cast_moving(*UP, 0.0, 1.0, protected_since={0: since}).hit[0] == hit, since
    assert history.cast_moving(*UP, 0.0, 1.0, protected_since={0: 0.5}).exit_fraction[0] == 0.5
    assert history.cast_moving(*UP, 0.0, 1.0, protected_since={7: 0.0}).hit[0]
    contact = history.cast_moving(*UP, 0.0, 1.0).time[0]
    for since, hit in ((np.nextafter(contact, 0.0), False), (np.nextafter(contact, 1.0), True)):
        near = history.cast_moving(*UP, 0.0, 1.0, protected_since={0: since})
        assert (near.hit[0], near.rechecked) == (hit, 1)  # too close for float64
    # protection uses the targets' time
    assert history.cast_moving(*UP, 5.0, 6.0, 0.0, 0.2, protected_since={0: 0.3}).hit[0]
    assert not history.cast_moving(*UP, 5.0, 6.0, 0.0, 1.0, protected_since={0: 0.3}).hit[0]


def test_the_first_contact_in_time_wins_then_the_lowest_row():
    world, rig, who = one_limb_world()
    other = world.spawn(rig)
    history = PoseHistory(world)
    for y in (-8.0, 8.0):
        world.set_poses(other, [[[0.0, y, 0.0]]], [[[0, 0, 0, 1]]])
        world.set_poses(who, [[[0.0, y, 0.0]]], [[[0, 0, 0, 1]]])
        history.record(float(len(history)))
    assert history.cast_moving(*UP, 0.0, 1.0).character[0] == 0
    assert history.cast_moving(*UP, 0.0, 1.0, ignore_character=0).character[0] == 1
    world.set_poses(who, [[[0.0, 8.0, 0.0]]], [[[0, 0, 0, 1]]])
    world.set_poses(other, [[[0.0, -8.5, 0.0]]], [[[0, 0, 0, 1]]])
    history.record(2.0)
    assert history.cast_moving([0.5, 0.0, 0.0], [0.5, 0.0, 0.0], 1.0, 2.0).character[0] == 1


def test_targets_have_their_own_time():
    history, *_ = crossing(-8.0, 8.0)
    late = history.cast_moving(*UP, 10.0, 11.0, 0.0, 1.0)[0]
    same = history.cast_moving(*UP, 0.0, 1.0)[0]
    assert (late.fraction, late.target_time, late.alpha) == (same.fraction, same.time, same.alpha)
    assert late.time == pytest.approx(10.0 + same.time, rel=1e-15)
    frozen_in_time = history.cast_moving(*UP, 0.0, 1.0, 0.5, 0.5)[0]  # the limb stays at y = 0
    assert frozen_in_time.fraction == pytest.approx(0.45, rel=1e-15)
    assert (frozen_in_time.target_time, frozen_in_time.alpha) == (0.5, 0.5)
    slow = history.cast_moving(*UP, 0.0, 1.0, 0.49, 0.51)[0]
    assert slow.time == slow.fraction
    assert slow.target_time == pytest.approx(0.49 + 0.02 * slow.fraction, rel=1e-15)


def test_times_that_are_not_kept():
    world, _, who = one_limb_world()
    history = moved(PoseHistory(world, ticks=3), world, who, [0.0, 0.0, 0.0, 0.0, 0.0])
    assert history.times.tolist() == [2.0, 3.0, 4.0]
    way = ([[0.5, 0.0, 1.0]] * 3, [[0.5, 0.0, -1.0]] * 3)
    t0, t1 = [1.0, 2.0, 2.5], [1.5, 2.5, 9.0]
    clamped = history.cast_moving(*way, t0, t1, on_old="clamp")
    assert clamped.clamped.tolist() == [True, False, True]
    assert clamped.hit.all()
    assert clamped.target_time[0] == 2.0  # both times become 2.0
    assert clamped.time[0] == pytest.approx(1.0 + 0.5 * 0.45, rel=1e-15)
    assert clamped.target_time[2] == pytest.approx(2.5 + 1.5 * 0.45, rel=1e-15)  # from 2.5 to 4.0, not to 9.0
    missed = history.cast_moving(*way, t0, t1, on_old="miss")
    assert missed.hit.tolist() == [False, True, False]
    assert missed.tick.tolist() == [-1, 2, -1]
    assert not missed.clamped.any()


def test_a_flight_from_far_away_is_accurate_near_limbs():
    world, _, who = one_limb_world()
    history = moved(PoseHistory(world), world, who, [0.0] * 4)
    # from 3e9 away, past the limb in the tick from 1 to 2: it touches the wall at z = 0.1, or misses by a millionth
    for beside, is_hit in ((0.1, True), (0.0999999, True), (0.1000001, False)):
        start, end = [0.5, beside, -3e9], [0.5, beside, 3e9]
        hit = history.cast_moving(start, end, 0.0, 3.0)[0]
        assert hit.hit == is_hit
        assert not is_hit or (hit.tick == 1 and hit.alpha == pytest.approx(0.5, abs=1e-9))
    near = history.cast_moving([0.5, -1e15, 0.0], [0.5, 1e15, 0.0], 0.0, 3.0)[0]
    s = 0.5 * (1.0 - 0.1 / 1e15)
    assert abs(near.fraction - s) <= 2.0**-53
    assert abs(near.position[1] + 0.1) < 0.1


# Double-doubles cannot represent the ends of intervals of very long flights ------------------------------------------

FAR, SHORT = 2.0**83, 1.2e-26
"""Metres that a bullet flies in a second; seconds of the tick in which it is near the limb, for 12 cm."""


def test_contacts_at_the_end_of_a_short_interval_of_a_long_flight():
    """Places in such an interval err by 10⁻⁸ m and more: float64 does not decide whether a limb is reached in it."""
    offsets = np.concatenate([-np.geomspace(1e-7, 1e-11, 12), np.geomspace(1e-11, 1e-7, 12)])
    ticks = (-0.5, 0.0, SHORT, 1.0)
    for row, offset in enumerate(offsets.tolist()):
        ball = cc.Limbs.spheres([[0.3, 0.0, 0.0]], 0.3 - FAR * SHORT + offset)
        world, rig = cc.HitWorld(), one_bone_rig(ball)
        history = PoseHistory(world)
        history.record(ticks[0])  # the limb appears later: the rest of the flight, exact for its length, is not near it
        world.set_poses(world.spawn(rig), [[[0, 0, 0]]], [[[0, 0, 0, 1]]])
        for time in ticks[1:]:
            history.record(time)
        # the bullet is at FAR · t; its fraction there takes a division by 1.5
        start, end = np.array([-0.5 * FAR, 0.0, 0.0]), np.array([FAR, 0.0, 0.0])
        hit = history.cast_moving(start, end, *ticks[:4:3])[0]
        want = Ticks(history, 0).first_contact(Bullet(start, end, *ticks[:4:3]))
        assert (hit.tick, hit.limb, hit.face) == (want.tick, want.limb, want.face), row
