"""Every function of PyBullet: whether it may change a ray's answer; in the table, in the manual, and when called."""

import re
from pathlib import Path

import numpy as np
import pybullet as p
import pytest
import support.pybullet_scenes as scenes

from cylcollide.bullet import Mirror
from cylcollide.bullet.effects import EFFECTS, Effect, effect_of

MANUAL = Path(__file__).parents[2] / "docs" / "bullet.md"
FUNCTIONS = {name for name in dir(p) if callable(getattr(p, name)) and name != "error"} - set(dir(object))


def test_the_table_has_every_function():
    assert set(EFFECTS) == FUNCTIONS
    assert len(EFFECTS) > 140
    assert effect_of("aFunctionOfALaterVersion") == Effect.FILTERS


def test_the_manual_has_the_same_table():
    section = MANUAL.read_text().split("## Every function of PyBullet")[1].split("\n## ")[0]
    rows = [row.split("|")[1:3] for row in section.splitlines() if row.startswith("| `") or row.startswith("| all")]
    named = {name: effect.strip() for calls, effect in rows for name in re.findall(r"`(\w+)`", calls)}
    assert named == {name: effect.name for name, effect in EFFECTS.items() if effect != Effect.NONE}
    assert rows[-1][0].strip() == f"all {sum(effect == Effect.NONE for effect in EFFECTS.values())} others"


Q, V = [0, 0, 0, 1], [0.1, 0.2, 0.3]


def make(c, folder):
    """A client with a ball that moves, a chain, a mesh and a constraint; all that calls may need."""
    shape = scenes.shape(c, 0)
    ball = p.createMultiBody(1.0, shape, basePosition=[0, 0, 1], physicsClientId=c)
    humanoid = p.loadURDF(
        "humanoid/humanoid.urdf", [3, 0, 1], globalScaling=0.3, flags=p.URDF_USE_IMPLICIT_CYLINDER, physicsClientId=c
    )
    p.setGravity(0, 0, -9.8, physicsClientId=c)
    p.resetBaseVelocity(ball, [0, 1, 0], physicsClientId=c)
    arm = p.createMultiBody(
        0, shape, basePosition=[9, 9, 9], linkMasses=[1], linkCollisionShapeIndices=[shape],
        linkVisualShapeIndices=[-1], linkPositions=[[0, 0, 1]], linkOrientations=[Q],
        linkInertialFramePositions=[[0, 0, 0]], linkInertialFrameOrientations=[Q], linkParentIndices=[0],
        linkJointTypes=[p.JOINT_REVOLUTE], linkJointAxis=[[1, 0, 0]], physicsClientId=c,
    )  # fmt: skip
    state = p.saveState(physicsClientId=c)
    p.resetBasePositionAndOrientation(ball, [0, 0, 2], [0, 0, 0, 1], physicsClientId=c)
    constraint = p.createConstraint(ball, -1, -1, -1, p.JOINT_POINT2POINT, [0, 0, 0], [0, 0, 0], [0, 0, 2],
                                    physicsClientId=c)  # fmt: skip
    item = p.addUserData(ball, "note", "text", physicsClientId=c)
    file = str(folder / "bodies.bullet")
    spare = scenes.shape(c, 3)
    return {"ball": ball, "humanoid": humanoid, "state": state, "constraint": constraint, "item": item, "file": file,
            "spare": spare, "folder": str(folder), "arm": arm}  # fmt: skip


CHANGING = {
    "changeDynamics": lambda s: ((s["ball"], -1), {"mass": 0.0}),
    "createMultiBody": lambda s: ((1.0, s["spare"]), {"basePosition": [1, 1, 1]}),
    "loadMJCF": lambda s: (("mjcf/humanoid.xml",), {"flags": p.URDF_USE_IMPLICIT_CYLINDER}),
    "loadSDF": lambda s: (("stadium.sdf",), {}),
    "loadURDF": lambda s: (("cube_small.urdf", [1, 1, 1]), {}),
    "removeBody": lambda s: ((s["ball"],), {}),
    "resetBasePositionAndOrientation": lambda s: ((s["ball"], [1, 2, 3], Q), {}),
    "resetJointStateMultiDof": lambda s: ((s["humanoid"], 1, scenes.quaternion(np.random.default_rng(1))), {}),
    "resetJointStatesMultiDof": lambda s: ((s["humanoid"], [1], [scenes.quaternion(np.random.default_rng(2))]), {}),
    "resetJointState": lambda s: ((s["humanoid"], 4, 0.7), {}),
    "resetSimulation": lambda s: ((), {}),
    "restoreState": lambda s: ((s["state"],), {}),
    "setCollisionFilterGroupMask": lambda s: ((s["ball"], -1, 0, 0), {}),
    "stepSimulation": lambda s: ((), {}),
    "unsupportedChangeScaling": lambda s: ((s["ball"], [2, 2, 2]), {}),
}
"""Calls that change answers here, with arguments."""

