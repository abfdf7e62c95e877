"""Constructors of every shape: columns, accepted and rejected arguments; concatenation, files and copies."""

import pickle
from copy import deepcopy
from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest
from support.cases.everyday_shape_worlds import mixed
from support.cases.frames import matrices
from support.check_cylinders import same_bits
from support.oracle.shapes.common import HALF, HIGH, LOW, ONE, TURN
from support.oracle.shapes.table import NAMES, SHAPE_ROWS

import cylcollide as cc
from cylcollide.shapes import SHAPE_RECORDS, Ends

S = cc.Shape
GOOD = {maker: good for row in SHAPE_ROWS.values() for maker, good in row.arguments.items()}
"""Constructor to good arguments of four limbs."""

KIND = {maker: kind for kind, row in SHAPE_ROWS.items() for maker in row.arguments}
AXIS = [m for m, k in KIND.items() if "p2" in SHAPE_ROWS[k].takes and not SHAPE_ROWS[k].may_have_no_length]


def make(maker: str, **changed: object) -> cc.Limbs:
    return getattr(cc.Limbs, maker)(**GOOD[maker] | changed)


# Arguments ---------------------------------------------------------------------------------------------------------


def test_every_shape_has_its_row_and_its_record():
    assert list(SHAPE_ROWS) == sorted(S) == sorted(SHAPE_RECORDS), "a shape lacks its row or its record"
    assert [(s.name.lower(), int(s)) for s in S] == [(name, k) for k, name in enumerate(NAMES)]
    for kind, row in SHAPE_ROWS.items():
        for field in ("makers", "arguments", "chords", "hits", "explained", "tangents", "faces"):
            assert getattr(row, field), f"{NAMES[kind]}: {field} of its row is empty"
        assert {kind} == {int(limb.kind[0]) for limb in (row.everyday, *(t.limb for t in row.tangents.values()))}
        ends = Ends.FREE if row.may_have_no_length else Ends.APART if "p2" in row.takes else Ends.ONE
        assert SHAPE_RECORDS[kind].ends == ends


@pytest.mark.parametrize("maker", GOOD)
def test_columns_of_each_shape(maker: str):
    limbs, good = make(maker, character=7, mask=[1, 2, 3, 4], name="arm", hit_group=3), GOOD[maker]
    takes = SHAPE_ROWS[KIND[maker]].takes
    assert limbs.kind.tolist() == [KIND[maker]] * 4
    assert np.array_equal(limbs.p1, LOW)
    assert np.array_equal(limbs.p2, HIGH if "p2" in takes else LOW)
    assert np.array_equal(limbs.radius2, good.get("inner_radius", good.get("radius2", 0 * ONE)))
    if "radius" in takes:
        assert np.array_equal(limbs.radius, good.get("radius", good.get("radius1")))
    assert np.array_equal(limbs.half_extents, HALF if "half" in takes else 0 * HALF)
    assert np.array_equal(limbs.box_axes, np.tile(np.eye(3) * ("orientation" in takes), (4, 1, 1)))
    assert limbs.character.tolist() == [7] * 4
    assert limbs.mask.tolist() == [1, 2, 3, 4]
    assert limbs.names == ("arm",) * 4
    one = {name: array[0] if array.ndim == 1 else array for name, array in good.items()}
    assert make(maker, **one) == make(maker)
    whole = {name: array.astype(int).tolist() for name, array in good.items() if name != "inner_radius"}
    assert make(maker, **whole) == make(maker)


def test_one_quaternion_of_any_length_for_all_boxes():
    turn = np.array([0.1, -0.7, 0.3, 0.4])
    one = cc.Limbs.boxes(LOW, turn, [1, 2, 3])
    assert one == cc.Limbs.boxes(LOW, np.tile(turn, (4, 1)), np.tile([1, 2, 3], (4, 1)))
    for scale in (2.0**-496, 2.0**-300, 0.5, 2.0**300, 2.0**496):
        assert np.array_equal(cc.Limbs.boxes(LOW, turn * scale, [1, 2, 3]).box_axes, one.box_axes), scale


def test_empty_lists_make_no_boxes():
    for turn in ([], [0, 0, 0, 1]):
        assert len(cc.Limbs.boxes([], turn, [])) == 0
        assert cc.HitWorld(cc.Limbs.spheres([[0, 0, 0]], 1.0)).overlap_boxes([], turn, []).shape == (0,)
    with pytest.raises(ValueError, match=r"orientation: expected shape \(2, 4\) or \(4,\), got \(0, 4\)"):
        cc.Limbs.boxes([[0, 0, 0], [1, 1, 1]], [], [1, 1, 1])


def test_box_axes_are_the_rotation_of_the_quaternion():
    turn = np.random.default_rng(8).normal(size=(500, 4))
    axes = cc.Limbs.boxes(np.zeros((500, 3)), turn, np.ones((500, 3))).box_axes
    assert np.abs(axes - np.swapaxes(matrices(turn), 1, 2)).max() < 2e-15
    assert np.abs(np.einsum("nij,nkj->nik", axes, axes) - np.eye(3)).max() < 4e-15
    assert (np.linalg.det(axes) > 0.99).all()
    # A quarter turn about z takes the box's x axis to the world's y.
    quarter = cc.Limbs.boxes([[0, 0, 0]], [0, 0, np.sin(np.pi / 4), np.cos(np.pi / 4)], [[1, 2, 3]])
    assert quarter.box_axes[0, 0] == pytest.approx([0, 1, 0], abs=1e-15)


