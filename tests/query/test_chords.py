"""Chords of many rays in streams: as ray by ray, in any order and split."""

from collections import Counter
from functools import partial

import numpy as np
import pytest
from support.cases.everyday_shape_worlds import mixed, shots_at
from support.cases.everyday_worlds import make_crowd
from support.check_cylinders import IS_COMPILED
from support.force_loop import SINGLE, STREAMS, forced

import cylcollide as cc


def chord_columns(chords: cc.Chords) -> dict[str, bytes]:
    """Return all numbers of an answer, low words and the number of exact rows too."""
    found = {name: column.tobytes() for name, column in chords._rows.chords._asdict().items()}
    return {**found, "offsets": chords.offsets.tobytes(), "rechecked": bytes(str(chords.rechecked), "ascii")}


@pytest.mark.parametrize(
    ("kind", "room", "inside"),
    [("cylinders", 8, "hit"), ("all shapes", 8, "hit"), ("all shapes", 1, "exit"), ("all shapes", 0, "ignore")],
)
def test_chords_are_the_same_as_streams(kind: str, room: int, inside: str):
    """With room for all chords, for some, for none; some rays untrusted, some limbs masked, limbs in two parts."""
    limbs, n = make_crowd(33) if kind == "cylinders" else mixed(33, seed=6).limbs(), 900 if IS_COMPILED else 24
    start, end = shots_at(limbs, n, seed=7)
    far, grown, seen = start[:3] * 1e149, [limbs.inflated(1e-3 * k) for k in range(12)], Counter[str]()
    world, one, other = (cc.HitWorld(cc.Limbs.concat(many)) for many in ([limbs], [x[:20] for x in grown], grown))
    for asked in (world, one, other):  # few limbs, a small world with many in one place, a large one
        for mask, who, blind in ((1, None, 0), (1, np.arange(n) % 3, 0), (0xFFFFFFFF, None, 3)):
            begin = np.concatenate((far[:blind], start[blind:]))
            call = partial(asked.chords_segments, begin, end, inside=inside, mask=mask, ignore_character=who, threads=1)
            with forced(SINGLE):
                want = call()
            with forced(STREAMS, LIMBS_CROSSED=room, RAYS_PER_TASK=400, LEAST_RAYS_PER_TASK=400) as ways:
                got = call()
            assert ways.batches[STREAMS] == -(-n // 400)
            assert chord_columns(got) == chord_columns(want)
            seen.update(chords=len(want), many=int((np.diff(want.offsets) > 8).sum()), exact=want.rechecked)
    assert seen["chords"] > n
    assert min(seen["many"], seen["exact"]) > 0
