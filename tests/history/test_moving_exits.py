"""Exits of flying bullets: float64 follows a contact from tick to tick, in agreement with rationals."""

import numpy as np
import pytest
from support.check_cylinders import IS_COMPILED
from support.moving_scenes import bullets_of, scene_of

from cylcollide.history.flight import FlightPath
from cylcollide.history.moving import contacts
from cylcollide.history.moving.exact import FirstContact
from cylcollide.history.moving.hits import MovingHits

pytestmark = pytest.mark.plain_python

N = 96 if IS_COMPILED else 32
find_exits = contacts.find_exits


def undecided_exits(*arguments):
    """`find_exits` with all its results marked undecided."""
    find_exits(*arguments)
    arguments[-1][:] = False


def by_rationals(monkeypatch: pytest.MonkeyPatch, hits: MovingHits) -> MovingHits:
    """Compute the exits of hits in rational arithmetic."""
    with monkeypatch.context() as patch:
        patch.setattr(contacts, "find_exits", undecided_exits)
        assert hits.duration is not None
    return hits


def count_rationals(monkeypatch: pytest.MonkeyPatch) -> list[int]:
    """A list of the bullets whose exits are computed in rational arithmetic."""
    counted, end = [], FirstContact.end

    def counting(contact):
        counted.append(contact.pair.interval.bullet)
        return end(contact)

    monkeypatch.setattr(FirstContact, "end", counting)
    return counted


def check_equal(mine: MovingHits, other: MovingHits) -> None:
    """Assert that exits are equal up to their last digits."""
    assert np.array_equal(mine.exit_piece, other.exit_piece)
    hit, unit = mine.hit, 2.0**-52
    assert np.abs(mine.exit_fraction[hit] - other.exit_fraction[hit]).max() <= 2 * unit
    ulp = np.spacing(np.abs(other.exit_time[hit]))
    assert (np.abs(mine.exit_time[hit] - other.exit_time[hit]) <= 2 * ulp).all()
    assert np.allclose(mine.duration[hit], other.duration[hit], rtol=1e-12, atol=4 * ulp.max())


def test_a_contact_that_lasts_is_followed_in_float64(monkeypatch: pytest.MonkeyPatch):
    rng = np.random.default_rng([7, 1])
    scene = scene_of(rng, False)
    bullets = bullets_of(rng, scene, N, False)
    # the bullets move with their targets, past several ticks
    start, (first, last) = bullets.points[:, 0], scene.times[[0, -1]]
    middle = scene.ends[:, bullets.limb].mean(axis=2)
    off = 0.2 * rng.normal(size=(N, 3)) * scene.radii[bullets.limb, :1]
    start, end = middle[0] + off, middle[-1] + 3.0 * off
    asked = (start, end, np.full(N, first), np.full(N, np.nextafter(last, first)))
    reference = by_rationals(monkeypatch, scene.history.cast_moving(*asked))
    counted = count_rationals(monkeypatch)
    hits = scene.history.cast_moving(*asked)
    check_equal(hits, reference)
    after = scene.times[1:-1, None] < reference.exit_time
    later = hits.hit & (after.sum(axis=0) > (scene.times[1:-1, None] <= hits.time).sum(axis=0))
    assert later.sum() > N // 16
    undecided = np.isin(np.flatnonzero(later), counted)
    assert undecided.mean() < 0.3


def test_a_contact_is_followed_from_piece_to_piece(monkeypatch: pytest.MonkeyPatch):
    rng = np.random.default_rng(11)
    scene = scene_of(rng, False)
    n, pieces = N // 8, 4
    limb = rng.integers(0, len(scene.kind), n)
    times = np.linspace(scene.times[0], scene.times[-1], pieces + 1)
    middle = scene.ends[:, limb].mean(axis=2)
    corners = np.array([[np.interp(times, scene.times, middle[:, i, axis]) for axis in range(3)] for i in range(n)])
    corners = corners.transpose(0, 2, 1) + 0.1 * rng.normal(size=(n, pieces + 1, 3)) * scene.radii[limb, :1, None]
    t = np.tile(times, (n, 1))
    path = FlightPath(
        corners[:, :-1].reshape(-1, 3), corners[:, 1:].reshape(-1, 3), t[:, :-1].ravel(), t[:, 1:].ravel(),
        np.repeat(np.arange(n, dtype=np.int32), pieces), np.zeros(n * pieces),
    )  # fmt: skip
    reference = by_rationals(monkeypatch, scene.history.cast_moving(path))
    counted = count_rationals(monkeypatch)
    hits = scene.history.cast_moving(path)
    check_equal(hits, reference)
    later = hits.hit & (hits.exit_piece > hits.piece)
    assert later.sum() > n // 6
    assert np.isin(np.flatnonzero(later), counted).mean() < 0.5
