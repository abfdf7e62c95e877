"""The engines that `run.py` measures: `cylcollide.engines` of this library, PyBullet and MuJoCo with their defaults."""

from typing import Any

import numpy as np
from rays import CENTER, FRAME, HALF_EXTENTS, HALF_LENGTH, LIMBS

from cylcollide._pybullet import pybullet
from cylcollide.bench.workloads import Segments
from cylcollide.engines import Engine, EngineHits
from cylcollide.engines.bullet import BulletEngine
from cylcollide.engines.mujoco import MujocoEngine
from cylcollide.engines.own import OwnEngine

ENGINES: dict[str, type[Engine]] = {"cylcollide": OwnEngine, "PyBullet": BulletEngine, "MuJoCo": MujocoEngine}


def cast(name: str, shape: str, shots: Segments) -> tuple[EngineHits, float, str]:
    """An engine's answers, how far its solid is off, in metres, and its version."""
    with ENGINES[name]() as engine:
        engine.build(LIMBS[shape])
        return engine.cast_segments(*shots), solid_off(engine, shape), ", ".join(engine.versions.values())


def solid_off(engine: Any, shape: str) -> float:
    """Largest distance by which the pose of an engine's solid moves a point of it from its place in ours, in metres."""
    if isinstance(engine, OwnEngine):
        return 0.0
    if isinstance(engine, BulletEngine):
        place, quaternion = pybullet.getBasePositionAndOrientation(0, physicsClientId=engine._client)
        matrix = pybullet.getMatrixFromQuaternion(quaternion)
    else:
        place, matrix = engine._world[1].geom_xpos[0], engine._world[1].geom_xmat[0]
    where, turn = np.asarray(place, np.longdouble), np.asarray(matrix, np.longdouble).reshape(3, 3)
    if shape == "box":
        turned = np.linalg.norm(np.float64(turn - FRAME.T), 2) * np.linalg.norm(HALF_EXTENTS)
        return float(np.linalg.norm(where - CENTER) + turned)
    half = HALF_LENGTH if shape != "sphere" else 0.0
    ends = LIMBS[shape].p1[0], LIMBS[shape].p2[0]
    return float(max(np.linalg.norm(where + s * half * turn[:, 2] - p) for s, p in zip((-1, 1), ends, strict=True)))
