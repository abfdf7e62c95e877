"""What all tests share: the hypothesis profiles and a humanoid-sized world."""

import os

import numpy as np
import pytest
from hypothesis import HealthCheck, settings

import cylcollide as cc
from verify import sized

QUIET = [HealthCheck.too_slow, HealthCheck.data_too_large, HealthCheck.filter_too_much]

settings.register_profile(
    "house", deadline=None, derandomize=True, max_examples=sized(150), suppress_health_check=QUIET
)
settings.register_profile("explore", deadline=None, max_examples=5000, suppress_health_check=QUIET)
settings.load_profile(os.environ.get("HYPOTHESIS_PROFILE", "house"))


@pytest.fixture
def crowd() -> cc.Limbs:
    """Return forty limbs of five characters in a box of 6 m, radii 5 to 40 cm; character i // 8, mask bit i % 3."""
    return make_crowd()


def make_crowd(count: int = 40, seed: int = 5) -> cc.Limbs:
    """Return `count` limbs strewn over a box of 6 m."""
    rng = np.random.default_rng(seed)
    p1 = rng.uniform(-3, 3, (count, 3))
    i = np.arange(count)
    return cc.Limbs.cylinders(
        p1, p1 + rng.normal(size=(count, 3)), rng.uniform(0.05, 0.4, count), character=i // 8, mask=1 << (i % 3)
    )
