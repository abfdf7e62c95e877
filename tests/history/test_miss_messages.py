"""What an explanation of a miss says: about the asked time, about limbs that cannot be hit, and in its messages."""

import numpy as np
import pytest
from support.one_limb import one_limb_history, two_people

import cylcollide as cc


def test_the_asked_time_is_searched():
    """A rod that turns through a point between two of the searched times: hit at the asked time, and said so."""
    _, _, history = one_limb_history(*((0, 0, 0, 1.5 * k) for k in range(3)))
    time = 0.5670001
    limbs = history.limbs_at(time)
    far = limbs.p1[0] + 0.999 * (limbs.p2[0] - limbs.p1[0])
    across = np.array([0.0, 0.0, 1.0])
    thin = {"resolution": 1.0, "time": time}
    why = history.explain_miss(far - across, far + across, **thin)
    assert why.hit
    assert len(why.intervals) == 1
    assert why.intervals[0, 0] <= time <= why.intervals[0, 1]
    assert not (why.intervals[0] == np.round(why.intervals[0])).any()
    assert "(now)" in str(why)


def test_where_nothing_can_be_hit_it_says_why():
    history, ids = two_people()
    n, time = 2 * len(cc.Rig.humanoid().limbs), float(history.times[0])
    ends = ([0, 0, 9], [1, 0, 9])
    one, other = ids.tolist()
    for options, reason in (
        ({"mask": 0}, f"of {n} limbs: {n} in no layer of the mask"),
        ({"ignore_character": one, "protected_since": {other: 0.0}},
         f"of {n} limbs: {n // 2} of the ignored character, {n // 2} of protected characters"),
        ({"hit_group": 77}, f"of {n} limbs: {n} in another group"),
        ({"hit_group": "head", "mask": 0}, f"of {n} limbs: {n - 2} in another group, 2 in no layer of the mask"),
    ):  # fmt: skip
        text = str(history.explain_miss(*ends, time, **options))
        assert reason in text
        assert "can be hit at time" in text
    empty = cc.PoseHistory(cc.HitWorld())
    empty.record(0.0)
    assert "miss: no limb can be hit at time 0 (tick 0, alpha 0)\n  there are no limbs then" in str(
        empty.explain_miss(*ends, 0.0)
    )


def test_one_mask_may_be_a_list():
    history, _ = two_people()
    asked = ([0, 0, 9], [1, 0, 9], float(history.times[0]))
    assert str(history.explain_miss(*asked, mask=[1])) == str(history.explain_miss(*asked, mask=1))
    with pytest.raises(ValueError, match=r"mask: expected one integer or shape \(1,\), got shape \(2,\)"):
        history.explain_miss(*asked, mask=[1, 2])
