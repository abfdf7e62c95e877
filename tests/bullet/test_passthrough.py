"""Shapes that are no limbs: meshes, height fields, soft bodies, and capsules whose queries crash PyBullet."""

import sys
import warnings

import numpy as np
import pybullet as p
import pytest
import support.pybullet_scenes as scenes
from support.package import run_python

import cylcollide as cc
from cylcollide.bullet import Mirror, crash_guard
from cylcollide.bullet.client import BodyLink, Client

STOCK = ("r2d2.urdf", "husky/husky.urdf", "a1/a1.urdf", "mjcf/humanoid.xml", "mjcf/ant.xml")
MORE = (
    *("kuka_iiwa/model.urdf", "laikago/laikago_toes.urdf", "laikago/laikago.urdf", "racecar/racecar.urdf"),
    *("franka_panda/panda.urdf", "xarm/xarm6_robot.urdf", "teddy_vhacd.urdf", "duck_vhacd.urdf"),
)


def assert_bullet_decides(mirror, number, seed, span, centre=(0.0, 0.0, 0.0), least=100):
    """Assert that rays that first hit a wrapped shape have Bullet's own answers, to the last bit."""
    starts, ends = scenes.rays(np.random.default_rng(seed), 1500, span, centre)
    ours = mirror.rayTestBatch(starts, ends)
    theirs = p.rayTestBatch(starts, ends, physicsClientId=number)
    exact = {tuple(place) for place in mirror.limb_places} | {(-1, -1)}
    by_bullet = [(a, b) for a, b in zip(ours, theirs, strict=True) if b[:2] not in exact]
    assert len(by_bullet) >= least
    same = sum(a == b for a, b in by_bullet)
    assert same >= 0.98 * len(by_bullet)  # the others: Bullet misses a limb in front, or hits it too early
    misses = [(a, b) for a, b in zip(ours, theirs, strict=True) if b[0] < 0]
    assert sum(a[0] < 0 for a, _ in misses) >= 0.98 * len(misses) > 0
    return ours


@pytest.mark.parametrize(
    ("flags", "meshes", "limbs", "centre"),
    [(0, 10, 6, [0.0, 0.0, 0.0]), (p.URDF_USE_IMPLICIT_CYLINDER, 4, 12, [0.0, 0.45, 0.2])],
    ids=["hulls", "cylinders"],
)
def test_r2d2_raise_skip_and_wrap(c, flags, meshes, limbs, centre):
    p.loadURDF("r2d2.urdf", flags=flags, physicsClientId=c)
    with pytest.raises(ValueError, match=r"link -?\d.*a mesh; .*URDF_USE_IMPLICIT_CYLINDER.*'wrap'.*'skip'"):
        Mirror(c, mesh="raise")
    skipping, wrapping = Mirror(c, mesh="skip"), Mirror(c, mesh="wrap")
    assert repr(wrapping).endswith(f"{limbs} limbs, 0 planes, {meshes} wrapped)")
    assert len(skipping.limbs) == limbs
    p.performCollisionDetection(physicsClientId=c)
    ours = assert_bullet_decides(wrapping, c, 1, 0.2, centre, least=50)
    starts, ends = scenes.rays(np.random.default_rng(1), 1500, 0.2, centre)
    without = skipping.rayTestBatch(starts, ends)
    places = {tuple(place) for place in skipping.limb_places} | {(-1, -1)}
    assert {answer[:2] for answer in without} <= places
    assert len({answer[:2] for answer in ours} - places) > 2


def test_by_default_meshes_are_wrapped_with_one_warning_a_client(c):
    ball = scenes.body(c, 0, [0, 0, 3])
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        mirror = Mirror(c)
        p.loadURDF("r2d2.urdf", physicsClientId=c)
        p.loadURDF("duck_vhacd.urdf", [0, 2, 0], physicsClientId=c)
        Mirror(c, mesh="wrap"), Mirror(c, mesh="skip")
    said = (
        r"client \d+: Bullet's own rays decide about body 1 \('.*'\), links \[.*\]; body 2 \(.*\), links \[-1\]: mesh"
    )
    with pytest.warns(UserWarning, match=said) as caught:
        answers = mirror.rayTestBatch([[0, 0, 5], [0, 2.01, 5]], [[0, 0, -5], [0, 2, -5]])
    assert len(caught) == 1
    assert [answer[0] for answer in answers] == [ball, 2]
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        p.loadURDF("duck_vhacd.urdf", [0, 4, 0], physicsClientId=c)
        mirror.sync()
        assert len(Mirror(c).limbs) == len(mirror.limbs)