OTHER = {
    "addUserData": lambda s: ((s["ball"], "key", "value"), {}),
    "addUserDebugLine": lambda s: ((V, Q[:3]), {}),
    "addUserDebugParameter": lambda s: (("name",), {}),
    "addUserDebugPoints": lambda s: (([V], [V]), {}),
    "addUserDebugText": lambda s: (("text", V), {}),
    "applyExternalForce": lambda s: ((s["ball"], -1, V, V, p.WORLD_FRAME), {}),
    "applyExternalTorque": lambda s: ((s["ball"], -1, V, p.WORLD_FRAME), {}),
    "calculateInverseDynamics": lambda s: ((s["arm"], [0.0], [0.0], [0.0]), {}),
    "calculateInverseKinematics": lambda s: ((s["arm"], 0, V), {}),
    "calculateInverseKinematics2": lambda s: ((s["arm"], [0], [V]), {}),
    "calculateJacobian": lambda s: ((s["arm"], 0, V, [0.0], [0.0], [0.0]), {}),
    "calculateMassMatrix": lambda s: ((s["arm"], [0.0]), {}),
    "calculateVelocityQuaternion": lambda s: ((Q, Q, 0.1), {}),
    "changeConstraint": lambda s: ((s["constraint"],), {"maxForce": 3.0}),
    "changeTexture": lambda s: ((0, [0, 0, 0] * 4, 2, 2), {}),
    "changeVisualShape": lambda s: ((s["ball"], -1), {"rgbaColor": [1, 0, 0, 1]}),
    "computeDofCount": lambda s: ((s["humanoid"],), {}),
    "computeProjectionMatrix": lambda s: ((-1, 1, -1, 1, 0.1, 9), {}),
    "computeProjectionMatrixFOV": lambda s: ((60, 1, 0.1, 9), {}),
    "computeViewMatrix": lambda s: ((V, Q[:3], [0, 0, 1]), {}),
    "computeViewMatrixFromYawPitchRoll": lambda s: ((V, 1, 0, 0, 0, 2), {}),
    "configureDebugVisualizer": lambda s: ((p.COV_ENABLE_GUI, 0), {}),
    "createCollisionShape": lambda s: ((p.GEOM_SPHERE,), {"radius": 0.2}),
    "createCollisionShapeArray": lambda s: (([p.GEOM_SPHERE],), {"radii": [0.2]}),
    "createConstraint": lambda s: ((s["humanoid"], -1, -1, -1, p.JOINT_FIXED, V, V, V), {}),
    "createSoftBodyAnchor": lambda s: ((s["ball"], 0), {}),
    "createVisualShape": lambda s: ((p.GEOM_SPHERE,), {"radius": 0.2}),
    "createVisualShapeArray": lambda s: (([p.GEOM_SPHERE],), {"radii": [0.2]}),
    "enableJointForceTorqueSensor": lambda s: ((s["humanoid"], 1), {}),
    "executePluginCommand": lambda s: ((0, "text"), {}),
    "getAABB": lambda s: ((s["ball"],), {}),
    "getAxisAngleFromQuaternion": lambda s: ((Q,), {}),
    "getAxisDifferenceQuaternion": lambda s: ((Q, Q), {}),
    "getBasePositionAndOrientation": lambda s: ((s["ball"],), {}),
    "getBaseVelocity": lambda s: ((s["ball"],), {}),
    "getBodyInfo": lambda s: ((s["ball"],), {}),
    "getBodyUniqueId": lambda s: ((0,), {}),
    "getCameraImage": lambda s: ((8, 8), {}),
    "getClosestPoints": lambda s: ((s["ball"], s["humanoid"], 9.0), {}),
    "getCollisionShapeData": lambda s: ((s["ball"], -1), {}),
    "getConstraintInfo": lambda s: ((s["constraint"],), {}),
    "getConstraintState": lambda s: ((s["constraint"],), {}),
    "getConstraintUniqueId": lambda s: ((0,), {}),
    "getDifferenceQuaternion": lambda s: ((Q, Q), {}),
    "getDynamicsInfo": lambda s: ((s["ball"], -1), {}),
    "getEulerFromQuaternion": lambda s: ((Q,), {}),
    "getJointInfo": lambda s: ((s["humanoid"], 1), {}),
    "getJointState": lambda s: ((s["humanoid"], 4), {}),
    "getJointStateMultiDof": lambda s: ((s["humanoid"], 1), {}),
    "getJointStates": lambda s: ((s["humanoid"], [4]), {}),
    "getJointStatesMultiDof": lambda s: ((s["humanoid"], [1]), {}),
    "getLinkState": lambda s: ((s["humanoid"], 1), {"computeForwardKinematics": 1}),
    "getLinkStates": lambda s: ((s["humanoid"], [1]), {"computeForwardKinematics": 1}),
    "getMatrixFromQuaternion": lambda s: ((Q,), {}),
    "getMeshData": lambda s: ((s["ball"],), {}),
    "getNumJoints": lambda s: ((s["ball"],), {}),
    "getNumUserData": lambda s: ((s["ball"],), {}),
    "getOverlappingObjects": lambda s: (([-9] * 3, [9] * 3), {}),
    "getQuaternionFromAxisAngle": lambda s: ((V, 0.1), {}),
    "getQuaternionFromEuler": lambda s: ((V,), {}),
    "getQuaternionSlerp": lambda s: ((Q, Q, 0.5), {}),
    "getTetraMeshData": lambda s: ((s["ball"],), {}),
    "getUserData": lambda s: ((s["item"],), {}),
    "getUserDataId": lambda s: ((s["ball"], "note"), {}),
    "getUserDataInfo": lambda s: ((s["ball"], 0), {}),
    "getVisualShapeData": lambda s: ((s["ball"],), {}),
    "invertTransform": lambda s: ((V, Q), {}),
    "loadBullet": lambda s: ((s["file"],), {}),
    "loadPlugin": lambda s: (("no such plugin",), {}),
    "loadSoftBody": lambda s: (("no such file.obj",), {}),
    "loadTexture": lambda s: (("no such file.png",), {}),
    "multiplyTransforms": lambda s: ((V, Q, V, Q), {}),
    "rayTest": lambda s: ((V, Q[:3]), {}),
    "rayTestBatch": lambda s: (([V], [Q[:3]]), {}),
    "readUserDebugParameter": lambda s: ((0,), {}),
    "removeCollisionShape": lambda s: ((s["spare"],), {}),
    "removeConstraint": lambda s: ((s["constraint"],), {}),
    "removeState": lambda s: ((s["state"],), {}),
    "removeUserData": lambda s: ((s["item"],), {}),
    "removeUserDebugItem": lambda s: ((0,), {}),
    "resetBaseVelocity": lambda s: ((s["ball"], V), {}),
    "resetDebugVisualizerCamera": lambda s: ((1, 0, 0, V), {}),
    "resetMeshData": lambda s: ((s["ball"], [V]), {}),
    "resetVisualShapeData": lambda s: ((s["ball"], -1), {}),
    "rotateVector": lambda s: ((Q, V), {}),
    "saveBullet": lambda s: ((s["file"],), {}),
    "saveWorld": lambda s: ((s["folder"] + "/world.py",), {}),
    "setAdditionalSearchPath": lambda s: ((s["folder"],), {}),
    "setCollisionFilterPair": lambda s: ((s["ball"], s["humanoid"], -1, -1, 0), {}),
    "setDebugObjectColor": lambda s: ((s["ball"], -1), {}),
    "setDefaultContactERP": lambda s: ((0.1,), {}),
    "setGravity": lambda s: ((0, 0, 1), {}),
    "setInternalSimFlags": lambda s: ((0,), {}),
    "setJointMotorControl": lambda s: ((s["humanoid"], 4, p.POSITION_CONTROL, 1.0, 9.0), {}),
    "setJointMotorControl2": lambda s: ((s["humanoid"], 4, p.POSITION_CONTROL), {"targetPosition": 1.0}),
    "setJointMotorControlArray": lambda s: ((s["humanoid"], [4], p.POSITION_CONTROL), {"targetPositions": [1.0]}),
    "setJointMotorControlMultiDof": lambda s: ((s["humanoid"], 1, p.POSITION_CONTROL), {"targetPosition": Q}),
    "setJointMotorControlMultiDofArray":
        lambda s: ((s["humanoid"], [1], p.POSITION_CONTROL), {"targetPositions": [Q]}),
    "setPhysicsEngineParameter": lambda s: ((), {"numSolverIterations": 9}),
    "setRealTimeSimulation": lambda s: ((0,), {}),
    "setTimeOut": lambda s: ((1.0,), {}),
    "setTimeStep": lambda s: ((0.01,), {}),
    "startStateLogging": lambda s: ((p.STATE_LOGGING_GENERIC_ROBOT, s["folder"] + "/log.txt"), {}),
    "stopStateLogging": lambda s: ((0,), {}),
    "submitProfileTiming": lambda s: (("name",), {}),
    "unloadPlugin": lambda s: ((0,), {}),
    "vhacd": lambda s: (("no such file.obj", s["folder"] + "/out.obj", s["folder"] + "/log.txt"), {}),
}  # fmt: skip
"""Calls that change no answer here, with arguments if they take any."""

