"""The rounding bound of docs/numerics.md, measured: the share of delta that the kernels' errors use."""

from fractions import Fraction

import numpy as np
import pytest
from support.oracle.shapes.table import MAKERS

from cylcollide.constants import ROUNDING_BOUND
from cylcollide.exact.line import segment_numbers
from cylcollide.exact.order import limb_chords
from cylcollide.kernels.dispatch import ray_limb
from cylcollide.kernels.limb_table import limb_at
from cylcollide.kernels.ray import make_ray
from cylcollide.query.exact_fallback import exact_limb

pytestmark = pytest.mark.plain_python

LEVELS = [0.0, *(2.0**-k for k in range(14, -1, -1))]  # shares of delta to try


def draw(shape, rng, far):
    """A limb of size 1 and a segment that crosses its box somewhere, `far` metres from the origin."""
    centre, axis = rng.normal(size=(2, 3))
    centre *= far
    axis *= rng.uniform(0.1, 2.0) / np.linalg.norm(axis)
    radius = rng.uniform(0.05, 1.0)
    # ends at different distances from the centre: rounding is symmetric, and would cancel in their mean
    limbs = MAKERS[shape](centre - 1.25 * axis, centre + axis, radius, rng)
    place = 0.5 * (limbs.p1[0] + limbs.p2[0])
    target = place + rng.uniform(-0.7, 0.7, 3) * (np.abs(limbs.p2[0] - place) + radius)
    direction = rng.normal(size=3)
    direction *= 10.0 ** rng.uniform(0.6, 2) / np.linalg.norm(direction)
    start, end = target - direction, target + direction * rng.uniform(0.1, 1.0)
    return limbs, tuple(start.tolist()), tuple(end.tolist())


@np.errstate(all="ignore")
def share_used(limbs, start, end):
    """The smallest level at which grown and shrunk intervals bracket the first true entry; None for a miss."""
    chords = limb_chords(segment_numbers(start, end), exact_limb(limbs._table, 0))
    if not chords or chords[0].started_inside:
        return None
    ray = make_ray(start, tuple(e - s for s, e in zip(start, end, strict=True)), True, 1.0, 0.0)
    limb = limb_at(limbs._table.rows, limbs._table.kernel_shape, 0)
    entry = Fraction(*chords[0].entry.approximate()) * Fraction(ray.length)
    for level in LEVELS:
        # delta is proportional to the sum of the two extents: all of it goes into the limb's
        extent = level * (ray.extent + limb.extent)
        scaled = limb._replace(extent=extent)
        if any(brackets(ray_limb(ray._replace(extent=0.0), scaled, piece), entry) for piece in (0, 1)):
            return level
    return np.inf


def brackets(span, entry):
    """Whether the entry lies between the beginnings of the two intervals."""
    (outer, _), (inner, last) = span.outer, span.inner
    reached = inner > last or entry <= Fraction(inner)
    return bool(np.isfinite(outer)) and Fraction(outer) <= entry and reached


@pytest.mark.parametrize("count", [20, pytest.param(4000, marks=pytest.mark.long)])
@pytest.mark.parametrize("shape", MAKERS)
def test_rounding_bound_holds_and_is_not_loose(shape, count, record_property):
    rng, worst = np.random.default_rng(20261121), 0.0
    for far in (0.0, 1.0, 1e3, 1e7):
        shares = [share for _ in range(count) if (share := share_used(*draw(shape, rng, far))) is not None]
        assert len(shares) >= count // 8
        worst = max(worst, *shares)
    record_property("share of the rounding bound used", worst)
    print(f"{shape}: entries use at most {worst:.4f} of {ROUNDING_BOUND / 2**-53:g} u")
    assert worst < 1.0
    assert worst > 1e-3
