"""Points carried by bones, in rational arithmetic: within 0.51 ulp, for quaternions of any accepted length."""

from fractions import Fraction
from math import isfinite, ldexp

import numpy as np
import pytest
from support.oracle import pose
from support.oracle.pose import rational, ulps

from cylcollide.bones.bone import carried, composed, into_bone, normalised, rescaled, rotation_of

pytestmark = pytest.mark.plain_python

HALF_AN_ULP = 0.51
SMALLEST = Fraction(2) ** -1074
LENGTHS = [2.0**500, 2.0**151, 2.0**150, 1e20, 1.0, 1e-20, 2.0**-150, 2.0**-151, 2.0**-500]


def worst_error(q, origin, v, got):
    """Error in ulp of the largest coordinate among bone and limb end."""
    return ulps(got, pose.carried(q, origin, v), [*origin])


def hard_poses(rng, n):
    """Poses with large rounding errors: half turns, tiny components, points that nearly cancel, far bones."""
    for i in range(n):
        q, v, origin = rng.normal(size=4), rng.normal(size=3), rng.normal(size=3)
        kind = i % 8
        if kind == 1:
            q *= 10.0 ** rng.uniform(-18, 0, 4)
        elif kind == 2:
            q[3] = 0.0  # half a turn
        elif kind == 3:
            q[:3] *= 10.0 ** rng.uniform(-20, -5)  # hardly any turn
        elif kind == 4:
            origin *= 10.0 ** rng.uniform(0, 12)
        elif kind == 5:
            origin = -np.array([float(c) for c in pose.carried(q, [0, 0, 0], v)])  # cancels
        elif kind == 6:
            v = np.array([float(c) for c in pose.turned(rational([*-q[:3], q[3]]), rational([2.0, 2.0, 2.0]))])
            origin = -np.ones(3)  # corner to corner: the longest vector for coordinates of this size
        elif kind == 7:
            v, origin = v * 10.0 ** rng.uniform(-9, 9, 3), origin * 10.0 ** rng.uniform(-9, 9, 3)
        length = LENGTHS[i % len(LENGTHS)]
        q = q * (length / np.abs(q).max())
        yield q, origin, v


def test_hard_points_are_within_half_an_ulp():
    rng, errors = np.random.default_rng(1), []
    for q, origin, v in hard_poses(rng, 216):
        errors.append(worst_error(q, origin, v, carried(rotation_of(tuple(q)), tuple(origin), tuple(v))))
    assert max(errors) <= HALF_AN_ULP
    assert max(errors) > 0.45  # rounding errors occur


def test_vectors_come_back_within_half_an_ulp():
    """The inverse rotation is that of the conjugate quaternion."""
    rng, errors = np.random.default_rng(8), []
    for q, _, v in hard_poses(rng, 144):
        want = pose.turned(rational([*-q[:3], q[3]]), rational(v))
        size = max(float(max(map(abs, want))), np.abs(v).max())
        errors.append(ulps(into_bone(rotation_of(tuple(q)), tuple(v)), want, [size]))
    assert 0.45 < max(errors) <= HALF_AN_ULP


@pytest.mark.parametrize("scale", [2.0**500, 2.0**-400, 2.0**-960, 2.0**-1060])
def test_huge_and_tiny_coordinates(scale):
    """Up to the largest accepted number, and down to numbers whose products underflow."""
    rng, errors = np.random.default_rng(3), []
    for q, origin, v in hard_poses(rng, 72):
        size = max(np.abs(origin).max(), np.abs(v).max())
        origin, v = origin / size * scale, v / size * scale
        got = carried(rotation_of(tuple(q)), tuple(origin), tuple(v))
        assert all(map(isfinite, got))
        want = pose.carried(q, origin, v)
        errors.append(max(abs(Fraction(g) - w) for g, w in zip(map(float, got), want, strict=True)))
        unit = Fraction(np.spacing(max(float(max(map(abs, want))), np.abs(origin).max())))
        assert errors[-1] <= Fraction(51, 100) * unit + 3 * SMALLEST
    assert max(errors) > 0


def test_the_length_of_a_quaternion_does_not_matter():
    """Powers of two change no bit; every length that is accepted gives the same rotation."""
    rng = np.random.default_rng(4)
    for q in rng.normal(size=(50, 4)):
        q /= np.abs(q).max()
        want = rotation_of(tuple(q))
        for exponent in (500, 299, 151, 150, 149, -149, -150, -151, -300, -500):
            assert rotation_of(tuple(ldexp(c, exponent) for c in q)) == want


def test_quarter_turns_and_no_turn_are_exact():
    v, origin = (1.1, 2.3, -0.7), (0.1, 0.2, 0.3)
    turns = {(0, 0, 0, 1): (0, 1, 2), (0.5, 0.5, 0.5, 0.5): (2, 0, 1), (-0.5, -0.5, -0.5, 0.5): (1, 2, 0)}
    for q, order in turns.items():
        for length in LENGTHS:
            scaled = tuple(length * c for c in q)
            assert carried(rotation_of(scaled), (0.0, 0.0, 0.0), v) == tuple(v[k] for k in order)
            assert carried(rotation_of(scaled), origin, v) == tuple(origin[i] + v[k] for i, k in enumerate(order))


def test_composed_and_normalised():
    """Direction within 7 u, length within 4 u (docs/numerics.md)."""
    rng, angles, lengths = np.random.default_rng(5), [], []
    for a, b in rng.normal(size=(100, 2, 4)):
        a, b = rescaled(tuple(a * 2.0 ** rng.integers(-490, 490))), rescaled(tuple(b * 2.0 ** rng.integers(-490, 490)))
        got, want = rational(normalised(composed(a, b))), pose.hamilton(rational(a), rational(b))
        dot, square = sum(g * w for g, w in zip(got, want, strict=True)), sum(w * w for w in want)
        across = sum((g - w * dot / square) ** 2 for g, w in zip(got, want, strict=True))
        angles.append(float(across) ** 0.5 * 2.0**53)
        lengths.append(abs(float(sum(g * g for g in got) - 1)) / 2 * 2.0**53)
    assert 0.5 < max(angles) <= 7.0
    assert 0.5 < max(lengths) <= 4.0
