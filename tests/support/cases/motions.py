"""Bullets against moving limbs: everyday motions, grazes in space and time, and exactly degenerate integer cases."""

from collections.abc import Callable
from fractions import Fraction
from random import Random

import numpy as np
from support.hypothesis.shapes import TRIPLES

from cylcollide._types import Shape
from cylcollide.exact.line import Triple
from cylcollide.exact.moving import Motion, TickInterval, contact_intervals, tick_interval
from cylcollide.kernels.traits import TRAITS

SHAPES = tuple(shape for shape, traits in TRAITS.items() if not traits.has_axes)
WHOLE_FLIGHT = TickInterval(Fraction(0), Fraction(1), True, Fraction(0), Fraction(1))


def vector(rng: Random, size: float) -> np.ndarray:
    """Return a random vector with components between -size and size."""
    return np.array([rng.uniform(-size, size) for _ in range(3)])


def triple(v: np.ndarray) -> Triple:
    """Return the components of a vector."""
    x, y, z = v.tolist()
    return x, y, z


def motion(
    shape: Shape, start: np.ndarray, end: np.ndarray, p1: list[np.ndarray], p2: list[np.ndarray], *radii: float
) -> Motion:
    """Return a motion over the whole flight; a sphere has one centre."""
    if shape == Shape.SPHERE:
        p2 = p1
    ends = [(triple(p[0]), triple(p[1])) for p in (p1, p2)]
    return Motion(triple(start), triple(end), shape, ends[0], ends[1], radii[0], radii[1], WHOLE_FLIGHT)


def radii(rng: Random, shape: Shape, radius: float) -> tuple[float, float]:
    """Return the radii of a limb; one in three tapered limbs is a cone, with its apex at either end."""
    if shape == Shape.TUBE:
        return radius, radius * rng.uniform(0.1, 0.95)
    if shape != Shape.TAPERED:
        return radius, 0.0
    found = [radius, rng.choice([0.0, radius, radius * rng.uniform(0, 2)])]
    rng.shuffle(found)
    return found[0], found[1]


# Everyday -----------------------------------------------------------------------------------------------------------


def server_interval(rng: Random) -> TickInterval:
    """Return one tick interval of a flight of up to four ticks, from float64 times of a 60 Hz game server."""
    tick = rng.randrange(100, 100_000)
    first = (tick + rng.uniform(0, 1)) / 60
    last = first + rng.choice([0.0, rng.uniform(0, 0.05)])
    found = [tick_interval(first, last, k / 60, (k + 1) / 60) for k in range(tick - 1, tick + 5)]
    return rng.choice([interval for interval in found if interval is not None])


def everyday(rng: Random, shape: Shape) -> Motion:
    """A limb that moves by up to about half its size in a tick, and a bullet aimed roughly at it."""
    p, q = vector(rng, 1), vector(rng, 1)
    p1, p2 = [p, p + vector(rng, 0.3)], [q, q + vector(rng, 0.3)]
    r1, r2 = radii(rng, shape, rng.uniform(0.05, 0.5))
    interval, share = server_interval(rng), rng.uniform(0, 1)
    alpha = float(interval.alpha0 + interval.alpha1 * (interval.begin + interval.end) / 2)
    aim = (p1[0] + alpha * (p1[1] - p1[0])) * (1 - share) + share * (p2[0] + alpha * (p2[1] - p2[0])) + vector(rng, 0.4)
    middle = float((interval.begin + interval.end) / 2)
    way = vector(rng, 5)
    return motion(shape, aim - middle * way, aim + (1 - middle) * way, p1, p2, r1, r2)._replace(interval=interval)


def spinning(rng: Random, shape: Shape) -> Motion:
    """A limb that makes up to half a turn in the tick; its ends move straight, so its axis is short in between."""
    half, turn = vector(rng, 1), rng.choice([rng.uniform(0, 1), 1 - 10.0 ** rng.uniform(-12, -1)])
    middle, drift = vector(rng, 0.2), vector(rng, 0.3)
    after = half * (1 - 2 * turn) + vector(rng, 1) * 10.0 ** rng.uniform(-12, 0)
    p1, p2 = [middle - half, middle + drift - after], [middle + half, middle + drift + after]
    start, end = vector(rng, 2), vector(rng, 2)
    return motion(shape, start, end, p1, p2, *radii(rng, shape, rng.uniform(0.1, 1)))


