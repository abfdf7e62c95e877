"""Judged shots of some rays: columns, impacts and decisions are those of the whole."""

import numpy as np
import pytest
from support.cases.everyday_shape_worlds import mixed, shots_at
from support.labelled import LABEL_FIELDS, carried

import cylcollide as cc

POLICIES = {
    "most_important": cc.Policy.most_important([3, 1, 0]),
    "penetration": cc.Policy.penetration({1: 3.0, 2: 0.5, "default": 1.0}, {1: 4.0}),
}
COLUMNS = (*LABEL_FIELDS, "hit", "limb", "position", "normal", "distance", "damage", "energy_left", "shot")
IMPACTS = (
    *("limb", "character", "rig_limb", "limb_name", "hit_group", "entry_fraction", "exit_fraction"),
    *("thickness", "energy_in", "energy_out", "damage", "reason"),
)


@pytest.mark.parametrize("kind", POLICIES)
def test_some_rays_of_judged_shots(kind: str):
    """Columns, impacts, sums and decisions of a part are those of its rays."""
    state, (starts, ends) = carried(mixed(28).limbs()), shots_at(mixed(28), 300)
    judged = state.judge_segments(starts, ends, POLICIES[kind], energy=np.random.default_rng(3).uniform(0.5, 5.0, 300))
    rays = np.random.default_rng(4).permutation(len(judged))[:120]
    for chosen in (rays, slice(5, 90, 2), judged.hit, 7, []):
        part, rows = judged[chosen], np.atleast_1d(np.arange(len(judged))[chosen])
        for name in COLUMNS:
            assert repr(getattr(part, name).tolist()) == repr(getattr(judged, name)[rows].tolist()), name
        counts = np.diff(judged.impacts.offsets)[rows]
        assert np.diff(part.impacts.offsets).tolist() == counts.tolist()
        taken = np.concatenate([np.arange(*judged.impacts.offsets[i : i + 2]) for i in rows] or [np.zeros(0, int)])
        for name in IMPACTS:
            assert getattr(part.impacts, name).tolist() == getattr(judged.impacts, name)[taken.astype(int)].tolist(), (
                name
            )
        for k, i in enumerate(rows.tolist()):
            assert str(part.explain(k)).partition(",")[2] == str(judged.explain(i)).partition(",")[2]
        assert part.by_shot().damage.sum() == pytest.approx(judged.damage[rows].sum())
    assert len(judged[rays].impacts) > 30
