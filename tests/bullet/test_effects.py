"""Every function of PyBullet: whether it may change a ray's answer, by the table, the manual and a call."""

import re
from contextlib import contextmanager, suppress
from pathlib import Path

import numpy as np
import pybullet as p
import pytest
import support.pybullet_scenes as scenes
from support.package import output_of

from cylcollide.bullet import Mirror
from cylcollide.bullet.client import Client
from cylcollide.bullet.watch import EFFECTS, Effect, effect_of

MANUAL = Path(__file__).parents[2] / "docs" / "bullet.md"
FUNCTIONS = {name for name in dir(p) if callable(getattr(p, name)) and name != "error"} - set(dir(object))


def test_the_table_has_every_function():
    assert set(EFFECTS) == FUNCTIONS
    assert len(EFFECTS) > 140
    assert effect_of("aFunctionOfALaterVersion") == Effect.SCENE


def test_the_manual_has_the_same_table():
    section = MANUAL.read_text().split("## Every function of PyBullet")[1].split("\n## ")[0]
    rows = [row.split("|")[1:3] for row in section.splitlines() if row.startswith("| `") or row.startswith("| all")]
    named = {name: effect.strip() for calls, effect in rows for name in re.findall(r"`(\w+)`", calls)}
    assert named == {name: effect.name for name, effect in EFFECTS.items() if effect != Effect.NONE}
    assert rows[-1][0].strip() == f"all {sum(effect == Effect.NONE for effect in EFFECTS.values())} others"


Q, V = [0, 0, 0, 1], [0.1, 0.2, 0.3]


def make(c, folder):
    """Fill a client with a moving ball, a figure with ball joints, an arm and a constraint; return calls' names."""
    shape = scenes.shape(c, 0)
    ball = p.createMultiBody(1.0, shape, basePosition=[0, 0, 1], physicsClientId=c)
    kinds = [p.JOINT_REVOLUTE, p.JOINT_SPHERICAL] * 2 + [p.JOINT_REVOLUTE]
    joints = {"linkJointTypes": kinds, "linkJointAxis": [[1, 0, 0]] * 5}
    figure = scenes.linked(c, 1.0, shape, [scenes.shape(c, 1)] * 5, basePosition=[1, 0, 1], **joints)
    p.setGravity(0, 0, -9.8, physicsClientId=c)
    p.resetBaseVelocity(ball, [0, 1, 0], physicsClientId=c)
    arm = scenes.linked(
        c, 0, shape, [shape], basePosition=[9, 9, 9], linkPositions=[[0, 0, 1]], linkJointAxis=[[1, 0, 0]]
    )
    state = p.saveState(physicsClientId=c)
    p.resetBasePositionAndOrientation(ball, [0, 0, 2], [0, 0, 0, 1], physicsClientId=c)
    constraint = p.createConstraint(ball, -1, -1, -1, p.JOINT_POINT2POINT, [0, 0, 0], [0, 0, 0], [0, 0, 2],
                                    physicsClientId=c)  # fmt: skip
    item = p.addUserData(ball, "note", "text", physicsClientId=c)
    file = str(folder / "bodies.bullet")
    spare = scenes.shape(c, 3)
    return {"ball": ball, "figure": figure, "state": state, "constraint": constraint, "item": item, "file": file,
            "spare": spare, "folder": str(folder), "arm": arm}  # fmt: skip


CHANGING = {
    "changeDynamics": "ball, -1, mass=0.0",
    "createMultiBody": "1.0, spare, basePosition=[1, 1, 1]",
    "loadMJCF": "'mjcf/humanoid.xml', flags=p.URDF_USE_IMPLICIT_CYLINDER",
    "loadSDF": "'stadium.sdf'",
    "loadURDF": "'cube_small.urdf', [1, 1, 1]",
    "removeBody": "ball",
    "resetBasePositionAndOrientation": "ball, [1, 2, 3], Q",
    "resetJointStateMultiDof": "figure, 1, scenes.quaternion(np.random.default_rng(1))",
    "resetJointStatesMultiDof": "figure, [1], [scenes.quaternion(np.random.default_rng(2))]",
    "resetJointState": "figure, 4, 0.7",
    "resetSimulation": "",
    "restoreState": "state",
    "setCollisionFilterGroupMask": "ball, -1, 0, 0",
    "stepSimulation": "",
    "unsupportedChangeScaling": "ball, [2, 2, 2]",
}
"""Calls that change answers here, and their arguments; names are those of the scene."""

