"""Statics in a history: they stand still from tick to tick, and are not copied."""

import numpy as np
import pytest
from support.memory import memory_taken
from support.one_limb import about_z, one_limb_world

import cylcollide as cc

NO_TURN = [0.0, 0.0, 0.0, 1.0]


def wall(x: float) -> cc.Limbs:
    """Return a wall across x, 0.2 thick."""
    return cc.Limbs.boxes([x, 0, 0], NO_TURN, [0.1, 4, 4])


@pytest.mark.parametrize("interpolate", ["bones", "ends"])
def test_statics_stay_until_the_next_tick(interpolate: str):
    world, _, ids = one_limb_world()
    history = cc.PoseHistory(world, 8, interpolate)
    lift = world.add_static(wall(3.0))
    for k in range(3):
        world.set_poses(ids, [[k, 0, 0]], [about_z(0.0)])
        world.move_static(lift, [k, 0, 0], NO_TURN)
        if k == 2:
            late = world.add_static(wall(2.5))
        history.record(k)
    world.remove_static(lift)
    history.record(3)
    times = np.array([0, 0.5, np.nextafter(1, 0), 1, 1.9, 2, 2.9, 3])
    start, end = np.tile([9.0, 0.1, 0.2], (8, 1)), np.tile([1.5, 0.1, 0.2], (8, 1))
    hits = history.cast_segments(start, end, times)
    assert hits.position[:, 0] == pytest.approx([3.1, 3.1, 3.1, 4.1, 4.1, 5.1, 5.1, 2.6])
    assert hits.static.tolist() == [lift] * 7 + [late]
    assert history.cast_segments(start[:7], end[:7], times[:7]).present_position() == pytest.approx(np.nan, nan_ok=True)
    world.move_static(late, [0, 0, 2], about_z(np.pi))
    assert hits.present_position()[7] == pytest.approx([-2.6, -0.1, 2.2])
    flying = history.cast_moving(start, end, times, times)
    for name in ("limb", "static", "face", "fraction", "position", "normal", "local_position"):
        assert np.array_equal(getattr(flying, name), getattr(hits, name)), name
    why = history.explain_miss([9, 0, 9], [5, 0, 9], 2.5)
    assert (why.limb, why.character, why.static) == (1, -1, lift)
    assert why.gap == pytest.approx(5.0)
    assert f"of static {lift}" in str(why)
    assert history.explain_miss(start[0], end[0], 0.5).static == lift


@pytest.mark.parametrize("interpolate", ["bones", "ends"])
def test_ticks_do_not_copy_ends(interpolate: str):
    """Each wall adds to a tick only its boxes in the tick's tree."""

    def taken(walls: int) -> float:
        world, _, ids = one_limb_world()
        rng, history = np.random.default_rng(0), cc.PoseHistory(world, 100, interpolate)
        if walls:
            world.add_static(cc.Limbs.boxes(rng.uniform(-50, 50, (walls, 3)), NO_TURN, [1, 1, 1]))

        def tick() -> None:
            world.set_poses(ids, [[0, 0.1 * len(history), 0]], [about_z(0.0)])
            history.record(len(history))

        return memory_taken(tick, 20) / 20

    assert (taken(2000) - taken(0)) / 2000 < 60.0  # bytes; ends and axes are 144
