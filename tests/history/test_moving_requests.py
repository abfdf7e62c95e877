"""Queries for flying bullets: accepted arguments; refusals that name the argument, the first bad row and the remedy."""

import numpy as np
import pytest
from support.one_limb import one_limb_world

import cylcollide as cc
from cylcollide.history import PoseHistory

pytestmark = pytest.mark.plain_python

START, END = [0.5, 0.0, -1.0], [0.5, 0.0, 1.0]
TWO = ([START, START], [END, END])


@pytest.fixture
def history() -> PoseHistory:
    """Three ticks at times 0, 1, 2 of a limb that lies along x from 0 to 1."""
    world, _, who = one_limb_world()
    world.set_poses(who, [[[0.0, 0.0, 0.0]]], [[[0, 0, 0, 1]]])
    history = PoseHistory(world)
    for k in range(3):
        history.record(float(k))
    return history


def test_single_rows_are_broadcast(history: PoseHistory):
    assert len(history.cast_moving(START, END, 0.0, 1.0)) == 1
    assert len(history.cast_moving([START] * 3, END, 0.0, 1.0)) == 3
    assert len(history.cast_moving(START, [END] * 3, [0.0, 0.5, 1.0], 1.0)) == 3
    times = history.cast_moving(START, END, [0.0, 0.5, 1.0], 2.0, mask=[1, 0, 1])
    assert times.hit.tolist() == [True, False, True]
    assert len(history.cast_moving(START, END, 5.0, 6.0, [0.0, 0.5], 1.0)) == 2
    assert len(history.cast_moving(np.empty((0, 3)), np.empty((0, 3)), 0.0, 1.0)) == 0
    empty = history.cast_moving(np.empty((0, 3)), END, [], [])
    assert empty.position.shape == empty.local_normal.shape == (0, 3)
    assert empty.exit_time.shape == empty.alpha.shape == empty.limb_name.shape == (0,)


@pytest.mark.parametrize(
    ("arguments", "options", "words"),
    [
        ((*TWO, [0.0, 1.0], [1.0, 0.5]), {}, r"t1: expected at least t0, got 0.5 < 1.0 in row 1"),
        (
            (*TWO, 0.0, 1.0, [0.0, 0.5], [1.0, 0.25]),
            {},
            r"target_t1: expected at least target_t0, got 0.25 < 0.5 in row",
        ),
        ((*TWO, 0.0, [1.0, 2.0, 2.0]), {}, r"t1: expected one number or shape \(2,\), got shape \(3,\)"),
        ((*TWO, 0.0, 2.5), {}, r"^t1: expected 0.0 to 2.0, which is kept, got 2.5 in row 0, 2 rows in all"),
        ((*TWO, 0.0, 1.0, 0.0, 2.5), {}, r"^target_t1: expected 0.0 to 2.0, which is kept, got 2.5 in row 0, 2 rows"),
        ((*TWO, 0.0, 1.0, 1.5), {}, r"^t1: expected at least target_t0, got 1.0 < 1.5 in row 0"),
        ((*TWO, [0.0, -0.5], 2.0), {}, r"^t0: expected 0.0 to 2.0, which is kept, got -0.5 in row 1; keep more"),
        ((START, END, 0.0), {}, r"ends, t0, t1: expected all three beside starts"),
        ((START,), {}, r"ends, t0, t1: expected all three beside starts"),
        ((START, END, 0.0, 1.0), {"on_old": "guess"}, r"on_old: expected 'error', 'clamp' or 'miss', got 'guess'"),
        ((START, END, 0.0, 1.0), {"protected_since": [1]}, r"protected_since: expected a mapping"),
        ((START, END, 0.0, 1.0), {"protected_since": {0: np.nan}}, r"protected_since: expected finite numbers"),
        ((START, END, 0.0, 1.0), {"protected_since": {0: "x"}}, r"protected_since: expected real numbers"),
        ((START, END, 0.0, 1.0), {"protected_since": {1.5: 2.0}}, r"protected_since: expected integers"),
        ((START, END, 0.0, 1.0), {"protected_since": {-1: 2.0}}, r"protected_since: expected 0 to"),
        ((START, END, 0.0, 1.0), {"resolution": 0.0}, r"resolution: expected a number above 0 and at most 1"),
        ((START, END, 0.0, 1.0), {"resolution": True}, r"resolution: expected a number above 0 and at most 1"),
        ((START, END, 0.0, 1.0), {"resolution": np.nan}, r"resolution: expected a number above 0 and at most 1"),
        ((START, END, 0.0, 1.0), {"threads": 0}, r"threads: expected an integer >= 1 or None"),
    ],
)
def test_bad_arguments(history: PoseHistory, arguments: tuple, options: dict, words: str):
    with pytest.raises(ValueError, match=words):
        history.cast_moving(*arguments, **options)
    assert history.cast_moving(*TWO, 0.0, 1.0).hit.all()


def test_an_empty_world_is_missed():
    history = PoseHistory(cc.HitWorld())
    for k in range(2):
        history.record(float(k))
    missed = history.cast_moving(*TWO, 0.0, 1.0)
    assert not missed.hit.any()
    assert missed.limb.tolist() == missed.character.tolist() == missed.rig_limb.tolist() == [-1, -1]
    assert missed.tick.tolist() == missed.piece.tolist() == missed.exit_piece.tolist() == [-1, -1]
    assert np.isinf(missed.fraction).all()
    assert np.isinf(missed.exit_fraction).all()
    for name in ("time", "target_time", "alpha", "exit_time", "duration", "position", "normal", "error"):
        assert np.isnan(getattr(missed, name)).all(), name
    assert missed.limb_name.tolist() == [None, None]
    assert not (missed.clamped.any())
    assert not (missed.undecided.any())


def test_results_keep_their_ring(history: PoseHistory):
    world = history._world
    hits = history.cast_moving(START, END, 0.0, 1.0)
    starts = np.array([START])
    other = history.cast_moving(starts, END, 0.0, 1.0)
    starts[:] = 9.0
    for k in range(3, 70):
        world.set_poses([0], [[[0.0, 50.0, 0.0]]], [[[0, 0, 0, 1]]])
        history.record(float(k))
    assert hits.exit_fraction[0] == other.exit_fraction[0] == pytest.approx(0.55)
    assert np.allclose(other.position, [[0.5, 0.0, -0.1]])
    assert not history.cast_moving(START, END, 0.0, 1.0, on_old="miss").hit[0]
