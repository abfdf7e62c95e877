"""Doubts and swept blades: every promise is checked by exact casts of moved limbs, and by points of blades."""

import numpy as np
import pytest
from support.cases.everyday_shape_worlds import mixed
from support.check_cylinders import IS_COMPILED

import cylcollide as cc

N = 160 if IS_COMPILED else 12


def all_shapes(count: int = 28) -> cc.Limbs:
    return mixed(max(count, 7), seed=6).limbs()[:count]


def shots(limbs: cc.Limbs, rng: np.random.Generator, n: int) -> tuple[np.ndarray, np.ndarray]:
    """Segments from outside to a point near some limb, or beyond it."""
    k = rng.integers(0, len(limbs), n)
    aim = 0.5 * (limbs.p1[k] + limbs.p2[k]) + 0.3 * rng.normal(size=(n, 3))
    start = aim + rng.normal(size=(n, 3)) * rng.choice([0.1, 1.0, 5.0], (n, 1))
    return start, start + rng.uniform(0.5, 2.0, (n, 1)) * (aim - start)


def moved(limbs: cc.Limbs, k: int, by: np.ndarray) -> cc.Limbs:
    """One limb, moved."""
    one = limbs[k : k + 1]
    return one.moved(one.p1 + by, one.p2 + by)


@pytest.mark.machine_code
def test_promises_hold_at_every_limb_place():
    """However a limb moves within the radius, a certain one stays hit and an excluded one missed."""
    rng, limbs = np.random.default_rng(3), all_shapes()
    world, (start, end) = cc.HitWorld(limbs), shots(limbs, rng, N)
    radius = rng.choice([1e-6, 0.01, 0.05, 0.2], N)
    found = world.doubt_segments(start, end, radius)
    seen = {doubt: int((found.limb_verdict == doubt).sum()) for doubt in cc.Doubt}
    assert (np.diff(found.offsets) >= 0).all()
    for i in range(N):
        rows = slice(found.offsets[i], found.offsets[i + 1])
        verdict = np.full(len(limbs), cc.Doubt.EXCLUDED)
        verdict[found.limb[rows]] = found.limb_verdict[rows]
        assert found.verdict[i] == verdict.max()
        asked = np.unique(np.append(found.limb[rows], rng.integers(0, len(limbs), 3)))
        for k in asked.tolist():
            to_axis = 0.5 * (limbs.p1[k] + limbs.p2[k]) - 0.5 * (start[i] + end[i])
            ways = np.array([rng.normal(size=3), rng.normal(size=3), to_axis, -to_axis, [0.0, 0.0, 0.0]])
            length = np.maximum(np.linalg.norm(ways, axis=1, keepdims=True), 1e-9)
            for by in radius[i] * (1.0 - 1e-9) * ways / length:
                hit = bool(moved(limbs, k, by).cast_segments(start[i], end[i]).hit[0])
                if verdict[k] != cc.Doubt.DEPENDS:
                    assert hit == (verdict[k] == cc.Doubt.CERTAIN), (i, k)
                    seen[cc.Doubt.EXCLUDED] += verdict[k] == cc.Doubt.EXCLUDED
    assert min(seen.values()) > (20 if IS_COMPILED else 3), seen


def test_radius_zero_gives_the_verdict():
    rng, limbs = np.random.default_rng(4), all_shapes()
    world, (start, end) = cc.HitWorld(limbs), shots(limbs, rng, N)
    mask, ignored = rng.choice([0xFFFFFFFF, 1, 0], N), rng.integers(-1, 3, N)
    found = world.doubt_segments(start, end, 0.0, mask=mask, ignore_character=ignored)
    chords = world.chords_segments(start, end, mask=mask, ignore_character=ignored)
    assert (found.limb_verdict == cc.Doubt.CERTAIN).all()
    assert (found.verdict == np.where(np.diff(chords.offsets) > 0, cc.Doubt.CERTAIN, cc.Doubt.EXCLUDED)).all()
    pairs = np.unique(np.stack([chords.ray, chords.limb], axis=1), axis=0)
    assert np.array_equal(np.stack([found.query, found.limb], axis=1), pairs)
    touching = cc.HitWorld(cc.Limbs.spheres([0, 0, 1], 1.0)).doubt_segments(
        [[-1, 0, 0]] * 2, [[1, 0, 0]] * 2, [0, 1e-9]
    )
    assert touching.verdict.tolist() == [cc.Doubt.CERTAIN, cc.Doubt.DEPENDS]


def blades(limbs: cc.Limbs, rng: np.random.Generator, n: int) -> tuple[np.ndarray, ...]:
    """Both ends before and after, most of them near a limb on their path, and radii."""
    k = rng.integers(0, len(limbs), n)
    aim, along = 0.5 * (limbs.p1[k] + limbs.p2[k]), 0.4 * rng.normal(size=(n, 3))
    by, turn = rng.normal(size=(n, 3)), 0.3 * rng.normal(size=(n, 3))
    aim = aim + rng.choice([0.3, 3.0], (n, 1)) * rng.normal(size=(n, 3))
    return (
        aim - by - along,
        aim - by + along,
        aim + by - along + turn,
        aim + by + along - turn,
        rng.choice([0.0, 0.01, 0.1], n),
    )


