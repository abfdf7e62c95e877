"""What each function of PyBullet may change of a ray's answer. `docs/bullet.md` has the same table in words."""

from collections.abc import Mapping
from enum import IntEnum


class Effect(IntEnum):
    """What is to be read after a call."""

    NONE = 0
    """No ray is answered otherwise."""
    POSES = 1
    """Poses, which `Mirror.sync` reads."""
    SCENE = 2
    """Bodies or shapes, too."""
    FILTERS = 3
    """Collision filters, too, which PyBullet does not report, so that `Mirror.sync` measures them."""


_NONE = """
addUserData addUserDebugLine addUserDebugParameter addUserDebugPoints addUserDebugText applyExternalForce
applyExternalTorque calculateInverseDynamics calculateInverseKinematics calculateInverseKinematics2 calculateJacobian
calculateMassMatrix calculateVelocityQuaternion changeConstraint changeTexture changeVisualShape computeDofCount
computeProjectionMatrix computeProjectionMatrixFOV computeViewMatrix computeViewMatrixFromYawPitchRoll
configureDebugVisualizer connect createCollisionShape createCollisionShapeArray createConstraint createSoftBodyAnchor
createVisualShape createVisualShapeArray disconnect enableJointForceTorqueSensor getAABB getAPIVersion
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
createMultiBody loadBullet loadMJCF loadSDF loadSoftBody loadURDF removeBody resetMeshData
resetSimulation syncBodyInfo syncUserData unsupportedChangeScaling
"""

_FILTERS = """
changeDynamics executePluginCommand loadPlugin setCollisionFilterGroupMask startStateLogging unloadPlugin
"""

EFFECTS: Mapping[str, Effect] = {
    name: effect
    for effect, names in zip(Effect, (_NONE, _POSES, _SCENE, _FILTERS), strict=True)
    for name in names.split()
}
"""By name, all functions of PyBullet 3.2.7."""


def effect_of(name: str) -> Effect:
    """The effect of a function; of one that this table does not know, the largest."""
    return EFFECTS.get(name, max(Effect))
