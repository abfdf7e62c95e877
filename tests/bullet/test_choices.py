"""Options of mirrors: `inside="bullet"`, as in PyBullet itself, and a tolerance of the mirror's shapes."""

from fractions import Fraction

import numpy as np
import pybullet as p
import pytest
import support.pybullet_scenes as scenes

from cylcollide.bullet import Mirror, patched
from cylcollide.bullet.core_hits import core_hits

SOLID = (0, 1, 2, 3)  # of `scenes.SIZES`: sphere, box, capsule, cylinder


def starts_inside(mirror, rng, n, below):
    """Points (n, 3) in the limbs, at least `below` under their surfaces."""
    limbs = mirror.limbs
    reach = np.linalg.norm(limbs.half_extents, axis=1) + limbs.radius + np.linalg.norm(limbs.p2 - limbs.p1, axis=1) / 2
    limb = rng.integers(len(limbs), size=20 * n)
    points = (limbs.p1 + limbs.p2)[limb] / 2 + reach[limb, None] * rng.uniform(-1, 1, (20 * n, 3))
    nudged = [mirror.contains_points(points + below * step).limb == limb for step in (*np.eye(3), *-np.eye(3))]
    return points[np.all(nudged, axis=0)][:n]


@pytest.mark.parametrize("kind", SOLID)
def test_starts_inside_are_pybullets_shape_by_shape(c, kind):
    """Starts deeper than rounding; in boxes and cylinders deeper than the margin, within which PyBullet hits."""
    rng = np.random.default_rng(kind)
    for i in range(3):
        scenes.body(c, kind, [3 * i, 0, 0], rng)
    p.performCollisionDetection(physicsClientId=c)
    mirror = Mirror(c, inside="bullet")
    is_round = kind in (0, 2)
    starts = starts_inside(mirror, rng, 600, below=1e-6 if is_round else 1.8e-3)
    ends = starts + rng.normal(size=starts.shape) * 10.0 ** rng.uniform(-3, 0, (len(starts), 1))
    ours = mirror.rayTestBatch(starts, ends)
    theirs = p.rayTestBatch(starts, ends, physicsClientId=c)
    assert len(starts) == 600
    assert [a[:3] for a in ours] == [b[:3] for b in theirs]
    hits = np.array([a[0] >= 0 for a in ours])
    np.testing.assert_allclose([a[3] + a[4] for a in ours], [b[3] + b[4] for b in theirs], atol=1e-7)
    assert 200 < hits.sum() < 400 if is_round else not hits.any()
    assert (mirror.occluded_segments(starts, ends) == hits).all()
    assert all(a[2] == 0.0 and abs(np.linalg.norm(a[4]) - 1) < 1e-14 for a in ours if a[0] >= 0)


def test_special_starts_in_a_ball_and_a_capsule(c):
    """Rays in the core, across it, slightly towards and away from it, and of length 0: only those towards it hit."""
    ball, capsule = scenes.body(c, 0, [0, 0, 0]), scenes.body(c, 2, [3, 0, 0])
    p.performCollisionDetection(physicsClientId=c)
    mirror = Mirror(c, inside="bullet")
    for start, end, expected in (
        ([0, 0, 0], [1, 0, 0], -1),
        ([3, 0, 0.1], [4, 0, 0.1], -1),
        ([3, 0, 0.1], [3, 0, 2], -1),
        ([0.1, 0, 0], [0.1, 1, 0], -1),
        ([0.1, 0, 0], [np.nextafter(0.1, 0), 1, 0], ball),
        ([0.1, 0, 0], [np.nextafter(0.1, 1), 1, 0], -1),
        ([0.1, 0, 0], [0.1, 0, 0], -1),
        ([1e-12, 0, 0], [-1, 0, 0], ball),
        ([3.05, 0, 0.27], [3.05, 0, 0], capsule),
        ([3.05, 0, 0.2], [3.05, 0, 0], -1),
    ):
        ours = mirror.rayTest(start, end)[0]
        assert ours[:3] == p.rayTest(start, end, physicsClientId=c)[0][:3], (start, end)
        assert ours[0] == expected


def test_a_hit_of_a_core_hides_what_is_behind_it_in_every_query(c):
    for x in (0.0, 0.1, 1.0):
        scenes.body(c, 0, [x, 0, 0])
    p.loadURDF("plane_implicit.urdf", [0, 0, -0.5], physicsClientId=c)
    duck = p.loadURDF("duck_vhacd.urdf", [0.3, -0.2, -0.2], globalScaling=5, physicsClientId=c)
    p.performCollisionDetection(physicsClientId=c)
    mirror = Mirror(c, mesh="wrap", inside="bullet")
    starts, ends = np.array([[-0.15, 0, 0], [0.2, 0, 0], [-2, 0, 0]]), np.array([[2.0, 0, -1.2]] * 2 + [[2.0, 0, 0]])
    hits = mirror.cast_segments(starts, ends)
    assert hits.body.tolist() == [0, duck, 0]
    assert hits.fraction[0] == 0.0
    assert hits.limb.tolist() == [-1, -1, 0]
    assert np.isnan(hits.thickness[0])
    numbered = [mirror.rayTest(starts[0], ends[0], reportHitNumber=k)[0] for k in range(3)]
    assert [(a[0], a[2]) for a in numbered[:2]] == [(0, 0.0), (1, 0.0)]
    assert numbered[2][0] == duck, "Bullet decides about it, behind both"
    assert numbered[0] == mirror.rayTest(starts[0], ends[0])[0]
    assert mirror.occluded_segments(starts, ends).all()
    chords = mirror.chords_segments(starts[:1], ends[:1])
    assert chords.body[:2].tolist() == [0, 1]
    assert chords.entry_fraction[:2].tolist() == [0.0, 0.0]
    assert mirror.rayTest(starts[0], ends[0], collisionFilterMask=1)[0][0] == duck, "static bodies are of group 2"


