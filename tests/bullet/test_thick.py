"""Thick rays at a mirror's shapes: limbs and slabs around planes in exact order."""

import numpy as np
import pybullet as p
import pytest
import support.pybullet_scenes as scenes
from support.oracle.thick import contacts, distance

from cylcollide.bullet import Mirror

FIELDS = (
    *("fraction", "position", "normal"),
    *("exit_fraction", "exit_position", "exit_normal", "thickness", "limb", "body"),
)
Long = np.longdouble


def height(sheet, points):
    """The signed distances of points (n, 3) from a plane, in extended precision."""
    normal = np.array(sheet.normal, Long)
    return (points.astype(Long) - np.array(sheet.point, Long)) @ normal / np.sqrt(normal @ normal)


def slab_contacts(sheet, start, step, radius):
    """Entries and exits (0 or 1 each) of a way through the slab around a plane, within 0 to 1."""
    first, last = (height(sheet, point[None])[0] for point in (start, start + step))
    times = (
        [Long(0), Long(1)] if first == last else sorted((side - first) / (last - first) for side in (-radius, radius))
    )
    entry, leaving = max(times[0], Long(0)), min(times[1], Long(1))
    inside = entry <= leaving and (first != last or abs(first) <= radius)
    return ([entry], [leaving]) if inside else ([], [])


@pytest.fixture(scope="module")
def shots():
    """A client, starts, ends and radii of balls, and the ways of each through all limbs and slabs."""
    with scenes.client() as c:
        rng = np.random.default_rng(3)
        scenes.geometry(c, rng)
        p.loadURDF("plane_implicit.urdf", [0, 0, -0.4], physicsClientId=c)
        starts, ends = rng.uniform(-2.5, 2.5, (2, 24, 3))
        starts[:5, 2] = -0.38
        radius, mirror, ways = rng.choice([0.03, 0.2, 0.5], 24), Mirror(c), []
        for start, step, r in zip(starts.astype(Long), ends.astype(Long) - starts, radius, strict=True):
            ways.append([contacts(mirror.limbs[k], start, step, r) for k in range(len(mirror.limbs))])
            ways[-1] += [slab_contacts(sheet, start, step, Long(r)) for sheet in mirror._state.sheets]
        yield c, starts, ends, radius, ways


@pytest.mark.parametrize("inside", ["hit", "exit", "ignore"])
def test_the_first_shape_and_its_nearest_place(shots, inside):
    c, starts, ends, radius, ways = shots
    mirror = Mirror(c, inside=inside)
    hits, limbs, kinds = mirror.cast_segments(starts, ends, radius=radius), mirror.limbs, set()
    for i in range(24):
        start, step = starts[i].astype(Long), ends[i].astype(Long) - starts[i]
        first = []
        for k, (entries, leaves) in enumerate(ways[i]):
            if len(entries):
                entry, leaving = entries[0], leaves[0]
                if entry == 0 and inside != "hit":
                    if inside == "exit" and leaving < 1:
                        first.append((leaving, k, entry, leaving))
                else:
                    first.append((entry, k, entry, leaving))
        assert hits.hit[i] == bool(first)
        if not first:
            continue
        time, k, entry, leaving = min(first)
        assert abs(hits.fraction[i] - time) < 1e-14
        assert abs(hits.exit_fraction[i] - leaving) < 1e-14
        assert abs(hits.thickness[i] - (leaving - entry) * np.linalg.norm(step)) < 1e-13
        of = limbs[k] if k < len(limbs) else mirror._state.sheets[k - len(limbs)]
        kinds.add((k < len(limbs), bool(entry == 0)))
        assert inside != "exit" or entry > 0 or hits.exit_fraction[i] == hits.fraction[i]
        if k < len(limbs):
            assert hits.limb[i] == k
        else:
            assert hits.limb[i] == -1
            assert (p.getBodyInfo(hits.body[i], c)[1].decode() == "plane") == (of.point[2] == -0.4)
        for at, position, normal in ((time, hits.position[i], hits.normal[i]),
                                     (leaving, hits.exit_position[i], hits.exit_normal[i])):  # fmt: skip
            centre = start + at * step
            gap, far = (
                abs(distance(of, x[None].astype(Long)) if k < len(limbs) else height(of, x[None]))[0]
                for x in (position, centre)
            )
            assert gap < 1e-14
            assert abs(np.linalg.norm((centre - position).astype(float)) - far) < 1e-14
            if normal.any():
                assert np.abs(centre - position - radius[i] * normal.astype(Long)).max() < 1e-14
            else:
                assert far < radius[i] * (1 - 1e-9)
    assert kinds >= ({(True, False), (False, False)} | ({(True, True), (False, True)} if inside != "ignore" else set()))


def test_rows_of_radius_0_have_the_bits_of_lines(c):
    rng = np.random.default_rng(1)
    scenes.geometry(c, rng)
    p.loadURDF("plane_implicit.urdf", [0, 0, -0.25], physicsClientId=c)
    for options in ({}, {"inside": "hit", "tolerance": 1e-3}):
        mirror = Mirror(c, **options)
        starts, ends = rng.uniform(-2.0, 2.0, (2, 1000, 3))
        is_thick = np.arange(1000) % 2 == 1
        mixed = mirror.cast_segments(starts, ends, radius=np.where(is_thick, 0.05, 0.0))
        lines, thick = mirror.cast_segments(starts, ends, radius=0.0), mirror.cast_segments(starts, ends, radius=0.05)
        for field in FIELDS:
            want = getattr(lines, field).copy()
            want[is_thick] = getattr(thick, field)[is_thick]
            assert np.array_equal(getattr(mixed, field), want, equal_nan=True), field
        assert (thick.hit & ~lines.hit).sum() > 10


