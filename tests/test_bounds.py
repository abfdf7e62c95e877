"""The rounding bound of docs/numerics.md against reality: how much of delta do the kernel's errors use?"""

from fractions import Fraction

import numpy as np
import pytest
from verify import sized

from cylcollide._types import ROUNDING_BOUND
from cylcollide.exact.cylinder import Cylinder
from cylcollide.exact.line import RayNumbers
from cylcollide.exact.order import limb_chords
from cylcollide.kernels.cylinder import ray_cylinder
from cylcollide.kernels.ray import make_ray
from cylcollide.kernels.table import make_frame

LEVELS = [0.0, *(2.0**-k for k in range(12, -1, -1))]  # shares of delta that are tried


def draw(rng, far):
    """A limb of size 1 and a segment that enters it somewhere, `far` metres from the origin."""
    centre, axis, side = rng.normal(size=(3, 3))
    centre *= far
    axis *= rng.uniform(0.1, 2.0) / np.linalg.norm(axis)
    radius = rng.uniform(0.05, 1.0)
    target = centre + axis * rng.uniform(-1, 1) + radius * rng.uniform(0.0, 0.999) * side / np.linalg.norm(side)
    direction = rng.normal(size=3)
    direction *= 10.0 ** rng.uniform(0, 2) / np.linalg.norm(direction)
    start, end = target - direction, target + direction * rng.uniform(0.1, 1.0)
    # ends at different distances from the centre: rounding is symmetric, and would cancel in their mean
    p1, p2 = centre - 1.25 * axis, centre + axis
    return tuple(start.tolist()), tuple(end.tolist()), tuple(p1.tolist()), tuple(p2.tolist()), radius


def share_used(start, end, p1, p2, radius):
    """The smallest level at which grown and shrunk intervals still bracket the true entry; None for a miss."""
    chords = limb_chords(RayNumbers(start, end, True, 1.0), Cylinder(p1, p2, radius))
    if not chords or chords[0].started_inside:
        return None
    displacement = tuple(e - s for s, e in zip(start, end, strict=True))
    ray = make_ray(start, displacement, 1.0)
    limb = make_frame(p1, p2, radius)
    entry = chords[0].entry.approximate() * Fraction(ray.length)
    for level in LEVELS:
        # delta is proportional to the sum of the two extents: hand over all of it in the limb's
        scaled = limb._replace(extent=level * (ray.extent + limb.extent))
        span = ray_cylinder(ray._replace(extent=0.0), scaled)
        certain = span.inner[0] > span.inner[1] or entry <= Fraction(span.inner[0])
        if Fraction(span.outer[0]) <= entry and certain:
            return level
    return np.inf


@pytest.mark.parametrize("far", [0.0, 1.0, 1e3, 1e7])
def test_rounding_bound_holds_and_is_understood(far, record_property):
    rng = np.random.default_rng(20261121)
    shares = [share for _ in range(sized(400)) if (share := share_used(*draw(rng, far))) is not None]
    worst = max(shares)
    record_property("share of the rounding bound used", worst)
    print(f"world at {far:g}: {len(shares)} entries use at most {worst:.4f} of {ROUNDING_BOUND / 2**-53:g} u")
    assert len(shares) >= sized(400) // 4
    assert worst < 1.0
    assert worst > 1e-3