UNBOUND = {"connect", "disconnect", "getAPIVersion", "isNumpyEnabled"}
"""Functions of the module rather than of a client, or that end it."""


def picture(mirror):
    """All that a ray can meet, as bytes."""
    limbs = mirror.limbs
    columns = (limbs.p1, limbs.p2, limbs.radius, limbs.mask)
    return [column.tobytes() for column in columns], mirror.limb_places, mirror.sheets, repr(mirror)


@pytest.fixture
def folder(tmp_path):
    """Where calls may write; with bodies to be loaded."""
    with scenes.client() as c:
        p.loadURDF("sphere_small.urdf", [2, 2, 2], physicsClientId=c)
        p.saveBullet(str(tmp_path / "bodies.bullet"), physicsClientId=c)
    return tmp_path


@pytest.mark.parametrize("name", sorted(FUNCTIONS - UNBOUND))
def test_a_watched_call_changes_what_the_table_says(name, folder, capfd):
    with scenes.client() as c:
        scene = make(c, folder)
        mirror = Mirror(c, mesh="wrap", follow=False)
        watched = mirror.watch()
        rays = np.random.default_rng(3).uniform(-1, 1, (60, 3)) * 3 + [[1.5, 0, 1]]
        before, _ = mirror.rayTestBatch(rays[::2], rays[1::2]), capfd.readouterr()
        old = picture(mirror)
        arguments, keywords = {**OTHER, **CHANGING}.get(name, lambda s: ((), {}))(scene)
        try:
            getattr(watched, name)(*arguments, **keywords)
        except (p.error, TypeError, SystemError):  # some take no client by name, and one cannot be called at all
            assert name not in CHANGING, "the call has to be right to change anything"
        after = mirror.rayTestBatch(rays[::2], rays[1::2])
        fresh = Mirror(c, mesh="wrap")
        assert picture(mirror) == picture(fresh)
        assert after == fresh.rayTestBatch(rays[::2], rays[1::2])
        assert (picture(fresh) != old) == (name in CHANGING)
        if name in CHANGING:
            assert EFFECTS[name] != Effect.NONE
        else:
            assert after == before


