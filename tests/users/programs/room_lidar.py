"""A robot turns in a furnished room, and its lidar draws a map. PyBullet alone.

Run: python room_lidar.py MAP [STEPS]
"""

import math
import sys
from pathlib import Path

import pybullet as p

BEAMS, REACH, HEIGHT = 360, 10.0, 0.25
WALLS = [((4.0, 0.0), (0.1, 3.0)), ((-4.0, 0.0), (0.1, 3.0)), ((0.0, 3.0), (4.0, 0.1)), ((0.0, -3.0), (4.0, 0.1))]
PILLARS = [(2.0, 1.0, 0.15), (-1.5, 1.6, 0.2), (-2.5, -1.0, 0.1), (1.2, -1.8, 0.25)]  # x, y, radius


def main(path: str, steps: int) -> None:
    p.connect(p.DIRECT)
    for (x, y), (wide, deep) in WALLS:
        wall = p.createCollisionShape(p.GEOM_BOX, halfExtents=[wide, deep, 1.0])
        p.createMultiBody(0, wall, basePosition=[x, y, 1.0])
    for x, y, radius in PILLARS:
        pillar = p.createCollisionShape(p.GEOM_CYLINDER, radius=radius, height=2.0)
        p.createMultiBody(0, pillar, basePosition=[x, y, 1.0])
    robot = p.createMultiBody(1.0, p.createCollisionShape(p.GEOM_CYLINDER, radius=0.2, height=0.2))
    with Path(path).open("w") as file:
        for step in range(steps):
            place, heading = [0.02 * step, 0.1, 0.1], 0.01 * step
            p.resetBasePositionAndOrientation(robot, place, p.getQuaternionFromEuler([0, 0, heading]))
            p.stepSimulation()
            (x, y, _), turn = p.getBasePositionAndOrientation(robot)
            yaw = p.getEulerFromQuaternion(turn)[2]
            angles = [yaw + 2.0 * math.pi * beam / BEAMS for beam in range(BEAMS)]
            ends = [[x + REACH * math.cos(a), y + REACH * math.sin(a), HEIGHT] for a in angles]
            scan = p.rayTestBatch([[x, y, HEIGHT]] * BEAMS, ends)
            for end, (body, _, fraction, _, _) in zip(ends, scan, strict=True):
                print(x, y, *end[:2], body, fraction, sep=",", file=file)
    print(f"{steps} scans of {BEAMS} beams")


if __name__ == "__main__":
    main(sys.argv[1], int(sys.argv[2]) if len(sys.argv) > 2 else 5)