# Grazes -------------------------------------------------------------------------------------------------------------


def gauge(m: Motion, s: np.ndarray) -> np.ndarray:
    """Return the scale of the radii at which the limb touches the bullet, at times (n,); inf beyond the caps."""
    alpha = (float(m.interval.alpha0) + float(m.interval.alpha1) * s)[:, None]
    x = np.asarray(m.start) + s[:, None] * (np.asarray(m.end) - np.asarray(m.start))
    p, q = (np.asarray(ends[0]) + alpha * (np.asarray(ends[1]) - np.asarray(ends[0])) for ends in (m.p1, m.p2))
    y, a = x - p, q - p
    aa = np.maximum((a * a).sum(axis=1), 1e-300)
    u = (y * a).sum(axis=1) / aa
    if m.shape in (Shape.CAPSULE, Shape.SPHERE):
        return np.linalg.norm(y - np.clip(u, 0, 1)[:, None] * a, axis=1) / m.radius
    off = np.linalg.norm(y - u[:, None] * a, axis=1)
    within = np.maximum(u * (1 - u), 0)
    rho = {Shape.TAPERED: m.radius + (m.radius2 - m.radius) * u, Shape.ELLIPSOID: 2 * m.radius * np.sqrt(within)}.get(
        m.shape, np.full_like(u, m.radius)
    )
    with np.errstate(divide="ignore"):
        return np.where((u >= 0) & (u <= 1) & (rho > 0), off / np.maximum(rho, 1e-300), np.inf)


def least_gauge(m: Motion) -> float:
    """Return the least gauge on the interval, by 10 refinements of 65 samples."""
    low, high = float(m.interval.begin), float(m.interval.end)
    for _ in range(10):
        s = np.linspace(low, high, 65)
        found = gauge(m, s)
        best = int(np.argmin(found))
        low, high = s[max(best - 1, 0)], s[min(best + 1, 64)]
    return float(found[best])


def grazing(rng: Random, shape: Shape) -> Motion:
    """A limb that is 10^-1 to 10^-15.5 (relative) thicker or thinner than one that the bullet touches once."""
    while True:
        m = rng.choice([everyday, spinning])(rng, shape)
        least = least_gauge(m)
        if 1e-6 < least < 1e6:
            break
    factor = least * (1 + rng.choice([-1, 1]) * 10.0 ** rng.uniform(-15.5, -1))
    return m._replace(radius=float(m.radius * factor), radius2=float(m.radius2 * factor))


def timed(rng: Random, shape: Shape) -> Motion:
    """A tick interval with an end at a contact's end: exactly there if rational, else at or next to its float64."""
    while True:
        m = rng.choice([everyday, spinning, grazing, whole, tangent])(rng, shape)
        ends = [end for contact in contact_intervals(m) for end in contact[:2] if 0 < end < 1]
        if not ends:
            continue
        end = rng.choice(ends)
        at = end.bounds[0] if end.is_rational else Fraction(end.rounded()) + Fraction(rng.choice([-1, 0, 1]), 2**53)
        if not 0 < at < 1:
            continue
        begin = (
            Fraction(0) if rng.random() < 0.6 else at if rng.random() < 0.7 else at - at / 10 ** rng.randrange(1, 15)
        )
        last = Fraction(1) if begin == at and rng.random() < 0.6 else at
        closed = begin == last or rng.random() < 0.4
        return m._replace(interval=m.interval._replace(begin=begin, end=last, is_closed=closed))


# Integers -----------------------------------------------------------------------------------------------------------


def whole_vector(rng: Random, size: int) -> np.ndarray:
    """Return a vector of integers between -size and size."""
    return np.array([float(rng.randint(-size, size)) for _ in range(3)])


def whole_radii(rng: Random, shape: Shape, radius: int) -> tuple[float, float]:
    """Return integer radii."""
    if shape == Shape.TUBE:
        return float(radius + rng.randint(1, 2)), float(radius)
    return float(radius), float(rng.randint(0, 3)) if shape == Shape.TAPERED else 0.0


