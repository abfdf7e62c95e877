"""Limbs far away from most: other rays visit no more boxes, and no limb is missed."""

import numpy as np
import pytest

import cylcollide as cc
from cylcollide._types import Float64Array
from cylcollide.bvh.build import build
from cylcollide.bvh.layout import Tree
from cylcollide.bvh.traverse import local_ray, make_stack, visit_on_ray
from cylcollide.kernels.aabb import limb_boxes
from cylcollide.kernels.ray import make_ray
from cylcollide.world import hit_world, snapshot

CROWD = 300
RIG = cc.Rig.humanoid()


def crowd(rng: np.random.Generator) -> Float64Array:
    """Return the centres of boxes on 20 x 20 m."""
    return rng.uniform([0, 0, 0], [20, 20, 2], (CROWD, 3))


def met(tree: Tree, start: Float64Array, end: Float64Array) -> int:
    """Return how many boxes a segment visits."""
    ray = make_ray(tuple(start.tolist()), tuple((end - start).tolist()), True, 1.0, 0.0)
    local = local_ray(tree.frame, ray.origin, ray.direction, ray.extent, ray.limit, ray.radius)
    assert not local.untrusted

    def visit(_query: None, _item: int, found: int) -> tuple[int, float]:
        return found + 1, local.reach

    return visit_on_ray(tree, make_stack(tree), local, visit, None, 0)