def test_what_is_done_past_the_watch_is_seen_only_if_the_client_may_move_by_itself(monkeypatch):
    with scenes.client() as c:
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
        monkeypatch.setattr(mirror.client, "is_direct", False)
        assert mirror.rayTest(*ray)[0][2] == 0.47


def test_all_watched_clients_of_a_client_are_seen_by_all_its_mirrors():
    with scenes.client() as c:
        ball = scenes.body(c, 0, [0, 0, 0], mass=1.0)
        one, other = Mirror(c), Mirror(c)
        watched, _ = one.watch(), other.watch()
        for height, fraction in ((1, 0.37), (0, 0.47)):
            watched.resetBasePositionAndOrientation(ball, [0, 0, height], [0, 0, 0, 1])
            assert [m.rayTest([0.0, 0, 5], [0.0, 0, -5])[0][2] for m in (one, other)] == [fraction] * 2


def test_nothing_is_read_when_nothing_was_called(monkeypatch):
    with scenes.client() as c:
        scenes.body(c, 0, [0, 0, 0], mass=1.0)
        mirror = Mirror(c)
        watched = mirror.watch()
        mirror.sync(filters=True)
        mirror.rayTest([0, 0, 5], [0, 0, -5])
        reads = []
        monkeypatch.setattr(mirror._reader, "read", lambda *arguments: reads.append(arguments) or mirror._scene)
        watched.getBasePositionAndOrientation(0)
        mirror.rayTest([0, 0, 5], [0, 0, -5])
        assert reads == []
        watched.stepSimulation()
        mirror.rayTest([0, 0, 5], [0, 0, -5])
        mirror.rayTest([0, 0, 5], [0, 0, -5])
        assert len(reads) == 1


def test_a_watched_client_has_constants_and_does_not_take_another_client():
    with scenes.client() as c:
        mirror = Mirror(c)
        watched = mirror.watch()
        assert watched.GEOM_SPHERE == p.GEOM_SPHERE
        assert watched.getQuaternionFromEuler([0, 0, 0]) == (0, 0, 0, 1)
        assert len(Mirror(watched).limbs) == 0, "it is a client as any other"
        with pytest.raises(AttributeError):
            watched.no_such_function  # noqa: B018
        assert {name for name in dir(p) if not hasattr(watched, name)} == set()
