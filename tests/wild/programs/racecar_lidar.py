"""A racecar's lidar: 100 rays in the frame of a link, every tenth step, between pillars."""

import math
import sys

import pybullet as p
import pybullet_data

RAYS, HOKUYO = 100, 4

p.connect(p.DIRECT)
p.setAdditionalSearchPath(pybullet_data.getDataPath())
p.setGravity(0, 0, -10)
p.loadURDF("plane.urdf")
car = p.loadURDF("racecar/racecar.urdf", [0, 0, 0.2])
pillar = p.createCollisionShape(p.GEOM_CYLINDER, radius=0.2, height=1)
for i in range(12):
    p.createMultiBody(0, pillar, basePosition=[3 * math.cos(i), 3 * math.sin(i), 0.5])
wheels = [k for k in range(p.getNumJoints(car)) if b"wheel" in p.getJointInfo(car, k)[1]]
angles = [-0.25 * math.pi + 1.5 * math.pi * i / RAYS for i in range(RAYS)]
starts = [[0.25 * math.sin(a), 0.25 * math.cos(a), 0] for a in angles]
ends = [[5 * math.sin(a), 5 * math.cos(a), 0] for a in angles]
hits = 0
for k in range(10 * int(sys.argv[1])):
    for wheel in wheels:
        p.setJointMotorControl2(car, wheel, p.VELOCITY_CONTROL, targetVelocity=5, force=10)
    p.stepSimulation()
    if k % 10 == 0:
        results = p.rayTestBatch(starts, ends, 1, car, HOKUYO)
        hits += sum(result[0] >= 0 for result in results)
print(hits)
