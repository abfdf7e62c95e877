"""PyBullet's arguments and tuples: what `Mirror` takes, returns and refuses, and how it follows its client."""

import copy
import inspect
import pickle

import numpy as np
import pybullet as p
import pytest
import support.pybullet_scenes as scenes
from pybullet_utils.bullet_client import BulletClient
from support.package import run_python

from cylcollide.bullet import Mirror
from cylcollide.bullet.client import Client
from cylcollide.bullet.tuples import MISS


@pytest.fixture
def row(c):
    """Make four balls of radius 0.3 along x, in no order: body 3 at -1, 1 at 0, 2 at 1, 0 at 2."""
    for x in (2, 0, 1, -1):
        scenes.body(c, 0, [x, 0, 0])
    return c


ALONG = ([-5.0, 0.0, 0.0], [5.0, 0.0, 0.0])
BESIDE = ([-5.0, 0.0, 4.0], [5.0, 0.0, 4.0])


def test_tuples_are_pybullets(row):
    mirror = Mirror(row)
    for ours, theirs in (
        (mirror.rayTest(*ALONG), p.rayTest(*ALONG, physicsClientId=row)),
        (mirror.rayTest(*BESIDE), p.rayTest(*BESIDE, physicsClientId=row)),
        (mirror.rayTestBatch(*zip(ALONG, BESIDE, strict=True)), p.rayTestBatch([ALONG[0]], [ALONG[1]])),
    ):
        assert type(ours) is type(theirs) is tuple
        assert [[type(field) for field in answer] for answer in ours[:1]] == [[type(x) for x in theirs[0]]]
        assert [type(x) for x in ours[0][3] + ours[0][4]] == [float] * 6
    assert mirror.rayTest(*ALONG) == ((3, -1, 0.37, (-1.3, 0.0, 0.0), (-1.0, 0.0, 0.0)),)
    assert mirror.rayTest(*BESIDE) == p.rayTest(*BESIDE, physicsClientId=row) == (MISS,)
    assert mirror.rayTestBatch([], []) == p.rayTestBatch([], [], physicsClientId=row) == ()


def test_arguments_have_pybullets_names_and_order(row):
    mirror = Mirror(row)
    for name, given in (
        ("rayTest", (*ALONG, -1, -1, row)),
        ("rayTestBatch", ([ALONG[0]], [ALONG[1]], 1, -1, -1, -1, 2, 0.0, row)),
    ):
        ours, theirs = getattr(mirror, name), getattr(p, name)
        named = dict(zip(inspect.signature(ours).parameters, given, strict=True))
        assert ours(*given)[0][0] == theirs(*given)[0][0] == ours(**named)[0][0] == theirs(**named)[0][0] == 3


def test_hit_numbers_are_sorted(row):
    mirror = Mirror(row)
    ours = [mirror.rayTest(*ALONG, reportHitNumber=k)[0] for k in range(6)]
    theirs = [p.rayTest(*ALONG, reportHitNumber=k, physicsClientId=row)[0] for k in range(6)]
    assert [answer[0] for answer in ours] == [3, 1, 2, 0, -1, -1]
    assert sorted(answer[0] for answer in theirs) == sorted(answer[0] for answer in ours)
    assert ours[0] == mirror.rayTest(*ALONG)[0]
    assert ours[4] == MISS
    np.testing.assert_allclose([answer[2] for answer in ours[:4]], [0.37, 0.47, 0.57, 0.67], rtol=1e-15)


@pytest.mark.parametrize("kind", range(4))
def test_a_ray_that_starts_inside(c, kind):
    scenes.body(c, kind, [0, 0, 0])
    outward = ([0, 0, 0], [5, 0, 0])
    half = (0.3, 0.1, 0.1, 0.15)[kind]
    assert Mirror(c).rayTest(*outward) == p.rayTest(*outward, physicsClientId=c) == (MISS,)
    assert Mirror(c, inside="hit").rayTest(*outward) == ((0, -1, 0.0, (0.0, 0.0, 0.0), (0.0, 0.0, 0.0)),)
    (leaves,) = Mirror(c, inside="exit").rayTest(*outward)
    np.testing.assert_allclose([leaves[2], *leaves[3], *leaves[4]], [half / 5, half, 0, 0, 1, 0, 0], atol=1e-15)


