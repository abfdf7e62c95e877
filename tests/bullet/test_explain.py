"""`mirror.explain`: names, clearance, cause and the least move; files that `cylcollide replay` takes."""

import json
from functools import partial

import numpy as np
import pybullet as p
import pytest
import support.pybullet_scenes as scenes

from cylcollide.bullet import Mirror
from cylcollide.bullet.differences import CAUSES, NO_NUMBER, TOLERANCE, causes_of
from cylcollide.bullet.explain import CAUSE_NAMES
from cylcollide.crosscheck.compare.disagreements import Cause


@pytest.fixture
def c():
    """Four shapes a metre apart along x, the sphere first, above a plane, beside a humanoid and a mesh."""
    with scenes.client() as number:
        for kind in range(4):
            scenes.body(number, kind, [kind, 0, 1])
        p.loadURDF("plane_implicit.urdf", physicsClientId=number)
        scenes.person(number, [0, 4, 1])
        p.loadURDF("duck_vhacd.urdf", [0, -4, 1], globalScaling=5, physicsClientId=number)
        p.performCollisionDetection(physicsClientId=number)
        yield number


BESIDE = ([0.3 + 4e-4, -1, 1.05], [0.3 + 4e-4, 1, 0.95])
"""Passes 0.4 mm beside the sphere."""


@pytest.fixture
def replay(command):
    return partial(command, "replay")


def test_limbs_are_named_by_body_and_link(c):
    mirror = Mirror(c, mesh="wrap")
    names = mirror.limbs.names
    assert names[:4] == ("body 0/base", "body 1/base", "body 2/base", "body 3/base")
    assert {"dumpUrdf 5/left_knee", "dumpUrdf 5/neck"} <= set(names)
    for name, place in zip(names, mirror.limb_places, strict=True):
        assert name == mirror._client.link_name(place)
    p.stepSimulation(physicsClientId=c)
    mirror.sync()
    assert mirror.limbs.names == names
    hits = mirror._state.world.cast_segments([0, 0, 3], [0, 0, 0.5])
    assert hits.limb_name[0] == "body 0/base"


def test_a_body_without_names_has_numbers(c):
    """PyBullet itself calls the base link0, and link 0 link1."""
    ball = p.createCollisionShape(p.GEOM_SPHERE, radius=0.1, physicsClientId=c)
    body = scenes.linked(c, 1, ball, [ball])
    assert Mirror(c, mesh="wrap").limbs.names[-2:] == (f"body {body}/base", f"body {body}/link0")


def test_a_ray_with_equal_answers(c):
    found = Mirror(c, mesh="wrap").explain([0, 4, 3], [0, 4, -3])
    assert not found.differs
    assert (found.cause, found.word, found.move) == ("", "", None)
    assert found._name(found.ours[:2]) == "dumpUrdf 5/right_elbow"
    assert found.clearance == found.why.clearance < 0
    assert "both agree" in str(found)
    assert "dumpUrdf 5/right_elbow, fraction 0." in str(found)


def test_bad_ends_are_named(c):
    mirror = Mirror(c, mesh="skip")
    for bad in (np.nan, np.inf, 2.0**501):
        for name, ends in (("start", ([0, bad, 0], [0, 0, 1])), ("end", ([0, 0, 0], [0, 0, bad]))):
            with pytest.raises(ValueError, match=f"^{name}: expected finite numbers"):
                mirror.explain(*ends)


def test_a_phantom(c):
    mirror = Mirror(c, mesh="wrap")
    found = mirror.explain(*BESIDE)
    assert found.differs
    assert (found.ours[0], found.theirs[0], found.limb) == (-1, 0, 0)
    assert found.clearance == pytest.approx(4e-4, rel=1e-3)
    assert (found.word, found.cause) == ("within 1 mm", "termination tolerance")
    assert found.move.length < 1.1e-3
    assert agree(mirror, found, found.move.by)
    assert not agree(mirror, found, 0.9 * np.array(found.move.by))
    lines = ("the answers differ", "mirror     nothing", "PyBullet   body 0/base", "cause      within 1 mm", "move ")
    assert all(line in str(found) for line in lines)


def agree(mirror, found, by):
    """Whether both hit the same link after a move."""
    starts, ends = np.array([found.start]) + by, np.array([found.end]) + by
    return mirror.rayTestBatch(starts, ends)[0][:2] == mirror._client.rayTestBatch(starts, ends)[0][:2]


