"""A planner: an arm is set to poses without steps, and six rays test the lines of sight after each."""

import sys

import numpy as np
import pybullet as p
import pybullet_data

client = p.connect(p.DIRECT)
p.setAdditionalSearchPath(pybullet_data.getDataPath())
p.loadURDF("plane.urdf")
p.loadURDF("table/table.urdf", [0.9, 0, 0])
arm = p.loadURDF("kuka_iiwa/model.urdf", useFixedBase=True)
block = p.createCollisionShape(p.GEOM_BOX, halfExtents=[0.05] * 3)
targets = [p.createMultiBody(0, block, basePosition=[0.6 + 0.15 * (i % 3), 0.3 * (i // 3), 0.68]) for i in range(6)]
joints = [k for k in range(p.getNumJoints(arm)) if p.getJointInfo(arm, k)[2] == p.JOINT_REVOLUTE]
rng, hits = np.random.default_rng(1), 0
for _ in range(int(sys.argv[1])):
    for joint in joints:
        p.resetJointState(arm, joint, rng.uniform(-1.5, 1.5), physicsClientId=client)
    eye = p.getLinkState(arm, joints[-1])[0]
    ends = [p.getBasePositionAndOrientation(target)[0] for target in targets]
    results = p.rayTestBatch([eye] * 6, ends, physicsClientId=client)
    hits += sum(result[0] == target for result, target in zip(results, targets, strict=True))
print(hits)
