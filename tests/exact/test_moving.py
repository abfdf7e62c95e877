"""Contacts with moving limbs: limbs at rest have the chords of rays; cases solved by hand; laws; intervals."""

from fractions import Fraction
from itertools import pairwise
from math import isqrt
from random import Random

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from support.cases.motions import SHAPES, WHOLE_FLIGHT, everyday, motion
from support.check_motions import check_motion
from support.hypothesis import shapes

from cylcollide._types import Face, Shape
from cylcollide.exact.algebraic import Algebraic, real_roots
from cylcollide.exact.contacts import Contact
from cylcollide.exact.line import Triple, segment_numbers
from cylcollide.exact.moving import Motion, TickInterval, contact_face, contact_intervals, tick_interval
from cylcollide.exact.numbers import QuadraticNumber
from cylcollide.exact.order import limb_chords
from cylcollide.exact.polynomials import trimmed
from cylcollide.shapes import SHAPE_RECORDS

pytestmark = pytest.mark.plain_python

EVERY_SHAPE = pytest.mark.parametrize("shape", SHAPES, ids=lambda shape: shape.name.lower())
ALPHAS = st.sampled_from([(Fraction(0), Fraction(1)), (Fraction(1, 3), Fraction(0)), (Fraction(-2, 7), Fraction(9, 5))])
ROUND = tuple(map(int, SHAPES))


def number(x: QuadraticNumber | None) -> Algebraic:
    """Return a fraction of a ray as a root of the quadratic that it solves."""
    assert x is not None
    middle, reach = Fraction(x.rational, x.denominator), Fraction(isqrt(x.radicand) + 1, x.denominator)
    if x.root_sign * x.radicand == 0:
        return Algebraic.rational(middle)
    square = trimmed((x.rational**2 - x.radicand, -2 * x.rational * x.denominator, x.denominator**2))
    return real_roots(square, middle - reach, middle + reach)[0 if x.root_sign < 0 else -1]


def check_still(m: Motion) -> int:
    """Assert that a translating limb has the chords of the ray in its frame; return their number."""
    limb = SHAPE_RECORDS[m.shape].exact_solid(m.p1[0], m.p2[0], m.radius, m.radius2, ())
    chords = limb_chords(segment_numbers(m.start, m.end), limb)
    drift = np.subtract(m.p1[1], m.p1[0])
    moving = m._replace(end=tuple((np.asarray(m.end) + drift).tolist()))
    contacts = contact_intervals(moving)
    assert contacts == tuple(Contact(number(chord.entry), number(chord.exit)) for chord in chords)
    assert [contact_face(moving, c) for c in contacts] == [c.entry_face for c in chords]
    return len(chords)


@given(shapes.any_case(*ROUND), ALPHAS)
def test_limbs_at_rest_have_the_chords_of_rays(case, alpha):
    limb = case.limb
    p1, p2 = (tuple(p[0].tolist()) for p in (limb.p1, limb.p2))
    interval = TickInterval(Fraction(0), Fraction(1), True, *alpha)
    start, end = tuple(case.start.tolist()), tuple(case.end.tolist())
    radii = float(limb.radius[0]), float(limb.radius2[0])
    check_still(Motion(start, end, Shape(case.kind), (p1, p1), (p2, p2), *radii, interval))


@given(shapes.exact_case(*ROUND), shapes.points)
def test_translating_limbs_have_the_chords_of_rays(case, drift):
    """Integers are not rounded: limb and bullet's end have exactly the same displacement."""
    limb = case.limb
    ends = [(tuple(p[0].tolist()), tuple((p[0] + drift).tolist())) for p in (limb.p1, limb.p2)]
    start, end = tuple(case.start.tolist()), tuple(case.end.tolist())
    radii = float(limb.radius[0]), float(limb.radius2[0])
    check_still(Motion(start, end, Shape(case.kind), *ends, *radii, WHOLE_FLIGHT))


# By hand ------------------------------------------------------------------------------------------------------------

