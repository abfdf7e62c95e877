"""Checks the proof of docs/numerics.md, "Boxes": a traversal visits every box that the exact ray hits.

Conversely, the exact ray hits every visited box once it is grown by twice the pad.
"""

from collections import Counter
from fractions import Fraction
from typing import NamedTuple

import numpy as np
import pytest
from support.check_cylinders import sized

import cylcollide as cc
from cylcollide._types import Float64Array
from cylcollide.bvh.build import build
from cylcollide.bvh.layout import Tree
from cylcollide.bvh.stream import MIXED, make_stream, no_flush, no_list, visit_on_rays
from cylcollide.bvh.traverse import LocalRay, grown_product, local_ray, make_stack, visit_on_ray
from cylcollide.constants import BOX_PAD, FARTHEST_START, SMALLEST_SAFE
from cylcollide.kernels.ray import make_ray

pytestmark = [pytest.mark.long, pytest.mark.ci_long]  # a sweep of its own, run by .ci/run

BOXES = 40


class Places(NamedTuple):
    """Corners of boxes (n, 3), and the volume they fill; sizes are powers of two, so that touches can be exact."""

    low: Float64Array
    high: Float64Array
    centre: float
    size: float


def places(rng: np.random.Generator, centre: float, size: float) -> Places:
    """Return boxes on a lattice of 2^-12 sizes: some flat, some points, some coincident."""
    low = rng.integers(-4096, 3500, (BOXES, 3))
    extent = rng.integers(0, 500, (BOXES, 3)) * (rng.random((BOXES, 3)) < 0.8)
    low[-4:], extent[-4:] = low[0], extent[0]
    low[1], extent[1] = -4096, 8192 * (rng.random(3) < 0.5)
    unit = size / 4096
    return Places(centre + low * unit, centre + (low + extent) * unit, centre, size)


WORLDS = {
    "near": (0.0, 1.0),
    "far": (1e7, 1.0),
    "tiny": (0.0, 2.0**-40),
    "large": (-(2.0**50), 2.0**40),
    "a speck far off": (1024.0, 2.0**-12),
}


def corner(rng: np.random.Generator, boxes: Places) -> Float64Array:
    """Return a corner of some box."""
    k = rng.integers(BOXES)
    return np.where(rng.random(3) < 0.5, boxes.low[k], boxes.high[k])


def direction(rng: np.random.Generator, boxes: Places) -> Float64Array:
    """Return a step of about the boxes' size, with few bits, so that adding it to a corner is exact."""
    return rng.integers(-64, 65, 3) * (boxes.size / 64)


def away(rng: np.random.Generator, boxes: Places) -> float:
    """Return the distance from a ray's start to its target in sizes, a power of two."""
    farthest = 2.0**22 if abs(boxes.centre) < 2.0**20 * boxes.size else 16.0
    return 2.0 ** rng.integers(0, int(np.log2(farthest)) + 1)


def across(rng: np.random.Generator, boxes: Places) -> tuple[Float64Array, Float64Array]:
    target = boxes.centre + rng.uniform(-1, 1, 3) * boxes.size
    step = rng.uniform(-1, 1, 3) * boxes.size
    return target - step * away(rng, boxes), target + step


def through_a_corner(rng: np.random.Generator, boxes: Places) -> tuple[Float64Array, Float64Array]:
    point, step = corner(rng, boxes), direction(rng, boxes)
    return point - step * away(rng, boxes), point + step


def up_to_a_corner(rng: np.random.Generator, boxes: Places) -> tuple[Float64Array, Float64Array]:
    point = corner(rng, boxes)
    return point - direction(rng, boxes) * away(rng, boxes), point


def along_an_axis(rng: np.random.Generator, boxes: Places) -> tuple[Float64Array, Float64Array]:
    """In the planes of two faces."""
    point, end = corner(rng, boxes), corner(rng, boxes)
    k = rng.integers(3)
    start = point.copy()
    start[k] -= direction(rng, boxes)[0] * away(rng, boxes)
    point[k] = end[k]
    return start, point


def in_a_face(rng: np.random.Generator, boxes: Places) -> tuple[Float64Array, Float64Array]:
    start, end = through_a_corner(rng, boxes)
    k = rng.integers(3)
    start[k] = end[k] = corner(rng, boxes)[k]
    return start, end


