"""A scanning robot among people and furniture, twice: with PyBullet's rays, and with one line changed.

Run: python demos/lidar.py [--picture] [--window]   (needs pybullet: pip install '.[crosscheck,plot]')
It can save lidar.png, and draw the points in PyBullet's own window.
"""

import sys
import time
import warnings

import numpy as np
import pybullet as p
import pybullet_data
from pybullet_utils.bullet_client import BulletClient

from cylcollide.bullet import Mirror

REACH, LAYERS, TURNS = 8.0, 16, 900  # metres; rays above each other; rays all around: PyBullet takes 16,383 in one call
NAMES = ("ground", "robot", *["person"] * 6, "table", "table", "bear", "duck")  # of the bodies, as they are loaded
GROUND = NAMES.index("ground")


def make_room(mode: int) -> BulletClient:
    world = BulletClient(mode)
    world.setAdditionalSearchPath(pybullet_data.getDataPath())
    world.loadURDF("plane_implicit.urdf")
    world.loadURDF("husky/husky.urdf", [0, 0, 0.1])
    upright, implicit = p.getQuaternionFromEuler([np.pi / 2, 0, 0]), p.URDF_USE_IMPLICIT_CYLINDER
    for angle in np.arange(0.4, 6.4, 1.0):
        place = [3.5 * np.cos(angle), 3.5 * np.sin(angle), 0.9]
        world.loadURDF("humanoid/humanoid.urdf", place, upright, globalScaling=0.25, flags=implicit)
    for place in ([2.0, 0.3, 0.0], [-2.2, -0.5, 0.0]):
        world.loadURDF("table/table.urdf", place)
    world.loadURDF("teddy_vhacd.urdf", [1.8, 0.3, 0.7], globalScaling=4)
    world.loadURDF("duck_vhacd.urdf", [-2.2, -0.5, 0.65], upright, globalScaling=4)
    world.performCollisionDetection()
    return world


def beams() -> tuple[list, list]:
    """Starts and ends of one scan, from a mast on the husky."""
    height, turn = np.meshgrid(np.linspace(-0.45, 0.15, LAYERS), np.linspace(0, 2 * np.pi, TURNS, endpoint=False))
    way = np.stack([np.cos(height) * np.cos(turn), np.cos(height) * np.sin(turn), np.sin(height)], -1).reshape(-1, 3)
    start = np.tile([0.0, 0.0, 1.0], (len(way), 1))
    return start.tolist(), (start + REACH * way).tolist()


def scan(name: str, scanner: BulletClient, starts: list, ends: list) -> tuple:
    scanner.rayTestBatch(starts, ends)  # the first one compiles
    begun = time.perf_counter()
    answers = scanner.rayTestBatch(starts, ends)
    print(f"{name:10} {1e3 * (time.perf_counter() - begun):6.1f} ms, {sum(hit[0] >= 0 for hit in answers)} points")
    return answers


def draw(body: np.ndarray, points: np.ndarray) -> None:
    """Save a picture of the points (n, 3) from above, with one colour and name per body."""
    from matplotlib.figure import Figure  # noqa: PLC0415  # an extra

    figure = Figure(figsize=(8, 8), layout="constrained")
    axes = figure.add_subplot(aspect="equal", xlabel="x in m", ylabel="y in m")
    axes.set_title(f"One scan from above: {LAYERS} × {TURNS} rays from a mast on the robot (+)")
    axes.scatter(*points[body == GROUND, :2].T, c="0.85", s=1)
    axes.plot(0.0, 0.0, "k+", markersize=12)
    for number in np.unique(body[body > GROUND]).tolist():
        x, y, _ = points[body == number].T
        axes.scatter(x, y, s=3)
        axes.annotate(NAMES[number], (x.mean(), y.max()), (0, 4), ha="center", textcoords="offset points")
    axes.set(xlim=(-4.2, 4.2), ylim=(-4.2, 4.2))
    figure.savefig("lidar.png")


def main() -> None:
    world = make_room(p.GUI if "--window" in sys.argv else p.DIRECT)
    starts, ends = beams()
    scanner = world
    theirs = scan("PyBullet", scanner, starts, ends)
    warnings.simplefilter("ignore", UserWarning)  # the husky, the duck and the bear are meshes: Bullet decides
    scanner = Mirror(world)  # the line that is changed
    ours = scan("Mirror", scanner, starts, ends)
    differ = sum(a[:2] != b[:2] for a, b in zip(theirs, ours, strict=True))
    off = max(abs(a[2] - b[2]) for a, b in zip(theirs, ours, strict=True) if a[:2] == b[:2]) * REACH
    print(f"{differ} of {len(ours)} rays hit another link; of the others, points are up to {1e3 * off:.1f} mm off")
    body, points = np.array([hit[0] for hit in ours]), np.array([hit[3] for hit in ours])
    if "--picture" in sys.argv:
        draw(body, points)
    if "--window" in sys.argv:
        seen = points[body > GROUND].tolist()
        world.addUserDebugPoints(seen, [[0.1, 0.6, 0.1]] * len(seen), pointSize=3)
        input("Enter closes the window")


if __name__ == "__main__":
    main()
