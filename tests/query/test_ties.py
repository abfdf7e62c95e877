"""Limbs hit at exactly the same fraction: loops detect equal numbers, and answers equal those of exact arithmetic."""

import numpy as np
import pytest
from support.cases.everyday_shape_worlds import mixed
from support.check_cylinders import sized
from support.exact_answers import check_chords, check_hits, solids_of
from support.oracle.shapes.table import SHAPE_ROWS

import cylcollide as cc
from cylcollide.query.exact_fallback import NO_CHORDS
from cylcollide.query.loops.columns import empty_hits
from cylcollide.query.loops.settle import settle_rows
from cylcollide.query.request import segment_request

pytestmark = pytest.mark.plain_python

IDENTITY = [0.0, 0.0, 0.0, 1.0]
TURNS = [IDENTITY, [1.0, 0.0, 0.0, 0.0], [0.0, 0.0, 1.0, 0.0], [0.0, 0.0, 0.3, 0.9], [0.5, 0.5, 0.5, 0.5]]
"""Permuted axes of either sign, and a turn about z."""


def twins(seed=1):
    """Every shape three times; the first copies have another mask."""
    limbs = mixed(8, seed=seed).limbs()
    thrice = cc.Limbs.concat([limbs.moved(limbs.p1 / 3, limbs.p2 / 3)] * 3)
    layers = np.repeat(np.array([1, 3, 3], np.uint32), 8)
    return cc.Limbs(thrice._table._replace(mask=layers), thrice.hit_group, thrice.names)


def boxes_in_planes():
    """Boxes that overlap, with faces in common planes."""
    rng = np.random.default_rng(2)
    half = rng.integers(1, 4, (24, 3)) / 4.0
    centre = rng.integers(-2, 3, (24, 3)) / 4.0
    centre[:, 2] = 1.0 - half[:, 2]  # equal tops
    centre[::3, 2] = half[::3, 2] - 1.0
    turned = cc.Limbs.boxes(centre, np.array(TURNS)[rng.integers(len(TURNS), size=24)], half)
    return cc.Limbs.concat([turned, cc.Limbs.spheres([[0.0, 0.0, 0.5]], 0.5)])


def boxes_nearly_in_planes():
    """Boxes whose tops are less than an ulp apart: 0.15 + 0.15 and 0.25 + 0.05 round to the same float64."""
    pairs = [(0.15, 0.15), (0.25, 0.05), (0.05, 0.25)]
    return cc.Limbs.concat([cc.Limbs.boxes([[0.0, 0.0, z]], IDENTITY, [[1.0, 1.0, h]]) for z, h in pairs])


def boxes_in_one_box():
    """Boxes with some faces of one turned box: float64 cannot resolve the ties, and a start may be in several."""
    half = [[0.7, 0.7, 0.7], [0.7, 0.7, 0.3], [0.7, 0.2, 0.7]]
    return cc.Limbs.boxes(np.full((3, 3), 0.1), cc.quaternions.from_axis_angle([1.0, 2.0, 0.5], 0.6), half)


def boxes_of_one_turn():
    """Overlapping walls of one turn: faces in one plane, up to rounding."""
    rng, parts = np.random.default_rng(8), []
    for turn in cc.quaternions.from_axis_angle([[0, 0, 1], [1, 2, 0.5], [1, 1, 0]], [0.5 * np.pi, 0.6, 0.8]):
        place, half = rng.integers(-2, 3, (12, 3)) / 4.0, rng.integers(1, 4, (12, 3)) / 4.0
        place[:, 1] = 0.7 - half[:, 1]
        half[::5, 1] = np.nextafter(half[::5, 1], 1.0)
        axes = cc.Limbs.boxes(np.zeros(3), turn, np.ones(3)).box_axes[0]
        parts.append(cc.Limbs.boxes(place @ axes, turn, half))
    return cc.Limbs.concat(parts)


