"""Bad input is refused first: the message names the row, and nothing changes."""

from itertools import product

import numpy as np
import pytest
from support.cases.everyday_worlds import make_crowd
from support.check_cylinders import same_bits

import cylcollide as cc
from cylcollide.query.request import segment_request

GOOD = np.arange(15.0).reshape(5, 3)
UP = GOOD + np.array([0.0, 0.0, 5.0])
INF, NAN = np.inf, np.nan


RAY_QUERIES = ("cast_rays", "occluded_rays", "chords_rays")
SEGMENT_QUERIES = ("cast_segments", "occluded_segments", "chords_segments")


@pytest.fixture
def world() -> cc.HitWorld:
    return cc.HitWorld(make_crowd(12))


@pytest.fixture(scope="module")
def past() -> cc.PoseHistory:
    """A history of 300 limbs at two ticks."""
    history = cc.PoseHistory(cc.HitWorld(cc.Limbs.spheres(np.random.default_rng(2).normal(size=(300, 3)), 0.1)))
    history.record(0.0)
    history.record(1.0)
    return history


def test_where_there_are_none_the_message_says_so():
    none, nothing = cc.Limbs.spheres(np.zeros((0, 3)), 1.0), np.zeros((0, 3))
    judged = cc.HitWorld(none).judge_segments(nothing, nothing, cc.Policy.first_surface())
    for choose in (
        lambda: none.explain_segment([0, 0, 0], [1, 0, 0], limb=0),
        lambda: none.moved([[0, 0, 0]], [[0, 0, 0]], limbs=[0]),
        lambda: cc.HitWorld(none).set_endpoints([[0, 0, 0]], [[0, 0, 0]], limbs=0),
        lambda: judged.explain(0),
    ):
        with pytest.raises(
            (ValueError, IndexError), match="expected no number, as there are none to choose from, got 0"
        ):
            choose()


@pytest.mark.parametrize("query", [*RAY_QUERIES, *SEGMENT_QUERIES])
@pytest.mark.parametrize(
    ("keywords", "match"),
    [
        ({"inside": "out"}, "inside"),
        ({"inside": None}, "inside"),
        ({"inside": ["hit"]}, "inside"),
        ({"mask": -1}, "mask"),
        ({"mask": 1.5}, "mask"),
        ({"mask": np.ones(4, int)}, "mask"),
        ({"ignore_character": 0.5}, "ignore_character"),
        ({"ignore_character": [0, 1]}, "ignore_character"),
        ({"ignore_character": [0, 1, 2, -5, 3]}, r"ignore_character.*row 3"),
        ({"threads": 0}, "threads"),
        ({"threads": 1.5}, "threads"),
        ({"threads": "all"}, "threads"),
    ],
)
def test_queries_with_wrong_options(past: cc.PoseHistory, query: str, keywords: dict, match: str):
    for asked, when in ((past.world, {}), (past, {"time": 0.5})):
        with pytest.raises(ValueError, match=match):
            getattr(asked, query)(GOOD, UP, **when, **keywords)


@pytest.mark.parametrize(
    ("change", "match"),
    [
        (lambda w: w.set_endpoints(w.limbs.p1 + 1, w.limbs.p1 + 1), r"row 0\b"),
        (lambda w: w.set_endpoints(GOOD, UP), r"12"),
        (lambda w: w.set_endpoints(GOOD, UP, limbs=[0, 1, 2, 3]), "expected"),
        (lambda w: w.set_endpoints(GOOD, UP, limbs=[0, 1, 2, 12, 4]), r"12"),
        (lambda w: w.set_endpoints(GOOD, UP, limbs=[0, 1, 2, -13, 4]), r"-13"),
        (lambda w: w.set_endpoints(GOOD, UP, limbs=[0, 1, 2, 2, 4]), "limbs"),
        (lambda w: w.set_endpoints(GOOD, GOOD, limbs=[0, 1, 2, 3, 4]), r"row 0\b"),
    ],
)
def test_a_failed_update_leaves_the_world_as_it_was(world: cc.HitWorld, change, match: str):
    rng = np.random.default_rng(0)
    starts, ends = rng.uniform(-6, 6, (2, 200, 3))
    before = world.cast_segments(starts, ends)
    points = world.contains_points(world.limbs.p1)
    p1 = world.limbs.p1.copy()
    with pytest.raises(ValueError, match=match):
        change(world)
    assert before.hit.any()
    assert not same_bits(before, world.cast_segments(starts, ends))
    assert np.array_equal(points.limb, world.contains_points(p1).limb)
    assert np.array_equal(world.limbs.p1, p1)


@pytest.mark.parametrize("bad", [0, 7, 1031, -1])
@pytest.mark.parametrize("which", ["one limb", "few limbs", "sorted", "sorted by tick"])
def test_a_bad_row_of_many_is_named(past: cc.PoseHistory, which: str, bad: int):
    """Against few limbs, in streams, any hit, chords and row by row; rays are read in blocks, or sorted first."""
    feet, n = np.arange(51.0).reshape(17, 3)[: 1 if which == "one limb" else 17], 2100
    asked, options = cc.HitWorld(cc.Limbs.cylinders(feet, feet + 1.0, 0.4)), {}
    asks = [asked.cast_segments, asked.occluded_segments, asked.chords_segments]
    if which == "one limb":
        asks.append(asked.limbs.cast_segments)
    elif "sorted" in which:
        n, asked, options = 4101, *((past.world, {}) if which == "sorted" else (past, {"tick": 0}))
        asks = [asked.cast_segments]
    good, row = np.random.default_rng(1).normal(size=(n, 3)), bad % n
    for value, column in product((NAN, INF, -INF, 2.0**501), range(3)):
        wrong = good.copy()
        wrong[row, column] = value
        for ask in asks:
            with pytest.raises(ValueError, match=rf"starts.*row {row}\b"):
                ask(wrong, good, **options)
            with pytest.raises(ValueError, match=rf"ends.*row {row}\b"):
                ask(good, wrong, **options)
        with pytest.raises(ValueError, match=rf"directions.*row {row}\b"):
            asked.cast_rays(good, wrong, **options)
    for short in (0.0, np.nextafter(2.0**-500, 0.0)):
        still = good.copy()
        still[row] = short
        with pytest.raises(ValueError, match=rf"directions.*row {row}\b"):
            asked.cast_rays(good, still, **options)


def test_rays_that_change_during_a_query_are_refused():
    """If the bad number is gone when the message is made, it is still an error, never unfinished rows."""
    points = np.ones((100, 3))
    question = segment_request(points, points + 1.0, inside="hit")
    with pytest.raises(ValueError, match="stay unchanged while a query reads them"):
        question.raise_invalid()
