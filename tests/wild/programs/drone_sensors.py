"""Four drones with six range finders each: a call of 6 rays a drone and step, through walls of a maze."""

import math
import sys

import pybullet as p
import pybullet_data

p.connect(p.DIRECT)
p.setAdditionalSearchPath(pybullet_data.getDataPath())
p.loadURDF("plane.urdf")
wall = p.createCollisionShape(p.GEOM_BOX, halfExtents=[1, 0.05, 1])
for i in range(40):
    turn = p.getQuaternionFromEuler([0, 0, 0.5 * math.pi * (i % 2)])
    p.createMultiBody(0, wall, basePosition=[i % 8 - 4, i // 8 - 2, 1], baseOrientation=turn)
body = p.createCollisionShape(p.GEOM_CYLINDER, radius=0.06, height=0.025)
drones = [p.createMultiBody(0.03, body, basePosition=[i - 1.5, 0.3 * i + 0.5, 1]) for i in range(4)]
ways = [(1, 0, 0), (-1, 0, 0), (0, 1, 0), (0, -1, 0), (0, 0, 1), (0, 0, -1)]
hits = 0
for k in range(int(sys.argv[1])):
    for i, drone in enumerate(drones):
        p.resetBaseVelocity(drone, [math.cos(0.02 * k + i), math.sin(0.03 * k - i), 0.1 * math.sin(0.1 * k)])
    p.stepSimulation()
    for drone in drones:
        at = p.getBasePositionAndOrientation(drone)[0]
        starts = [[a + 0.07 * w for a, w in zip(at, way, strict=True)] for way in ways]
        ends = [[a + 4 * w for a, w in zip(at, way, strict=True)] for way in ways]
        hits += sum(result[0] >= 0 for result in p.rayTestBatch(starts, ends))
print(hits)
