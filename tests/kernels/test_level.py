"""Exact comparison of heights with axis-aligned faces."""

from fractions import Fraction

import numpy as np
import pytest

from cylcollide.kernels.level import beyond

pytestmark = pytest.mark.plain_python


def test_side_of_a_face_equals_rational_arithmetic():
    """Sums that cancel almost or completely, at any scale."""
    rng, signs = np.random.default_rng(4), set[int]()
    for _ in range(3000):
        size = 10.0 ** rng.uniform(-20, 20)
        face = size * rng.normal(), size * rng.normal() * 2.0 ** -rng.integers(0, 80)
        radius = abs(size * rng.normal()) * 2.0 ** -rng.integers(0, 80)
        height = float(Fraction(radius) - Fraction(face[0]) - Fraction(face[1])) + rng.integers(-1, 2) * 5e-324
        exact = Fraction(height) + Fraction(face[0]) + Fraction(face[1]) - Fraction(radius)
        found = float(beyond(height, face, radius))
        assert (found > 0) - (found < 0) == (exact > 0) - (exact < 0), (height, face, radius)
        signs.add((exact > 0) - (exact < 0))
    for whole in range(-9, 10):
        assert beyond(whole + 0.25, (-float(whole), -1.0), -0.75) == 0.0
    assert signs >= {-1, 1}
