"""Rounding of contacts with moving limbs: how much of the bound is used, and extreme numbers."""

from math import inf
from random import Random

import numpy as np
import pytest
from support.cases.motions import SHAPES, everyday, vector
from support.check_cylinders import sized
from support.moving_kernels import flight_parameter, kernel_arguments

from cylcollide.constants import MOVING_ROUNDING_BOUND
from cylcollide.exact.moving import contact_intervals
from cylcollide.moving.bounds import MovingLimb, moving_hit_bounds

pytestmark = pytest.mark.plain_python

LEVELS = [2.0**-k for k in range(16, -1, -1)]  # shares of the extent that are tried
ROUNDINGS = 16  # allowed error of an argument, in 2**-53 of the largest coordinate


# How much of the bound is used --------------------------------------------------------------------------------------


def far(rng, shape, distance):
    """Return an everyday motion that begins at a tick, `distance` metres from the origin."""
    motion = everyday(rng, shape)
    shift = vector(rng, 1) * distance
    moved = [tuple((np.array(p) + shift).tolist()) for p in (motion.start, motion.end, *motion.p1, *motion.p2)]
    return motion._replace(start=moved[0], end=moved[1], p1=(moved[2], moved[3]), p2=(moved[4], moved[5]))


def disturbed(rng, bullet, limb):
    """Return the arguments with an error of 98% of the allowed one in every coordinate."""
    bullet_size = max(abs(c) for point in bullet for c in point)
    ends = limb.p1, limb.p2, limb.p1_end, limb.p2_end
    limb_size = max(abs(c) for point in ends for c in point)

    def off(point, size):
        return tuple(c + rng.choice([-1, 1]) * 0.98 * ROUNDINGS * 2.0**-53 * size for c in point)

    p1, p2, p1_end, p2_end = (off(end, limb_size) for end in ends)
    moved = limb._replace(p1=p1, p2=p2, p1_end=p1_end, p2_end=p2_end)
    return (off(bullet[0], bullet_size), off(bullet[1], bullet_size)), moved


@np.errstate(all="ignore")
def share_used(rng, motion):
    """Return the smallest share of the extent with which the first contact is between the bounds; None for a miss."""
    contacts = contact_intervals(motion._replace(interval=motion.interval._replace(is_closed=True)))
    if not contacts or contacts[0].entry == motion.interval.begin:
        return None
    bullet, limb, extent = kernel_arguments(motion)
    bullet, limb = disturbed(rng, bullet, limb)
    for level in LEVELS:
        bounds = moving_hit_bounds(bullet, limb, level * extent)
        first = contacts[0].entry >= flight_parameter(motion, bounds.lower) if bounds.possible else False
        if first and (not bounds.certain or contacts[0].entry <= flight_parameter(motion, bounds.upper)):
            return level
    return inf


@pytest.mark.machine_code
@pytest.mark.parametrize("shape", SHAPES, ids=lambda shape: shape.name)
def test_rounding_bound_holds_and_is_not_vast(shape, record_property):
    rng, worst, count = Random(f"bound {shape.name}"), 0.0, sized(12, 60)
    for distance in (0.0, 1e2, 1e6):
        shares = [share_used(rng, far(rng, shape, distance)) for _ in range(count)]
        found = [share for share in shares if share is not None]
        assert len(found) >= count // 12
        worst = max(worst, *found)
    record_property("share of the rounding bound used", worst)
    print(f"{shape.name}: contacts use at most {worst:.4f} of {MOVING_ROUNDING_BOUND / 2**-53:g} u")
    assert worst < 1.0
    assert worst > 1e-3


# Extreme numbers ----------------------------------------------------------------------------------------------------


def scaled(motion, unit):
    """Return the motion in another unit of length, a power of two."""
    points = [tuple(c * unit for c in p) for p in (motion.start, motion.end, *motion.p1, *motion.p2)]
    return motion._replace(
        start=points[0],
        end=points[1],
        p1=(points[2], points[3]),
        p2=(points[4], points[5]),
        radius=motion.radius * unit,
        radius2=motion.radius2 * unit,
    )


@pytest.mark.coverage("SPHERE")
@np.errstate(all="ignore")
@pytest.mark.parametrize("shape", SHAPES, ids=lambda shape: shape.name)
def test_extreme_magnitudes_are_undecided(shape):
    rng, hits = Random(4), 0
    for _ in range(10):
        motion = everyday(rng, shape)
        bullet, limb, extent = kernel_arguments(motion)
        usual = moving_hit_bounds(bullet, limb, extent)
        hits += usual.possible
        for unit in (2.0**490, 2.0**80, 2.0**-80, 2.0**-490):
            bullet, limb, extent = kernel_arguments(scaled(motion, unit))
            undecided = moving_hit_bounds(bullet, limb, extent)
            assert undecided == moving_hit_bounds(bullet, limb, inf)
            assert (undecided.possible, undecided.certain, undecided.lower, undecided.upper) == (True, False, 0.0, inf)
        for unit in (2.0**40, 2.0**-40):
            assert moving_hit_bounds(*kernel_arguments(scaled(motion, unit))) == usual
    assert 0 < hits < 10


@np.errstate(all="ignore")
@pytest.mark.parametrize("shape", SHAPES, ids=lambda shape: shape.name)
def test_a_bullet_at_rest_in_the_limb_s_frame_is_a_point(shape):
    # the path relative to the limb and the limb's turn are zero
    p1, p2 = (1.0, 2.0, 3.0), (1.0, 2.0, 4.0)
    limb = MovingLimb(int(shape), 0.25, 0.125, p1, p2, p1, p2)
    for x, possible in ((1.0 + 5 / 32, True), (1.5, False), (8.0, False)):
        place = (x, 2.0, 3.5)
        bounds = moving_hit_bounds((place, place), limb, 20.0)
        assert (bounds.possible, bounds.inside) == (possible, possible)