@pytest.mark.parametrize("maker", AXIS)
def test_axes_without_length(maker: str):
    first, last = list(GOOD[maker])[:2]
    ends = HIGH.copy()
    ends[2:] = LOW[2:]
    with pytest.raises(ValueError, match=rf"{last}.*row 2\b|row 2\b"):
        make(maker, **{first: LOW, last: ends})


def test_tubes_and_tapers_of_impossible_radii():
    for inner in ([0.5, 0.5, 1.0, 2.0], [0.5, 0.5, 1.5, 1.0]):
        with pytest.raises(ValueError, match=r"inner_radius.*row 2\b"):
            make("tubes", inner_radius=inner)
    assert len(make("tubes", inner_radius=np.nextafter(1.0, 0.0))) == 4
    first = [1.0, 0, 0, 0]
    for one, two in ((first, [0.0, 1, 0, 0]), (first, [0.0, 1, -1, 1]), ([1.0, 0, -1, 0], [0.0, 1, 1, 0])):
        with pytest.raises(ValueError, match=r"radius[12].*row 2\b"):
            make("tapered_cylinders", radius1=one, radius2=two)
    with pytest.raises(ValueError, match=r"orientation.*row 2\b"):
        make("boxes", orientation=TURN * [[1], [1], [0], [0]])
    with pytest.raises(ValueError, match=r"orientation"):
        make("boxes", orientation=[0.0, 0, 0, 0])


@pytest.mark.parametrize("maker", GOOD)
def test_wrong_labels(maker: str):
    for keywords in ({"character": [0, 1, -2, 3]}, {"mask": -1}, {"mask": [1] * 5}, {"name": ["a"]}):
        with pytest.raises(ValueError, match=next(iter(keywords))):
            make(maker, **keywords)
    with pytest.raises(TypeError, match="layer"):
        make(maker, layer=1)


# Mixed columns ------------------------------------------------------------------------------------------------------


def test_concat_indexing_equality_and_files_keep_every_shape(tmp_path: Path):
    limbs = mixed(60).limbs()
    assert set(limbs.kind.tolist()) == set(SHAPE_ROWS)
    order = np.random.default_rng(1).permutation(60)
    shuffled = limbs[order]
    for name in ("kind", "p1", "p2", "radius", "radius2", "box_axes", "half_extents"):
        assert np.array_equal(getattr(shuffled, name), getattr(limbs, name)[order]), name
    for name in ("kind", "p1", "p2", "radius", "radius2"):
        with pytest.raises(ValueError, match="read-only"):
            getattr(limbs, name)[0] = 0
    assert shuffled[np.argsort(order)] == limbs != shuffled
    assert cc.Limbs.concat([limbs[:20], limbs[20:21], limbs[21:]]) == limbs
    # Reordered limbs give the same answers: a box keeps its axes.
    start = limbs.p1 + np.random.default_rng(2).normal(size=(60, 3)) * 2
    end = limbs.p1 + limbs.p2 - start
    whole, parts = limbs.cast_segments(start, end), cc.Limbs.concat([limbs[:20], limbs[order], limbs[20:][::-1]])
    rows = np.concatenate([np.arange(20), order, np.arange(20, 60)[::-1]])
    again = parts.cast_segments(start[rows], end[rows])
    for i, row in enumerate(rows.tolist()):
        one = limbs[row].cast_segments(start[row], end[row])
        assert set(same_bits(whole, one, slice(row, row + 1))) <= {"limb"}
        assert set(same_bits(again, one, slice(i, i + 1))) <= {"limb"}
    assert np.bincount(limbs.kind[whole.hit & ~whole.started_inside], minlength=len(S)).min() >= 3
    limbs.save(tmp_path / "limbs.npz")
    assert cc.Limbs.load(tmp_path / "limbs.npz") == limbs
    assert all(name in repr(limbs) for name in NAMES)
    for name in ("p2", "radius", "radius2", "orientation", "half"):
        rows = mixed(60)
        assert replace(rows, **{name: getattr(rows, name) * 1.01 + (name == "orientation")}).limbs() != limbs, name


def test_files_and_copies_keep_dtype_and_order(tmp_path: Path):
    """Loops rely on the dtypes of columns, and on their order in memory, of their first call."""
    rng = np.random.default_rng(1)
    low = rng.normal(size=(40, 3))
    limbs = cc.Limbs.concat([cc.Limbs.cylinders(low, low + 1, 0.3), cc.Limbs.boxes(low, [0, 0, 0, 1], [1, 2, 3])])
    start = 5 * rng.normal(size=(9, 3))
    want = cc.HitWorld(limbs).cast_segments(start, -start)
    assert want.hit.any()
    limbs.save(tmp_path / "limbs.npz")
    with np.load(tmp_path / "limbs.npz") as file:
        columns = dict(file)
    wide = {np.dtype(np.int8): np.int64, np.dtype(np.int32): ">i8", np.dtype(np.float64): ">f8"}
    others = [np.asfortranarray, lambda column: column.astype(wide.get(column.dtype, column.dtype))]
    for k, other in enumerate(others):
        np.savez(tmp_path / f"{k}.npz", **{name: other(column) for name, column in columns.items()})
    copies = [cc.Limbs.load(tmp_path / f"{k}.npz") for k in range(len(others))]
    for copy in (*copies, pickle.loads(pickle.dumps(limbs)), deepcopy(limbs)):
        assert copy == limbs
        assert not any(column.flags.writeable for column in (*copy._table, copy.hit_group))
        got = cc.HitWorld(copy).cast_segments(start, -start)
        assert got.limb.tobytes() == want.limb.tobytes()
        assert got.fraction.tobytes() == want.fraction.tobytes()
