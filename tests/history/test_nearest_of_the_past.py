"""Limbs near points in the past: bit-equal to a world of the limbs at each point's time."""

import re
from functools import partial
from pathlib import Path

import numpy as np
import pytest
from support.cases.recorded_world import recorded_world
from support.check_cylinders import IS_COMPILED, same_bits

import cylcollide as cc

FIELDS = ("limb", "distance", "position", "normal", "face", "character", "limb_name")
differing = partial(same_bits, fields=FIELDS)
N = 60 if IS_COMPILED else 6


@pytest.mark.parametrize("interpolate", ["bones", "ends"])
def test_the_past_answers_as_a_world_of_its_limbs(interpolate: str):
    history = recorded_world(interpolate)
    rng = np.random.default_rng(41)
    first, last = history.times[[0, -1]]
    time = rng.uniform(first, last, N)
    time[: N // 6] = rng.choice(history.times, N // 6)
    limbs = history.limbs_at(0.5)
    points = 0.5 * (limbs.p1 + limbs.p2)[rng.integers(0, len(limbs), N)] + rng.normal(size=(N, 3)) * rng.choice(
        [0.0, 0.3], (N, 1)
    )
    radius, mask = rng.uniform(0.0, 1.0, N), rng.choice([1, 0xFFFFFFFF], N)
    closest = history.closest_points(points, time, mask=mask)
    limited = history.closest_points(points, time, max_distance=0.1 * radius)
    near, balls = history.points_within(points, radius, time), history.overlap_spheres(points, radius, time)
    for i in range(N):
        world = cc.HitWorld(history.limbs_at(time[i]))
        assert not differing(closest[i : i + 1], world.closest_points(points[i], mask=mask[i]))
        assert not differing(limited[i : i + 1], world.closest_points(points[i], max_distance=0.1 * radius[i]))
        assert not differing(near[i], world.points_within(points[i], radius[i]))
        assert not differing(balls[i], world.overlap_spheres(points[i], radius[i]))
    assert 0 < limited.hit.sum() < N < len(near)
    assert closest.time.tolist() == near.time.tolist() == time.tolist()
    assert closest.present_position().shape == (N, 3)


def test_equally_near_limbs_and_times_not_kept():
    world = cc.HitWorld(cc.Limbs.spheres([[3, 0, 0], [-3, 0, 0], [0, 3, 0]], 1.0, character=[1, 2, 3]))
    history = cc.PoseHistory(world)
    history.record(0.0)
    world.set_endpoints([[2, 0, 0], [-2, 0, 0], [0, 2, 0]], [[2, 0, 0], [-2, 0, 0], [0, 2, 0]])
    history.record(1.0)
    found = history.closest_points(
        np.zeros((4, 3)), [0.5, 0.5, 1.0, 9.0], on_old="miss", ignore_character=[-1, 1, -1, -1]
    )
    assert found.limb.tolist() == [0, 1, 0, -1]
    assert found.distance.tolist() == [1.5, 1.5, 1.0, np.inf]
    touching = history.overlap_spheres(np.zeros((3, 3)), [1.5, np.nextafter(1.5, 0.0), 1.5], 0.5)
    assert np.diff(touching.offsets).tolist() == [3, 0, 3]
    guarded = history.overlap_spheres([0, 0, 0], 1.5, tick=0, alpha=0.5, protected_since={2: 0.25})
    assert (guarded.limb.tolist(), guarded.character.tolist()) == ([0, 2], [1, 3])
    with pytest.raises(ValueError, match=r"time: expected 0\.0 to 1\.0"):
        history.points_within([0, 0, 0], 1.0, 2.0)
    with pytest.raises(TypeError, match="unexpected keyword argument 'inside'"):
        history.closest_points([0, 0, 0], 0.5, inside="hit")


def test_more_limbs_near_a_point_than_initial_space():
    slanted, ball = cc.Limbs.capsules([[4, -1, 0]] * 68, [[-1, 4, 0]] * 68, 0.1), cc.Limbs.spheres([0, 0, 3], 1.0)
    history = cc.PoseHistory(cc.HitWorld(cc.Limbs.concat([slanted, ball])))  # boxes of the farther limbs are nearer
    history.record(0.0)
    assert history.closest_points([0, 0, 0], 0.0).limb.tolist() == [68]
    assert history.points_within([0, 0, 0], 3.0, 0.0).limb.tolist() == [68, *range(68)]


def test_limbs_at_the_limit():
    history = cc.PoseHistory(cc.HitWorld(cc.Limbs.spheres([0, 0, 3], 1.0)))
    history.record(0.0)
    limits = [2.0, np.nextafter(2.0, 0.0)]
    assert history.closest_points(np.zeros((2, 3)), 0.0, max_distance=limits).limb.tolist() == [0, -1]


def test_the_distances_page_runs():
    page = (Path(__file__).parents[2] / "docs" / "distances.md").read_text()
    known: dict = {}
    exec(compile("".join(re.findall(r"```python\n(.*?)```", page, re.DOTALL)), "distances.md", "exec"), known)
    assert known["damage"].tolist() == pytest.approx([51.3, 47.9, 0.0], abs=0.1)
    assert known["swept"].limb_name.tolist() == ["abdomen"]
    assert set(known["wire"].limb_name) == {"left_shank", "right_shank"}
    assert len(known["spikes"]) == 4
    assert known["hits"].hit.tolist() == [True, False]
    assert known["thick"].hit.all()
    assert known["doubts"].verdict.tolist() == [cc.Doubt.CERTAIN, cc.Doubt.DEPENDS]
