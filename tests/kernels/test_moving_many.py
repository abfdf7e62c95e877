"""A million motions near surfaces of limbs: no verdict of the kernels is denied by numbers of more digits."""

from collections import Counter
from fractions import Fraction
from random import Random

import numpy as np
import pytest
from support.cases.motions import SHAPES, WHOLE_FLIGHT, triple
from support.check_cylinders import IS_COMPILED
from support.moving_kernels import fly

from cylcollide._types import Shape
from cylcollide.exact.moving import Motion, contact_intervals

pytestmark = [
    pytest.mark.long,
    pytest.mark.skipif(not IS_COMPILED, reason="takes machine code"),
    pytest.mark.skipif(np.finfo(np.longdouble).nmant < 63, reason="longdouble is float64 here"),
]

PAIRS = 170_000
NOISE = 2.0**-58
"""Of the largest term of a polynomial: what its value in longdouble, of 64 bits, may be off by."""


def near_misses(shape, rng, n):
    """Return limbs that move and turn, and bullets; most touch the wall but for 1 to 10^-16 of its size."""
    middle, half = rng.uniform(-2, 2, (n, 3)), rng.uniform(-0.5, 0.5, (n, 3))
    drift, turn = rng.uniform(-1, 1, (2, n, 3)) * 10.0 ** rng.uniform(-3, 0, (2, n, 1))
    if shape == Shape.SPHERE:
        half, turn = 0 * half, 0 * turn
    p1, p2, p1_end, p2_end = (middle + drift * k + side * (half + turn * k) for k in (0, 1) for side in (-1, 1))
    u, along = rng.uniform(0, 1, (2, n, 1))
    place = middle + u * drift + (2 * along - 1) * (half + u * turn) + rng.uniform(-0.4, 0.4, (n, 3))
    way = rng.normal(size=(n, 3)) * 10.0 ** rng.uniform(-1, 1.3, (n, 1))
    start, end = place - u * way, place + (1 - u) * way
    radius = rng.uniform(0.05, 0.5, n)
    radius2 = {Shape.TUBE: 0.7 * radius, Shape.TAPERED: radius * rng.uniform(0, 1.5, n)}.get(shape, 0 * radius)
    arguments = [start, end, p1, p2, p1_end, p2_end]
    touch = least_gauge(shape, arguments, radius, radius2)
    grazes = (touch > 0.05) & (touch < 20) & (rng.uniform(0, 1, n) < 0.8)
    factor = np.where(grazes, touch * (1 + rng.choice([-1, 1], n) * 10.0 ** rng.uniform(-16, 0, n)), 1.0)
    radius, radius2 = np.maximum(radius * factor, 1e-4), radius2 * factor
    extent = np.abs(np.hstack(arguments[:2])).max(1) + np.abs(np.hstack(arguments[2:])).max(1)
    sizes = np.column_stack([radius, radius2, extent + np.maximum(radius, radius2)])
    return *arguments, sizes, np.full(n, int(shape), dtype=np.int8)


def least_gauge(shape, arguments, radius, radius2):
    """Return by which factor of its radii a limb just reaches the bullet (n,); inf if it does not between its caps."""
    low, high = np.zeros(len(radius)), np.ones(len(radius))
    for _ in range(8):
        u = low[:, None] + (high - low)[:, None] * np.linspace(0, 1, 33)
        found = gauge(shape, arguments, radius[:, None], radius2[:, None], u)
        best = np.argmin(found, axis=1)[:, None]
        middle, step = np.take_along_axis(u, best, axis=1)[:, 0], (high - low) / 32
        low, high = np.maximum(middle - step, 0), np.minimum(middle + step, 1)
    return np.take_along_axis(found, best, axis=1)[:, 0]


def gauge(shape, arguments, radius, radius2, u):
    """Return the distance from the axis over the radius there, of bullets at u (n, k); inf beyond the caps."""
    y, a = relative(arguments, u)
    aa = (a * a).sum(-1)
    share = (y * a).sum(-1) / np.maximum(aa, 1e-300)
    near = np.clip(share, 0, 1) if shape in (Shape.CAPSULE, Shape.SPHERE) else share
    distance = np.linalg.norm(y - near[..., None] * a, axis=-1)
    if shape == Shape.TAPERED:
        radius = radius + (radius2 - radius) * share
    if shape == Shape.ELLIPSOID:
        radius = 2 * radius * np.sqrt(np.maximum(share * (1 - share), 0))
    return np.where((near >= 0) & (near <= 1) & (radius > 0), distance / np.maximum(radius, 1e-300), np.inf)


