"""A ball that learns to avoid hazards: 16 rays a step, one call each, from its surface to all sides."""

import math
import sys

import pybullet as p
import pybullet_data

p.connect(p.DIRECT)
p.setAdditionalSearchPath(pybullet_data.getDataPath())
p.setGravity(0, 0, -9.8)
p.loadURDF("plane_implicit.urdf")
robot = p.createMultiBody(1, p.createCollisionShape(p.GEOM_SPHERE, radius=0.1), basePosition=[0, 0, 0.1])
box = p.createCollisionShape(p.GEOM_BOX, halfExtents=[0.2, 0.2, 0.3])
cylinder = p.createCollisionShape(p.GEOM_CYLINDER, radius=0.25, height=0.6)
for i in range(20):
    r = 1 + 0.15 * i
    p.createMultiBody(i % 3, [box, cylinder][i % 2], basePosition=[r * math.cos(2.4 * i), r * math.sin(2.4 * i), 0.3])
hits = 0
for k in range(int(sys.argv[1])):
    p.applyExternalForce(robot, -1, [3 * math.cos(0.05 * k), 3 * math.sin(0.05 * k), 0], [0, 0, 0], p.LINK_FRAME)
    p.stepSimulation()
    x, y, z = p.getBasePositionAndOrientation(robot)[0]
    for i in range(16):
        c, s = math.cos(math.pi * i / 8), math.sin(math.pi * i / 8)
        hit = p.rayTest([x + 0.102 * c, y + 0.102 * s, z], [x + 3 * c, y + 3 * s, z])[0]
        hits += hit[0] >= 0
print(hits)