ORIGIN, UP = np.zeros(3), np.array([0.0, 0.0, 4.0])
X, Z = np.array([1.0, 0.0, 0.0]), np.array([0.0, 0.0, 1.0])
HALF = Fraction(1, 2)


def times(m: Motion) -> list[tuple[float, bool, float, bool, Face]]:
    """Return entry and exit of every contact, whether they are open, and the face."""
    found = contact_intervals(m)
    return [(c.entry.rounded(), c.entry_open, c.exit.rounded(), c.exit_open, contact_face(m, c)) for c in found]


def test_a_limb_that_crosses_between_two_ticks_is_hit():
    """At both ticks it is far from the bullet, which does not move."""
    for shape in SHAPES:
        radii = (1.0, 0.5) if shape == Shape.TUBE else (1.0, 1.0)
        m = motion(shape, ORIGIN, ORIGIN, [-10 * X - 2 * Z, 10 * X - 2 * Z], [-10 * X + 2 * Z, 10 * X + 2 * Z], *radii)
        m = m if shape != Shape.SPHERE else m._replace(p1=((-10.0, 0.0, 0.0), (10.0, 0.0, 0.0)))
        bore = [(0.45, False, 0.475, False, Face.SIDE), (0.525, False, 0.55, False, Face.BORE)]
        assert times(m) == (bore if shape == Shape.TUBE else [(0.45, False, 0.55, False, Face.SIDE)]), shape


def test_a_limb_is_not_hit_at_the_moment_its_axis_vanishes():
    """The axis is (1 - 2 s) UP around a bullet at its middle; a capsule's balls contain the bullet throughout."""
    ends = [-UP, UP], [UP, -UP]
    for shape in (Shape.CYLINDER, Shape.TAPERED, Shape.ELLIPSOID):
        m = motion(shape, ORIGIN, ORIGIN, *ends, 1.0, 1.0)
        assert times(m) == [(0.0, False, 0.5, True, Face.INSIDE), (0.5, True, 1.0, False, Face.INSIDE)]
    assert times(motion(Shape.CAPSULE, ORIGIN, ORIGIN, *ends, 1.0, 0.0)) == [(0.0, False, 1.0, False, Face.INSIDE)]
    beyond = motion(Shape.CYLINDER, 2 * X, 2 * X, *ends, 1.0, 0.0)
    assert times(beyond) == []


def test_a_moment_without_axis_is_no_contact():
    """The bullet crosses the plane of the vanishing cylinder at that moment, within its radius or outside."""
    for shape in (Shape.CYLINDER, Shape.TAPERED, Shape.ELLIPSOID):
        for beside in (ORIGIN, X / 2, X, 2 * X):
            assert times(motion(shape, beside - 9 * UP, beside + 9 * UP, [ORIGIN, ORIGIN], [UP, -UP], 1.0, 1.0)) == []


def test_a_limb_without_axis_is_never_hit_and_a_capsule_without_one_is_a_ball():
    ends = [-X, X], [-X, X]
    for shape in (Shape.CYLINDER, Shape.TUBE, Shape.TAPERED, Shape.ELLIPSOID):
        assert times(motion(shape, ORIGIN, ORIGIN, *ends, 1.0, 0.5)) == []
    for shape in (Shape.CAPSULE, Shape.SPHERE):
        assert times(motion(shape, ORIGIN, ORIGIN, *ends, 0.5, 0.0)) == [(0.25, False, 0.75, False, Face.SIDE)]


@pytest.mark.coverage
def test_a_limb_that_appears_around_the_bullet_has_no_face():
    interval = TickInterval(HALF, Fraction(1), True, Fraction(0), Fraction(0))
    still = motion(Shape.CYLINDER, UP / 2, UP / 2, [ORIGIN, ORIGIN], [UP, UP], 1.0, 0.0)._replace(interval=interval)
    assert times(still) == [(0.5, False, 1.0, False, Face.INSIDE)]
    for place, face in ((X + UP / 2, Face.SIDE), (X, Face.CAP1), (X + UP, Face.CAP2)):
        on_surface = still._replace(start=tuple(place.tolist()), end=tuple(place.tolist()))
        assert times(on_surface) == [(0.5, False, 1.0, False, face)]
        assert times(on_surface._replace(interval=WHOLE_FLIGHT)) == [(0.0, False, 1.0, False, Face.INSIDE)]