def near_twins():
    """Every second limb is larger than its twin by the last bit of its radius."""
    rng = np.random.default_rng(7)
    p1, p2 = rng.uniform(-1.0, 1.0, (2, 6, 3))
    radius = np.repeat(rng.uniform(0.2, 0.5, 3), 2)
    radius[1::2] = np.nextafter(radius[::2], 1.0)
    p1[1::2], p2[1::2] = p1[::2], p2[::2]
    return cc.Limbs.concat(
        [cc.Limbs.capsules(p1[:4], p2[:4], radius[:4]), cc.Limbs.cylinders(p1[4:], p2[4:], radius[4:])]
    )


def bones():
    """Capsules and balls of one radius, as bones that share the balls at their joints."""
    joints = np.random.default_rng(11).uniform(-1.0, 1.0, (5, 4, 3))
    capsules = cc.Limbs.capsules(joints[:, :-1].reshape(-1, 3), joints[:, 1:].reshape(-1, 3), 0.3)
    return cc.Limbs.concat([capsules[::-1], cc.Limbs.spheres(joints[0], 0.3)])


WORLDS = [bones, twins, boxes_in_planes, boxes_nearly_in_planes, boxes_in_one_box, boxes_of_one_turn, near_twins]


def rays(seed, n):
    """Segments (n, 3), (n, 3): aimed from all around, from inside, in planes of faces, along axes, and along edges."""
    rng = np.random.default_rng(seed)
    start = rng.normal(size=(n, 3))
    start *= 4.0 / np.linalg.norm(start, axis=1)[:, None]
    end = -start + rng.normal(size=(n, 3))
    kind = np.arange(n) % 6
    start[kind == 1] *= 0.1
    flat = rng.integers(-4, 5, (n, 3)) / 4.0
    start[kind == 2, 2] = end[kind == 2, 2] = 1.0
    start[kind == 3], end[kind == 3] = flat[kind == 3] + [0, 0, 3], flat[kind == 3] - [0, 0, 3]
    start[kind == 4], end[kind == 4] = flat[kind == 4] * [1, 1, 0] + [0, 0, 1], -flat[kind == 4] - [0, 0, 1]
    end[kind == 5] = flat[kind == 5]
    return start, end


@pytest.mark.coverage("hit-boxes_nearly_in_planes", "ignore-boxes_in_planes", "ignore-twins", "hit-boxes_in_one_box")
@pytest.mark.parametrize("make", WORLDS)
@pytest.mark.parametrize("inside", ["hit", "exit", "ignore"])
def test_hits_equal_those_of_exact_arithmetic(make, inside):
    limbs, n = make(), sized(72, 60)
    world, (starts, ends) = cc.HitWorld(limbs), rays(3, n)
    for mask in (1, 2) if make is twins else (1,):
        many = world.cast_segments(starts, ends, inside=inside, mask=mask)
        few = [world.cast_segments(starts[i], ends[i], inside=inside, mask=mask) for i in range(0, n, 7)]
        check_hits(many, solids_of(limbs, mask=mask), starts, ends, inside)
        for one, row in zip(few, range(0, n, 7), strict=True):
            for name in ("limb", "face", "fraction", "position", "normal"):
                assert np.array_equal(getattr(one, name)[0], getattr(many, name)[row], equal_nan=True)
        assert many.hit.sum() > n / 4


@pytest.mark.coverage("0.2-hit-boxes_in_planes")
@pytest.mark.parametrize("make", [boxes_in_planes, boxes_nearly_in_planes, boxes_of_one_turn])
@pytest.mark.parametrize(("radius", "inside"), [(0.2, "hit"), (0.02, "exit"), (0.2, "ignore")])
def test_thick_hits_equal_those_of_exact_arithmetic(make, inside, radius):
    limbs, n = make(), sized(60, 20)
    starts, ends = rays(9, n)
    hits = cc.HitWorld(limbs).cast_segments(starts, ends, inside=inside, radius=radius)
    check_hits(hits, solids_of(limbs, radius), starts, ends, inside)
    assert hits.hit.sum() > n / 4


