"""Calls that may change a ray's answer: the effect of each function of PyBullet, and clients that record its calls.

`docs/bullet.md` has the table of effects in words. PyBullet does not report what `setCollisionFilterGroupMask` did,
which solids `loadBullet` made, or the length of the quaternion of a `resetBasePositionAndOrientation`, so these are
recorded: from the first mirror on, replacements in the module `pybullet` record each call and pass it on; a
`BulletClient` calls them, too. So are changes of a mass to 0, which reset a filter group, and calls of plugins, which
may do anything. `syncBodyInfo` drops the list of each body's user data: without `syncUserData`, tokens would outlive
their bodies. Of bodies that `batchPositions` makes, PyBullet lists only the last; `createMultiBody` here lists all,
before the last one may be removed.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from enum import IntEnum
from functools import partial, update_wrapper
from inspect import isbuiltin
from itertools import count
from types import BuiltinFunctionType
from typing import Any, TypeAlias

import numpy as np

from cylcollide.bullet.client import Client
from cylcollide.bullet.near_bodies import LENGTHS


class Effect(IntEnum):
    """What has to be read after a call."""

    NONE = 0
    """No answer of a ray changes."""
    POSES = 1
    """Poses, which `Mirror.sync` reads."""
    SCENE = 2
    """Bodies, shapes or filters, too."""


_NONE = """
addUserData addUserDebugLine addUserDebugParameter addUserDebugPoints addUserDebugText applyExternalForce
applyExternalTorque calculateInverseDynamics calculateInverseKinematics calculateInverseKinematics2 calculateJacobian
calculateMassMatrix calculateVelocityQuaternion changeConstraint changeTexture changeVisualShape computeDofCount
computeProjectionMatrix computeProjectionMatrixFOV computeViewMatrix computeViewMatrixFromYawPitchRoll
configureDebugVisualizer connect createCollisionShape createCollisionShapeArray createConstraint createSoftBodyAnchor
createVisualShape createVisualShapeArray enableJointForceTorqueSensor getAABB getAPIVersion
getAxisAngleFromQuaternion getAxisDifferenceQuaternion getBasePositionAndOrientation getBaseVelocity getBodyInfo
getBodyUniqueId getCameraImage getClosestPoints getCollisionShapeData getConnectionInfo getConstraintInfo
getConstraintState getConstraintUniqueId getContactPoints getDebugVisualizerCamera getDifferenceQuaternion
getDynamicsInfo getEulerFromQuaternion getJointInfo getJointState getJointStateMultiDof getJointStates
getJointStatesMultiDof getKeyboardEvents getLinkState getLinkStates getMatrixFromQuaternion getMeshData getMouseEvents
getNumBodies getNumConstraints getNumJoints getNumUserData getOverlappingObjects getPhysicsEngineParameters
getQuaternionFromAxisAngle getQuaternionFromEuler getQuaternionSlerp getTetraMeshData getUserData getUserDataId
getUserDataInfo getVREvents getVisualShapeData invertTransform isConnected isNumpyEnabled loadTexture multiplyTransforms
rayTest rayTestBatch readUserDebugParameter removeAllUserDebugItems removeAllUserParameters removeCollisionShape
removeConstraint removeState removeUserData removeUserDebugItem renderImage resetBaseVelocity
resetDebugVisualizerCamera resetVisualShapeData rotateVector saveBullet saveState saveWorld setAdditionalSearchPath
setCollisionFilterPair setDebugObjectColor setDefaultContactERP setGravity setInternalSimFlags setJointMotorControl
setJointMotorControl2 setJointMotorControlArray setJointMotorControlMultiDof setJointMotorControlMultiDofArray
setPhysicsEngineParameter setRealTimeSimulation setTimeOut setTimeStep setVRCameraState stopStateLogging
submitProfileTiming vhacd
"""

_POSES = """
performCollisionDetection resetBasePositionAndOrientation resetJointState resetJointStateMultiDof
resetJointStatesMultiDof restoreState stepSimulation
"""

_SCENE = """
changeDynamics createMultiBody disconnect executePluginCommand loadBullet loadMJCF loadPlugin loadSDF loadSoftBody
loadURDF removeBody resetMeshData resetSimulation setCollisionFilterGroupMask startStateLogging syncBodyInfo
syncUserData unloadPlugin unsupportedChangeScaling
"""

EFFECTS: Mapping[str, Effect] = {
    name: effect for effect, names in zip(Effect, (_NONE, _POSES, _SCENE), strict=True) for name in names.split()
}
"""The effects of all functions of PyBullet 3.2.7, by name."""


def effect_of(name: str) -> Effect:
    """The effect of a function; the largest one for a function that the table does not list."""
    return EFFECTS.get(name, max(Effect))


COUNTED = (
    *("setCollisionFilterGroupMask", "loadBullet"),
    *("executePluginCommand", "loadPlugin", "startStateLogging", "unloadPlugin"),
)
"""Functions that may change filters at every call. So may those that `EFFECTS` lacks."""

MASS, RESET, SYNC, MAKE = "changeDynamics", "resetBasePositionAndOrientation", "syncBodyInfo", "createMultiBody"
CLIENT = 20  # place of physicsClientId among the arguments of createMultiBody


class AsBuiltin(partial[Any]):
    """A function that `inspect.isbuiltin` accepts: a client passes its number only to such functions."""

    __class__ = BuiltinFunctionType  # type: ignore[assignment]  # `isinstance` reads it, as in a mock


_serial = count(1)  # numbers never repeat, so that none is lost between threads
LAST_CALL = [0]
"""A number that changes with each counted call."""

_replaced: dict[str, Any] = {}


def _note_length(quaternion: Any) -> None:
    """Widen `LENGTHS` if necessary. PyBullet refuses values that are not quaternions, and NaN widens nothing."""
    try:
        x, y, z, w = quaternion
        square = min(x * x + y * y + z * z + w * w, 1e300)
        if not LENGTHS[0][0] <= square <= LENGTHS[0][1]:
            LENGTHS[0] = min(LENGTHS[0][0], square), max(LENGTHS[0][1], square)
    except (TypeError, ValueError):
        pass


def filter_calls() -> int:
    """Record calls from now on; return a number that changes with each call that may change filters of known bodies."""
    if _replaced:
        return LAST_CALL[0]
    from cylcollide._pybullet import OWN, pybullet  # noqa: PLC0415  # an extra: imported only when used

    own_mass, own_reset, own_sync, own_make = (getattr(OWN, name) for name in (MASS, RESET, SYNC, MAKE))

    def counted(own: Callable[..., Any], *arguments: Any, **keywords: Any) -> Any:
        try:
            return own(*arguments, **keywords)
        finally:
            LAST_CALL[0] = next(_serial)

    def with_mass(*arguments: Any, **keywords: Any) -> Any:
        mass = [*arguments[2:3], keywords.get("mass")][0]
        return (partial(counted, own_mass) if np.array_equal(mass, 0) else own_mass)(*arguments, **keywords)

    def measured(*arguments: Any, **keywords: Any) -> Any:
        _note_length(arguments[2] if len(arguments) > 2 else keywords.get("ornObj"))
        return own_reset(*arguments, **keywords)

    def with_user_data(physicsClientId: int = 0) -> None:  # PyBullet's name
        own_sync(physicsClientId)
        OWN.syncUserData(physicsClientId=physicsClientId)

    def listed(*arguments: Any, **keywords: Any) -> Any:
        made = own_make(*arguments, **keywords)
        if isinstance(made, tuple):  # by batchPositions
            with_user_data([*arguments[CLIENT:], keywords.get("physicsClientId", 0)][0])
        return made

    unknown = {name for name, own in vars(OWN).items() if isbuiltin(own) and name not in EFFECTS}
    replacements: dict[str, Callable[..., Any]] = {
        **{name: partial(counted, getattr(OWN, name)) for name in (*COUNTED, *unknown) if hasattr(OWN, name)},
        **{MASS: with_mass, RESET: measured, SYNC: with_user_data, MAKE: listed},
    }
    for name, function in replacements.items():
        own = getattr(OWN, name)
        _replaced[name] = update_wrapper(AsBuiltin(function), own)
        if getattr(pybullet, name) is own:  # else the program has replaced it
            setattr(pybullet, name, _replaced[name])
        setattr(OWN, name, _replaced[name])
    return LAST_CALL[0]


Changed: TypeAlias = tuple[int, int]
"""Serial numbers of the last calls that may have changed poses, and bodies, shapes or filters."""


class Changes:
    """Serial numbers of the last calls that may have changed a client; all its watched clients share one record."""

    def __init__(self) -> None:
        self._serial = count(1)
        self._last = [0] * len(Effect)  # by effect

    def last(self) -> Changed:
        """The numbers of poses and scene."""
        return self._last[Effect.POSES], self._last[Effect.SCENE]

    def record(self, effect: Effect) -> None:
        """Record a call. Numbers never repeat, so that none is lost between threads."""
        self._last[effect] = next(self._serial)


_changes: dict[int, Changes] = {}


def changes_of(client: Client) -> Changes:
    """The record of a client, by its number: calls through any watched client of this process are in it."""
    return _changes.setdefault(client.number, Changes())


class WatchedClient:
    """PyBullet's functions and constants, as a `BulletClient` has them, bound to one client: made by `Mirror.watch`.

    `ray_tests`: what answers `rayTest` and `rayTestBatch`, by name.
    """

    def __init__(self, client: Client, ray_tests: Mapping[str, Callable[..., Any]]) -> None:
        self._client, self._api, self._changes = client.number, client.api, changes_of(client)
        vars(self).update(ray_tests)

    def __getattr__(self, name: str) -> Any:
        if name == "_api":  # a copy has no attributes yet
            raise AttributeError(name)
        attribute = getattr(self._api, name)
        if not isbuiltin(attribute):
            return attribute
        bound = partial(attribute, physicsClientId=self._client)
        effect = effect_of(name)
        function = bound if effect == Effect.NONE else recorded(bound, self._changes, effect)
        setattr(self, name, function)  # found without this method from now on
        return function


def recorded(function: Callable[..., Any], changes: Changes, effect: Effect) -> Callable[..., Any]:
    """The function, with its calls recorded, even those that fail: they may have done a part of their work.

    They are recorded at their beginning, too, for threads that read the client meanwhile.
    """

    def call(*arguments: Any, **keywords: Any) -> Any:
        changes.record(effect)
        try:
            return function(*arguments, **keywords)
        finally:
            changes.record(effect)

    return call
