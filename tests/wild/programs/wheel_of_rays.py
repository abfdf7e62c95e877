"""A wheel of 1,024 rays around a robot after each step, in the world or its own frame, with threads."""

import math
import sys

import pybullet as p
import pybullet_data

RAYS, LENGTH = 1024, 13

p.connect(p.DIRECT)
p.setAdditionalSearchPath(pybullet_data.getDataPath())
p.loadURDF("r2d2.urdf", [3, 3, 1])
p.loadURDF("r2d2.urdf", [-3, 2, 1])
p.loadURDF("samurai.urdf")
robot = p.loadURDF("husky/husky.urdf", [0, 0, 1])
p.setGravity(0, 0, -10)
angles = [2 * math.pi * i / RAYS for i in range(RAYS)]
starts = [[0.6 * math.cos(a), 0.6 * math.sin(a), 1] for a in angles]
ends = [[LENGTH * math.cos(a), LENGTH * math.sin(a), 1] for a in angles]
hits = 0
for k in range(int(sys.argv[1])):
    p.stepSimulation()
    parent = {"parentObjectUniqueId": robot, "parentLinkIndex": -1} if k % 2 else {}
    results = p.rayTestBatch(starts, ends, numThreads=k % 3, **parent)
    hits += sum(result[0] >= 0 for result in results)
print(hits)