@pytest.mark.machine_code
def test_blades_touch_at_the_time_and_not_before():
    """At `fraction` the position is in the limb, within `radius` of the blade; until then the blade is in no limb."""
    rng, limbs, resolution = np.random.default_rng(5), all_shapes(), 2.0**-10
    world, (p, q, u, v, radius) = cc.HitWorld(limbs), blades(limbs, rng, N)
    hits = world.sweep_capsules(p, q, u, v, radius)
    assert hits.hit.sum() > N // 4
    assert (~hits.hit & ~hits.undecided).any()
    assert hits.undecided.mean() < (0.1 if IS_COMPILED else 0.2)  # plain Python sweeps only a dozen
    grown = limbs.inflated(1e-9)
    for i in range(N):
        t = hits.fraction[i] if hits.hit[i] else 1.0
        if hits.hit[i]:
            a, b = p[i] + t * (u - p)[i], q[i] + t * (v - q)[i]
            s = np.clip((hits.position[i] - a) @ (b - a) / ((b - a) @ (b - a)), 0.0, 1.0)
            way = max(np.linalg.norm((u - p)[i]), np.linalg.norm((v - q)[i]))  # the blade may be this much too deep
            if t > 0.0:
                assert np.linalg.norm(hits.position[i] - a - s * (b - a)) <= radius[i] + way * resolution + 1e-9
            k = hits.limb[i]
            assert grown[k : k + 1].classify_points(hits.position[i])[0] != cc.Side.OUTSIDE
        if not hits.undecided[i] and t > resolution:
            times = rng.uniform(0.0, t - resolution, (2000, 1)) if hits.hit[i] else rng.random((2000, 1))
            s = rng.random((2000, 1))
            times[::2] = t - resolution - (t - resolution) * rng.random((1000, 1)) ** 4
            a, b = p[i] + times * (u - p)[i], q[i] + times * (v - q)[i]
            out = rng.normal(size=(2000, 3))
            points = a + s * (b - a) + radius[i] * (1.0 - 1e-9) * out / np.linalg.norm(out, axis=1, keepdims=True)
            assert (world.contains_points(points).limb < 0).all(), i


def test_positions_of_blades_at_ties_are_on_the_limb():
    """Axes of turned boxes are rounded, so that double-double does not decide which face is the nearest."""
    boxes = cc.Limbs.boxes([-2, -1, 0], [0, 0, 1, 1], [3, 3, 3])
    blade = [0.5, 2.5, 3], [3.5, 6.5, 10]
    hits = cc.HitWorld(boxes).sweep_capsules(*blade, *blade, 1.0)
    assert np.abs(hits.position - [0.5, 2, 3]).max() < 1e-15
    one, blade = cc.Limbs.cylinders([-2, 0, -2], [0, 1, -4], 1.0), ([3, 4, 1], [1, 1, -3])
    position = cc.HitWorld(one).sweep_capsules(*blade, *blade, 1.0).position
    assert abs(one.closest_points(position).distance[0]) < 1e-15


def test_a_blade_in_a_limb_is_its_nearest_place():
    """As with thick rays: a place of the surface may be farther away than the radius."""
    rng, shapes = np.random.default_rng(8), all_shapes()
    for k in range(len(shapes)):
        one, middle = shapes[k : k + 1], 0.5 * (shapes.p1[k] + shapes.p2[k])
        p = middle + 0.1 * rng.normal(size=(20, 3))
        p = p[one.classify_points(p) == cc.Side.INSIDE]
        if len(p):
            hits = cc.HitWorld(one).sweep_capsules(p, p, p + 1.0, p + 1.0, 1e-6)
            assert not hits.fraction.any()
            assert np.array_equal(hits.position, p), k
    level = cc.HitWorld(cc.Limbs.boxes([0, 0, 0], [0, 0, 0, 1], [1, 1, 1]))
    blade = [0.5, 0.5, 0]  # as near to one face as to another
    assert level.sweep_capsules(blade, blade, blade, blade, 0.25).position.tolist() == [blade]


def test_arguments_of_both():
    world = cc.HitWorld(cc.Limbs.spheres([[0, 0, 0], [3, 0, 0]], 1.0, character=[4, 5], mask=[1, 2]))
    stroke = ([-3, -1, 0], [-3, 1, 0], [3, -1, 0], [3, 1, 0])
    hits = world.sweep_capsules(*stroke, 0.5, resolution=2.0**-12)
    assert (hits.limb.tolist(), hits.character.tolist()) == ([0], [4])
    assert 0.25 <= hits.fraction[0] <= 0.25 + 2.0**-12
    assert world.sweep_capsules(*stroke, 0.5, ignore_character=4).limb.tolist() == [1]
    two = np.array(stroke)[:, None].repeat(2, 1)
    assert world.sweep_capsules(*two, [0.5, 0.0], mask=[0, 2], threads=1).limb.tolist() == [-1, 1]
    assert world.sweep_capsules(*stroke, 2.5).fraction.tolist() == [0.0]
    assert len(world.sweep_capsules(*[np.empty((0, 3))] * 4, 0.5)) == 0
    assert "1 hits" in repr(hits)
    for call, match in (
        (lambda: world.sweep_capsules(*stroke, -1.0), "radius: expected 0, or at least"),
        (lambda: world.sweep_capsules(*stroke, 1.0, resolution=0.0), "resolution: expected a number from"),
        (lambda: world.sweep_capsules(*stroke, 1.0, resolution=np.float16(0)), "resolution: expected a number from"),
        (lambda: world.sweep_capsules([[0, 0, np.nan]], *stroke[1:], 1.0), "p1.*row 0"),
        (lambda: world.doubt_segments([0, 0, 0], [1, 1, 1], np.nan), "radius"),
        (lambda: world.doubt_segments([0, 0, 0], [[1, 1, 1]] * 2, [1, 2, 3]), "radius"),
    ):
        with pytest.raises(ValueError, match=match):
            call()
    with pytest.raises(TypeError):
        world.doubt_segments([0, 0, 0], [1, 1, 1], 0.1, 1)
