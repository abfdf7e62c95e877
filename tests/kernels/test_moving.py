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

from cylcollide._types import Face
from cylcollide.constants import CONTACT_ERROR
from cylcollide.exact.moving import contact_face, contact_intervals
from cylcollide.kernels.interval import UNDECIDED_FACE
from cylcollide.kernels.moving import moving_hit_bounds
from cylcollide.kernels.moving_contact import accurate_contact

pytestmark = [pytest.mark.plain_python, pytest.mark.coverage]


@np.errstate(all="ignore")
def judged(motion):
    """Return the verdict of the kernels, after it was found right; and whether the contact's time is accurate."""
    bullet, limb, extent = kernel_arguments(motion)
    bounds = moving_hit_bounds(bullet, limb, extent)
    closed = motion._replace(stretch=motion.stretch._replace(is_closed=True))
    contacts = contact_intervals(closed)
    if not bounds.possible:
        assert not contacts, motion
        return "miss", False
    assert not contacts or contacts[0].entry >= flight_parameter(motion, bounds.lower), motion
    if not bounds.certain:
        assert bounds.upper == inf, motion
        return "undecided", False
    assert contacts, motion
    assert contacts[0].entry <= flight_parameter(motion, bounds.upper), motion
    if bounds.inside:
        assert contacts[0].entry == motion.stretch.begin, motion
        assert bounds.upper == 0.0, motion
        return "inside", False
    if bounds.face == UNDECIDED_FACE:
        return "no face", False
    assert contact_face(closed, contacts[0]) == bounds.face, motion
    return Face(int(bounds.face)).name, is_accurate(motion, bounds, extent, contacts[0].entry)


def is_accurate(motion, bounds, extent, entry):
    """Return whether a decided contact has an accurate time, after that was found right."""
    contact = accurate_contact(accurate(motion), int(motion.shape), motion.radius, motion.radius2, bounds, extent)
    if contact.accurate:
        time, error = sum(map(Fraction, contact.time)), Fraction(CONTACT_ERROR)
        length = motion.stretch.end - motion.stretch.begin
        assert entry >= motion.stretch.begin + (time - error) * length, motion
        assert entry <= motion.stretch.begin + (time + error) * length, motion
    return contact.accurate


def tally(family, shape, count, seed):
    """Judge motions of a family; return how often each verdict came up, and how many contacts were accurate."""
    rng, verdicts, accurate_ones = Random(f"{family.__name__} {shape.name} {seed}"), Counter(), 0
    for _ in range(count):
        verdict, good = judged(family(rng, shape))
        verdicts[verdict] += 1
        accurate_ones += good
    return verdicts, accurate_ones


@pytest.mark.parametrize("shape", SHAPES, ids=lambda shape: shape.name)
@pytest.mark.parametrize("family", FAMILIES, ids=lambda family: family.__name__)
def test_no_verdict_is_wrong(family, shape):
    verdicts, _ = tally(family, shape, sized(80), 1)
    assert len(verdicts) > 1


@pytest.mark.parametrize("shape", SHAPES, ids=lambda shape: shape.name)
def test_everyday_motions_are_decided(shape):
    verdicts, good = tally(everyday, shape, sized(400), 2)
    faces = sum(count for verdict, count in verdicts.items() if verdict in Face.__members__)
    assert verdicts["undecided"] + verdicts["no face"] == 0
    assert min(verdicts["miss"], faces, verdicts["inside"]) > sized(400) // 200
    assert good == faces
