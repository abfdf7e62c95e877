"""Balls in PyBullet clients, and rays at them."""

import pybullet as p

GRAZE = [-3.0, 0.0, 0.5004], [3.0, 0.0, 0.4999]
"""Misses a ball of radius 0.5 at 0 by 0.15 mm; PyBullet reports a hit after it has computed the ball's box."""
THROUGH = [-3.0, 0.0, 0.0], [3.0, 0.0, 0.0]
MISS = (-1, -1, 1.0, (0.0, 0.0, 0.0), (0.0, 0.0, 0.0))


def ball(client, x: float = 0.0) -> int:
    return client.createMultiBody(0, client.createCollisionShape(p.GEOM_SPHERE, radius=0.5), basePosition=[x, 0, 0])
