"""Bounds of contacts with moving limbs, and accurate contacts, against rational arithmetic: no verdict is wrong."""

from collections import Counter
from fractions import Fraction
from math import inf
from random import Random

import numpy as np
import pytest
from support.cases.motions import FAMILIES, SHAPES, everyday
from support.check_cylinders import sized
from support.moving_kernels import accurate, flight_parameter, kernel_arguments

from cylcollide._types import Face, Shape
from cylcollide.constants import CONTACT_ERROR
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