@pytest.mark.parametrize("path", [*STOCK, *(pytest.param(path, marks=pytest.mark.long) for path in MORE)])
def test_every_stock_body_is_mirrored(c, path):
    load = {"xml": p.loadMJCF, "urdf": p.loadURDF}[path.rsplit(".")[-1]]
    load(path, physicsClientId=c)
    mirror = Mirror(c, mesh="wrap")
    p.performCollisionDetection(physicsClientId=c)
    starts, ends = scenes.aimed_rays(c, np.random.default_rng(1), 1000)
    ours, theirs = mirror.rayTestBatch(starts, ends), p.rayTestBatch(starts, ends, physicsClientId=c)
    hidden = path == "mjcf/ant.xml"  # whose filters let every ray pass
    assert (sum(answer[0] >= 0 for answer in ours) > 200) != hidden
    assert sum(a[:2] == b[:2] for a, b in zip(ours, theirs, strict=True)) > 950


def test_meshes_beside_limbs_in_exact_order(c):
    terrain = p.createCollisionShape(
        p.GEOM_MESH, fileName="terrain.obj", flags=p.GEOM_FORCE_CONCAVE_TRIMESH, meshScale=[0.3] * 3, physicsClientId=c
    )
    p.createMultiBody(0, terrain, physicsClientId=c)
    above, below = scenes.body(c, 3, [0, 0, 1]), scenes.body(c, 3, [0, 0, -1])
    mirror = Mirror(c, mesh="wrap")
    down = ([0.01, 0.02, 3.0], [0.01, 0.02, -3.0])
    numbered = [mirror.rayTest(*down, reportHitNumber=k)[0] for k in range(4)]
    assert [answer[0] for answer in numbered] == [above, 0, below, -1]
    assert (np.diff([answer[2] for answer in numbered]) > 0).all()
    assert mirror.rayTest(*down) == (numbered[0],)
    # flat rays cross many triangles, and rays through limbs are tested several times
    rng = np.random.default_rng(4)
    starts, ends = ([side * 4.0, 0, 0] + rng.uniform(-0.03, 0.03, (600, 3)) * [1, 60, 1] for side in (-1, 1))
    flat = mirror.rayTestBatch(starts, ends)
    assert mirror.rayTestBatch(starts, ends, reportHitNumber=0) == flat
    assert sum(answer[0] == 0 for answer in flat) > 200
    beside = mirror.rayTest([1.01, 0.02, 3.0], [1.01, 0.02, -3.0])
    assert beside == p.rayTest([1.01, 0.02, 3.0], [1.01, 0.02, -3.0], physicsClientId=c)
    assert beside[0][0] == 0
    # filters apply to what Bullet decides: the mesh is static, of group 2
    assert mirror.rayTest(*down, collisionFilterMask=1)[0][0] == -1


@pytest.mark.parametrize("kind", ["GEOM_SPHERE", "GEOM_MESH"])
def test_solids_without_a_body_number_hide_no_body(c, tmp_path, kind):
    """`loadBullet` makes such solids: PyBullet reports them as body -1; here they coincide with bodies."""
    path, mesh = str(tmp_path / "row.bullet"), {"fileName": "cube.obj", "meshScale": [0.4] * 3}
    given = {"radius": 0.2} if kind == "GEOM_SPHERE" else mesh
    shape = p.createCollisionShape(getattr(p, kind), **given, physicsClientId=c)
    bodies = [p.createMultiBody(1.0, shape, basePosition=[x, 0, 0], physicsClientId=c) for x in range(40)]
    p.stepSimulation(physicsClientId=c)
    starts, ends = ([[x, 3.0 * side, 0.02] for x in bodies] for side in (-1, 1))
    mirror = Mirror(c, mesh="wrap")
    p.saveBullet(path, physicsClientId=c)
    p.loadBullet(path, physicsClientId=c)
    assert sum(hit[0] < 0 for hit in p.rayTestBatch(starts, ends, physicsClientId=c)) > 5
    with pytest.warns(RuntimeWarning, match=r"are not mirrored \(there are 40\)"):
        kept = mirror.rayTestBatch(starts, ends)
    mirror.sync(filters=True)  # without a warning
    with pytest.warns(RuntimeWarning, match="without a body number"):
        new = Mirror(c, mesh="wrap").rayTestBatch(starts, ends)
    for answers in (kept, mirror.rayTestBatch(starts, ends), new):
        assert [hit[0] for hit in answers] == bodies


