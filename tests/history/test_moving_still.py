"""In a world at rest a flying bullet hits what a segment hits, for all limbs and segments."""

import numpy as np
import pytest
from support.cases.everyday_shape_worlds import mixed, shots_at
from support.cases.hard_worlds import HARD, shots
from support.cases.shape_rays_in_worlds import adversarial
from support.check_cylinders import IS_COMPILED

import cylcollide as cc
from cylcollide.history import PoseHistory

VERDICTS = ("hit", "limb", "character", "face", "limb_name", "hit_group")
NUMBERS = ("fraction", "exit_fraction", "position", "normal")


def standing(limbs: cc.Limbs) -> PoseHistory:
    """Three ticks of limbs that do not move."""
    history = PoseHistory(cc.HitWorld(limbs))
    for time in (0.0, 0.25, 1.0):
        history.record(time)
    return history


def check_equal(moving, still, rows=slice(None)) -> None:
    """Assert that verdicts are equal; undecided ones fail."""
    assert not moving.undecided.any()
    for name in VERDICTS:
        assert np.array_equal(getattr(moving, name)[rows], getattr(still, name)[rows]), name


@pytest.mark.parametrize("times", [(0.0, 0.25), (0.1, 0.9), (1.0, 1.0)])
def test_everyday_limbs(times: tuple[float, float]):
    limbs = mixed(41).limbs()
    start, end = shots_at(mixed(41), 800 if IS_COMPILED else 40)
    history = standing(limbs)
    moving, still = history.cast_moving(start, end, *times), cc.HitWorld(limbs).cast_segments(start, end)
    check_equal(moving, still)
    assert set(limbs.kind[still.limb[still.hit]].tolist()) == set(limbs.kind.tolist()) or not IS_COMPILED
    for name in NUMBERS:
        assert np.allclose(getattr(moving, name), getattr(still, name), 1e-14, 1e-14, equal_nan=True), name
    assert moving.rechecked == 0


@pytest.mark.parametrize("name", [name for name in HARD if name not in ("piled", "one place")])
def test_hard_worlds(name: str):
    limbs = HARD[name]()
    start, end, _ = shots(limbs, 40 if IS_COMPILED else 16, seed=3)
    moving, still = standing(limbs).cast_moving(start, end, 0.0, 1.0), cc.HitWorld(limbs).cast_segments(start, end)
    check_equal(moving, still)
    assert still.hit.sum() > 2


def test_adversarial_segments():
    questions = adversarial(rays=False)
    rows = np.arange(0, 960, 9) if IS_COMPILED else np.arange(8)
    limbs, hit = questions.shapes.limbs(), 0
    for i in rows.tolist():
        alone = limbs[i : i + 1]
        moving = standing(alone).cast_moving(questions.start[i], questions.end[i], 0.0, 1.0)
        still = alone.cast_segments(questions.start[i], questions.end[i])
        check_equal(moving, still)
        hit += bool(still.hit[0])
    assert hit > len(rows) // 4
