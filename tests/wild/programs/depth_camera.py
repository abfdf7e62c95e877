"""A depth image of 32 by 24 rays every 24th step, as arrays, over a heap of falling bodies."""

import sys

import numpy as np
import pybullet as p
import pybullet_data

p.connect(p.DIRECT)
p.setAdditionalSearchPath(pybullet_data.getDataPath())
p.setGravity(0, 0, -9.8)
p.loadURDF("plane.urdf")
rng = np.random.default_rng(4)
for i in range(40):
    kind, sizes = [
        (p.GEOM_SPHERE, {"radius": 0.1}),
        (p.GEOM_BOX, {"halfExtents": [0.1, 0.07, 0.05]}),
        (p.GEOM_CAPSULE, {"radius": 0.05, "height": 0.2}),
        (p.GEOM_CYLINDER, {"radius": 0.08, "height": 0.15}),
    ][i % 4]
    place = [*rng.uniform(-0.4, 0.4, 2), 0.2 + 0.1 * i]
    p.createMultiBody(1, p.createCollisionShape(kind, **sizes), basePosition=place)
u, v = np.meshgrid(np.linspace(-0.6, 0.6, 32), np.linspace(-0.45, 0.45, 24))
eye = np.array([0.0, -2.0, 1.0])
ends = eye + 5 * np.stack([u, np.ones_like(u), v - 0.4], axis=-1).reshape(-1, 3)
depth = 0.0
for k in range(24 * int(sys.argv[1])):
    p.stepSimulation()
    if k % 24 == 0:
        depth += sum(result[2] for result in p.rayTestBatch(np.repeat(eye[None], 768, axis=0), ends))
print(round(depth, 3))