OTHER = {
    "ball, 'key', 'value'": "addUserData",
    "V, Q[:3]": "addUserDebugLine rayTest",
    "'text'": "addUserDebugParameter submitProfileTiming",
    "[V], [V]": "addUserDebugPoints",
    "'text', V": "addUserDebugText",
    "ball, -1, V, V, p.WORLD_FRAME": "applyExternalForce",
    "ball, -1, V, p.WORLD_FRAME": "applyExternalTorque",
    "arm, [0.0], [0.0], [0.0]": "calculateInverseDynamics",
    "arm, 0, V": "calculateInverseKinematics",
    "arm, [0], [V]": "calculateInverseKinematics2",
    "arm, 0, V, [0.0], [0.0], [0.0]": "calculateJacobian",
    "arm, [0.0]": "calculateMassMatrix",
    "Q, Q, 0.1": "calculateVelocityQuaternion",
    "constraint, maxForce=3.0": "changeConstraint",
    "0, [0, 0, 0] * 4, 2, 2": "changeTexture",
    "ball, -1, rgbaColor=[1, 0, 0, 1]": "changeVisualShape",
    "figure": "computeDofCount",
    "-1, 1, -1, 1, 0.1, 9": "computeProjectionMatrix",
    "60, 1, 0.1, 9": "computeProjectionMatrixFOV",
    "V, Q[:3], [0, 0, 1]": "computeViewMatrix",
    "V, 1, 0, 0, 0, 2": "computeViewMatrixFromYawPitchRoll",
    "p.COV_ENABLE_GUI, 0": "configureDebugVisualizer",
    "p.GEOM_SPHERE, radius=0.2": "createCollisionShape createVisualShape",
    "[p.GEOM_SPHERE], radii=[0.2]": "createCollisionShapeArray createVisualShapeArray",
    "figure, -1, -1, -1, p.JOINT_FIXED, V, V, V": "createConstraint",
    "ball, 0": "createSoftBodyAnchor getUserDataInfo",
    "figure, 1": "enableJointForceTorqueSensor getJointInfo getJointState getJointStateMultiDof",
    "0, 'text'": "executePluginCommand",
    "ball":
        "getAABB getBasePositionAndOrientation getBaseVelocity getBodyInfo getMeshData getNumJoints "
        "getNumUserData getTetraMeshData getVisualShapeData",
    "Q": "getAxisAngleFromQuaternion getEulerFromQuaternion getMatrixFromQuaternion",
    "Q, Q": "getAxisDifferenceQuaternion getDifferenceQuaternion",
    "0":
        "getBodyUniqueId getConstraintUniqueId readUserDebugParameter removeUserDebugItem "
        "setInternalSimFlags setRealTimeSimulation stopStateLogging unloadPlugin",
    "8, 8": "getCameraImage",
    "ball, figure, 9.0": "getClosestPoints",
    "ball, -1": "getCollisionShapeData getDynamicsInfo resetVisualShapeData setDebugObjectColor",
    "constraint": "getConstraintInfo getConstraintState removeConstraint",
    "figure, [1]": "getJointStates getJointStatesMultiDof",
    "figure, 1, computeForwardKinematics=1": "getLinkState",
    "figure, [1], computeForwardKinematics=1": "getLinkStates",
    "[-9] * 3, [9] * 3": "getOverlappingObjects",
    "V, 0.1": "getQuaternionFromAxisAngle",
    "V": "getQuaternionFromEuler",
    "Q, Q, 0.5": "getQuaternionSlerp",
    "item": "getUserData removeUserData",
    "ball, 'note'": "getUserDataId",
    "V, Q": "invertTransform",
    "file": "loadBullet saveBullet",
    "'no such file'": "loadPlugin loadSoftBody loadTexture",
    "V, Q, V, Q": "multiplyTransforms",
    "[V], [Q[:3]]": "rayTestBatch",
    "spare": "removeCollisionShape",
    "state": "removeState",
    "ball, V": "resetBaseVelocity",
    "1, 0, 0, V": "resetDebugVisualizerCamera",
    "ball, [V]": "resetMeshData",
    "Q, V": "rotateVector",
    "folder + '/world.py'": "saveWorld",
    "folder": "setAdditionalSearchPath",
    "ball, figure, -1, -1, 0": "setCollisionFilterPair",
    "0.1": "setDefaultContactERP setTimeOut setTimeStep",
    "0, 0, 1": "setGravity",
    "figure, 4, p.POSITION_CONTROL, 1.0, 9.0": "setJointMotorControl",
    "figure, 4, p.POSITION_CONTROL, targetPosition=1.0": "setJointMotorControl2",
    "figure, [4], p.POSITION_CONTROL, targetPositions=[1.0]": "setJointMotorControlArray",
    "figure, 1, p.POSITION_CONTROL, targetPosition=Q": "setJointMotorControlMultiDof",
    "figure, [1], p.POSITION_CONTROL, targetPositions=[Q]": "setJointMotorControlMultiDofArray",
    "numSolverIterations=9": "setPhysicsEngineParameter",
    "p.STATE_LOGGING_GENERIC_ROBOT, folder + '/log.txt'": "startStateLogging",
    "'no such file.obj', folder + '/out.obj', folder + '/log.txt'": "vhacd",
}  # fmt: skip
"""Arguments, and the calls that take them and change no answer here; other calls take no arguments."""

