"""Judged shots of some rays: columns, impacts and decisions equal those of the whole; and the chords of impacts."""

from pathlib import Path

import numpy as np
import pytest
from support.cases.everyday_shape_worlds import mixed, shots_at
from support.check_cylinders import same_bits
from support.labelled import carried
from support.one_limb import two_humanoids

import cylcollide as cc
from cylcollide.characters.judged import Impacts
from cylcollide.query.chords import Chords

POLICIES = {
    "most_important": cc.Policy.most_important([3, 1, 0]),
    "penetration": cc.Policy.penetration({1: 3.0, 2: 0.5, "default": 1.0}, {1: 4.0}),
}


@pytest.mark.parametrize("kind", POLICIES)
def test_some_rays_of_judged_shots(kind: str):
    """Columns, impacts, sums and decisions of a part equal those of its rays in the whole."""
    state, (starts, ends) = carried(mixed(28).limbs()), shots_at(mixed(28), 300)
    judged = state.judge_segments(starts, ends, POLICIES[kind], energy=np.random.default_rng(3).uniform(0.5, 5.0, 300))
    rays = np.random.default_rng(4).permutation(len(judged))[:120]
    for chosen in (rays, slice(5, 90, 2), judged.hit, 7, []):
        part, rows = judged[chosen], np.atleast_1d(np.arange(len(judged))[chosen])
        assert not same_bits(judged, part, rows, judged.fields)
        counts = np.diff(judged.impacts.offsets)[rows]
        assert np.diff(part.impacts.offsets).tolist() == counts.tolist()
        taken = np.concatenate([np.arange(*judged.impacts.offsets[i : i + 2]) for i in rows] or [np.zeros(0, int)])
        assert not same_bits(
            judged.impacts, part.impacts, taken.astype(int), {*Impacts.fields} - {"ray"}
        )  # counted anew
        for k, i in enumerate(rows.tolist()):
            assert str(part.explain(k)).partition(",")[2] == str(judged.explain(i)).partition(",")[2]
        assert part.by_shot().damage.sum() == pytest.approx(judged.damage[rows].sum())
    assert len(judged[rays].impacts) > 30


def test_impacts_have_chords(tmp_path: Path):
    """Of the whole, of a part, and of a loaded file."""
    state, rays = carried(mixed(28).limbs()), shots_at(mixed(28), 300)
    impacts = state.judge_segments(*rays, POLICIES["penetration"]).impacts
    chords, expected = impacts.chords, state.chords_segments(*rays)
    assert len(expected) > 100
    assert type(chords) is Chords
    assert expected == chords == expected
    assert impacts != chords
    assert impacts[3:40].chords == chords[3:40] == expected[3:40]
    assert not hasattr(chords, "energy_in")
    impacts.save(tmp_path / "impacts.npz")
    loaded = Impacts.load(tmp_path / "impacts.npz").chords
    assert loaded == expected
    assert loaded[3:40] == expected[3:40]


def test_chords_of_impacts_keep_times_and_shape():
    history, _ = two_humanoids()
    starts, ends = np.tile([[[-3.0, 0, 1]], [[-3.0, 0, 1.2]]], (1, 4, 1)), np.array([9.0, 0, 1])
    past = history.judge_segments(starts, ends, POLICIES["penetration"], 0.55)
    chords = past.impacts.chords
    assert chords.shape == past.shape == (2, 4)
    assert len(chords) > 7
    assert chords.tick.tolist() == past.tick.tolist()
    assert chords == history.chords_segments(starts, ends, 0.55)
    assert np.array_equal(chords.present_position(), past.impacts.present_position())
