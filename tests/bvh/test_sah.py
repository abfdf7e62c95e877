"""Splits of a tree: at the cheapest boundary between its bins, and never with an empty side."""

import numpy as np
import pytest
from support.cases.everyday_worlds import make_crowd

from cylcollide._types import Float64Array
from cylcollide.bvh import sah
from cylcollide.bvh.build import build
from cylcollide.bvh.layout import frame_around
from cylcollide.bvh.refit import refit, tree_cost
from cylcollide.constants import SAH_BINS, TREE_WIDTH
from cylcollide.kernels.aabb import limb_boxes


def half_area(low: Float64Array, high: Float64Array) -> float:
    """Half the surface of the box around boxes (n, 3)."""
    x, y, z = high.max(axis=0) - low.min(axis=0)
    return x * y + y * z + z * x


def cost(low: Float64Array, high: Float64Array, left: np.ndarray) -> float:
    """The cost of a split by the surface area heuristic."""
    return sum(side.sum() * half_area(low[side], high[side]) for side in (left, ~left))


def cheapest(low: Float64Array, high: Float64Array) -> float:
    """The least cost of a boundary between bins of equal width, along any axis."""
    centre, costs = low + high, []
    for axis in range(3):
        along = centre[:, axis] - centre[:, axis].min()
        of_bin = np.minimum((along * (SAH_BINS / max(along.max(), sah.SMALLEST_WIDTH))).astype(int), SAH_BINS - 1)
        sides = [of_bin < boundary for boundary in range(1, SAH_BINS)]
        costs += [cost(low, high, left) for left in sides if left.any() and not left.all()]
    return min(costs)


def boxes_of(rng: np.random.Generator, n: int, spread: tuple[int, int, int]) -> tuple[Float64Array, Float64Array]:
    """Boxes on a lattice exact in float32, spread out along some axes."""
    low = rng.integers(0, 1 + np.array(spread), (n, 3)) / 1024
    return low, low + rng.integers(0, 60, (n, 3)) / 1024


@pytest.mark.parametrize("spread", [(900, 900, 900), (900, 40, 0), (0, 0, 900), (3, 2, 1)])
@pytest.mark.parametrize("n", [TREE_WIDTH + 1, 33, 300])
def test_the_cheapest_boundary_is_taken(n: int, spread: tuple[int, int, int]):
    """The cost of the left side that was chosen, recomputed here, is compared with that of every boundary."""
    rng = np.random.default_rng(n)
    for _ in range(5):
        low, high = boxes_of(rng, n, spread)
        boxes, order = np.zeros((n, sah.ROW), np.float32), np.arange(n, dtype=np.int32)
        sah.fill_boxes(low, high, frame_around(low, high), boxes)
        binary = sah.split_all(boxes, order)
        left = np.zeros(n, bool)
        left[order[: binary.last[binary.left[0]]]] = True
        assert 0 < left.sum() < n
        assert sorted(order.tolist()) == list(range(n))
        assert cost(low, high, left) <= cheapest(low, high) * (1 + 1e-5)


NOWHERE = {
    "in one place": np.zeros((50, 3)),
    "in one place, far off": np.full((50, 3), 2.0**500),
    "in two places": np.repeat([[-1.0, 0, 0], [1.0, 0, 0]], 25, axis=0),
    "as far apart as numbers go": np.repeat([[-(2.0**503), 0, 0], [2.0**503, 0, 0]], 25, axis=0),
    "closer than floats tell": np.linspace(0, 1e-200, 150).reshape(50, 3),
}


@pytest.mark.parametrize("low", NOWHERE.values(), ids=NOWHERE)
def test_boxes_in_a_single_bin_are_halved(low: Float64Array):
    """All in one place, as far apart as limbs may be, or far too close for float32: every item is in the tree once."""
    tree = build(low, low)
    items = -2 - tree.child[tree.child < -1]
    assert sorted(items.tolist()) == list(range(50))
    assert tree.stack_size < 10 * TREE_WIDTH


def test_a_crowd_has_a_good_tree():
    """The order of limbs does not matter; a tree halved by count, as if all were in one place, costs far more."""
    limbs = make_crowd(100)
    low, high = limb_boxes(limbs._table)
    mixed = np.random.default_rng(1).permutation(len(limbs))
    good, same, nowhere = build(low, high), build(low[mixed], high[mixed]), np.zeros_like(low)
    halved = build(nowhere, nowhere)
    by_count = refit(halved._replace(bounds=halved.bounds.copy()), low[mixed], high[mixed])
    costs = [tree_cost(tree.bounds, tree.frame.scale) for tree in (good, same, by_count)]
    assert costs[1] == pytest.approx(costs[0], rel=0.02)
    assert costs[2] > 2 * costs[0]
