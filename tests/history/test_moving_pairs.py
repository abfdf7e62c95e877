"""The limbs that bullets come near: by streams as one by one, wherever bullets come from."""

import numpy as np
import pytest
from support.check_cylinders import IS_COMPILED
from support.moving_scenes import bullets_of, scene_of

from cylcollide.history.moving import request
from cylcollide.history.moving.flights import checked_filters, checked_flights
from cylcollide.history.moving.hits import MovingHit
from cylcollide.history.moving.request import MovingRequest
from cylcollide.query.loops.moving_pair import LEFT_OUT

pytestmark = pytest.mark.plain_python

N = 300 if IS_COMPILED else 40


def asked(monkeypatch: pytest.MonkeyPatch, smallest: int, scale: float) -> MovingRequest:
    """What bullets ask, by streams from so many on; every ninth comes from farther away by a factor."""
    monkeypatch.setattr(request, "SMALLEST_STREAM", smallest)
    rng = np.random.default_rng(5)
    scene = scene_of(rng, False)
    bullets = bullets_of(rng, scene, N, False)
    start = bullets.points[:, 0] * np.where(np.arange(N) % 9 == 0, scale, 1.0)[:, None]
    ring, filters = scene.history._kept(), checked_filters({})
    times = tuple(bullets.target.T)
    return MovingRequest(
        ring, checked_flights(ring.ticks, start, bullets.points[:, 1], times, (None, None), {}), filters
    )


@pytest.mark.parametrize("scale", [1.0, 1e6, 1e30])
def test_streams_find_what_single_bullets_find(monkeypatch: pytest.MonkeyPatch, scale: float):
    single, many = asked(monkeypatch, 10**9, scale), asked(monkeypatch, 1, scale)
    assert np.array_equal(single.candidates.offsets, many.candidates.offsets)
    assert np.array_equal(single.candidates.limb, many.candidates.limb)
    assert np.array_equal(single.limbs.state_row, many.limbs.state_row)
    counts = np.diff(many.candidates.offsets)
    assert len(many.candidates.limb) > 2 * len(counts)  # more than there is room for at first
    if scale == 1e30:
        assert (counts == len(single.limbs.ring.ticks[0].structure.limb)).any()  # too far for float32: all of them


def test_what_is_left_out_is_missed_and_is_most(monkeypatch: pytest.MonkeyPatch):
    rng = np.random.default_rng(6)
    scene = scene_of(rng, False)
    points, target, *_ = bullets_of(rng, scene, N, False)
    fly = (points[:, 0], points[:, 1], *target.T)
    questions, init = [], MovingRequest.__init__

    def keeping(self, *arguments):
        init(self, *arguments)
        questions.append(self)

    monkeypatch.setattr(MovingRequest, "__init__", keeping)
    hits = scene.history.cast_moving(*fly)
    left_out = questions[0].candidates.limb == LEFT_OUT
    assert 0.3 < left_out.mean() < 0.95
    monkeypatch.setattr("cylcollide.history.moving.contacts.leave_out_misses", nothing_left_out)
    other = scene.history.cast_moving(*fly)
    assert not (questions[1].candidates.limb == LEFT_OUT).any()
    for name in MovingHit.__annotations__:
        if name != "limb_name":
            assert np.array_equal(getattr(hits, name), getattr(other, name), equal_nan=True), name


def nothing_left_out(stretches, _table, candidates, begin, end, _lanes):
    """`leave_out_misses`, which leaves out nothing."""
    first, last = stretches.offsets[[begin, end]]
    candidates.earliest[candidates.offsets[first] : candidates.offsets[last]] = 0.0
