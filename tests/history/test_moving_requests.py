"""Queries for flying bullets and paths: accepted arguments; refusals that name argument, first bad row and remedy."""

import numpy as np
import pytest
from support.one_limb import AT_REST, one_limb_history

import cylcollide as cc
from cylcollide.history import PoseHistory

pytestmark = pytest.mark.plain_python

START, END = [0.5, 0.0, -1.0], [0.5, 0.0, 1.0]
TWO = ([START, START], [END, END])


@pytest.fixture
def history() -> PoseHistory:
    """Three ticks at times 0, 1, 2 of a limb that lies along x from 0 to 1."""
    return one_limb_history(AT_REST, AT_REST, AT_REST)[2]


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


# Paths of several pieces ---------------------------------------------------------------------------------------------


@pytest.fixture
def rising() -> PoseHistory:
    """A limb along x from 0 to 1 that rises by 1 a second, five ticks a second apart."""
    return one_limb_history(*((0, 0, float(k), 0) for k in range(5)))[2]


def test_a_path_equals_its_pieces_in_order(rising: PoseHistory):
    path = cc.flight(
        [[0.5, -8.0, 2.0], [0.5, -8.0, 2.05], [9.0, 0, 0]], [0.0, 4.0, 4.0], 4.0, gravity=(0.0, 0.0, -4.0), step=0.1
    )
    hits = rising.cast_moving(path)
    assert len(hits) == 3
    assert not hits.hit[2]
    pieces = rising.cast_moving(path.starts, path.ends, path.t0, path.t1)
    for bullet in range(3):
        rows = np.flatnonzero((path.bullet == bullet) & pieces.hit)
        assert hits.hit[bullet] == (len(rows) > 0)
        if len(rows):
            first = rows[0]
            assert hits.piece[bullet] == first
            assert hits.error[bullet] == path.error[first] > 0.0
            for name in ("fraction", "time", "target_time", "alpha", "tick", "limb", "face", "position", "normal"):
                assert np.array_equal(getattr(hits, name)[bullet], getattr(pieces, name)[first]), name
    assert hits.hit.tolist() == [True, True, False]
    assert np.isnan(hits.error[2])
    assert hits.piece[2] == -1


def test_a_contact_goes_on_from_piece_to_piece(rising: PoseHistory):
    way = np.array([[0.5, 0.0, 0.0], [0.5, 0.0, 0.5], [0.5, 0.0, 1.0], [0.5, 0.0, 1.5], [0.5, 0.0, 4.5]])
    times = np.array([0.0, 0.5, 1.0, 1.5, 2.0])
    path = cc.FlightPath(way[:-1], way[1:], times[:-1], times[1:], np.zeros(4, np.int32), np.full(4, 0.01))
    hit = rising.cast_moving(path)[0]
    assert (hit.piece, hit.fraction, hit.error) == (0, 0.0, 0.01)
    # it rises with the limb for 1.5 s, then by 6 a second, the limb by 1: they are 0.1 apart after 0.02 s
    assert hit.exit_piece == 3
    assert hit.exit_time == pytest.approx(1.52, rel=1e-14)
    assert hit.exit_fraction == pytest.approx(0.04, rel=1e-12)
    assert hit.duration == pytest.approx(1.52, rel=1e-14)


def test_target_times_of_pieces_and_filters_of_bullets(rising: PoseHistory):
    path = cc.flight([[0.5, -2.0, 1.0], [0.5, -2.0, 1.0]], [0.0, 4.0, 0.0], 1.0, step=0.25)
    late = rising.cast_moving(path, target_t0=path.t0 + 1.0, target_t1=path.t1 + 1.0, ignore_character=[-1, 0])
    assert late.hit.tolist() == [False, False]  # the limb is at 1 when the bullet starts, at 1.5 when it arrives
    level = rising.cast_moving(path, target_t0=1.0, target_t1=1.0, mask=[1, 0])
    assert level.hit.tolist() == [True, False]
    assert level.target_time[0] == 1.0
    assert level.time[0] == pytest.approx(1.9 / 4, rel=1e-15)
    assert level.piece[0] == 1


@pytest.mark.parametrize(
    ("change", "words"),
    [
        ({"bullet": np.array([1, 0], np.int32)}, r"path.bullet: expected pieces in the order of bullets .* in row 1"),
        (
            {"t0": np.array([0.5, 0.0]), "t1": np.array([1.0, 0.25])},
            r"path.bullet: expected .* of time, got .* in row 1",
        ),
        ({"t0": np.array([np.nan, 1.0])}, r"path.t0: expected finite numbers .* in row 0"),
        ({"ends": np.zeros((3, 3))}, r"path.ends: expected 2 rows, got 3"),
        ({"error": np.zeros(3)}, r"path.error: expected one number or shape \(2,\)"),
        ({"starts": np.full((2, 3), np.inf)}, r"path.starts: expected finite numbers"),
    ],
)
def test_a_custom_path_is_checked(rising: PoseHistory, change: dict, words: str):
    columns = {
        "starts": np.zeros((2, 3)), "ends": np.ones((2, 3)), "t0": np.array([0.0, 0.5]), "t1": np.array([0.5, 1.0]),
        "bullet": np.zeros(2, np.int32), "error": np.zeros(2),
    }  # fmt: skip
    assert len(rising.cast_moving(cc.FlightPath(**columns))) == 1
    with pytest.raises(ValueError, match=words):
        rising.cast_moving(cc.FlightPath(**(columns | change)))


def test_a_path_excludes_other_arguments(rising: PoseHistory):
    path = cc.flight([0.0, 0.0, 0.0], [1.0, 0.0, 0.0], 1.0)
    with pytest.raises(ValueError, match="path: expected a path alone"):
        rising.cast_moving(path, t0=0.0)
