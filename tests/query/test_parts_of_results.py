"""Parts of results: hits and chords of some rays, with the bits that they have in the whole."""

from typing import Any

import numpy as np
import pytest
from support.awkward_calls import calls
from support.cases.everyday_shape_worlds import mixed, shots_at
from support.check_cylinders import FIELDS, same_bits, sized
from support.labelled import LABEL_FIELDS, carried
from support.mixed_queries import grid_limbs, whole_segments

import cylcollide as cc
from cylcollide.query.result import Result


def parts_of(n: int) -> dict[str, Any]:
    """Return ways to choose some of n rows."""
    rng = np.random.default_rng(2)
    return {
        "slice": slice(2, 5),
        "backwards": slice(None, None, -3),
        "mask": rng.random(n) < 0.3,
        "list": [1, 2],
        "again": [3, 3, -1, 0, 3],
        "none": [],
        "no row": np.zeros(n, bool),
        "shuffled": rng.permutation(n),
        "small integers": np.array([1, 0], np.int8),
        "all": ...,
    }


def questions() -> dict[str, tuple[cc.Snapshot, tuple[np.ndarray, np.ndarray]]]:
    """Return states and segments: few and many everyday ones, and touching ones, which float64 does not decide."""
    shapes = mixed(28)
    touching = whole_segments(np.random.default_rng(3), 120)
    return {
        "few": (carried(shapes.limbs()), shots_at(shapes, 30)),
        "many": (carried(shapes.limbs()), shots_at(shapes, sized(400))),
        "touching": (carried(grid_limbs()), touching),
    }


@pytest.mark.parametrize(
    ("which", "read_first", "inside"),
    [("few", False, "hit"), ("many", True, "exit"), ("touching", True, "hit"), ("touching", False, "ignore")],
)
def test_a_part_of_hits_has_the_bits_of_the_whole(which: str, read_first: bool, inside: str):
    state, (start, end) = questions()[which]
    hits = state.cast_segments(start, end, inside=inside)
    if read_first:
        assert hits.exit_position.shape == hits.local_normal.shape == (len(start), 3)
    for how, rows in parts_of(len(start)).items():
        part = state.cast_segments(start, end, inside=inside)[rows] if not read_first else hits[rows]
        assert isinstance(part, cc.RayHits)
        assert len(part) == len(hits.limb[rows])
        assert not same_bits(hits, part, rows, hits.fields), how
        assert 0 <= part.rechecked <= max(hits.rechecked, len(part))
        if how in ("shuffled", "all"):
            assert part.rechecked == hits.rechecked
        assert not same_bits(part, part[::2], slice(None, None, 2), ["exit_normal"]), how
    assert (hits.rechecked > 0) == (which == "touching")
    assert 0 < hits.hit.sum() < len(start)


def test_a_part_of_any_result_has_the_numbers_of_the_whole():
    """For every kind of result, of the present and of the past: rows again, backwards, and in another order."""
    kinds = set()
    for call in calls().values():
        whole = call.call(**call.arguments)
        if not isinstance(whole, Result):
            continue
        chosen, counts = np.array([4, 1, 1, -1, 0]), np.diff(whole.offsets) if hasattr(whole, "offsets") else None
        rows, part = chosen, whole[chosen]
        if counts is not None:
            rows = np.concatenate([np.arange(*whole.offsets[i : i + 2]) for i in chosen % len(counts)]).astype(int)
            assert np.array_equal(np.diff(part.offsets), counts[chosen])
        own = set(whole.fields) - set(whole._of_queries)
        assert not same_bits(whole, part, rows, own - {"ray", "query"}), call.function
        assert not same_bits(whole, part, chosen, whole._of_queries), call.function
        kinds.add((type(whole).__name__, "tick" in (*whole.to_dict(), *whole._of_queries)))
    assert kinds >= {(name, past) for name in ("RayHits", "Chords", "Doubts", "Overlaps") for past in (False, True)}
    assert kinds >= {("MovingHits", True), ("PointHits", False), ("ClosestPoints", True), ("NearLimbs", True)}