UNBOUND = {"connect", "disconnect", "getAPIVersion", "isNumpyEnabled"}
"""Functions of the module rather than of a client, or that end it."""


def picture(mirror):
    """All that a ray can hit, as bytes."""
    limbs = mirror.limbs
    columns = (limbs.p1, limbs.p2, limbs.radius, limbs.mask, limbs.box_axes)
    return [column.tobytes() for column in columns], mirror.limb_places, mirror._state.sheets, repr(mirror)


@pytest.fixture(scope="module")
def folder(tmp_path_factory):
    """A folder for files that calls write, with bodies to load."""
    tmp_path = tmp_path_factory.mktemp("written")
    with scenes.client() as c:
        p.loadURDF("sphere_small.urdf", [2, 2, 2], physicsClientId=c)
        p.saveBullet(str(tmp_path / "bodies.bullet"), physicsClientId=c)
    return tmp_path


SIDE = np.random.default_rng(3).normal(size=(30, 3))
RAYS = np.linspace([0, 0, 1.8], [6, 0, 1], 30) - SIDE, np.linspace([0, 0, 1.8], [6, 0, 1], 30) + SIDE


def seen(mirror):
    """A mirror's answers, and its picture."""
    return mirror.rayTestBatch(*RAYS), picture(mirror)


@contextmanager
def watched_scene(folder):
    """A client, a function that makes a watched call, a mirror that follows only these, and what it sees."""
    with scenes.client() as c:
        scene, mirror = make(c, folder), Mirror(c, mesh="wrap", follow=False)
        watched, before = mirror.watch(), seen(mirror)
        assert sum(answer[0] >= 0 for answer in before[0]) > 10

        def call(name, arguments):
            eval(f"call({arguments})", {**globals(), **scene, "call": getattr(watched, name)})

        yield c, call, mirror, before


@pytest.mark.parametrize("name", CHANGING)
def test_a_watched_call_is_followed(name, folder):
    with watched_scene(folder) as (c, call, mirror, before):
        call(name, CHANGING[name])
        after = seen(mirror)
        assert after == seen(Mirror(c, mesh="wrap", follow=False))
        assert after[1] != before[1]
        assert EFFECTS[name] != Effect.NONE


