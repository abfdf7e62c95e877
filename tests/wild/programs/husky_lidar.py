"""A lidar of 720 rays at a height of 1 m on a husky among cubes of 1 m that settle, through a BulletClient."""

import sys

import numpy as np
import pybullet
import pybullet_data
from pybullet_utils.bullet_client import BulletClient

client = BulletClient(pybullet.DIRECT)
client.setAdditionalSearchPath(pybullet_data.getDataPath())
client.setGravity(0, 0, -9.81)
client.loadURDF("plane.urdf")
husky = client.loadURDF("husky/husky.urdf", [0, 0, 0.2])
rng = np.random.default_rng(0)
for _ in range(30):
    place = rng.uniform(-9, 9, 2)
    if np.abs(place).max() > 2:
        client.loadURDF("cube.urdf", [*place, 0.5])
angle = np.linspace(0, 2 * np.pi, 720, endpoint=False)
way = np.stack([np.cos(angle), np.sin(angle), np.zeros(720)], axis=1)
hits = 0
for _ in range(int(sys.argv[1])):
    client.stepSimulation()
    centre = np.array([*client.getBasePositionAndOrientation(husky)[0][:2], 1.0])
    results = client.rayTestBatch(centre + 0.1 * way, centre + 10 * way)
    hits += sum(result[0] >= 0 for result in results)
print(hits)