def test_every_cause_and_a_move_that_helps(c):
    """An edge of the box that the margin rounds, a start inside, an end on the plane."""
    corner = np.array([1.1, 0.2, 1.3])
    cut = np.array([1.0, 1.0, 1.0]) / np.sqrt(3)
    across = np.array([1.0, -1.0, 0.0]) / np.sqrt(2)
    rays = {
        "edge": (corner - 1e-5 * cut - across, corner - 1e-5 * cut + across),
        "inside": ([0.1, 0, 1], [-3, 0, 1]),
        "end": ([0.5, 1, 1], [0.5, 1, 0]),
    }
    mirror, seen = Mirror(c, mesh="wrap"), set()
    for word, ray in rays.items():
        found = mirror.explain(*ray)
        assert (found.differs, found.word) == (True, word)
        assert found.cause == CAUSE_NAMES[word]
        assert found.move is None or agree(mirror, found, found.move.by)
        seen.add(found.cause)
    assert len(seen) == 3
    assert mirror.explain([0.5, 1, 1], [0.5, 1, 0])._name((4, -1)) == "plane 4/planeLink"
    assert CAUSE_NAMES.keys() == {*CAUSES, TOLERANCE, NO_NUMBER}
    assert set(CAUSE_NAMES.values()) <= {cause.label for cause in Cause}


def test_a_start_and_an_end_on_a_plane_have_their_words(c):
    mirror = Mirror(c, mesh="wrap", inside="hit")
    starts, ends = np.full((3, 3), [0.5, 1, 0]), np.full((3, 3), [0.5, 1, 0])
    starts[1, 2], ends[[0, 2], 2] = 1.0, (1.0, -1.0)
    ours, theirs = mirror.rayTestBatch(starts, ends), p.rayTestBatch(starts, ends, physicsClientId=c)
    assert [a[0] for a in ours] == [4, 4, 4]
    assert [b[0] for b in theirs] == [-1, -1, -1]
    assert causes_of(mirror, starts, ends, ours, theirs) == ["inside", "end", "inside"]


def test_a_start_inside_is_no_cause_unless_either_hits_it(c):
    """Rays that start in a box, and on the plane, pass 0.4 mm beside the sphere, which PyBullet hits."""
    scenes.body(c, 1, BESIDE[0])
    p.performCollisionDetection(physicsClientId=c)
    mirror = Mirror(c, mesh="wrap")
    for start, end in (BESIDE, ([0.3 + 4e-4, -1, 0], [0.3 + 4e-4, 1, 2])):
        found = mirror.explain(start, end)
        assert (found.ours[0], found.theirs[0], found.word) == (-1, 0, "within 1 mm")


def test_clearance_of_limbs_and_planes(c):
    mirror = Mirror(c, mesh="wrap")
    over = mirror.explain([-3, 0, 0.2], [-2, 0, 0.1])
    assert (over.limb, over.why) == (-1, None)
    assert over.clearance == pytest.approx(0.1)
    through = mirror.explain([-3, 0, 0.2], [-3, 0, -0.1])
    assert through.clearance == pytest.approx(-0.1)
    above = mirror.explain([0, 0, 1.4], [0, 0, 3])
    assert (above.limb, above._name(above.ours[:2])) == (0, "nothing")
    assert above.clearance == pytest.approx(0.1)


def test_a_tolerant_mirror_is_explained_by_the_true_shapes(c):
    """Only the growth is hit beside a corner and a ball, above a plane, and before what is behind the ball."""
    corner = np.array([1.1, 0.2, 1.3]) + 2e-3
    across = np.array([1.0, -1.0, 0.0]) / np.sqrt(2)
    behind = scenes.body(c, 1, [0.3, 3, 1])
    hidden = scenes.body(c, 1, [0.3, -0.8, 1])
    p.performCollisionDetection(physicsClientId=c)
    p.setCollisionFilterGroupMask(hidden, -1, 0, 0, physicsClientId=c)
    rays = [
        ((corner - across, corner + across), 1, -1),
        (([0.303, -1, 1], [0.303, 1, 1]), 0, -1),
        (([0.5, 1, 1], [0.5, 1, 0.003]), 4, -1),
        (([0.303, -2, 1], [0.303, 6, 1]), 0, behind),
    ]
    mirror = Mirror(c, mesh="wrap", tolerance=5e-3)
    for ray, ours, theirs in rays:
        found = mirror.explain(*ray)
        assert (found.ours[0], found.theirs[0], found.word) == (ours, theirs, TOLERANCE)
        assert found.cause == CAUSE_NAMES[TOLERANCE]
    assert f"body {hidden}/base" not in found._case["names"], "no ray can hit it"
    assert Mirror(c, mesh="wrap", tolerance=1e-3).explain(*BESIDE).differs is False