@pytest.mark.parametrize("link", [-1, 0])
def test_rays_move_with_their_parent(c, link):
    rng = np.random.default_rng(9)
    scenes.compounds(c, rng)
    p.performCollisionDetection(physicsClientId=c)
    chain = p.getBodyUniqueId(1, physicsClientId=c)
    assert p.getNumJoints(chain, physicsClientId=c) == 3
    starts, ends = scenes.rays(rng, 800, 1.0)
    keywords = {"parentObjectUniqueId": chain, "parentLinkIndex": link}
    ours = Mirror(c).rayTestBatch(starts, ends, **keywords)
    theirs = p.rayTestBatch(starts, ends, **keywords, physicsClientId=c)
    same = [a[:2] == b[:2] for a, b in zip(ours, theirs, strict=True)]
    assert np.mean(same) > 0.99  # the rest are grazing: the agreement of clear rays has a test of its own
    assert sum(answer[0] >= 0 for answer in ours) > 40
    near = [np.linalg.norm(np.subtract(a[3], b[3])) for a, b, s in zip(ours, theirs, same, strict=True) if s]
    assert np.median(near) < 1e-4


@pytest.mark.parametrize("parent", [{}, {"parentObjectUniqueId": 0}])
def test_a_lost_connection_is_an_error_of_pybullet(parent):
    client = p.connect(p.DIRECT)
    scenes.body(client, 0, [0, 0, 0])
    mirror = Mirror(client)
    p.disconnect(client)
    with pytest.raises(p.error):
        mirror.rayTestBatch([[-3, 0, 0]], [[3, 0, 0]], **parent)


def test_collision_filters(c):
    groups = [None, None, (4, 1), (0, 0), (-(2**31), -1), (6, 6), (6, 7), (-1, -1)]
    mirror = Mirror(c)
    for i, group in enumerate(groups):
        scenes.body(c, 0, [i, 0, 0], mass=float(i % 2))
        if group:
            p.setCollisionFilterGroupMask(i, -1, *group, physicsClientId=c)
    mirror.sync()
    assert mirror.limbs.mask.tolist() == [2, 1, 4, 0, 2**31, 0, 6, 2**32 - 1]
    down = ([[i, 0.0, 5.0] for i in range(8)], [[i, 0.0, -5.0] for i in range(8)])
    seen = set()
    for mask in (-1, 0, 1, 2, 3, 4, 6, -(2**31), ~3):
        ours = [answer[0] for answer in mirror.rayTestBatch(*down, collisionFilterMask=mask)]
        theirs = p.rayTestBatch(*down, collisionFilterMask=mask, physicsClientId=c)
        assert ours == [answer[0] for answer in theirs]
        seen.add(tuple(ours))
    assert len(seen) == 9


@pytest.mark.parametrize("way", ["module", "client", "own"])
def test_filters_that_change_later_are_noticed(way):
    """PyBullet does not report filters: calls through the module and a `BulletClient` are counted."""
    client = BulletClient(p.DIRECT)
    scenes.body(client._client, 0, [0, 0, 0])
    down = ([0.0, 0.0, 5.0], [0.0, 0.0, -5.0])
    followed, called = Mirror(client), Mirror(client, follow=False)
    assert inspect.isbuiltin(p.setCollisionFilterGroupMask)
    function = {"module": p, "client": client, "own": followed._client}[way].setCollisionFilterGroupMask
    function(0, -1, 0, 0, **({"physicsClientId": client._client} if way == "module" else {}))
    assert followed.rayTest(*down) == (MISS,)
    assert called.rayTest(*down)[0][0] == 0, "until it is synchronised"
    called.sync()
    assert called.rayTest(*down) == (MISS,)
    with pytest.raises(TypeError):
        function()


@pytest.mark.parametrize("apart", [0.0, 1e-3])
def test_filters_of_a_pile_are_measured_by_few_rays(apart, c, monkeypatch):
    """A hit resolves its link even if the ray was for another link; before, 200 bodies at one place took 10 s."""
    sent, ray_hits = [], Client.ray_hits
    monkeypatch.setattr(
        Client, "ray_hits", lambda *rays, **options: sent.append(len(rays[1])) or ray_hits(*rays, **options)
    )
    for i in range(100):
        scenes.body(c, 0, [apart * i, 0, 0])
        p.setCollisionFilterGroupMask(i, -1, 1 + i % 2, -1, physicsClientId=c)
    assert Mirror(c).limbs.mask.tolist() == [1, 2] * 50
    assert 100 < sum(sent) < 80 * 100