def almost_still_along_an_axis(rng: np.random.Generator, boxes: Places) -> tuple[Float64Array, Float64Array]:
    """One component is too small to change a coordinate, or nearly so. It starts at 0, where it is exact."""
    start, end = in_a_face(rng, boxes)
    k = rng.integers(3)
    start[k], end[k] = 0.0, rng.choice([-1, 1]) * 10.0 ** -rng.choice([5, 7, 9, 20, 29, 30, 31, 40, 300, 310])
    return start, end


def past_a_corner(rng: np.random.Generator, boxes: Places) -> tuple[Float64Array, Float64Array]:
    """Within a few float32 ulps of it, on either side."""
    start, end = through_a_corner(rng, boxes)
    off = rng.integers(-24, 25, 3) * (boxes.size * 2.0**-24)
    return start + off, end + off


def standing(rng: np.random.Generator, boxes: Places) -> tuple[Float64Array, Float64Array]:
    point = corner(rng, boxes)
    return point, point


FAMILIES = [
    across,
    through_a_corner,
    up_to_a_corner,
    along_an_axis,
    in_a_face,
    almost_still_along_an_axis,
    past_a_corner,
    standing,
]


def meets(
    start: Float64Array,
    end: Float64Array,
    low: Float64Array,
    high: Float64Array,
    room: float = 0.0,
    radius: float = 0.0,
) -> bool:
    """Whether the segment, in rational numbers, hits the closed box grown by a radius; `room` enlarges both."""
    more, growth = Fraction(room), Fraction(room) + Fraction(radius)
    size = max(abs(Fraction(e) - Fraction(s)) for s, e in zip(start.tolist(), end.tolist(), strict=True))
    first, last = Fraction(0), 1 + (more / size + 4 * Fraction(BOX_PAD) if room and size else 0)
    for s, e, a, b in zip(start.tolist(), end.tolist(), low.tolist(), high.tolist(), strict=True):
        step = Fraction(e) - Fraction(s)
        below, above = Fraction(a) - growth - Fraction(s), Fraction(b) + growth - Fraction(s)
        if step == 0:
            if below > 0 or above < 0:
                return False
            continue
        times = sorted((below / step, above / step))
        first, last = max(first, times[0]), min(last, times[1])
        if first > last:
            return False
    return True


def candidates_of(start: Float64Array, end: Float64Array, boxes: Places) -> list[int]:
    """Return the boxes that the segment may hit, by a conservative float64 test that rejects distant boxes."""
    room = boxes.size * 1e-3
    step = end - start
    with np.errstate(divide="ignore", over="ignore"):
        a, b = ((side - start) / np.where(step == 0.0, 1e-300, step) for side in (boxes.low - room, boxes.high + room))
    first, last = np.minimum(a, b).max(axis=1), np.maximum(a, b).min(axis=1)
    return np.flatnonzero((first <= last) & (last >= -1e-3) & (first <= 1.001 + 1e300 * (step == 0.0).all())).tolist()


def seen_from(tree: Tree, start: Float64Array, end: Float64Array, radius: float = 0.0) -> LocalRay:
    """Return the segment in the frame of the tree; boxes grow by a radius."""
    ray = make_ray(tuple(start.tolist()), tuple((end - start).tolist()), True, 1.0, 0.0)
    return local_ray(tree.frame, ray.origin, ray.direction, ray.extent, ray.limit, radius)


def visited_alone(tree: Tree, ray: LocalRay) -> set[int]:
    """Return the items that one ray visits."""
    found: set[int] = set()

    def visit(ray: LocalRay, item: int, found: set[int]) -> tuple[set[int], float]:
        return found | {item}, ray.reach

    return visit_on_ray(tree, make_stack(tree), ray, visit, ray, found)


def note(found: list[set[int]], item: int, ray: int):
    """Record that a ray visits an item."""
    found[ray].add(int(item))


def visited_together(tree: Tree, rays: list[LocalRay], mixed: bool, thick: bool = False) -> list[set[int]]:
    """Return the items that each ray visits in streams, one per octant or one `mixed`; `thick`: boxes grow."""
    found: list[set[int]] = [set() for _ in rays]
    stream = make_stream(tree, len(rays))
    for octant in range(MIXED, MIXED + 1) if mixed else range(MIXED):
        count = 0
        for k, ray in enumerate(rays):
            stream.record[k] = (*ray.reciprocal, *grown_product(ray, ray.growth), ray.reach, ray.earliest)
            stream.far_product[k, :3] = grown_product(ray, -ray.growth)
            signs = sum(1 << axis for axis in range(3) if ray.reciprocal[axis] < 0.0)
            if (mixed or signs == octant) and not ray.misses_root:
                stream.live[count] = k
                count += 1
        visit_on_rays(tree, stream, count, octant, thick, no_list, note, no_flush, found)
    return found