@pytest.mark.filterwarnings("ignore:.*without a body number")  # `loadBullet` makes such solids
def test_other_calls_change_no_answer(folder):
    with watched_scene(folder) as (c, call, mirror, before):
        for name in sorted(FUNCTIONS - UNBOUND - set(CHANGING)):
            with suppress(p.error, TypeError, SystemError):  # some take no client by name, one cannot be called at all
                call(name, next((given for given, calls in OTHER.items() if name in calls.split()), ""))
            assert seen(mirror) == before, name
            if EFFECTS[name] == Effect.NONE:
                assert seen(Mirror(c, mesh="wrap", follow=False)) == before, name
        assert seen(Mirror(c, mesh="wrap", follow=False)) == before


LATER = """
from cylcollide.bullet import Mirror, watch
import pybullet as p
del watch.EFFECTS["setTimeStep"], watch.EFFECTS["setGravity"]
Mirror(p.connect(p.DIRECT))
for call in (p.setTimeStep, lambda step: p.setGravity(0, 0, step), lambda step: p.setRealTimeSimulation(0)):
    before = watch.filter_calls()
    call(0.01)
    print(watch.filter_calls() != before)
"""


def test_a_function_that_the_table_lacks_may_change_filters():
    assert output_of("-c", LATER).split() == ["True", "True", "False"]


def test_unwatched_calls_are_noticed_only_if_the_client_may_move_by_itself(c, monkeypatch):
    ball = scenes.body(c, 0, [0, 0, 0], mass=1.0)
    mirror = Mirror(c)
    watched = mirror.watch()
    ray = ([0.0, 0, 5], [0.0, 0, -5])
    assert mirror.rayTest(*ray)[0][2] == 0.47
    p.resetBasePositionAndOrientation(ball, [0, 0, 1], [0, 0, 0, 1], physicsClientId=c)
    assert mirror.rayTest(*ray)[0][2] == 0.47, "nothing is read"
    watched.performCollisionDetection()
    assert mirror.rayTest(*ray)[0][2] == 0.37
    p.resetBasePositionAndOrientation(ball, [0, 0, 0], [0, 0, 0, 1], physicsClientId=c)
    monkeypatch.setattr(mirror._client, "is_direct", False)
    assert mirror.rayTest(*ray)[0][2] == 0.47


def test_filters_are_measured_only_after_calls_that_may_change_them(c, monkeypatch):
    ball, measured, own = scenes.body(c, 0, [0, 0, 0], mass=1.0), [], Client.ray_hits
    monkeypatch.setattr(Client, "ray_hits", lambda *rays, **options: measured.append(rays) or own(*rays, **options))
    mirror = Mirror(c)
    watched, ray = mirror.watch(), ([0.0, 0, 5], [0.0, 0, -5])
    mirror.rayTest(*ray)
    for calls, (name, given) in (
        (False, ("changeDynamics", {"lateralFriction": 0.3})),
        (True, ("changeDynamics", {"mass": 0.0})),
        (True, ("setCollisionFilterGroupMask", {"collisionFilterGroup": 4, "collisionFilterMask": -1})),
    ):
        measured.clear()
        getattr(watched, name)(ball, -1, **given)
        assert mirror.rayTest(*ray)[0][0] == ball
        assert bool(measured) == calls, name


def test_watched_clients_update_all_mirrors_of_their_client(c):
    ball = scenes.body(c, 0, [0, 0, 0], mass=1.0)
    one, other = Mirror(c), Mirror(c)
    watched, _ = one.watch(), other.watch()
    for height, fraction in ((1, 0.37), (0, 0.47)):
        watched.resetBasePositionAndOrientation(ball, [0, 0, height], [0, 0, 0, 1])
        assert [m.rayTest([0.0, 0, 5], [0.0, 0, -5])[0][2] for m in (one, other)] == [fraction] * 2


def test_a_watched_client_has_constants_and_does_not_take_another_client(c):
    mirror = Mirror(c)
    watched = mirror.watch()
    assert watched.GEOM_SPHERE == p.GEOM_SPHERE
    assert watched.getQuaternionFromEuler([0, 0, 0]) == (0, 0, 0, 1)
    assert len(Mirror(watched).limbs) == 0, "it is a client as any other"
    with pytest.raises(AttributeError):
        watched.no_such_function  # noqa: B018
    assert {name for name in dir(p) if not hasattr(watched, name)} == set()
