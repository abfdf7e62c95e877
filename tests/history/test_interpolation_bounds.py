"""`limbs_at` against real arithmetic: within the bounds that docs/numerics.md derives ("Between two ticks").

Also the difference of normalised linear interpolation from spherical interpolation, and from constant speed.
"""

from fractions import Fraction
from itertools import product
from math import ulp

import numpy as np
import pytest
from support.check_cylinders import IS_COMPILED
from support.one_limb import AT_REST, one_bone_rig, one_limb_history
from support.oracle import interpolation as oracle

import cylcollide as cc
from cylcollide.history import PoseHistory

pytestmark = pytest.mark.plain_python

U = Fraction(1, 2**53)
POSITION, TURN, PLACE = 3 * U, 22 * U, Fraction(51, 100)
"""Errors of an interpolated coordinate, relative to the larger of both; of a turn, by the carried length, in radians;
of a place, in ulp."""
SMALLEST = 8 * Fraction(2) ** -1074
"""Error by underflow of products, of their errors, and of their sums."""

ALPHAS = (0.5, 1.0 / 3.0, 0.9, float(np.nextafter(1.0, 0.0)), 2.0**-53, 1e-9, 5e-324)
LENGTHS = (1.0, 0.99 * 2.0**500, 1.01 * 2.0**-500, 1e20, 1e-20, 3.0)


def arm() -> cc.Rig:
    """One bone with a cylinder off its origin, a sphere, and a box that is rotated in its frame."""
    limbs = cc.Limbs.concat([
        cc.Limbs.cylinders([0.3, -0.2, 0.1], [1.7, 0.4, -0.9], 0.1),
        cc.Limbs.spheres([-0.1, 2.5, 0.7], 0.2),
        cc.Limbs.boxes([0.4, 0.5, -0.6], [0.1, 0.7, -0.3, 0.5], [0.1, 0.2, 0.3]),
    ])  # fmt: skip
    return one_bone_rig(limbs)