PARKED: dict[str, tuple[int, tuple[float, float, float]]] = {
    "one a thousand kilometres away": (1, (1e6, 0, 0)),
    "one ten thousand kilometres away": (1, (0, -1e7, 1)),
    "one under the map": (1, (50, 50, -1e8)),
    "one at 1e12": (1, (1e12, 1e12, 0)),
    "one at 1e30": (1, (1e30, 0, 0)),
    "one at the end of the range": (1, (-3e150, 3e150, 1e-300)),
    "a third in one place": (CROWD // 3, (1e9, 1e9, 0)),
    "most in one place": (3 * CROWD // 4, (1e9, 1e9, 0)),
}


@pytest.mark.parametrize("shift", [0.0, 1e7])
@pytest.mark.parametrize("where", PARKED)
def test_rays_visit_no_more_boxes_with_few_far_away(where: str, shift: float):
    """Visits are counted, not timed: with pads that grow with the whole scene, a ray visited every box."""
    rng = np.random.default_rng(3)
    count, place = PARKED[where]
    centre, half = crowd(rng), rng.uniform(0.2, 0.6, (CROWD, 3))
    centre[:, 0] += shift
    away = centre.copy()
    chosen = rng.choice(CROWD, count, replace=False)
    away[chosen] = place
    left = np.setdiff1d(np.arange(CROWD), chosen)
    alone, both = build(centre[left] - half[left], centre[left] + half[left]), build(away - half, away + half)
    numbers = np.zeros(2, int)
    for _ in range(30):
        start, end = rng.uniform([0, 0, 0.5], [20, 20, 1.5], (2, 3)) + np.array([shift, 0, 0])
        numbers += met(alone, start, end), met(both, start, end)
    assert numbers[0] >= 10
    assert numbers[1] <= 1.1 * numbers[0]


def least_pad(tree: Tree, row: int, low: Float64Array, high: Float64Array) -> float:
    """Return the least pad of a row's box around these corners, in units of 2^-24 of its largest coordinate."""
    node, slot = np.argwhere(tree.child == -2 - row)[0]
    bounds, centre, scale = tree.bounds[node, :, slot].astype(float), np.array(tree.frame.centre), tree.frame.scale
    first, last = (low - centre) * scale, (high - centre) * scale
    size = max(1.0, np.abs([first, last]).max())
    return float(np.minimum(first - bounds[:3], bounds[3:] - last).min() / size * 2.0**24)


def posed(roots: Float64Array) -> tuple[Float64Array, Float64Array]:
    """Return positions and orientations of the bones of characters at these roots."""
    return RIG.forward(roots, [0, 0, 0, 1], RIG.rest_orientations)


@pytest.mark.parametrize("far", [1e6, 1e8, 1e12])
def test_boxes_of_a_tick_are_no_larger_with_one_far_away(far: float):
    rng = np.random.default_rng(4)
    roots = rng.uniform([0, 0, 1], [50, 50, 1], (40, 3))
    roots[7] = far, 0, 1
    world = cc.HitWorld()
    ids = world.spawn(RIG, len(roots))
    world.set_poses(ids, *posed(roots))
    history = cc.PoseHistory(world)
    history.record(0.0)
    world.set_poses(ids, *posed(roots + np.array([0.05, 0, 0])))
    history.record(1.0)
    tick = history._ring.ticks[0]
    near = np.arange(tick.structure.rows) // len(RIG.limbs) != 7
    assert tick.slots is None  # each box covers the motion from this tick to the next
    place = [np.argwhere(tick.tree.child == -2 - row)[0] for row in np.flatnonzero(near)]
    boxes = np.array([tick.tree.bounds[node, :, slot] for node, slot in place]) / tick.tree.frame.scale
    assert (boxes[:, 3:] - boxes[:, :3]).max() < 1.2
    corners = [limb_boxes(history.limbs_at(time)._table) for time in (0.0, 1.0)]
    low, high = np.minimum(*(a for a, _ in corners)), np.maximum(*(b for _, b in corners))
    assert min(least_pad(tick.tree, row, low[row], high[row]) for row in range(len(low))) > 11.7


def test_a_character_that_returns_causes_no_rebuild(monkeypatch: pytest.MonkeyPatch):
    built = []

    def count(low: Float64Array, high: Float64Array) -> Tree:
        built.append(len(low))
        return build(low, high)

    monkeypatch.setattr(hit_world, "REBUILT_AT_ONCE", 10**9)  # no thread
    rng = np.random.default_rng(5)
    roots = rng.uniform([0, 0, 1], [50, 50, 1], (60, 3))
    world = cc.HitWorld()
    ids = world.spawn(RIG, len(roots))
    world.set_poses(ids, *posed(roots))
    monkeypatch.setattr(snapshot, "build", count)
    for k in range(8):
        parked = roots.copy()
        parked[k] = 1e6, 0, 0
        world.set_poses(ids, *posed(parked))
        gone = len(built)
        world.set_poses(ids, *posed(roots))
        assert len(built) == gone
    assert built  # for characters that left, whose branch became long


def assert_first(hits: cc.RayHits, limbs: cc.Limbs, starts: Float64Array, ends: Float64Array) -> int:
    """Assert that closest hits equal a brute-force test; return how many there are."""
    n, m = len(limbs), len(starts)
    row, ray = np.repeat(np.arange(n), m), np.tile(np.arange(m), n)
    each = limbs[row].cast_segments(starts[ray], ends[ray])
    fraction = np.where(each.hit, each.fraction, np.inf).reshape(n, m)
    least = fraction.min(axis=0)
    assert np.array_equal(hits.fraction, least)
    met = np.flatnonzero(hits.hit)  # different limbs may have the same fraction, once that is rounded
    assert np.array_equal(fraction[hits.limb[met], met], least[met])
    return len(met)


def scene(rng: np.random.Generator, far: float) -> tuple[Float64Array, Float64Array]:
    """Return spheres, centres (n, 3) and radii (n,): most close together, others far away, some of them large."""
    centre, radius = rng.uniform(-10, 10, (24, 3)), rng.uniform(0.2, 2.0, 24)
    for k in range(rng.integers(1, 12)):
        way = rng.choice([-1.0, 0.0, 1e-3, 1.0], 3)
        way[rng.integers(3)] = rng.choice([-1, 1])
        centre[k] += way * far * 2.0 ** rng.integers(-3, 4)
        radius[k] *= far ** rng.choice([0.0, 0.5, 0.9])
    if rng.random() < 0.3:
        centre[12:20] = centre[12]
    return centre, np.maximum(radius, np.abs(centre).max(axis=1) * 1e-13)


def shots_between(
    rng: np.random.Generator, centre: Float64Array, radius: Float64Array, n: int
) -> tuple[Float64Array, Float64Array]:
    """Return segments from near or far around spheres to the surfaces of others, or past them."""
    a, b = rng.integers(0, len(centre), (2, n))
    out = rng.normal(size=(2, n, 3))
    out /= np.linalg.norm(out, axis=2)[:, :, None]
    starts = centre[a] + out[0] * radius[a, None] * rng.choice([1.5, 30.0], (n, 1))
    ends = centre[b] + out[1] * radius[b, None] * rng.choice([0.5, 0.999999, 1.000001], (n, 1))
    level = rng.random(n) < 0.2
    starts[level, 1] = ends[level, 1]
    return starts, ends + (ends - starts) * rng.choice([0.0, 1e-3, 2.0], (n, 1))


@pytest.mark.parametrize("far", [1e3, 1e6, 1e9, 1e13, 1e17, 1e100])
def test_no_ball_is_lost(far: float):
    rng = np.random.default_rng(int(np.log10(far)))
    seen = np.zeros(2, int)
    for _ in range(3):
        centre, radius = scene(rng, far)
        limbs = cc.Limbs.spheres(centre, radius)
        starts, ends = shots_between(rng, centre, radius, 80)
        world = cc.HitWorld(limbs)
        hits = world.cast_segments(starts, ends)
        number = assert_first(hits, limbs, starts, ends)
        few = [world.cast_segments(starts[k], ends[k]).limb[0] for k in range(12)]
        assert few == hits.limb[:12].tolist()
        at = starts + (ends - starts) * rng.uniform(0, 1, (80, 1))
        at[::2] = centre[rng.integers(0, 24, 40)]
        inside = (np.linalg.norm((at[:, None] - centre) / radius[:, None], axis=2) < 1.0 - 1e-9).sum(axis=1)
        assert (world.contains_points(at).count >= inside).all()
        seen += number, (inside > 0).sum()
    assert seen.min() >= 50


@pytest.mark.parametrize("far", [1e3, 1e7, 1e13, 1e100])
def test_no_ball_is_lost_in_history(far: float):
    rng = np.random.default_rng(int(np.log10(far)))
    seen = 0
    for _ in range(2):
        places = [scene(rng, far)[0] for _ in range(3)]
        radius = rng.uniform(0.2, 2.0, 24)
        world = cc.HitWorld(cc.Limbs.spheres(places[0], radius))
        history = cc.PoseHistory(world)
        for time, centre in enumerate(places):
            world.set_endpoints(centre, centre)
            history.record(float(time))
        for time in (0.0, 0.25, 1.5, 1.75, 2.0):
            limbs = history.limbs_at(time)
            starts, ends = shots_between(rng, limbs.p1, radius, 40)
            seen += assert_first(history.cast_segments(starts, ends, time), limbs, starts, ends)
    assert seen >= 100


def test_hits_stay_right_as_a_limb_moves_near_and_far():
    """The tree is refitted in place, in part or as a whole; each time the answers equal brute force."""
    rng = np.random.default_rng(6)
    centre, radius = rng.uniform(-10, 10, (40, 3)), rng.uniform(0.2, 2.0, 40)
    world = cc.HitWorld(cc.Limbs.spheres(centre, radius))
    for far in (1e6, 1.0, 1e6, 1.01e6, 1e17, 1e9, 1e-3, 1e150, 1e150, 0.0):
        for k in (0, 17):
            centre[k] = rng.choice([-1, 1], 3) * [far, far, 1.0]
            world.set_endpoints(centre[k], centre[k], limbs=[k])
            low, high = limb_boxes(world.snapshot().limbs._table)
            tree = world.snapshot()._tree
            assert abs(centre[k]).max() > 1e17 or least_pad(tree, k, low[k], high[k]) > 7.7 - 1.0
            starts, ends = shots_between(rng, centre, radius, 40)
            assert assert_first(world.cast_segments(starts, ends), world.snapshot().limbs, starts, ends)


@pytest.mark.parametrize("far", [1e8, 1e11, 1e13, 1e15])
def test_no_cube_is_lost_to_rays_from_far_away(far: float):
    """The rays cut corners off, so they also pass the edges of the cubes' boxes."""
    rng = np.random.default_rng(int(np.log10(far)))
    centre, half = rng.uniform(-10, 10, (24, 3)), np.repeat(rng.uniform(0.2, 2.0, (24, 1)), 3, axis=1)
    limbs = cc.Limbs.boxes(centre, np.tile([0.0, 0, 0, 1], (24, 1)), half)
    world, seen = cc.HitWorld(limbs), 0
    for _ in range(3):
        chosen, corner = rng.integers(0, 24, 60), rng.choice([-1.0, 1.0], (60, 3))
        way = np.cross(corner, rng.normal(size=(60, 3)))  # across the diagonal to the corner
        target = centre[chosen] + half[chosen] * corner * (1.0 - 10.0 ** rng.uniform(-6, -2, (60, 1)))
        starts, ends = target - far * way, target + rng.choice([0.0, 10.0, far], (60, 1)) * way
        seen += assert_first(world.cast_segments(starts, ends), limbs, starts, ends)
    assert seen >= 50