def test_the_end_of_a_half_open_interval_belongs_to_the_next():
    """The bullet reaches the ball at s = 1/2."""
    ball = motion(Shape.SPHERE, -3 * X, X, [ORIGIN, ORIGIN], [ORIGIN, ORIGIN], 1.0, 0.0)
    first = TickInterval(Fraction(0), HALF, False, Fraction(0), Fraction(2))
    assert times(ball._replace(interval=first)) == []
    assert times(ball._replace(interval=first._replace(is_closed=True))) == [(0.5, False, 0.5, False, Face.SIDE)]
    second = TickInterval(HALF, Fraction(1), True, Fraction(-1), Fraction(2))
    assert times(ball._replace(interval=second)) == [(0.5, False, 1.0, False, Face.SIDE)]
    within = first._replace(end=Fraction(3, 4))
    assert times(ball._replace(interval=within)) == [(0.5, False, 0.75, True, Face.SIDE)]


# Sizes --------------------------------------------------------------------------------------------------------------


def scaled(m: Motion, factor: float) -> Motion:
    """Return the motion with every length multiplied by a factor."""

    def times_factor(v: Triple) -> Triple:
        return v[0] * factor, v[1] * factor, v[2] * factor

    ends = [(times_factor(p[0]), times_factor(p[1])) for p in (m.p1, m.p2)]
    radii = m.radius * factor, m.radius2 * factor
    return Motion(times_factor(m.start), times_factor(m.end), m.shape, *ends, *radii, m.interval)


@EVERY_SHAPE
def test_numbers_of_any_size_are_exact(shape):
    """Coordinates of 5e-324 and 2^450 in one case, and a limb with 1e-9 of its usual radius."""
    rng, least = Random(300 + int(shape)), 5e-324
    m = scaled(everyday(rng, shape), 2.0**450)
    fly_by = m._replace(start=(least, m.start[1], m.start[2]), interval=WHOLE_FLIGHT)
    through = m._replace(start=m.p1[0], end=(m.p1[1][0], m.p1[1][1], least), interval=WHOLE_FLIGHT)
    for case in (fly_by, through):
        check_motion(case)
    assert contact_intervals(through) or shape == Shape.TUBE
    thin = everyday(rng, shape)
    check_motion(thin._replace(radius=thin.radius * 1e-9, radius2=thin.radius2 * 1e-9))


# Intervals ----------------------------------------------------------------------------------------------------------

TIMES = st.one_of(st.integers(0, 8).map(float), st.floats(0, 8))


@given(TIMES, TIMES, st.lists(TIMES, min_size=1, max_size=5, unique=True), st.fractions(0, 1))
def test_each_moment_of_a_flight_belongs_to_the_tick_before_it(one, two, ticks, s):
    first, last, ticks = min(one, two), max(one, two), sorted(ticks)
    intervals = [tick_interval(first, last, *pair) for pair in pairwise([*ticks, None])]
    assert all(interval is None or interval.begin < interval.end or interval.is_closed for interval in intervals)
    ends = [end for interval in intervals if interval for end in (interval.begin, interval.end)]
    for moment in (s, *ends, Fraction(0), Fraction(1)):
        now = Fraction(first) + moment * (Fraction(last) - Fraction(first))
        tick = max((k for k, time in enumerate(ticks) if time <= now), default=None)
        if now > ticks[-1]:
            tick = None
        for k, interval in enumerate(intervals):
            inside = interval is not None and (
                interval.begin <= moment < interval.end or (interval.is_closed and moment == interval.end)
            )
            assert inside == (k == tick)
            if interval is not None and inside:
                alpha = interval.alpha0 + interval.alpha1 * moment
                step = Fraction(ticks[k + 1]) - Fraction(ticks[k]) if k + 1 < len(ticks) else Fraction(1)
                assert alpha * step == now - Fraction(ticks[k])