@pytest.mark.parametrize("world", WORLDS)
@pytest.mark.parametrize("share", [0.0, 2.0**-60, 2.0**-9, 0.25, 2.0**10])
def test_culling_is_safe_and_tight(world: str, share: float):
    """Rays alone and in streams: lines, or thick rays of a share of the boxes' size with thinner rays and lines."""
    rng, seen, is_thick = np.random.default_rng(20261122), Counter[str](), share > 0.0
    for _ in range(sized(600 if is_thick else 2400) // 60):
        boxes = places(rng, *WORLDS[world])
        tree = build(boxes.low, boxes.high)
        drawn = [family(rng, boxes) for family in FAMILIES for _ in range(10 if is_thick else 40)]
        radii = boxes.size * share * rng.choice([0.0, 0.125, 1.0, 1.0], len(drawn))
        moves = radii[:, None] * rng.integers(-1, 2, (len(drawn), 3))  # to the faces of the larger boxes
        asked = [
            (start + move, end + move, r) for (start, end), move, r in zip(drawn, moves, radii.tolist(), strict=True)
        ]
        asked = [ray for ray in asked if not 0.0 < np.abs(ray[1] - ray[0]).max() < SMALLEST_SAFE]
        rays = [seen_from(tree, *ray) for ray in asked]
        assert not any(ray.untrusted for ray in rays)
        together = visited_together(tree, rays, False, is_thick)
        assert visited_together(tree, rays, True, is_thick) == together
        for (start, end, radius), ray, met_in_stream in zip(asked, rays, together, strict=True):
            met, room = visited_alone(tree, ray), 2.0 * BOX_PAD * (1.0 / tree.frame.scale + 2.0 * radius)
            assert met == met_in_stream
            near = range(BOXES) if is_thick else candidates_of(start, end, boxes)
            truly = {k for k in near if meets(start, end, boxes.low[k], boxes.high[k], 0.0, radius)}
            assert truly <= met, (start, end, boxes.low[min(truly - met)], boxes.high[min(truly - met)])
            assert met <= set(near)
            assert all(meets(start, end, boxes.low[k], boxes.high[k], room, radius) for k in met - truly)
            seen.update(truly=len(truly), met=len(met), lines=1)
    assert seen["truly"] > seen["lines"] / 2
    assert seen["met"] < (1.7 if is_thick else 1.6) * seen["truly"], seen


def test_a_start_too_far_away_is_untrusted():
    low = np.array([[-1.0, -1, -1], [0.5, 0.5, 0.5]])
    tree = build(low, low + 0.5)
    half = 1.0 / tree.frame.scale
    for times, blind in ((0.5, False), (2.0, True)):
        start = np.array([0.0, 0.0, times * FARTHEST_START * half])
        assert seen_from(tree, start, np.zeros(3)).untrusted == blind


@pytest.mark.parametrize("count", [5, 100])
@pytest.mark.parametrize("zero", [0.0, -0.0])
def test_a_zero_may_have_either_sign(count: int, zero: float):
    """Directions are negated axes, whose zero components are negative."""
    rng = np.random.default_rng(3)
    foot = rng.uniform(-5.0, 5.0, (count, 3))
    world = cc.HitWorld(cc.Limbs.cylinders(foot, foot + np.array([0.0, 0.0, 1.0]), 0.3))
    origin = foot + np.array([0.1, 0.1, 20.0])
    for axis in np.eye(3):
        hits = world.cast_rays(origin, np.where(axis == 0.0, zero, -axis)[None, :].repeat(count, axis=0))
        assert hits.hit.all() == (axis[2] == 1.0)
    origin[:, 0] = 0.0
    end = origin - np.array([0.0, 0.0, 40.0])
    end[:, 0] = zero
    again = world.cast_segments(origin, end)
    alone = [world.cast_segments(origin[i], end[i]).limb[0] for i in range(count)]
    assert again.limb.tolist() == alone