def relative(arguments, u):
    """Return bullets at u (n, k) from p1, and axes, of the numbers' own kind: (n, k, 3)."""
    start, end, p1, p2, p1_end, p2_end = (column[:, None, :] for column in arguments[:6])
    t = u[..., None]
    x, p, q = start + t * (end - start), p1 + t * (p1_end - p1), p2 + t * (p2_end - p2)
    return x - p, q - p


def outside(shape, arguments, u):
    """Return, of bullets at u (n, k), a number > 0 outside of the limb and < 0 inside, and the size of its terms."""
    numbers = [column.astype(np.longdouble) for column in arguments[:7]]
    y, a = relative(numbers, u.astype(np.longdouble))
    radius, radius2 = numbers[6][:, :1], numbers[6][:, 1:2]
    yy, ya, aa = (y * y).sum(-1), (y * a).sum(-1), (a * a).sum(-1)
    ball = yy - radius * radius
    if shape == Shape.SPHERE:
        return ball, yy + radius * radius
    across, caps = aa * yy - ya * ya, np.maximum(-ya, ya - aa)
    size = (aa + yy + radius * radius + radius2 * radius2) ** 2
    wall = across - radius * radius * aa
    if shape == Shape.TAPERED:
        wall, size = aa * across - (radius * aa + (radius2 - radius) * ya) ** 2, size * np.sqrt(size)
    if shape == Shape.ELLIPSOID:
        return aa * across - 4 * radius * radius * ya * (aa - ya), size * np.sqrt(size)
    solid = np.maximum(caps, wall)
    if shape == Shape.TUBE:
        solid = np.maximum(solid, radius2 * radius2 * aa - across)
    if shape == Shape.CAPSULE:
        solid = np.minimum(solid, np.minimum(ball, yy - 2 * ya + aa - radius * radius))
    return solid, size + aa + yy


def deepest(shape, arguments, last):
    """Return the u in [0, last] (n,) at which bullets are deepest in the limb, or nearest to it, of a fine grid."""
    low, high = 0 * last, last
    for _ in range(3):
        u = low[:, None] + (high - low)[:, None] * np.linspace(0, 1, 65)
        best = np.argmin(outside(shape, arguments, u)[0], axis=1)
        step = (high - low) / 64
        middle = np.take_along_axis(u, best[:, None], axis=1)[:, 0]
        low, high = np.maximum(middle - step, 0), np.minimum(middle + step, last)
    return middle


def exact_first(shape, arguments, i):
    """Return the first contact of row i in rational arithmetic, None for a miss."""
    start, end, p1, p2, p1_end, p2_end = (triple(column[i]) for column in arguments[:6])
    radius, radius2, _ = arguments[6][i].tolist()
    motion = Motion(start, end, shape, (p1, p1_end), (p2, p2_end), radius, radius2, WHOLE_FLIGHT)
    contacts = contact_intervals(motion)
    return contacts[0].entry if contacts else None


@pytest.mark.parametrize("shape", SHAPES, ids=lambda shape: shape.name)
def test_no_verdict_is_denied(shape):
    rng, pick, counts = np.random.default_rng(20261123), Random(3), Counter()
    for _ in range(PAIRS // 10_000):
        arguments = near_misses(shape, rng, 10_000)
        found = np.zeros((10_000, 7))
        fly(*arguments, found)
        verdict, lower, upper = found[:, 0], found[:, 1], found[:, 2]
        miss, hit = verdict == 0, (verdict == 3) | (verdict == 7)
        counts.update(miss=int(miss.sum()), hit=int(hit.sum()), undecided=int((verdict == 1).sum()))
        # a hit is inside at the latest time of contact; before the earliest, and in a miss, nothing is inside
        value, size = (v[:, 0] for v in outside(shape, arguments, np.where(hit, upper, 0)[:, None]))
        denied = hit & (value > -NOISE * size)
        before = np.where(miss, 1.0, np.nextafter(np.minimum(lower, 1.0), 0.0))
        value, size = (v[:, 0] for v in outside(shape, arguments, deepest(shape, arguments, before)[:, None]))
        denied |= (before > 0) & (value < NOISE * size)
        counts["asked"] += int(denied.sum())
        for i in {*np.nonzero(denied)[0].tolist(), *pick.sample(range(10_000), 20)}:
            first = exact_first(shape, arguments, i)
            if miss[i]:
                assert first is None, (shape, [column[i].tolist() for column in arguments])
            elif first is not None:
                assert Fraction(lower[i]) <= first, (shape, [column[i].tolist() for column in arguments])
            if hit[i]:
                assert first is not None, (shape, [column[i].tolist() for column in arguments])
                assert first <= Fraction(upper[i]), (shape, [column[i].tolist() for column in arguments])
    print(shape.name, dict(counts))
    assert min(counts["miss"], counts["hit"]) > PAIRS // 10
    assert 0 < counts["undecided"] < PAIRS // 4