@pytest.mark.parametrize("first", [0, 1])
@pytest.mark.parametrize("beyond", [0.0, 1e-14, 1e-11, 1e-8, 1e-5])
def test_a_ball_touches_a_face_before_the_edge_beside_it(first, beyond):
    # the face reaches farther than the edge of the other box, in whose plane it is
    centre, half = np.zeros((2, 3)), np.ones((2, 3))
    half[first, 1] = 2.0
    limbs = cc.Limbs.boxes(centre, TURNS[3], half)
    x, y, z = limbs.box_axes[0]
    start = 4.0 * x + (1.0 + beyond) * y + 0.2 * z
    for radius, end in ((0.3, start - 8.0 * x), (0.3, start - 8.0 * x + 1e-3 * y)):
        hits = cc.HitWorld(limbs).cast_segments(start, end, radius=radius)
        check_hits(hits, solids_of(limbs, radius), start[None], end[None])
        chords = cc.HitWorld(limbs).chords_segments(start, end, radius=radius)
        check_chords(chords, solids_of(limbs, radius), start[None], end[None])
        request = segment_request(start, end, radius=radius)
        request.copy_checked(0, 1)
        for order in ([0, 1], [1, 0]):  # in which they are tested
            found, lists = empty_hits(1), (np.array([0, 2]), 2 * np.array(order, np.int32))
            settle_rows(request.batch, limbs._kernel_rows, np.arange(1), *lists, np.empty(2), found, NO_CHORDS)
            assert found.undecided[0] or found.limb[0] == hits.limb[0]


@pytest.mark.parametrize("first", [0, 1])
def test_a_ball_leaves_one_box_where_it_touches_another(first):
    centre = np.zeros((2, 3))
    centre[first], centre[1 - first] = [-1.0, 0.0, 0.0], [1.5, 0.0, 0.0]  # the gap is as wide as the ball
    limbs, start, end = cc.Limbs.boxes(centre, IDENTITY, [1.0, 1.0, 1.0]), np.array([-1.0, 0, 0]), np.array([3.0, 0, 0])
    hits = cc.HitWorld(limbs).cast_segments(start, end, inside="exit", radius=0.25)
    check_hits(hits, solids_of(limbs, 0.25), start[None], end[None], "exit")
    assert hits.limb.tolist() == [0]


@pytest.mark.coverage("0.0-boxes_in_planes", "0.3-twins")
@pytest.mark.parametrize("make", WORLDS)
@pytest.mark.parametrize("radius", [0.0, 0.3])
def test_chords_are_in_exact_order(make, radius):
    limbs, n = make(), sized(24 if radius else 50, 20)
    if radius:
        limbs = limbs[[not SHAPE_ROWS[kind].is_bounded for kind in limbs.kind.tolist()]]
    starts, ends = rays(4, n)
    found = cc.HitWorld(limbs).chords_segments(starts, ends, radius=radius)
    check_chords(found, solids_of(limbs, radius), starts, ends)
    assert len(found) > n / 4


@pytest.mark.parametrize("radius", [0.0, 0.05])
def test_chords_of_twins_need_no_exact_arithmetic(radius):
    rng, n = np.random.default_rng(5), sized(400, 40)
    limbs, starts = twins(), rng.normal(size=(n, 3)) * 3.0
    ends = limbs.p1[rng.integers(len(limbs), size=n)] * 2.0 - starts + 0.01 * rng.normal(size=(n, 3))
    found = cc.HitWorld(limbs).chords_segments(starts, ends, radius=radius)
    assert len(found) > 3 * n
    assert found.rechecked <= n / 50


@pytest.mark.coverage("hit-0.0")
@pytest.mark.parametrize("radius", [0.0, 0.05])
@pytest.mark.parametrize("inside", ["hit", "exit", "ignore"])
def test_bones_that_share_balls_need_no_exact_arithmetic(inside, radius):
    # every twelfth ray that hits a skeleton hits a joint: each was decided exactly, 0.5 ms
    rng, n = np.random.default_rng(12), sized(400, 40)
    limbs, starts = bones(), rng.normal(size=(n, 3))
    starts *= 5.0 / np.linalg.norm(starts, axis=1)[:, None]
    joints = np.concatenate((limbs.p1, limbs.p2))[rng.integers(2 * len(limbs), size=n)]
    ends = 2.0 * joints + 0.1 * rng.normal(size=(n, 3)) - starts
    world = cc.HitWorld(limbs)
    hits = world.cast_segments(starts, ends, inside=inside, radius=radius)
    check_hits(hits[:20], solids_of(limbs, radius), starts[:20], ends[:20], inside)
    assert hits.hit.all()
    assert hits.rechecked == 0
    assert world.chords_segments(starts, ends, inside=inside, radius=radius).rechecked == 0