def test_wrapped_batches_beyond_bullets_limit(c):
    p.loadURDF("duck_vhacd.urdf", physicsClientId=c)
    p.performCollisionDetection(physicsClientId=c)
    mirror = Mirror(c, mesh="wrap")
    low, high = p.getAABB(0, physicsClientId=c)
    middle = (np.array(low) + high) / 2
    starts, ends = scenes.rays(np.random.default_rng(5), 17_000, 0.01, middle)
    answers = mirror.rayTestBatch(starts, ends)
    assert len(answers) == 17_000
    assert answers[-2000:] == p.rayTestBatch(starts[-2000:], ends[-2000:], physicsClientId=c)
    assert sum(answer[0] == 0 for answer in answers) > 14_450


def test_a_height_field_and_a_body_in_maximal_coordinates(c):
    heights = p.createCollisionShape(
        p.GEOM_HEIGHTFIELD,
        meshScale=[0.3, 0.3, 1],
        heightfieldData=[0.1 * (i % 3) for i in range(64)],
        numHeightfieldRows=8,
        numHeightfieldColumns=8,
        physicsClientId=c,
    )
    p.createMultiBody(0, heights, physicsClientId=c)
    p.loadURDF("cube.urdf", [0, 0, 1.5], useMaximalCoordinates=1, physicsClientId=c)
    with pytest.raises(ValueError, match="a shape that PyBullet does not describe"):
        Mirror(c, mesh="raise")
    assert len(Mirror(c, mesh="skip").limbs) == 0
    ours = assert_bullet_decides(Mirror(c, mesh="wrap"), c, 2, 1.0)
    assert {answer[0] for answer in ours} == {-1, 0, 1}


def test_a_soft_body_is_followed(c):
    p.resetSimulation(p.RESET_USE_DEFORMABLE_WORLD, physicsClientId=c)
    p.setGravity(0, 0, -9.8, physicsClientId=c)
    p.loadSoftBody(
        "cloth_z_up.obj", basePosition=[0, 0, 1], mass=1, useBendingSprings=1, useMassSpring=1, physicsClientId=c
    )
    mirror = Mirror(c, mesh="wrap")
    down = ([0.1, 0.2, 5.0], [0.1, 0.2, -5.0])
    before = mirror.rayTest(*down)
    for _ in range(20):
        p.stepSimulation(physicsClientId=c)
    after = mirror.rayTest(*down)
    assert before[0][0] == after[0][0] == 0
    assert after[0][2] > before[0][2]
    assert after == p.rayTest(*down, physicsClientId=c)


MJCF = '<mujoco><worldbody><body pos="0 0 0">{}</body></worldbody></mujoco>'
CAPSULE = '<geom type="capsule" fromto="0 0 0 .1 .2 .5" size=".07"/>'
SPHERE = '<geom type="sphere" size=".1" pos="1 0 0"/>'


@pytest.mark.skipif(not hasattr(sys.modules["os"], "fork"), reason="a child process asks first")
@pytest.mark.parametrize("geoms", [CAPSULE, SPHERE + CAPSULE], ids=["alone", "beside a sphere"])
def test_capsules_that_crash_pybullet_are_not_queried(c, tmp_path, geoms):
    path = tmp_path / "capsule.xml"
    path.write_text(MJCF.format(geoms))
    p.loadMJCF(str(path), physicsClientId=c)  # without URDF_USE_IMPLICIT_CYLINDER: swept balls
    harmless = scenes.body(c, 0, [3, 0, 0], np.random.default_rng(0))  # its margin is 0 too
    bad = crash_guard.crashing(Client(c), [BodyLink(harmless, -1), BodyLink(0, -1), BodyLink(harmless, -1)])
    assert bad == {BodyLink(0, -1)}, "if this fails, PyBullet was mended"
    mirror = Mirror(c, mesh="wrap")
    assert mirror.limb_places == [(harmless, -1)]
    p.performCollisionDetection(physicsClientId=c)
    assert_bullet_decides(mirror, c, 3, 0.4, (0.05, 0.1, 0.25))


