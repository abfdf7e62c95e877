"""A mirror's queries with arrays: the same answers as its tuples, and the other columns of `RayHits`."""

import numpy as np
import pybullet as p
import pytest
import support.pybullet_scenes as scenes
from support.copies import COPIES

from cylcollide.bullet import Mirror


@pytest.fixture(scope="module", params=["limbs", "planes", "mesh"])
def scene(request):
    """A client with limbs; limbs and three planes; or these and a mesh."""
    with scenes.client() as c:
        rng = np.random.default_rng(1)
        if request.param == "limbs":
            for i in range(30):
                scenes.body(c, i % 4, rng.uniform(-1.5, 1.5, 3), rng)
        else:
            scenes.geometry(c, rng)
            for z in (-0.25, 0.5):
                p.loadURDF("plane_implicit.urdf", [0, 0, z], physicsClientId=c)
        if request.param == "mesh":
            p.loadURDF("duck_vhacd.urdf", [0, 0, 0.3], globalScaling=8, physicsClientId=c)
        p.performCollisionDetection(physicsClientId=c)
        yield c


@pytest.fixture(scope="module")
def mirror(scene):
    """A mirror of the scene."""
    return Mirror(scene, mesh="wrap")


def segments(rng, n=400):
    """Random segments, and segments between points of a lattice that the planes contain."""
    lattice = np.round(rng.uniform(-2, 2, (2, n, 3)) * 4) / 4
    starts, ends = scenes.rays(rng, n, 1.5)
    return np.concatenate([starts, lattice[0]]), np.concatenate([ends, lattice[1]])


@pytest.mark.parametrize("inside", ["ignore", "hit", "exit"])
def test_arrays_equal_tuples(scene, inside):
    mirror = Mirror(scene, mesh="wrap", inside=inside)
    starts, ends = segments(np.random.default_rng(2))
    for mask in (2**32 - 1, 2):
        hits, tuples = mirror.cast_segments(starts, ends, mask), mirror.rayTestBatch(starts, ends, 1, -1, -1, -1, mask)
        hit = hits.hit
        assert 60 < hit.sum() < len(hits) - 60
        assert [(body, link) for body, link, *_ in tuples] == list(
            zip(hits.body.tolist(), hits.link.tolist(), strict=True)
        )
        assert hits.fraction[hit].tolist() == [row[2] for row in tuples if row[0] >= 0]
        assert hits.position[hit].tolist() == [list(row[3]) for row in tuples if row[0] >= 0]
        assert hits.normal[hit].tolist() == [list(row[4]) for row in tuples if row[0] >= 0]
        assert np.isinf(hits.fraction[~hit]).all()
        assert np.isnan(hits.position[~hit]).all()
        assert (mirror.occluded_segments(starts, ends, mask) == hit).all()
        few = mirror.cast_segments(starts[:7], ends[:7], mask, threads=1)
        assert few.fraction.tobytes() == hits.fraction[:7].tobytes()


def test_exits_and_thickness_are_those_of_the_limb_hit(mirror):
    starts, ends = segments(np.random.default_rng(3), 1500)
    hits = mirror.cast_segments(starts, ends)
    rows = np.flatnonzero(hits.limb >= 0)
    assert len(rows) > 150
    alone = mirror.limbs[hits.limb[rows]].cast_segments(starts[rows], ends[rows], inside="ignore")
    for name in ("fraction", "position", "normal", "exit_fraction", "exit_position", "exit_normal", "thickness"):
        np.testing.assert_array_equal(getattr(hits, name)[rows], getattr(alone, name), name)
    np.testing.assert_allclose(hits.distance[rows], alone.distance, rtol=1e-15)
    places = np.array(mirror.limb_places)[hits.limb[rows]]
    np.testing.assert_array_equal(places, np.stack([hits.body[rows], hits.link[rows]], axis=1))
    other = np.flatnonzero(hits.hit & (hits.limb < 0))
    planes = other[np.isfinite(hits.thickness[other])]
    assert (hits.thickness[planes] == 0).all()
    np.testing.assert_array_equal(hits.exit_fraction[planes], hits.fraction[planes])
    wrapped = other[np.isnan(hits.thickness[other])]
    assert np.isnan(hits.exit_fraction[wrapped]).all()
    assert bool(len(wrapped)) == repr(mirror).endswith(" 1 wrapped)")
    assert (len(planes) > 150) == bool(mirror._state.sheets)