def test_a_saved_ray_is_replayed(c, replay, tmp_path):
    path = tmp_path / "case.json"
    found = Mirror(c, mesh="wrap").explain(*BESIDE)
    found.save(path)
    status, said, _ = replay(path)
    assert status == 0
    assert "Reproduced." in said
    assert "PyBullet   body 0/base" in said
    assert "cause      within 1 mm: termination tolerance" in said
    status, said, _ = replay(path, "--json")
    record = json.loads(said)
    assert (status, record["reproduced"], record["word"]) == (0, True, "within 1 mm")
    assert record["clearance"] == pytest.approx(4e-4, rel=1e-3)
    saved = json.loads(path.read_text())
    path.write_text(json.dumps(saved | {"end": [0.31, 1, 0.95], "start": [0.31, -1, 1.05]}))
    status, said, _ = replay(path)
    assert status == 1
    assert "NOT reproduced" in said


def test_saved_rays_of_all_shapes_are_reproduced(c, replay, tmp_path):
    """Differences of random rays at all shapes, with `inside` of "ignore" and "bullet"."""
    rng, seen = np.random.default_rng(2), {}
    limbs = Mirror(c, mesh="wrap").limbs
    for inside in ("ignore", "bullet"):
        mirror = Mirror(c, mesh="wrap", inside=inside)
        starts, ends = scenes.rays(rng, 10_000, 0.6, (1.5, 0, 1.0))
        ours, theirs = mirror.rayTestBatch(starts, ends), mirror._client.ray_hits(starts, ends)
        rows = [i for i, (a, b) in enumerate(zip(ours, theirs, strict=True)) if a[:2] != b[:2]]
        for row in rows[:3]:
            found = mirror.explain(starts[row], ends[row])
            path = tmp_path / f"{inside}{row}.json"
            found.save(path)
            status, said, _ = replay(path)
            seen[limbs.kind[found.limb]] = seen.get(limbs.kind[found.limb], 0) + 1
            assert status == 0, said
            assert found.word in said
    assert len(seen) >= 3


def test_a_margin_is_saved(c, replay, tmp_path):
    """With a margin of 5 cm PyBullet misses a corner that is cut 2 mm deep."""
    p.changeDynamics(1, -1, collisionMargin=0.05, physicsClientId=c)
    p.performCollisionDetection(physicsClientId=c)
    corner, across = np.array([1.1, 0.2, 1.3]) - 2e-3, np.array([1.0, -1.0, 0.0]) / np.sqrt(2)
    found = Mirror(c, mesh="wrap").explain(corner - across, corner + across)
    assert (found.ours[0], found.theirs[0], found.cause) == (1, -1, "rim rounding by the margin")
    found.save(tmp_path / "case.json")
    assert replay(tmp_path / "case.json")[0] == 0


def test_wrapped_shapes_are_not_saved(c, tmp_path):
    found = Mirror(c, mesh="wrap").explain([0, -3.8, 3], [0, -3.8, -1])
    assert not found.differs
    with pytest.raises(ValueError, match=r"save: expected limbs and planes, got .*, which no file holds"):
        found.save(tmp_path / "case.json")


def test_a_solid_without_a_body_number_is_named_and_not_saved(c, tmp_path):
    ball, path = scenes.body(c, 0, [9, 0, 1]), str(tmp_path / "all.bullet")
    p.saveBullet(path, physicsClientId=c)
    p.removeBody(ball, physicsClientId=c)
    p.loadBullet(path, physicsClientId=c)
    with pytest.warns(RuntimeWarning, match="without a body number"):
        mirror = Mirror(c, mesh="wrap")
    found = mirror.explain([9.01, 0.02, 3], [9.01, 0.02, 0.5])
    assert (found.ours[:3], found.theirs[0], found.word) == ((-1, -1, 1.0), -1, NO_NUMBER)
    assert "PyBullet   a solid without a body number, fraction 0." in str(found)
    with pytest.raises(ValueError, match="got a solid without a body number, which no file holds"):
        found.save(tmp_path / "case.json")


def test_damaged_files_and_other_options_are_one_line(c, refused, tmp_path):
    path = tmp_path / "case.json"
    Mirror(c, mesh="wrap").explain(*BESIDE).save(path)
    assert "expected no options but --json" in refused("replay", path, "--row", 0)
    good = json.loads(path.read_text())
    limb = good["limbs"][0]
    for change in (
        {"start": [0, 0]}, {"inside": "out"}, {"tolerance": "x"}, {"ours": 99}, {"names": []}, {"more": 1},
        {"limbs": [limb | {"radius": 0.0}]}, {"limbs": [limb | {"shape": "torus"}]}, {"planes": [{}]}, {"limbs": 1},
    ):  # fmt: skip
        path.write_text(json.dumps(good | change))
        assert f"{path}: expected a ray as" in refused("replay", path), change