def test_directions_float64_cannot_resolve_are_exact(c):
    scenes.body(c, 2, [0, 0, 0], np.random.default_rng(3))
    mirror = Mirror(c, inside="bullet")
    world, places = mirror._follower.scene.state.world, mirror._follower.scene.state.shape_link
    p1, p2 = (Fraction(0) + np.array([Fraction(x) for x in end[0]]) for end in (mirror.limbs.p1, mirror.limbs.p2))
    rng, seen = np.random.default_rng(4), []
    for _ in range(200):
        share = Fraction(rng.uniform(-0.15, 1.15))
        start = np.array([float(x) for x in p1 + share * (p2 - p1)]) + rng.normal(size=3) * 0.02
        exact = np.array([Fraction(x) for x in start])
        axis = p2 - p1
        out = exact - p1 - min(max((exact - p1) @ axis / (axis @ axis), Fraction(0)), Fraction(1)) * axis
        if out @ out > Fraction(99, 10000):
            continue
        across = np.cross(np.array([float(x) for x in out]), rng.normal(size=3))
        end = start + across / np.linalg.norm(across)
        found = core_hits(world, places, start[None], end[None], -1 & 0xFFFFFFFF)
        seen.append((np.array([Fraction(x) for x in end]) - exact) @ out < 0)
        assert bool(found) == seen[-1]
    assert 25 < sum(seen) < len(seen) - 25


def test_limbs_are_inflated_and_wrapped_shapes_are_not(c):
    rng = np.random.default_rng(5)
    scenes.compounds(c, rng)
    p.loadURDF("duck_vhacd.urdf", [0, 0, 3], physicsClientId=c)
    plain, grown = Mirror(c, mesh="wrap"), Mirror(c, mesh="wrap", tolerance=0.01)
    for k in range(2):
        expected = plain.limbs.inflated(0.01)
        for name in ("p1", "p2", "radius", "half_extents"):
            np.testing.assert_allclose(getattr(grown.limbs, name), getattr(expected, name), rtol=0, atol=1e-15)
        assert grown.limbs.names == expected.names
        assert grown._state.wrapped.bounds.tobytes() == plain._state.wrapped.bounds.tobytes()
        if k == 0:
            p.setGravity(0, 0, -9, physicsClientId=c)
            p.stepSimulation(physicsClientId=c)
            for mirror in (plain, grown):
                mirror.sync()
    point = plain.limbs.p2[0] + [0, 0, plain.limbs.radius[0] + 0.005]
    assert Mirror(c, mesh="wrap", tolerance=0.01, inside="hit").rayTest(point, point + 1e-3)[0][2] == 0.0


def test_a_slab_among_limbs(c):
    """A ball just below the ground is behind the slab from above; one through it is in front."""
    scenes.body(c, 0, [0, 0, -0.301])
    scenes.body(c, 0, [1, 0, -0.2])
    p.loadURDF("plane_implicit.urdf", physicsClientId=c)
    for inside, within in (("ignore", -1), ("hit", 2), ("exit", 2), ("bullet", -1)):
        mirror = Mirror(c, tolerance=1e-3, inside=inside)
        starts = [[0, 0, 1], [1, 0, 1], [2, 0, 1], [2, 0, 0.0005], [2, 0, -1]]
        ends = [[0, 0, -1], [1, 0, -1], [2, 0, 0.0005], [2, 0, 1], [2, 0, 0]]
        answers = mirror.rayTestBatch(starts, ends)
        assert [a[0] for a in answers] == [2, 1, 2, within, 2]
        assert answers[0][2] == pytest.approx(0.4995, abs=1e-15), "at the upper face"
        assert answers[1][2] == pytest.approx((1 - 0.101) / 2, abs=1e-15)
        assert [a[0] for a in mirror.rayTestBatch(starts[:2], ends[:2], reportHitNumber=1)] == [0, 2]
        chords = mirror.chords_segments(starts[:1], ends[:1])
        assert chords.body.tolist() == [2, 0], "a slab is one chord"
    assert "tolerance" in repr(mirror)


def test_options_are_checked(c):
    for options, message in (
        ({"inside": "Bullet"}, "inside: expected 'hit', 'exit', 'ignore' or 'bullet', got 'Bullet'"),
        ({"tolerance": -1e-3}, "tolerance: expected 0, or at least"),
        ({"tolerance": np.nan}, "tolerance: expected"),
        ({"tolerance": "1 mm"}, "tolerance: expected"),
    ):
        with pytest.raises(ValueError, match=message):
            Mirror(c, **options)
        with pytest.raises(ValueError, match=message), patched(**options):
            pass
    assert Mirror(c, tolerance=0).tolerance == 0.0
