"""A humanoid's three lasers of 15 rays each after every step, in the frame of its chest, people around it."""

import math
import sys

import pybullet as p
import pybullet_data

p.connect(p.DIRECT)
p.setAdditionalSearchPath(pybullet_data.getDataPath())
p.setGravity(0, 0, -9.8)
p.loadURDF("plane_implicit.urdf")
flags = p.URDF_USE_IMPLICIT_CYLINDER
people = [p.loadURDF("humanoid/humanoid.urdf", [2 * (i % 3), 2 * (i // 3), 1], globalScaling=0.25, flags=flags)
          for i in range(6)]  # fmt: skip
fans = []
for middle in (0.0, 2.1, -2.1):
    angles = [middle + math.radians(4 * (i - 7)) for i in range(15)]
    fans.append(([[0.4 * math.cos(a), 0.4 * math.sin(a), 0] for a in angles],
                 [[3 * math.cos(a), 3 * math.sin(a), 0] for a in angles]))  # fmt: skip
hits = 0
for _ in range(int(sys.argv[1])):
    p.stepSimulation()
    for starts, ends in fans:
        results = p.rayTestBatch(starts, ends, parentObjectUniqueId=people[0], parentLinkIndex=1)
        hits += sum(result[0] >= 0 for result in results)
print(hits)