def hard_steps(rng: np.random.Generator, n: int) -> tuple[np.ndarray, np.ndarray]:
    """Bones at two ticks, (2, n, 1, 3) and (2, n, 1, 4): small and large turns, long moves, positions that cancel."""
    at, turn = rng.normal(size=(2, n, 3)), rng.normal(size=(2, n, 4))
    for i in range(n):
        kind = i % 9
        if kind == 1:
            turn[1, i] = turn[0, i] + 10.0 ** rng.uniform(-16, -1) * rng.normal(size=4)
        elif kind == 2:
            turn[1, i] = -turn[0, i]
        elif kind == 3:  # nearly a half turn, the largest distance
            turn[1, i] -= turn[0, i] * (turn[0, i] @ turn[1, i] / (turn[0, i] @ turn[0, i]) + rng.choice([-1e-6, 1e-6]))
        elif kind == 4:
            at[1, i] = -at[0, i] * (1 + 1e-15 * rng.normal())
        elif kind == 5:
            at[:, i] *= 10.0 ** rng.uniform(0, 12)
        elif kind == 6:
            at[:, i] *= 10.0 ** rng.uniform(-300, -1, (2, 1))
        elif kind == 7:
            turn[:, i] *= 10.0 ** rng.uniform(-18, 0, (2, 4))
        elif kind == 8:
            at[1, i], turn[1, i] = at[0, i], turn[0, i]
        for k, length in enumerate((LENGTHS[i % 6], LENGTHS[i // 6 % 6])):
            turn[k, i] *= length / np.abs(turn[k, i]).max()
    return at[:, :, None], turn[:, :, None]


def two_ticks(
    n: int, seed: int, interpolate: str
) -> tuple[cc.Rig, np.ndarray, np.ndarray, PoseHistory, list[cc.Limbs]]:
    """A history of two ticks of characters with these steps, and their limbs at both."""
    rig, world = arm(), cc.HitWorld()
    at, turn = hard_steps(np.random.default_rng(seed), n)
    history, ids = PoseHistory(world, interpolate=interpolate), world.spawn(rig, n)
    recorded = []
    for tick in range(2):
        world.set_poses(ids, at[tick], turn[tick])
        history.record(tick)
        recorded.append(world.limbs)
    return rig, at[:, :, 0], turn[:, :, 0], history, recorded


SIZES = [18 if IS_COMPILED else 9, pytest.param(600, marks=[pytest.mark.long, pytest.mark.timeout(1800)])]


@pytest.mark.parametrize("n", SIZES)
def test_limbs_of_interpolated_bones_are_near_real_arithmetic(n: int):
    rig, at, turn, history, _ = two_ticks(n, 1, "bones")
    ends, axes = [], []
    for alpha in ALPHAS:
        limbs = history.limbs_at(tick=0, alpha=alpha)
        for i in range(n):
            bone = oracle.blended_bone((at[0, i], at[1, i]), (turn[0, i], turn[1, i]), alpha)
            assert abs(bone.cosine) > 12 * U  # the shorter way is certain
            larger = [Fraction(float(c)) for c in np.abs(at[:, i]).max(axis=0)]
            for row, column in product(range(3), ("p1", "p2")):
                v = getattr(rig.limbs, column)[row]
                got, want = getattr(limbs, column)[3 * i + row], oracle.carried_point(bone, v)
                length = Fraction(float(np.linalg.norm(v))) * (1 + 4 * U)
                unit = Fraction(ulp(float(max(map(abs, (*want, *bone.position))))))
                for g, w, x in zip(got.tolist(), want, larger, strict=True):
                    bound = POSITION * x + TURN * length + PLACE * unit + SMALLEST
                    ends.append(float(abs(Fraction(g) - w) / bound))
            for got, v in zip(limbs.box_axes[3 * i + 2], rig.limbs.box_axes[2], strict=True):
                for g, w in zip(got.tolist(), oracle.carried_axis(bone, v), strict=True):
                    axes.append(float(abs(Fraction(g) - w) / (TURN * (1 + 4 * U) + 2 * U * PLACE)))
    print(f"share of the bound: ends {max(ends):.3f}, axes {max(axes):.3f}")
    assert 0.15 < max(ends) <= 1.0
    assert 0.05 < max(axes) <= 1.0


@pytest.mark.parametrize("n", SIZES)
def test_interpolated_ends_are_near_real_arithmetic(n: int):
    """Also of bare limbs; boxes keep the axes of their tick."""
    _, _, _, history, (first, second) = two_ticks(n, 2, "ends")
    world = cc.HitWorld(first)
    bare = PoseHistory(world)
    bare.record(0)
    world.set_endpoints(second.p1, second.p2)
    bare.record(1)
    shares = []
    for alpha in ALPHAS:
        limbs, same = history.limbs_at(tick=0, alpha=alpha), bare.limbs_at(tick=0, alpha=alpha)
        assert np.array_equal(limbs.p1, same.p1)
        assert np.array_equal(limbs.p2, same.p2)
        assert np.array_equal(limbs.box_axes, first.box_axes)
        shown = limbs.mask != 0
        assert shown.sum() >= 0.9 * len(limbs)
        for row, column in product(np.flatnonzero(shown).tolist(), ("p1", "p2")):
            a, b, got = (getattr(one, column)[row] for one in (first, second, limbs))
            for x, y, g, w in zip(a.tolist(), b.tolist(), got.tolist(), oracle.blend(a, b, alpha), strict=True):
                shares.append(float(abs(Fraction(g) - w) / (POSITION * Fraction(max(abs(x), abs(y))) + SMALLEST)))
    print(f"share of the bound: {max(shares):.3f}")
    assert 0.3 < max(shares) <= 1.0


def test_alphas_are_within_three_roundings():
    """Alpha is within 3 u of the real quotient, from 0 to 1, and never decreases within a tick."""
    rng, worst = np.random.default_rng(5), 0.0
    for offset in (0.0, 1e3, 1e9, -1e5):
        history = PoseHistory(cc.HitWorld())
        for step in np.cumsum(rng.uniform(0.001, 1.0, 40)).tolist():
            history.record(offset + step)
        times = np.sort(rng.uniform(*history.times[[0, -1]], 500))
        times = np.unique(np.concatenate([times, history.times, np.nextafter(history.times[1:], -np.inf)]))
        hits = history.cast_segments(np.zeros((len(times), 3)), np.ones(3), times)
        same_tick = np.diff(hits.tick) == 0
        assert (np.diff(hits.alpha)[same_tick] >= 0.0).all()
        for t, tick, alpha in zip(times.tolist(), hits.tick.tolist(), hits.alpha.tolist(), strict=True):
            begin, end = history.times[tick], history.times[min(tick + 1, 39)]
            assert begin <= t < end or tick == 39
            assert 0.0 <= alpha <= 1.0
            if tick < 39:
                want = (Fraction(t) - Fraction(begin)) / (Fraction(end) - Fraction(begin))
                worst = max(worst, float(abs(Fraction(alpha) - want) / (3 * U * want)) if want else 0.0)
    assert 0.1 < worst <= 1.0


# How far from spherical interpolation -------------------------------------------------------------------------------

FROM_SLERP = {5: 0.00015, 10: 0.0012, 20: 0.0098, 30: 0.033, 45: 0.112, 60: 0.267, 90: 0.92, 120: 2.23, 170: 6.76}
"""Largest differences in degrees, by the turn in a tick; docs/numerics.md lists some."""


@pytest.mark.parametrize("turn", FROM_SLERP)
def test_nearly_spherical(turn: int):
    """A turn about one axis at a speed that is not constant: the difference of the angle from alpha times the turn."""
    _, _, history = one_limb_history(AT_REST, (0, 0, 0, np.radians(turn)))
    alphas, angles = np.linspace(0, 1, 101), []
    for alpha in alphas:
        end = history.limbs_at(alpha).p2[0]
        assert abs(np.hypot(end[0], end[1]) - 1.0) < 4 * 2.0**-53
        assert end[2] == 0.0
        angles.append(np.degrees(np.arctan2(end[1], end[0])))
    worst = np.abs(np.array(angles) - alphas * turn).max()
    assert worst == pytest.approx(FROM_SLERP[turn], rel=0.02)
    assert angles[50] == pytest.approx(0.5 * turn, abs=1e-12)
