"""Flying bullets of several pieces: the first contact of all, and the distance of its piece from the curve."""

import numpy as np
import pytest
from support.one_limb import one_limb_history

import cylcollide as cc
from cylcollide.history import PoseHistory

pytestmark = pytest.mark.plain_python


@pytest.fixture
def history() -> PoseHistory:
    """A limb along x from 0 to 1 that rises by 1 a second, five ticks a second apart."""
    return one_limb_history(*((0, 0, float(k), 0) for k in range(5)))[2]


def test_a_path_equals_its_pieces_in_order(history: PoseHistory):
    path = cc.flight(
        [[0.5, -8.0, 2.0], [0.5, -8.0, 2.05], [9.0, 0, 0]], [0.0, 4.0, 4.0], 4.0, gravity=(0.0, 0.0, -4.0), step=0.1
    )
    hits = history.cast_moving(path)
    assert len(hits) == 3
    assert not hits.hit[2]
    pieces = history.cast_moving(path.starts, path.ends, path.t0, path.t1)
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


def test_a_contact_goes_on_from_piece_to_piece(history: PoseHistory):
    way = np.array([[0.5, 0.0, 0.0], [0.5, 0.0, 0.5], [0.5, 0.0, 1.0], [0.5, 0.0, 1.5], [0.5, 0.0, 4.5]])
    times = np.array([0.0, 0.5, 1.0, 1.5, 2.0])
    path = cc.FlightPath(way[:-1], way[1:], times[:-1], times[1:], np.zeros(4, np.int32), np.full(4, 0.01))
    hit = history.cast_moving(path)[0]
    assert (hit.piece, hit.fraction, hit.error) == (0, 0.0, 0.01)
    # it rises with the limb for 1.5 s, then by 6 a second, the limb by 1: they are 0.1 apart after 0.02 s
    assert hit.exit_piece == 3
    assert hit.exit_time == pytest.approx(1.52, rel=1e-14)
    assert hit.exit_fraction == pytest.approx(0.04, rel=1e-12)
    assert hit.duration == pytest.approx(1.52, rel=1e-14)


def test_target_times_of_pieces_and_filters_of_bullets(history: PoseHistory):
    path = cc.flight([[0.5, -2.0, 1.0], [0.5, -2.0, 1.0]], [0.0, 4.0, 0.0], 1.0, step=0.25)
    late = history.cast_moving(path, target_t0=path.t0 + 1.0, target_t1=path.t1 + 1.0, ignore_character=[-1, 0])
    assert late.hit.tolist() == [False, False]  # the limb is at 1 when the bullet starts, at 1.5 when it arrives
    level = history.cast_moving(path, target_t0=1.0, target_t1=1.0, mask=[1, 0])
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
def test_a_custom_path_is_checked(history: PoseHistory, change: dict, words: str):
    columns = {
        "starts": np.zeros((2, 3)), "ends": np.ones((2, 3)), "t0": np.array([0.0, 0.5]), "t1": np.array([0.5, 1.0]),
        "bullet": np.zeros(2, np.int32), "error": np.zeros(2),
    }  # fmt: skip
    assert len(history.cast_moving(cc.FlightPath(**columns))) == 1
    with pytest.raises(ValueError, match=words):
        history.cast_moving(cc.FlightPath(**(columns | change)))


def test_a_path_excludes_other_arguments(history: PoseHistory):
    path = cc.flight([0.0, 0.0, 0.0], [1.0, 0.0, 0.0], 1.0)
    with pytest.raises(ValueError, match="path: expected a path alone"):
        history.cast_moving(path, t0=0.0)
