"""Arguments: numpy's integers, one row for all; and what is refused with a message."""

import numpy as np
import pytest
from support.cases.everyday_shape_worlds import mixed, shots_at
from support.check_cylinders import same_bits

import cylcollide as cc

X = np.eye(3)


@pytest.fixture(scope="module")
def world() -> cc.HitWorld:
    return cc.HitWorld(cc.Limbs.concat([mixed(28).limbs()] * 2))


# Rows ---------------------------------------------------------------------------------------------------------------


def test_mismatched_row_counts(world: cc.HitWorld):
    with pytest.raises(ValueError, match=r"ends: expected 4 rows, as many as starts, or one for all, got 5"):
        world.cast_segments(np.zeros((4, 3)), np.zeros((5, 3)))
    for ask in (world.limbs.classify_points, lambda rows: world.limbs.cast_segments(rows, rows + 1)):
        with pytest.raises(ValueError, match=r"56.*5|5.*56"):
            ask(np.zeros((5, 3)))


def test_a_bad_broadcast_row_is_row_0(world: cc.HitWorld):
    with pytest.raises(ValueError, match=r"starts: .*row 0\b"):
        world.cast_segments([0, np.nan, 0], np.ones((9, 3)))


# Integers -----------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("kind", [np.int8, np.uint8, np.int32, np.uint32, np.int64, np.uint64])
def test_numpy_integers_are_accepted(world: cc.HitWorld, kind: type):
    start, end = shots_at(mixed(28), 300)
    want = world.cast_segments(start, end, mask=3, ignore_character=0, threads=2)
    got = world.cast_segments(start, end, mask=kind(3), ignore_character=kind(0), threads=kind(2))
    assert not same_bits(want, got)
    assert not same_bits(
        want, world.cast_segments(start, end, mask=np.array(3, kind), ignore_character=[kind(0)] * 300)
    )
    point = world.contains_points(start, threads=kind(1))
    assert np.array_equal(point.limb, world.contains_points(start).limb)
    limbs = world.limbs
    assert limbs.explain_segment(start[0], end[0], limb=kind(5)) == limbs.explain_segment(start[0], end[0], limb=5)
    moved = limbs.moved(limbs.p1[[2, 5]] + 1, limbs.p2[[2, 5]] + 1, limbs=[kind(2), 5])
    assert moved == limbs.moved(limbs.p1[[2, 5]] + 1, limbs.p2[[2, 5]] + 1, limbs=np.array([2, 5]))
    assert want[kind(5)].limb == want[5].limb
    hit_group = cc.Limbs.spheres(X, 1.0, character=kind(1), mask=kind(1), hit_group=[kind(1), 2, 3]).hit_group
    assert hit_group.tolist() == [1, 2, 3]


@pytest.mark.parametrize("value", [True, np.True_, 1.0, np.float64(1), "1", b"1", [True], [1.0], 1j, {}, X], ids=repr)
def test_non_integers_are_refused(world: cc.HitWorld, value: object):
    """Single numbers only; `attack/test_refused_numbers.py` tests arrays of integers."""
    for name, ask in {
        "threads": lambda: world.cast_segments(X, X + 1, threads=value),
        "threads of points": lambda: world.contains_points(X, threads=value),
        "limb": lambda: world.limbs.explain_segment(X[0], X[1], limb=value),
    }.items():
        with pytest.raises(ValueError, match=rf"^{name.split()[0]}: expected "):
            ask()


@pytest.mark.parametrize("value", [2**40, -(2**40), 2**70, -(2**70), np.uint64(2**63)])
def test_too_large_integers(world: cc.HitWorld, value: int):
    with pytest.raises(ValueError, match=r"^limb: expected "):
        world.limbs.explain_segment(X[0], X[1], limb=value)
    with pytest.raises(ValueError, match=r"^mask: expected "):
        world.cast_segments(X, X + 1, mask=value)


def test_more_threads_than_rays(world: cc.HitWorld):
    start, end = shots_at(mixed(28), 14_000)
    want = world.cast_segments(start, end)
    assert np.array_equal(want.limb, world.cast_segments(start, end, threads=np.int64(2**40)).limb)


# Masked arrays ------------------------------------------------------------------------------------------------------


def test_a_mask_is_not_ignored(world: cc.HitWorld):
    hidden = np.ma.MaskedArray(np.ones((3, 3)), mask=False)
    hidden[1, 2] = np.ma.masked
    whole = np.ma.MaskedArray(X)
    assert not same_bits(world.cast_segments(whole, X + 1), world.cast_segments(X, X + 1))
    listed = [list(row) for row in hidden]
    for wrong in (hidden, listed, list(hidden), tuple(hidden)):
        for name, ask in (
            ("starts", lambda w: world.cast_segments(w, X)),
            ("directions", lambda w: world.occluded_rays(X, w)),
            ("points", world.contains_points),
            ("p2", lambda w: cc.Limbs.cylinders(X, w, 1.0)),
        ):
            with pytest.raises(ValueError, match=rf"^{name}: .*masked"):
                ask(wrong)
    with pytest.raises(IndexError, match="masked"):
        world.limbs[np.ma.MaskedArray([True] * 56, mask=[1] + [0] * 55)]


# Names and parts ----------------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    "name", [5, None, b"arm", [1, 2, 3], ["a", b"b", "c"], {"a", "b", "c"}, 1.5, {"a": 1}, [None] * 3]
)
def test_names_are_strings(name: object):
    with pytest.raises(ValueError, match="name: expected one string or 3 of them, got"):
        cc.Limbs.spheres(X, 1.0, name=name)


@pytest.mark.parametrize("name", [["a", "b", "c"], ("a", "b", "c"), np.array(["a", "b", "c"])])
def test_names_of_any_sequence(name: object):
    names = cc.Limbs.spheres(X, 1.0, name=name).names
    assert names == ("a", "b", "c")
    assert {type(one) for one in names} == {str}


@pytest.mark.parametrize("parts", [5, None, [None], [X], "limbs", [cc.Limbs.spheres(X, 1.0), 5], (), []])
def test_parts_are_limbs(parts: object):
    with pytest.raises(ValueError, match="concat: expected a list of one or more Limbs, got"):
        cc.Limbs.concat(parts)


def test_parts_of_any_iterable():
    limbs = mixed(28).limbs()
    assert cc.Limbs.concat(limbs[i] for i in range(28)) == limbs
    assert cc.Limbs.concat(limbs) == limbs


@pytest.mark.parametrize("rows", [[[0, 1], [1, 0]], None, np.zeros((2, 2), int), "a", 1.5, [0.5], 28, -29, [True]])
def test_rows_that_limbs_do_not_have(rows: object):
    with pytest.raises(LookupError):
        mixed(28).limbs()[rows]