SETUPS = """
import ctypes, io, os, signal, sys
import pybullet as p
from cylcollide.bullet import Mirror

client, reads, writes = p.connect(p.DIRECT), *os.pipe()
p.loadMJCF(sys.argv[1])
os.close(reads)
own_fork = os.fork

def limited():
    raise BlockingIOError("too many processes")

def answer(name):
    sys.__stdout__.write(f"{name}: {Mirror(client, mesh='wrap')}" + chr(10))

def map_memory():
    # so many gigabytes, as other libraries may map, that PyBullet returns noise instead of crashing
    libc = ctypes.CDLL(None)
    libc.mmap.restype, libc.mmap.argtypes = ctypes.c_void_p, [ctypes.c_void_p, ctypes.c_size_t, *4 * [ctypes.c_int]]
    heap = next(int(line.split("-")[1].split()[0], 16) for line in open("/proc/self/maps") if "[heap]" in line)
    READABLE, NEW_ZEROS, NO_COST, ONLY_THERE = 0x1, 0x22, 0x4000, 0x100000
    libc.mmap(heap + 2**27, 40 * 2**30, READABLE, NEW_ZEROS | NO_COST | ONLY_THERE, -1, 0)
    assert p.getCollisionShapeData(0, -1)[-1][2:4] == (p.GEOM_CAPSULE, (0.0, 0.0, 0.0))

signal.signal(signal.SIGSEGV, lambda *_: None)
answer("a handler of all signals")
signal.signal(signal.SIGCHLD, signal.SIG_IGN)
answer("ignored children")
sys.stdout = os.fdopen(writes, "w")
sys.stdout.write("not yet written")
answer("an output without a reader")
sys.stdout = object()
answer("an output that cannot be flushed")
os.fork = limited
answer("no more processes")
os.fork = own_fork
if sys.platform.startswith("linux"):
    map_memory()
answer("noise in memory")
sys.stdout = sys.__stdout__
sys.stdout.flush()
os._exit(0)
"""


@pytest.mark.skipif(not hasattr(sys.modules["os"], "fork"), reason="a child process makes the call first")
def test_any_program_may_have_such_capsules(tmp_path):
    path = tmp_path / "capsule.xml"
    path.write_text(MJCF.format(SPHERE + CAPSULE))
    lines = run_python("-c", SETUPS, path, timeout=60).stdout.splitlines()
    assert len(lines) == 6
    assert all(line.endswith(": Mirror(client 0: 0 limbs, 0 planes, 1 wrapped)") for line in lines), lines


def test_where_no_child_can_ask_a_visible_capsule_is_left_to_bullet(c, tmp_path, monkeypatch):
    path = tmp_path / "capsule.xml"
    path.write_text(MJCF.format(CAPSULE))
    p.loadMJCF(str(path), physicsClientId=c)
    scenes.body(c, 3, [3, 0, 0], np.random.default_rng(0))
    monkeypatch.delattr("os.fork", raising=False)
    mirror = Mirror(c, mesh="wrap")
    assert mirror.limbs.kind.tolist() == [cc.Shape.CYLINDER]
    assert repr(mirror).endswith("1 wrapped)")


def test_only_rays_that_enter_a_box_before_they_hit_are_handed_on(c, monkeypatch):
    duck = p.loadURDF("duck_vhacd.urdf", physicsClientId=c)
    centre = np.mean(p.getAABB(duck, -1, c), axis=0)
    ball = scenes.body(c, 0, centre - [2, 0, 0])
    mirror, handed_on, ray_hits = Mirror(c, mesh="wrap"), [], Client.ray_hits
    p.performCollisionDetection(physicsClientId=c)
    monkeypatch.setattr(
        Client, "ray_hits", lambda *rays, **options: handed_on.extend(rays[1]) or ray_hits(*rays, **options)
    )
    x, y = np.array([-4.0, 4.0, 4.0, 4.0, -1.0]), np.array([0.0, 0.0, 1.0, 0.0, 0.0])
    starts = centre + np.stack([x, y, 0.0 * x], axis=1)
    ends = centre + np.stack([[4.0, -4.0, -4.0, 1.0, -4.0], y, 0.0 * x], axis=1)
    answers = mirror.rayTestBatch(starts, ends)
    assert [answer[0] for answer in answers] == [ball, duck, -1, -1, ball]
    assert np.array_equal(handed_on, starts[[1]])


def test_only_hits_before_a_fraction_are_first(c):
    duck = p.loadURDF("duck_vhacd.urdf", physicsClientId=c)
    p.performCollisionDetection(physicsClientId=c)
    centre, way = np.mean(p.getAABB(duck, -1, c), axis=0), np.array([4.0, 0.0, 0.0])
    start, end = centre - way, centre + way
    (hit,) = p.rayTest(start, end, physicsClientId=c)
    wrapped, rays = Mirror(c, mesh="wrap")._state.wrapped, (start[None], end[None], 0xFFFFFFFF)
    assert hit[0] == duck
    assert wrapped.first_hits(*rays, np.array([np.inf])) == {0: hit}
    assert wrapped.first_hits(*rays, np.array([hit[2] + 1e-4])) == {0: hit}
    assert wrapped.first_hits(*rays, np.array([hit[2] - 1e-4])) == {}, "it enters the duck's box before"
