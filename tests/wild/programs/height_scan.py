"""A quadruped's map of the ground: 187 rays down after each step, on a height field with steps of boxes."""

import random
import sys

import pybullet as p
import pybullet_data

p.connect(p.DIRECT)
p.setAdditionalSearchPath(pybullet_data.getDataPath())
p.setGravity(0, 0, -9.8)
random.seed(3)
field = p.createCollisionShape(
    p.GEOM_HEIGHTFIELD,
    meshScale=[0.1, 0.1, 1],
    heightfieldData=[random.uniform(0, 0.05) for _ in range(64 * 64)],
    numHeightfieldRows=64,
    numHeightfieldColumns=64,
)
p.createMultiBody(0, field)
for i in range(8):
    step = p.createCollisionShape(p.GEOM_BOX, halfExtents=[0.15, 1, 0.04 * (i + 1)])
    p.createMultiBody(0, step, basePosition=[0.5 + 0.3 * i, 0, 0.04 * (i + 1)])
dog = p.loadURDF("laikago/laikago_toes.urdf", [0, 0, 0.6], [0, 0.5, 0.5, 0])
grid = [(0.1 * i - 0.8, 0.1 * j - 0.5) for i in range(17) for j in range(11)]
heights = 0.0
for _ in range(int(sys.argv[1])):
    p.stepSimulation()
    x, y, _ = p.getBasePositionAndOrientation(dog)[0]
    results = p.rayTestBatch([[x + a, y + b, 3] for a, b in grid], [[x + a, y + b, -1] for a, b in grid])
    heights += sum(result[3][2] for result in results)
print(round(heights, 3))
