"""Thick rays that start or end at the surface of a grown tapered limb or ellipsoid, up to rounding."""

import numpy as np
import pytest
from support.cases.thick_rays import BOUNDED, KINDS, limb_of
from support.oracle.thick import distance

import cylcollide as cc

pytestmark = pytest.mark.machine_code  # minutes in plain Python

RAYS, SURE = 24, 1e-15
EXITS = ("exit_fraction", "exit_position", "exit_normal", "thickness", "position", "normal")


def rays_at_surface(kind, seed):
    """A limb, points and radii such that a point is at nearly one radius, the limb's middle, and by how much farther.

    Radii differ from the distance by 0 to 10⁷ units in the last place.
    """
    rng = np.random.default_rng([seed, KINDS.index(kind)])
    limb = limb_of(kind, rng, rng.choice([1.0, 30.0]))
    middle = 0.5 * (limb.p1 + limb.p2)[0]
    points = middle + rng.normal(size=(RAYS, 3)) * rng.choice([0.7, 2.0, 50.0], (RAYS, 1))
    far = distance(limb, points.astype(np.longdouble))
    points, far = points[far > 0], far[far > 0]
    ulps = rng.choice([-1.0, 0.0, 1.0], len(far)) * np.floor(10.0 ** rng.uniform(0.0, 7.0, len(far)))
    radius = far.astype(np.float64) * (1.0 + ulps * 2.0**-52)
    return limb, points, radius, middle, far - radius


def hits_of(way, inside, gap):
    """Which rays hit under a policy. Along all of them the distance from the limb grows with that from its middle."""
    holds, always, never = gap <= 0, np.ones(len(gap), np.bool_), np.zeros(len(gap), np.bool_)
    if way == "away":
        return never if inside == "ignore" else holds
    if way == "inward":
        return always if inside == "hit" else ~holds
    if way == "arrives":
        return holds
    return always if inside == "hit" else never if inside == "ignore" else gap >= 0


@pytest.mark.parametrize("inside", ["hit", "exit", "ignore"])
@pytest.mark.parametrize("way", ["away", "inward", "arrives", "outward"])
@pytest.mark.parametrize("kind", BOUNDED)
def test_certain_answers_at_the_surface_are_true(kind, way, inside):
    certain = 0
    for seed in range(4):
        limb, points, radius, middle, gap = rays_at_surface(kind, seed)
        others = middle + (points - middle) * (1.75 if way in ("away", "arrives") else 0.0)
        starts, ends = (others, points) if way in ("arrives", "outward") else (points, others)
        world, want, known = cc.HitWorld(limb), hits_of(way, inside, gap), np.abs(gap) > SURE
        history = cc.PoseHistory(world, interpolate="ends")
        history.record(0.0)
        hits = world.cast_segments(starts, ends, radius=radius, inside=inside)
        for found in (
            hits,
            limb.cast_segments(starts, ends, radius=radius, inside=inside),
            history.cast_segments(starts, ends, 0.0, radius=radius, inside=inside),
        ):
            assert (found.hit == want)[known & ~found.undecided].all()
            assert found.hit[want & known].all()  # a possible hit is one
            assert np.array_equal(found.undecided, hits.undecided)
            assert np.array_equal(found.fraction, hits.fraction)
        chords = world.chords_segments(starts, ends, radius=radius, inside=inside)
        assert np.array_equal(np.diff(chords.offsets), hits.hit)
        assert np.array_equal(chords.undecided, hits.undecided)
        assert np.array_equal(world.occluded_segments(starts, ends, radius=radius, inside=inside), hits.hit)
        for name in EXITS:
            assert np.isfinite(getattr(hits, name)[hits.hit]).all(), name
        assert ((hits.fraction <= hits.exit_fraction) & (hits.exit_fraction <= 1.0))[hits.hit].all()
        certain += np.count_nonzero(known & ~hits.undecided)
    assert certain > RAYS // 2


@pytest.mark.parametrize("kind", BOUNDED)
def test_an_exit_is_the_latest_possible_in_casts_as_in_chords(kind):
    for seed in range(4):
        limb, points, radius, middle, _ = rays_at_surface(kind, seed)
        starts, ends = np.broadcast_to(middle, points.shape), middle + 1.75 * (points - middle)
        world = cc.HitWorld(limb)
        hits = world.cast_segments(starts, ends, radius=radius, inside="exit")
        assert hits.hit.all()
        assert hits.started_inside.all()
        assert np.array_equal(hits.fraction, hits.exit_fraction)
        assert np.array_equal(hits.fraction, world.chords_segments(starts, ends, radius=radius).exit_fraction)
        for i in range(3):
            one = world.cast_segments(starts[i], ends[i], radius=radius[i], inside="exit")
            assert one.fraction[0] == hits.fraction[i]
            assert (
                limb.cast_segments(starts[i], ends[i], radius=radius[i], inside="exit").fraction[0] == one.fraction[0]
            )