def test_a_part_of_a_part_has_the_clearances_of_the_whole():
    state, (start, end) = questions()["few"]
    hits = state.cast_segments(start, start + 1e-3 * (end - start))
    rows = np.flatnonzero(~hits.hit)[9:0:-2]
    assert np.array_equal(hits[rows][1:][::2].clearance, hits.clearance[rows[1:][::2]])
    assert len(np.unique(hits.clearance[rows])) == 5


def test_one_row_is_plain_values():
    state, (start, end) = questions()["few"]
    hits = state.cast_segments(start, end)
    for i in (3, -1, np.int64(3), np.array(3)):
        row = hits[i]
        assert isinstance(row, cc.RayHit)
        for name in cc.RayHits.fields:
            assert repr(np.asarray(getattr(row, name)).tolist()) == repr(np.asarray(getattr(hits, name)[i]).tolist())
    assert {*FIELDS, *LABEL_FIELDS} <= set(cc.RayHit.__annotations__)
    assert type(hits[3].bone) is type(hits[3].hit_group) is int
    assert [row.limb for row in hits] == hits.limb.tolist()


@pytest.mark.parametrize(("which", "inside"), [("few", "hit"), ("many", "ignore"), ("touching", "exit")])
def test_chords_of_some_rays(which: str, inside: str):
    state, (start, end) = questions()[which]
    chords = state.chords_segments(start, end, inside=inside)
    counts = np.diff(chords.offsets)
    for how, rays in parts_of(len(start)).items():
        part, chosen = chords[rays], np.arange(len(start))[rays]
        rows = np.concatenate([np.arange(*chords.offsets[i : i + 2]) for i in chosen] or [np.zeros(0, int)]).astype(int)
        assert isinstance(part, cc.Chords)
        assert np.array_equal(np.diff(part.offsets), counts[chosen])
        assert np.array_equal(part.ray, np.repeat(np.arange(len(chosen)), counts[chosen]))
        assert not same_bits(chords, part, rows, set(chords.fields) - {"ray"}), how  # rays are numbered anew
        if how in ("shuffled", "all"):
            assert part.rechecked == chords.rechecked
    assert (chords.rechecked > 0) == (which == "touching")
    assert counts.max() > 1
    for i, alone in enumerate(chords):
        assert np.array_equal(alone.limb, chords.limb[slice(*chords.offsets[i : i + 2])])
        assert len(alone) == counts[i] == len(alone) == len(chords[i - len(start)])
        assert alone.offsets.tolist() == [0, counts[i]]
    assert i == len(start) - 1


def test_results_of_the_present_have_no_times():
    state, (start, end) = questions()["few"]
    judged = state.judge_segments(start, end, cc.Policy.first_surface())
    for found in (
        state.cast_segments(start, end),
        state.chords_segments(start, end),
        judged,
        state.contains_points(start),
    ):
        for name in ("time", "tick", "alpha", "clamped"):
            with pytest.raises(AttributeError, match="expected a query of a PoseHistory"):
                getattr(found, name)
        with pytest.raises(AttributeError, match="cannot be set"):
            found.time = np.zeros(3)
    with pytest.raises(AttributeError, match="expected a query of a PoseHistory"):
        judged.present_position()


NO_ROWS = (
    *(True, False, np.True_, np.array(True), 1.0, np.float64(1), None, "1"),
    *(99, -99, [0, 99], np.zeros(99, bool), np.ma.MaskedArray([1]), np.zeros((2, 2), int), "limb"),
)


def test_missing_rows_are_refused():
    """For every kind of result; a bool is neither row 1 nor an error without a hint about indices."""
    kinds = set()
    for call in calls().values():
        answer = call.call(**call.arguments)
        if isinstance(answer, Result) and answer._count > 1:
            for index in NO_ROWS:
                with pytest.raises(IndexError):
                    _ = answer[index]
            assert type(answer[np.array(1)]) is type(answer[1])
            kinds.add(type(answer).__name__)
    assert kinds >= {"RayHits", "Chords", "Judged", "ClosestPoints", "NearLimbs", "MovingHits", "SweptHits", "Doubts"}
