"""Bounds of contacts with moving limbs, and accurate contacts, against rational arithmetic: no verdict is wrong."""

from collections import Counter
from fractions import Fraction
from math import inf
from random import Random

import numpy as np
import pytest
from support.cases.motions import FAMILIES, SHAPES, everyday, vector
from support.check_cylinders import sized
from support.moving_kernels import accurate, flight_parameter, kernel_arguments

from cylcollide._types import Face, Shape
from cylcollide.constants import CONTACT_ERROR, MOVING_ROUNDING_BOUND
from cylcollide.exact.moving import contact_face, contact_intervals
from cylcollide.kernels.inside_policy import HitBounds
from cylcollide.kernels.interval import UNDECIDED_FACE
from cylcollide.moving.bounds import MovingLimb, RelativeMotion, certain_miss, moving_hit_bounds
from cylcollide.moving.contact import accurate_contact, first_step

pytestmark = pytest.mark.plain_python


@np.errstate(all="ignore")
def judged(motion):
    """Check the verdict of the kernels; return it, and whether the contact's time is accurate."""
    bullet, limb, extent = kernel_arguments(motion)
    bounds = moving_hit_bounds(bullet, limb, extent)
    closed = motion._replace(interval=motion.interval._replace(is_closed=True))
    contacts = contact_intervals(closed)
    missed, earliest = certain_miss(bullet, limb, extent)
    assert not (missed and contacts), motion
    assert not contacts or contacts[0].entry >= flight_parameter(motion, earliest), motion
    if not bounds.possible:
        assert not contacts, motion
        return "miss" if missed else "late miss", False
    assert not contacts or contacts[0].entry >= flight_parameter(motion, bounds.lower), motion
    if not bounds.certain:
        assert bounds.upper == inf, motion
        return "undecided", False
    assert contacts, motion
    assert contacts[0].entry <= flight_parameter(motion, bounds.upper), motion
    if bounds.inside:
        assert contacts[0].entry == motion.interval.begin, motion
        assert bounds.upper == 0.0, motion
        return "inside", False
    if bounds.face == UNDECIDED_FACE:
        return "no face", False
    assert contact_face(closed, contacts[0]) == bounds.face, motion
    return Face(int(bounds.face)).name, is_accurate(motion, bounds, extent, contacts[0].entry)


def is_accurate(motion, bounds, extent, entry):
    """Return whether a decided contact has an accurate time; asserts that such a time is right."""
    u, known = accurate_contact(accurate(motion), int(motion.shape), motion.radius, motion.radius2, bounds, extent)
    if known:
        time, error = sum(map(Fraction, u)), Fraction(CONTACT_ERROR)
        length = motion.interval.end - motion.interval.begin
        assert entry >= motion.interval.begin + (time - error) * length, motion
        assert entry <= motion.interval.begin + (time + error) * length, motion
    return known


def tally(family, shape, count, seed):
    """Judge motions of a family; return counts of the verdicts, and the number of accurate contacts."""
    rng, verdicts, accurate_ones = Random(f"{family.__name__} {shape.name} {seed}"), Counter(), 0
    for _ in range(count):
        verdict, good = judged(family(rng, shape))
        verdicts[verdict] += 1
        accurate_ones += good
    return verdicts, accurate_ones


@pytest.mark.coverage("spinning-ELLIPSOID", "tangent-TAPERED", "timed-SPHERE", "whole-CAPSULE", "whole-TUBE")
@pytest.mark.parametrize("shape", SHAPES, ids=lambda shape: shape.name)
@pytest.mark.parametrize("family", [one for one in FAMILIES if one is not everyday], ids=lambda family: family.__name__)
def test_no_verdict_is_wrong(family, shape):
    verdicts, _ = tally(family, shape, sized(12, 40), 1)
    assert len(verdicts) > 1


@pytest.mark.coverage("CYLINDER")
@pytest.mark.parametrize("shape", SHAPES, ids=lambda shape: shape.name)
def test_everyday_motions_are_decided(shape):
    count = sized(80, 80)
    verdicts, good = tally(everyday, shape, count, 2)
    faces = sum(count for verdict, count in verdicts.items() if verdict in Face.__members__)
    assert verdicts["undecided"] + verdicts["no face"] == 0
    assert verdicts["late miss"] < verdicts["miss"]  # late: not detected by the two windows of `certain_miss`
    assert min(verdicts["miss"], faces, verdicts["inside"]) > count // 200
    assert good == faces


def lanes(values):
    """Return one structure of arrays (8,) from eight structures of numbers."""
    if isinstance(values[0], tuple):
        return tuple(lanes(part) for part in zip(*values, strict=True))
    return np.array(values)


def eight(shape, face=None):
    """Return eight everyday motions of a shape, entered through `face` if given, kernel arguments and bounds."""
    rng, found = Random(f"{shape.name} {face}"), []
    while len(found) < 8:
        motion = everyday(rng, shape)
        arguments = kernel_arguments(motion)
        bounds = moving_hit_bounds(*arguments)
        if face is None or (bounds.certain and not bounds.inside and bounds.face == face):
            found.append((motion, arguments, bounds))
    return found


@pytest.mark.parametrize("shape", SHAPES, ids=lambda shape: shape.name)
@np.errstate(all="ignore")
def test_eight_lane_misses_are_scalar(shape):
    cases = eight(shape)
    bullets, limbs, extents = zip(*(arguments for _, arguments, _ in cases), strict=True)
    limb = MovingLimb(int(shape), *lanes([one[1:] for one in limbs]))
    missed, earliest = certain_miss(lanes(bullets), limb, np.array(extents))
    one_by_one = [certain_miss(*arguments) for _, arguments, _ in cases]
    assert missed.tolist() == [one[0] for one in one_by_one]
    assert earliest.tolist() == [one[1] for one in one_by_one]
    assert 0 < missed.sum() < 8


@pytest.mark.coverage("TAPERED")
@pytest.mark.parametrize("shape", SHAPES, ids=lambda shape: shape.name)
@np.errstate(all="ignore")
def test_eight_lane_times_equal_scalar_times(shape):
    face = Face.CAP2 if shape in (Shape.CYLINDER, Shape.CAPSULE) else Face.SIDE
    cases = eight(shape, face)
    motion = RelativeMotion(*lanes([accurate(motion) for motion, _, _ in cases]))
    radii = lanes([(motion.radius, motion.radius2) for motion, _, _ in cases])
    lower, upper, extent = lanes([(bounds.lower, bounds.upper, arguments[2]) for _, arguments, bounds in cases])
    bounds = HitBounds(True, True, lower, upper, False, float(face))
    (high, low), known = first_step(motion, int(shape), *radii, bounds, extent)
    for k, (one, (_, _, size), own) in enumerate(cases):
        want, _ = accurate_contact(accurate(one), int(shape), one.radius, one.radius2, own, size)
        assert known[k]
        assert (high[k], low[k]) == want


# How much of the bound is used --------------------------------------------------------------------------------------

LEVELS = [2.0**-k for k in range(16, -1, -1)]  # shares of the extent that are tried
ROUNDINGS = 16  # allowed error of an argument, in 2**-53 of the largest coordinate


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
