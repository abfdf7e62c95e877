"""Limbs near points in the past: ties, filters, limits, and times that are not kept."""

import re
from pathlib import Path

import numpy as np
import pytest

import cylcollide as cc


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
