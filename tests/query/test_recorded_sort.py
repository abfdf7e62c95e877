"""Rays by tick and octant: the order in which those of the past are traversed."""

import numpy as np
import pytest
from support.machine_code import interpreted

from cylcollide.kernels.ray import Rays
from cylcollide.query.loops.inputs import RawRays
from cylcollide.query.loops.recorded_sort import Order, fill_order, octant_of

pytestmark = pytest.mark.plain_python


@pytest.mark.parametrize("loop", [fill_order, interpreted(fill_order)], ids=["loop", "plain"])
@pytest.mark.parametrize("n", [0, 1, 7, 8, 9, 100, 101])
@pytest.mark.parametrize("is_segment", [True, False], ids=["segments", "rays"])
def test_order_by_tick_and_octant(loop, n: int, is_segment: bool):
    """Those of no tick, then those of each tick by octant, each in their order; a minus sign of zero is one."""
    rng, ticks = np.random.default_rng(n), 5
    origin, way = rng.integers(-2, 3, (n, 3)).astype(float), rng.integers(-2, 3, (n, 3)).astype(float)
    way[rng.random((n, 3)) < 0.3] = -0.0
    way[(way == 0.0).all(axis=1), 2] = 1.0  # a direction of zero is refused
    distance = rng.random(n) if n % 2 and n > 1 else np.full(1, np.inf)
    rays = Rays(origin, origin + way if is_segment else way, is_segment, distance)
    place, alpha = rng.integers(-1, ticks, n).astype(np.int32), rng.random(n)
    copy = Rays(*np.full((2, n + 16, 3), np.nan), is_segment, np.full(n + 16 if n % 2 else 1, np.nan))
    order = Order(np.empty(n, np.int32), copy, np.empty(n), np.empty(8 * ticks + 1, np.int64))
    copies = rays._replace(origin=np.full((n, 3), np.nan), second=np.full((n, 3), np.nan))
    assert loop(RawRays(rays.origin, rays.second), copies, place, alpha, np.empty(n, np.int32), order)
    assert np.array_equal(copies.origin, rays.origin)
    assert np.array_equal(copies.second, rays.second)
    d = rays.second - rays.origin if is_segment else rays.second
    octant = np.signbit(d) @ [1, 2, 4] if n else np.empty(0, int)
    assert [octant_of(rays, i) for i in range(n)] == octant.tolist()
    key = np.where(place < 0, -1, 8 * place + octant)
    assert order.number.tolist() == np.argsort(key, kind="stable").tolist()
    repeated = np.append(order.number, np.full(16, n - 1)) if n else order.number
    assert np.array_equal(copy.origin[: len(repeated)], origin[repeated])
    assert np.array_equal(copy.second[: len(repeated)], rays.second[repeated])
    assert distance.size == 1 or np.array_equal(copy.distance, distance[repeated])
    assert np.array_equal(order.alpha, alpha[order.number])
    assert order.begins.tolist() == [(key < bucket).sum() for bucket in range(8 * ticks)] + [n]
    assert is_segment or n < 100 or len(set(octant.tolist())) == 8