def test_filters_are_measured_although_bullet_misses_shots_at_a_margin_of_0(c):
    rng = np.random.default_rng(6)
    for i in range(60):
        made = scenes.body(c, 3, [i, 0, 0], rng)
        p.changeDynamics(made, -1, collisionMargin=0.0, physicsClientId=c)
    assert Mirror(c).limbs.mask.tolist() == [2] * 60


def test_new_removed_and_renumbered_bodies(c):
    ray = ([0.0, 0.0, 5.0], [0.0, 0.0, -5.0])
    mirror = Mirror(c)
    assert mirror.rayTest(*ray) == (MISS,)
    low, high = scenes.body(c, 0, [0, 0, 0]), scenes.body(c, 3, [0, 0, 2])
    assert mirror.rayTest(*ray)[0][0] == high
    p.removeBody(high, physicsClientId=c)
    assert mirror.rayTest(*ray)[0][0] == low
    p.removeBody(low, physicsClientId=c)
    assert mirror.rayTest(*ray) == (MISS,)
    assert scenes.body(c, 1, [0, 0, 0]) in (low, high), "PyBullet uses numbers again"
    np.testing.assert_allclose(mirror.rayTest(*ray)[0][2], (5 - 0.3) / 10, rtol=1e-15)
    p.removeBody(p.getBodyUniqueId(0, physicsClientId=c), physicsClientId=c)
    scenes.body(c, 3, [0, 0, 0])  # the same number, another shape, and no query between
    np.testing.assert_allclose(mirror.rayTest(*ray)[0][2], (5 - 0.25) / 10, rtol=1e-15)
    p.resetSimulation(physicsClientId=c)
    assert mirror.rayTest(*ray) == (MISS,)


def test_a_body_that_restoreState_has_moved_is_hit_before_bullets_boxes_follow(c):
    """PyBullet misses it until the next collision pass."""
    box = scenes.body(c, 1, [0, 0, 0], mass=1.0)
    p.performCollisionDetection(physicsClientId=c)
    state, mirror = p.saveState(physicsClientId=c), Mirror(c)
    p.resetBasePositionAndOrientation(box, [9, 0, 0], [0, 0, 0, 1], physicsClientId=c)
    p.stepSimulation(physicsClientId=c)
    p.restoreState(state, physicsClientId=c)
    down = ([0.05, 0.0, 5.0], [0.0, 0.0, -5.0])
    assert mirror.rayTest(*down)[0][0] == box
    assert p.rayTest(*down, physicsClientId=c) == (MISS,)
    p.performCollisionDetection(physicsClientId=c)
    assert p.rayTest(*down, physicsClientId=c)[0][0] == mirror.rayTest(*down)[0][0] == box


def test_clients_by_number_object_and_module():
    own = BulletClient(p.DIRECT)
    other = BulletClient(p.DIRECT)
    scenes.body(other._client, 0, [0, 0, 0])
    assert len(Mirror(own).limbs) == 0
    mirror = Mirror(other)
    assert len(mirror.limbs) == len(Mirror(other._client).limbs) == 1
    assert repr(mirror) == f"Mirror(client {other._client}: 1 limbs, 0 planes, 0 wrapped)"
    with pytest.raises(ValueError, match=f"physicsClientId: expected {other._client}, got {own._client}"):
        mirror.rayTest([0, 0, 1], [0, 0, 0], physicsClientId=own._client)
    if not p.isConnected(0):
        with pytest.raises(ValueError, match="expected a connected PyBullet client, got 0"):
            Mirror(p)
    with pytest.raises(ValueError, match=r"client: expected what pybullet\.connect returned"):
        Mirror("DIRECT")


