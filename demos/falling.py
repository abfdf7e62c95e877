"""A small PyBullet program: bodies fall on the ground, and a fan of shots follows them. It does not use cylcollide.

Run: python demos/falling.py   (needs pybullet: pip install '.[crosscheck]')
"""

import numpy as np
import pybullet
from pybullet_utils.bullet_client import BulletClient

SHOTS = 2000


def shoot() -> list[tuple]:
    """All answers of ten volleys, one volley every tenth of a second."""
    world = BulletClient(pybullet.DIRECT)
    world.setGravity(0, 0, -9.8)
    world.createMultiBody(0, world.createCollisionShape(pybullet.GEOM_PLANE))
    kinds = [
        world.createCollisionShape(pybullet.GEOM_CYLINDER, radius=0.05, height=0.4),
        world.createCollisionShape(pybullet.GEOM_CAPSULE, radius=0.06, height=0.3),
        world.createCollisionShape(pybullet.GEOM_BOX, halfExtents=[0.1, 0.06, 0.15]),
        world.createCollisionShape(pybullet.GEOM_SPHERE, radius=0.1),
    ]
    rng = np.random.default_rng(2)
    for i in range(32):
        turn = pybullet.getQuaternionFromEuler(rng.uniform(-3, 3, 3).tolist())
        world.createMultiBody(
            1.0, kinds[i % 4], basePosition=[*rng.uniform(-0.5, 0.5, 2), 0.5 + 0.1 * i], baseOrientation=turn
        )
    gun = world
    answers = []
    for _ in range(10):
        for _ in range(24):
            world.stepSimulation()
        start = rng.uniform([-4, -0.7, 0], [-3, 0.7, 2], (SHOTS, 3))
        answers += gun.rayTestBatch(start, rng.uniform([3, -0.7, 0], [4, 0.7, 2], (SHOTS, 3)))
    return answers


if __name__ == "__main__":
    hits = sum(answer[0] > 0 for answer in shoot())
    print(f"{hits} of {10 * SHOTS} shots hit a body")
