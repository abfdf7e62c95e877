"""A mouse pointer: one ray of 10 km a frame, through falling bodies; bodies that are hit are coloured."""

import math
import sys

import pybullet as p
import pybullet_data

p.connect(p.DIRECT)
p.setAdditionalSearchPath(pybullet_data.getDataPath())
p.setGravity(0, 0, -10)
p.loadURDF("plane100.urdf", useMaximalCoordinates=True)
shapes = [
    p.createCollisionShape(p.GEOM_SPHERE, radius=0.1),
    p.createCollisionShape(p.GEOM_BOX, halfExtents=[0.1] * 3),
    p.createCollisionShape(p.GEOM_MESH, fileName="duck_vhacd.obj", meshScale=[0.1] * 3),
]
for i in range(6):
    for j in range(6):
        p.createMultiBody(1, shapes[(i + j) % 3], basePosition=[0.3 * i - 0.75, 0.3 * j - 0.75, 0.5])
eye, hits = [0.0, -3.0, 2.0], 0
for k in range(int(sys.argv[1])):
    p.stepSimulation()
    aim = [math.sin(0.1 * k) - eye[0], math.cos(0.07 * k) - eye[1], 0.1 - eye[2]]
    scale = 1e4 / math.sqrt(sum(x * x for x in aim))
    for body, *_ in p.rayTest(eye, [e + scale * x for e, x in zip(eye, aim, strict=True)]):
        if body >= 0:
            hits += 1
            p.changeVisualShape(body, -1, rgbaColor=[1, 0, 0, 1])
print(hits)