def whole(rng: Random, shape: Shape) -> Motion:
    """Small integers only: gives double roots, rims, cap planes, vanishing axes and identical polynomials."""
    ends = [whole_vector(rng, 2) for _ in range(4)]
    while shape != Shape.CAPSULE and any((ends[i] == ends[i + 2]).all() for i in (0, 1)):
        ends = [whole_vector(rng, 2) for _ in range(4)]
    found = motion(
        *(shape, whole_vector(rng, 3), whole_vector(rng, 3), ends[:2], ends[2:]),
        *whole_radii(rng, shape, rng.randint(1, 3)),
    )
    begin, end = sorted(rng.sample([Fraction(k, 12) for k in (0, 0, 3, 4, 6, 8, 9, 12, 12)], 2))
    inner = (-begin / (end - begin), 1 / (end - begin)) if end > begin else (Fraction(1, 2), Fraction(0))
    alpha = rng.choice([(Fraction(0), Fraction(1)), (Fraction(1, 2), Fraction(0)), inner])
    return found._replace(interval=TickInterval(begin, end, begin == end or rng.random() < 0.5, *alpha))


def tangent(rng: Random, shape: Shape) -> Motion:
    """A limb along a world axis and a bullet at a known place of it (wall, rim, seam, tip), with a common drift.

    The bullet touches the wall, flies along it or in a cap's plane, or stays at one place of the limb.
    """
    x, y, radius = rng.choice(TRIPLES)
    height, axis = 2 * rng.randint(1, 6), rng.randrange(3)
    up = np.array([0.0, 0.0, height])
    local = np.array([x, y, rng.choice([0, height // 2, height, -radius, height + radius])])
    if rng.random() < 0.2:
        local = local * [0, 0, 1]
    way = rng.choice([np.array([-y, x, 0.0]), np.array([-y, x, rng.randint(-4, 4)]), up, 0 * up, whole_vector(rng, 3)])
    base, drift, stretched = whole_vector(rng, 9), whole_vector(rng, 9), rng.choice([0, 0, 1, 2]) * up
    before, after = rng.randint(0, 3), rng.randint(0, 3)
    ends = [np.roll(v, axis) for v in (0 * up, 0 * up, up, up + stretched, local - before * way, local + after * way)]
    p1, p2 = [base + ends[0], base + drift + ends[1]], [base + ends[2], base + drift + ends[3]]
    sizes = whole_radii(rng, shape, radius)
    if shape == Shape.TUBE and rng.random() < 0.5:
        sizes = float(radius), radius - 1.0
    return motion(shape, base + ends[4], base + drift + ends[5], p1, p2, *sizes)


def vanishing(rng: Random, shape: Shape) -> Motion:
    """A limb whose axis has length 0 at s = 0, 1/4, 1/2 or 1; the bullet is then in the plane through that point."""
    part = rng.choice([0.0, 0.25, 0.5, 1.0])
    x, y, radius = rng.choice(TRIPLES)
    axis, turn = np.array([0.0, 0.0, 4.0 * rng.randint(1, 3)]), rng.randrange(3)
    beside = np.array([x, y, 0.0]) * rng.choice([0, 1, 1, 1, 2])
    across = rng.choice([0.0, 0.0, 1.0, -1.0]) * np.array([y, -x, 0.0]) + rng.choice([0.0, 1.0, -1.0]) * beside / 4
    way = across + axis * rng.choice([-0.5, 0.0, 0.25, 0.5, 1.0, 1.25])
    base, drift = whole_vector(rng, 4), whole_vector(rng, 4)
    lengths = (-part * axis, (1 - part) * axis)  # a(s) = (s - part) axis
    starts = beside - part * way, beside + (1 - part) * way  # y(s) = beside + (s - part) way
    first, last, begin, end = (np.roll(v, turn) for v in (*lengths, *starts))
    p1, p2 = [base, base + drift], [base + first, base + drift + last]
    return motion(shape, base + begin, base + drift + end, p1, p2, *whole_radii(rng, shape, radius))


FAMILIES: tuple[Callable[[Random, Shape], Motion], ...] = (
    everyday,
    spinning,
    grazing,
    timed,
    whole,
    tangent,
    vanishing,
)