def test_chords_are_the_numbered_hits(mirror):
    starts, ends = segments(np.random.default_rng(4), 200)
    chords = mirror.chords_segments(starts, ends)
    count = np.diff(chords.offsets)
    assert count.max() > 3
    assert len(chords) == count.sum() == len(chords.ray)
    assert "chords of 400 rays" in repr(chords)
    for number in range(count.max() + 1):
        answers = mirror.rayTestBatch(starts, ends, reportHitNumber=number)
        assert [answer[0] >= 0 for answer in answers] == (count > number).tolist()
        rows = np.flatnonzero(count > number)
        at = chords.offsets[rows] + number
        theirs = [answers[row] for row in rows.tolist()]
        assert list(zip(chords.body[at].tolist(), chords.link[at].tolist(), strict=True)) == [a[:2] for a in theirs]
        np.testing.assert_allclose(chords.entry_fraction[at], [a[2] for a in theirs], rtol=1e-13, atol=1e-15)
    limbs = chords.limb >= 0
    assert (chords.exit_fraction[limbs] >= chords.entry_fraction[limbs]).all()


@pytest.mark.parametrize("how", COPIES)
def test_copies_of_answers(mirror, how):
    """Copies have all columns and need no client."""
    starts, ends = (rows[:400].reshape(8, 50, 3) for rows in segments(np.random.default_rng(4)))
    for answer in (mirror.cast_segments(starts, ends), mirror.chords_segments(starts, ends)):
        other = COPIES[how](answer)
        assert other == answer
        assert (other.shape, len(other), other[3] == answer[3]) == ((8, 50), len(answer), True)
        assert not other.body.flags.writeable
        assert COPIES[how](other) == answer
    assert COPIES[how](mirror.cast_segments(starts, ends)).rechecked == mirror.cast_segments(starts, ends).rechecked


def test_points_and_bad_input(c):
    ball = scenes.body(c, 0, [0, 0, 0])
    mirror = Mirror(c)
    inside = mirror.contains_points([[0, 0, 0], [1, 1, 1]])
    assert mirror.limb_places[inside.limb[0]].body == ball
    assert inside.count.tolist() == [1, 0]
    closest, radius = mirror.closest_points([[0, 0, 0], [9, 0, 0]], max_distance=5.0), mirror.limbs.radius[0]
    assert (closest.hit.tolist(), closest.distance[0]) == ([True, False], -radius)
    assert np.diff(mirror.overlap_spheres([[9, 0, 0]] * 2, [9.0, 8.0 - radius]).offsets).tolist() == [1, 0]
    for message, call in (
        ("starts: expected finite", lambda: mirror.cast_segments([[np.nan, 0, 0]], [[1, 1, 1]])),
        ("ends: expected ", lambda: mirror.cast_segments([[0, 0, 0]] * 3, [[1, 1, 1]] * 2)),
        ("mask: expected a whole number", lambda: mirror.cast_segments([[0, 0, 0]], [[1, 1, 1]], mask=2**32)),
        ("threads: ", lambda: mirror.cast_segments([[0, 0, 0]], [[1, 1, 1]], threads=0)),
    ):
        with pytest.raises(ValueError, match=message):
            call()
    p.resetBasePositionAndOrientation(ball, [0, 0, 1], [0, 0, 0, 1], physicsClientId=c)
    assert mirror.cast_segments([[0, 0, 9.0]], [[0, 0, -1.0]]).position[0, 2] == pytest.approx(1.3), "followed"