def test_a_row_has_the_bits_of_a_batch(c):
    rng = np.random.default_rng(2)
    shape = p.createCollisionShape(p.GEOM_PLANE, planeNormal=[3, 2, 10], physicsClientId=c)
    p.createMultiBody(0, shape, basePosition=[0.1, 0.2, 0.3], physicsClientId=c)
    starts, ends = rng.uniform(-2.0, 2.0, (2, 500, 3))
    for inside in ("hit", "exit", "ignore"):
        mirror = Mirror(c, inside=inside, tolerance=0.01)
        batch = mirror.cast_segments(starts, ends, radius=0.3)
        rows = [mirror.cast_segments(*ray, radius=0.3) for ray in zip(starts[:60], ends[:60], strict=True)]
        for field in FIELDS:
            alone = np.concatenate([getattr(row, field) for row in rows])
            assert np.array_equal(getattr(batch, field)[:60], alone, equal_nan=True), (inside, field)


def test_order_is_exact_and_ties_go_to_the_lower_body(c):
    # tops of boxes in the plane, and above and below it by less than a fraction resolves
    tops = [0.0, 2.0**-60, -(2.0**-60)]
    ground = [p.createMultiBody(0, p.createCollisionShape(p.GEOM_PLANE, physicsClientId=c), physicsClientId=c)] * 3
    box = p.createCollisionShape(p.GEOM_BOX, halfExtents=[0.4, 0.4, 0.25], physicsClientId=c)
    ball = p.createCollisionShape(p.GEOM_SPHERE, radius=2.0**-6, physicsClientId=c)
    above = [p.createMultiBody(0, box, basePosition=[k, 0, -0.25], physicsClientId=c) for k in range(2)]
    small = [
        p.createMultiBody(0, ball, basePosition=[k, 3, top - 2.0**-6], physicsClientId=c) for k, top in enumerate(tops)
    ]
    twin = p.createMultiBody(0, p.createCollisionShape(p.GEOM_PLANE, physicsClientId=c), physicsClientId=c)
    mirror = Mirror(c)
    starts = np.array([[0.01, 0.02, 1.0], [1.02, 0.1, 1.5], [0, 3, 1], [1, 3, 1], [2, 3, 1]])
    hits = mirror.cast_segments(starts, starts * [1, 1, -1], radius=0.125)
    assert hits.rechecked >= 5
    assert hits.body.tolist() == [ground[0]] * 5
    p.removeBody(ground[0], c)
    hits = mirror.cast_segments(starts, starts * [1, 1, -1], radius=0.125)
    assert hits.body[:2].tolist() == above
    assert hits.body[2] == small[0], "they touch at once"
    assert twin not in hits.body[:3]


def test_touches_are_hits(c):
    p.createMultiBody(0, p.createCollisionShape(p.GEOM_PLANE, physicsClientId=c), physicsClientId=c)
    along, down = ([-1, 0, 0.5], [1, 0, 0.5]), ([0, 0, 2.0], [0, 0, 0.5])
    for inside, fraction in (("hit", 0.0), ("ignore", np.inf)):
        mirror = Mirror(c, inside=inside)
        assert mirror.cast_segments(*along, radius=0.5).fraction.tolist() == [fraction]
        assert mirror.cast_segments(*down, radius=0.5).fraction.tolist() == [1.0]
        assert not mirror.cast_segments(*down, radius=np.nextafter(0.5, 0.0)).hit[0]
        assert not mirror.cast_segments(*along, radius=np.nextafter(0.5, 0.0)).hit[0]
    hit = Mirror(c, tolerance=0.25).cast_segments([0, 0, 2.0], [0, 0, -2.0], radius=0.25)
    assert (hit.fraction[0], hit.exit_fraction[0], hit.thickness[0]) == (0.375, 0.625, 1.0)
    assert hit.position[0].tolist() == [0, 0, 0.25], "of the plane that has grown by the tolerance"


def test_a_segment_of_length_0_may_hit_a_plane_alone(c):
    scenes.body(c, 0, [5, 0, 0])
    plane = p.loadURDF("plane_implicit.urdf", physicsClientId=c)
    points = [[0, 0, 0.1], [5, 0, 0.1], [0, 0, 9.0]]
    hits = Mirror(c, inside="hit").cast_segments(points, points, radius=0.2)
    assert hits.body.tolist() == [plane, 0, -1]


def test_wrapped_shapes_are_refused_by_name(c):
    p.loadURDF("duck_vhacd.urdf", [0, 0, 3], physicsClientId=c)
    scenes.body(c, 0, [0, 0, 0])
    way = [-2, 0.35, 0], [2, 0.35, 0]
    mirror = Mirror(c, mesh="wrap")
    assert not mirror.cast_segments(*way, radius=0.0).hit[0]
    with pytest.raises(ValueError, match=r"radius: expected 0, .*body 0 .*, link -1; .*mesh='skip'"):
        mirror.cast_segments(*way, radius=0.1)
    assert Mirror(c, mesh="skip").cast_segments(*way, radius=0.1).body.tolist() == [1]
    with pytest.raises(ValueError, match="radius: expected 0 with inside='bullet'"):
        Mirror(c, mesh="skip", inside="bullet").cast_segments(*way, radius=0.1)
    for bad, message in ((-0.1, "radius: expected"), (np.nan, "radius: expected"), ([0.1, 0.2], "radius: expected")):
        with pytest.raises(ValueError, match=message):
            mirror.cast_segments(*way, radius=bad)
    with pytest.raises(TypeError):
        mirror.cast_segments(*way, 1, None, 0.1)
