"""Limb fields of hits and chords: names, groups, bones, places in the frames of bones; none for a miss."""

from fractions import Fraction

import numpy as np
import pytest
from support.cases.everyday_shape_worlds import mixed, shots_at
from support.check_cylinders import sized
from support.labelled import carried, into_frame

import cylcollide as cc

pytestmark = [pytest.mark.plain_python, pytest.mark.coverage]

FEW, MANY = 40, sized(900)


def said(found: cc.RayHits | cc.Chords, state: cc.Snapshot) -> int:
    """Assert that the labels of each row are those of its limb; return the number of misses."""
    labels, misses = state._labels, 0
    for i, limb in enumerate(found.limb.tolist()):
        row = (found.limb_name[i], found.hit_group[i], found.bone[i], found.rig_limb[i])
        misses += limb < 0
        if limb < 0:
            assert row == (None, -1, -1, -1)
        else:
            columns = (labels.names, labels.hit_group, labels.bone, labels.rig_limb)
            assert row == tuple(column[limb] for column in columns)
        nowhere = limb < 0 or labels.transform[limb] < 0
        assert np.isnan(found.local_position[i]).tolist() == np.isnan(found.local_normal[i]).tolist() == [nowhere] * 3
    assert {found.hit_group.dtype, found.bone.dtype, found.rig_limb.dtype} == {np.dtype(np.int32)}
    return misses


@pytest.mark.machine_code
@pytest.mark.parametrize("n", [FEW, MANY])
@pytest.mark.parametrize("inside", ["hit", "exit", "ignore"])
def test_labels_describe_the_limb_hit(n: int, inside: str):
    shapes = mixed(28)
    state = carried(shapes.limbs())
    start, end = shots_at(shapes, n)
    hits, chords = state.cast_segments(start, end, inside=inside), state.chords_segments(start, end, inside=inside)
    assert n // 10 < said(hits, state) < n
    assert said(chords, state) == 0
    assert len(chords) > n // 3
    assert np.isfinite(chords.local_position).all(axis=1).sum() > n // 8


def test_a_world_without_limbs_has_no_label():
    empty = cc.HitWorld(cc.Limbs.spheres(np.zeros((0, 3)), 1.0))
    for n in (0, 1, 300):
        hits = empty.cast_segments(np.zeros((n, 3)), np.ones((n, 3)))
        chords = empty.chords_segments(np.zeros((n, 3)), np.ones((n, 3)))
        assert hits.limb_name.tolist() == [None] * n
        assert hits.hit_group.tolist() == hits.bone.tolist() == hits.rig_limb.tolist() == [-1] * n
        assert hits.local_position.shape == hits.local_normal.shape == hits.exit_normal.shape == (n, 3)
        assert np.isnan([hits.position, hits.exit_position]).all()
        assert chords.limb_name.tolist() == chords.hit_group.tolist() == []
        assert chords.local_position.shape == chords.entry_position.shape == chords.exit_normal.shape == (0, 3)


def test_local_places_agree_with_rational_arithmetic():
    """Within 2 units in the last place of the largest number involved; a normal within 2 units of 1."""
    shapes = mixed(28)
    n, seen = sized(400), 0
    state, (start, end) = carried(shapes.limbs()), shots_at(shapes, n)
    labels = state._labels
    for found in (state.cast_segments(start, end), state.chords_segments(start, end)):
        place = found.position if isinstance(found, cc.RayHits) else found.entry_position
        normal = found.normal if isinstance(found, cc.RayHits) else found.entry_normal
        for i in np.flatnonzero(np.isfinite(found.local_position[:, 0])).tolist():
            row = labels.transform[found.limb[i]]
            turn, bone = labels.bone_orientations[row], labels.bone_positions[row]
            away = [Fraction(a) - Fraction(b) for a, b in zip(place[i].tolist(), bone.tolist(), strict=True)]
            largest = max(float(max(map(abs, away))), np.abs(place[i]).max(), np.abs(bone).max())
            for want, got, size in (
                (into_frame(turn, away), found.local_position[i], largest),
                (into_frame(turn, [Fraction(x) for x in normal[i].tolist()]), found.local_normal[i], 1.0),
            ):
                off = max(abs(Fraction(a) - b) for a, b in zip(got.tolist(), want, strict=True))
                assert off <= 2 * Fraction(2) ** -53 * Fraction(size), (i, float(off))
            assert found.local_normal[i].any() == normal[i].any()
            assert not np.signbit(found.local_normal[i][found.local_normal[i] == 0.0]).any()
            seen += 1
    assert seen > n // 2