def test_bad_input_is_refused(row):
    mirror = Mirror(row)
    before = mirror.rayTest(*ALONG)
    for message, ask in (
        (r"rayFromPosition: .*\(n, 3\)", lambda: mirror.rayTest([0, 0], [1, 1])),
        (r"rayFromPosition: expected shape \(3,\) or \(n, 3\), got \(4,\)", lambda: mirror.rayTest([0] * 4, [1] * 3)),
        (r"rayFromPositions: expected shape \(n, 3\), got \(1, 4\)", lambda: mirror.rayTestBatch([[0] * 4], [[1] * 3])),
        ("rayToPositions: expected 1 rows, got 2", lambda: mirror.rayTestBatch([[0, 0, 0]], [[1, 1, 1]] * 2)),
        ("finite numbers.*got .* in row 0", lambda: mirror.rayTest([np.nan, 0, 0], [1, 1, 1])),
        (r"expected a body and link of the client, got \(99, -1\)",
         lambda: mirror.rayTestBatch([[0, 0, 0]], [[1, 1, 1]], parentObjectUniqueId=99)),
        (r"expected a body and link of the client, got \(0, 7\)",
         lambda: mirror.rayTestBatch([[0, 0, 0]], [[1, 1, 1]], parentObjectUniqueId=0, parentLinkIndex=7)),
        ("mesh: expected 'wrap', 'raise' or 'skip', got 'guess'", lambda: Mirror(row, mesh="guess")),
        ("inside: expected 'hit', 'exit', 'ignore' or 'bullet'", lambda: Mirror(row, inside="guess")),
        ("follow: expected True or False, got .no.", lambda: Mirror(row, follow="no")),
        ("filters: expected True or False, got 1", lambda: Mirror(row).sync(filters=1)),
    ):  # fmt: skip
        with pytest.raises(ValueError, match=message):
            ask()
    assert mirror.rayTest(*ALONG) == before


@pytest.mark.parametrize(
    "shape", ["cylinder radius='0.5' length='-2'", "capsule radius='0.5' length='-2'", "box size='1 1 0'"]
)
def test_a_shape_of_no_or_negative_size_is_refused(c, tmp_path, shape):
    path, given = tmp_path / "bad.urdf", f"<geometry><{shape}/></geometry>"
    path.write_text(f"<robot name='r'><link name='a'><collision>{given}</collision></link></robot>")
    p.loadURDF(str(path), flags=p.URDF_USE_IMPLICIT_CYLINDER, physicsClientId=c)
    with pytest.raises(ValueError, match="body 0, link -1: expected a shape of positive size"):
        Mirror(c)


@pytest.mark.parametrize("copied", [copy.copy, copy.deepcopy, pickle.dumps])
def test_a_mirror_has_no_copies(c, copied):
    with pytest.raises(TypeError, match="make another one"):
        copied(Mirror(c))


def test_without_pybullet_the_error_names_the_extra():
    code = "import sys; sys.modules['pybullet'] = None; from cylcollide.bullet import Mirror; print('here'); Mirror(0)"
    done = run_python("-c", code)
    assert done.stdout == "here\n", "the import alone needs no PyBullet"
    assert "pip install '.[crosscheck]' in a clone" in done.stderr.splitlines()[-1]


def test_rays_are_cast_at_the_scene_that_their_own_sync_has_read(row, monkeypatch):
    """Another thread may store an older one at the same time, as here."""
    mirror = Mirror(row)
    follower, before = mirror._follower, mirror._follower._known
    sync = follower.sync_if_due

    def read_while_another_stores():
        scene = sync()
        follower._known = before
        return scene

    monkeypatch.setattr(follower, "sync_if_due", read_while_another_stores)
    p.resetBasePositionAndOrientation(3, [-2, 0, 0], [0, 0, 0, 1], physicsClientId=row)
    starts, ends = ([one] * 100 for one in ALONG)
    assert mirror.rayTest(*ALONG, reportHitNumber=0)[0][:3] == (3, -1, 0.27)
    assert {answer[:3] for answer in mirror.rayTestBatch(starts, ends)} == {(3, -1, 0.27)}
    assert {answer[:3] for answer in mirror.rayTestBatch(starts, ends, reportHitNumber=0)} == {(3, -1, 0.27)}
    assert mirror.cast_segments(*ALONG).fraction.tolist() == [0.27]
    assert mirror.chords_segments(*ALONG).entry_fraction[0] == 0.27
    assert mirror.occluded_segments([-2.2, 0, -1], [-2.2, 0, 1]).tolist() == [True]
