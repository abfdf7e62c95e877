"""The scenes of the PyBullet benchmarks, and rays through them."""

from collections.abc import Callable
from functools import partial

import numpy as np
import pybullet as p
import pybullet_data

from cylcollide._pybullet import OWN
from cylcollide.bullet import Mirror

IMPLICIT = p.URDF_USE_IMPLICIT_CYLINDER


def connect() -> int:
    client: int = p.connect(p.DIRECT)
    p.setAdditionalSearchPath(pybullet_data.getDataPath(), physicsClientId=client)
    return client


def people(c: int) -> None:
    """Sixteen humanoids on a plane."""
    p.loadURDF("plane_implicit.urdf", physicsClientId=c)
    for i in range(16):
        place = [i % 4 * 1.5, i // 4 * 1.5, 1.0]
        p.loadURDF("humanoid/humanoid.urdf", place, globalScaling=0.25, flags=IMPLICIT, physicsClientId=c)


def robots(c: int) -> None:
    """Stock robots, most of their links meshes, on a plane."""
    p.loadURDF("plane_implicit.urdf", physicsClientId=c)
    names = ("r2d2.urdf", "kuka_iiwa/model.urdf", "husky/husky.urdf", "franka_panda/panda.urdf", "a1/a1.urdf")
    for i, name in enumerate(names):
        p.loadURDF(name, [i * 1.5, 0, 0.5], flags=IMPLICIT, physicsClientId=c)


def table_top(c: int) -> None:
    """Two hundred small things on a board."""
    board = p.createCollisionShape(p.GEOM_BOX, halfExtents=[1, 1, 0.05], physicsClientId=c)
    p.createMultiBody(0, board, basePosition=[0, 0, 0.5], physicsClientId=c)
    kinds = [
        p.createCollisionShape(p.GEOM_SPHERE, radius=0.03, physicsClientId=c),
        p.createCollisionShape(p.GEOM_BOX, halfExtents=[0.02, 0.03, 0.04], physicsClientId=c),
        p.createCollisionShape(p.GEOM_CYLINDER, radius=0.03, height=0.1, physicsClientId=c),
        p.createCollisionShape(p.GEOM_CAPSULE, radius=0.02, height=0.08, physicsClientId=c),
    ]
    for i in range(200):
        place = [-0.95 + i % 20 * 0.1, -0.95 + i // 20 * 0.2, 0.62]
        p.createMultiBody(1.0, kinds[i % 4], basePosition=place, physicsClientId=c)


def mixed(c: int) -> None:
    """People, and a duck that is a mesh."""
    people(c)
    p.loadURDF("duck_vhacd.urdf", [2.2, 2.2, 0.5], globalScaling=10, physicsClientId=c)


def r2d2s(c: int) -> None:
    """Thirteen r2d2 on a plane, whose wheels and heads are meshes."""
    p.loadURDF("plane_implicit.urdf", physicsClientId=c)
    for i in range(13):
        p.loadURDF("r2d2.urdf", [i % 4 * 1.5, i // 4 * 1.5, 0.5], flags=IMPLICIT, physicsClientId=c)


def ten(c: int) -> None:
    """Ten bodies of four shapes on a plane."""
    p.loadURDF("plane_implicit.urdf", physicsClientId=c)
    kinds = [
        p.createCollisionShape(p.GEOM_SPHERE, radius=0.3, physicsClientId=c),
        p.createCollisionShape(p.GEOM_BOX, halfExtents=[0.2, 0.3, 0.4], physicsClientId=c),
        p.createCollisionShape(p.GEOM_CYLINDER, radius=0.3, height=1.0, physicsClientId=c),
        p.createCollisionShape(p.GEOM_CAPSULE, radius=0.2, height=0.8, physicsClientId=c),
    ]
    for i in range(10):
        p.createMultiBody(1.0, kinds[i % 4], basePosition=[i % 4 * 1.5, i // 4 * 1.5, 1.0], physicsClientId=c)


def walls(c: int) -> None:
    """Forty walls of equal height that cross."""
    shape = p.createCollisionShape(p.GEOM_BOX, halfExtents=[2.0, 0.1, 0.5], physicsClientId=c)
    for i in range(40):
        place, turn = [i % 8 * 0.5 - 2.0, i // 8 * 0.5 - 1.0, 0.5], p.getQuaternionFromEuler([0.0, 0.0, np.pi * i / 40])
        p.createMultiBody(0, shape, basePosition=place, baseOrientation=turn, physicsClientId=c)


def tables(c: int) -> None:
    """Table tops that overlap."""
    for i in range(5):
        p.loadURDF("table/table.urdf", [i * 1.2 - 2.4, 0.0, 0.0], useFixedBase=True, physicsClientId=c)


def cylinders(c: int) -> None:
    """One cylinder spawned twice."""
    shape = p.createCollisionShape(p.GEOM_CYLINDER, radius=1.0, height=2.0, physicsClientId=c)
    for _ in range(2):
        p.createMultiBody(0, shape, basePosition=[0.0, 0.0, 1.0], physicsClientId=c)


def grounds(*names: str) -> Callable[[int], None]:
    """Grounds by their files."""

    def load(c: int) -> None:
        for name in names:
            p.loadURDF(name, physicsClientId=c)

    return load


SCENES: dict[str, Callable[[int], None]] = {
    "people": people,
    "robots": robots,
    "table top": table_top,
    "mixed": mixed,
}

COINCIDENT: dict[str, Callable[[int], None]] = {
    "plane.urdf twice": grounds("plane.urdf", "plane.urdf"),
    "plane_implicit.urdf twice": grounds("plane_implicit.urdf", "plane_implicit.urdf"),
    "one of each": grounds("plane.urdf", "plane_implicit.urdf"),
    "40 crossing walls": walls,
    "tables 1.2 m apart": tables,
    "one cylinder twice": cylinders,
}
"""Scenes with coincident surfaces, for rays from above."""

STEPPED: dict[str, Callable[[int], None]] = {"people": people, "r2d2": r2d2s, "ten bodies": ten}
"""Scenes in which a few rays are cast after every step."""


def rays(c: int, n: int, seed: int = 1) -> tuple[np.ndarray, np.ndarray]:
    """Short rays (n, 3) about points in the boxes of the links, as for a lidar or a hit scan."""
    rng = np.random.default_rng(seed)
    bodies = [p.getBodyUniqueId(i, c) for i in range(p.getNumBodies(c))]
    boxes = np.array([p.getAABB(body, link, c) for body in bodies for link in range(-1, p.getNumJoints(body, c))])
    boxes = np.clip(boxes, -9.0, 9.0)  # planes are wider
    boxes = boxes[np.ptp(boxes, axis=1).max(axis=1) > 0.0]
    chosen = boxes[rng.integers(len(boxes), size=n)]
    target = chosen[:, 0] + rng.random((n, 3)) * (chosen[:, 1] - chosen[:, 0])
    way = rng.normal(size=(n, 3))
    start = target + way / np.linalg.norm(way, axis=1)[:, None]
    return start, start + 2.0 * (target - start)


def from_above(_: int, n: int) -> tuple[np.ndarray, np.ndarray]:
    """Rays (n, 3) down to the ground."""
    rng = np.random.default_rng(1)
    starts = rng.uniform([-2.5, -1.0, 2.0], [2.5, 1.0, 3.0], (n, 3))
    return starts, starts + rng.uniform([-1.0, -1.0, -5.0], [1.0, 1.0, -4.0], (n, 3))


def fan(n: int, seed: int) -> tuple[np.ndarray, np.ndarray]:
    """A lidar's rays (n, 3): 8 m, all around from a place among bodies 1.5 m apart, none of them quite level."""
    rng = np.random.default_rng(seed)
    place = rng.uniform([0.5, 0.5, 0.3], [4.0, 4.0, 0.7])
    angle = 2.0 * np.pi * (np.arange(n) + rng.random()) / n
    way = np.stack([np.cos(angle), np.sin(angle), rng.uniform(-0.05, 0.05, n)], axis=1)
    return np.tile(place, (n, 1)), place + 8.0 * way


GETTERS = [name for name in vars(OWN) if name.startswith("get")]
CALLS: list[Callable[[], object]] = []


def noted(function: Callable[..., object], *given: object, **named: object) -> object:
    CALLS.append(partial(function, *given, **named))
    return CALLS[-1]()


def getters_of(call: Callable[[], object]) -> list[Callable[[], object]]:
    """The calls of PyBullet's getters in one call of a mirror, which caches the noting getters that it finds here."""
    own = {name: getattr(OWN, name) for name in GETTERS if callable(getattr(OWN, name))}
    CALLS.clear()
    vars(OWN).update({name: partial(noted, function) for name, function in own.items()})
    try:
        call()
    finally:
        vars(OWN).update(own)
    return CALLS


def getters_of_sync(c: int) -> list[Callable[[], object]]:
    """The calls of PyBullet's getters in a mirror's `sync` with a client whose bodies are the same as before."""

    def sync() -> None:
        mirror = Mirror(c, mesh="wrap", follow=False)
        CALLS.clear()
        mirror.sync()

    return list(getters_of(sync))