@pytest.mark.parametrize("rows", [3, 48])
def test_faces_that_cross(rows):
    # two boxes turned to either side: where their faces cross, float64 cannot resolve which one a ray enters first
    limbs = cc.Limbs.boxes(np.zeros((2, 3)), [[0, 0, 0.15, 0.99], [0, 0, -0.15, 0.99]], [0.7, 0.7, 0.7])
    starts = np.tile([5.0, 0.0, 0.1], (rows, 1))
    starts[:, 1] = np.resize([1e-18, -1e-18, 0.0], rows)
    for world in (cc.HitWorld(limbs), cc.HitWorld(cc.Limbs.concat([limbs, limbs.moved(limbs.p1 + 9, limbs.p2 + 9)]))):
        hits = world.cast_segments(starts, starts * [-1, 1, 1])
        check_hits(hits, solids_of(limbs), starts, starts * [-1, 1, 1])
        assert set(hits.limb.tolist()) == {0, 1}


@pytest.mark.coverage
@pytest.mark.parametrize("nearer", [0, 1])
@pytest.mark.parametrize("step", [2.0**-60, 1e-310])
def test_planes_closer_than_the_error_of_double_double(step, nearer):
    # along the normal the centres differ by 1e-18 steps: products of the large components cancel exactly
    turn = [np.sin(0.3), 0.0, 5e-19, np.cos(0.3)]
    x, y, z = cc.Limbs.boxes(np.zeros(3), turn, np.ones(3)).box_axes[0, 1]
    assert 0.0 < abs(x) < 1e-17
    centre = np.zeros((2, 3))
    centre[nearer] = np.copysign(step, x), z, -y
    limbs = cc.Limbs.boxes(centre, turn, np.ones(3))
    start, end = np.array([0.1, 0.1, 0.0]) + 3.0 * np.array([0.0, y, z]), np.array([0.1, 0.1, 0.0])
    hits = cc.HitWorld(limbs).cast_segments(start, end)
    check_hits(hits, solids_of(limbs), start[None], end[None])
    assert hits.limb.tolist() == [nearer]
    assert hits.rechecked == 1


@pytest.mark.parametrize("which", [[0, 8, 16], [6, 14, 22], [5, 13]])
def test_among_few_limbs(which):
    # brute force tests sixteen rays in parallel lanes
    limbs, n = twins()[which], sized(200, 80)
    starts, ends = rays(4, n)
    hits = cc.HitWorld(limbs).cast_segments(starts, ends, mask=1)
    check_hits(hits, solids_of(limbs, mask=1), starts, ends)
    assert (hits.limb == 0).sum() > n / 50
    alone = cc.HitWorld(limbs[:1]).cast_segments(starts, ends, mask=1)
    assert np.array_equal(hits.fraction, alone.fraction), "bits of the limb alone"
    assert hits.rechecked == alone.rechecked


@pytest.mark.parametrize("n", [60, 400])
def test_ordinary_rays_need_no_exact_arithmetic(n):
    rng = np.random.default_rng(5)
    start = rng.normal(size=(sized(n, 60), 3))
    start *= 4.0 / np.linalg.norm(start, axis=1)[:, None]
    for make in (twins, boxes_in_planes, boxes_of_one_turn):
        hits = cc.HitWorld(make()).cast_segments(start, -start + 0.3 * rng.normal(size=start.shape))
        assert hits.rechecked <= 0.02 * len(start)
        assert hits.hit.mean() > 0.25


def test_limbs_that_move_apart():
    limbs = twins()
    world, (starts, ends) = cc.HitWorld(limbs), rays(6, 60)
    p1, p2 = limbs.p1.copy(), limbs.p2.copy()
    p1[:8] += 5.0
    p2[:8] += 5.0
    world.set_endpoints(p1, p2)
    check_hits(world.cast_segments(starts, ends, mask=1), solids_of(world.limbs, mask=1), starts, ends)
