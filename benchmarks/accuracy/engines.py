"""The engines that `run.py` measures: ours, PyBullet and MuJoCo, each with one limb of `rays.py`.

PyBullet gets its own primitive with its default settings. MuJoCo's `mj_ray` takes a direction of any length, and gets
end - start, which is exact, so that it returns the fraction. Both hold the solid in a pose of their own; `off`
is the largest distance in metres by which that pose moves a point of the solid from its place in ours.
"""

from importlib.metadata import version
from typing import NamedTuple

import numpy as np
from rays import CENTER, FRAME, HALF_EXTENTS, HALF_LENGTH, LIMBS, P1, P2, QUATERNION, RADIUS, Shots

import cylcollide as cc
from cylcollide._pybullet import pybullet
from cylcollide._types import Float64Array
from cylcollide._version import to_install
from cylcollide.engines.bullet import BATCH

try:
    import mujoco
except ImportError as missing:
    raise ImportError(
        f"MuJoCo is needed here and could not be imported ({missing}); install it with: {to_install('peers')}"
    ) from missing

VERSIONS = {"cylcollide": cc.__version__, "PyBullet": version("pybullet"), "MuJoCo": mujoco.__version__}


class Answers(NamedTuple):
    """An engine's answers to n rays: NaN for a miss."""

    fraction: Float64Array  # (n,)
    normal: Float64Array  # (n, 3)
    off: float  # metres


def ours(shape: str, shots: Shots) -> Answers:
    """Answers of this library."""
    hits = LIMBS[shape].cast_segments(*shots)
    return Answers(np.where(hits.hit, hits.fraction, np.nan), hits.normal, 0.0)


def bullet(shape: str, shots: Shots) -> Answers:
    """Answers of PyBullet's `rayTestBatch`."""
    client = pybullet.connect(pybullet.DIRECT)
    sizes = {
        "cylinder": {"shapeType": pybullet.GEOM_CYLINDER, "radius": RADIUS, "height": 2 * HALF_LENGTH},
        "capsule": {"shapeType": pybullet.GEOM_CAPSULE, "radius": RADIUS, "height": 2 * HALF_LENGTH},
        "sphere": {"shapeType": pybullet.GEOM_SPHERE, "radius": RADIUS},
        "box": {"shapeType": pybullet.GEOM_BOX, "halfExtents": HALF_EXTENTS.tolist()},
    }
    solid = pybullet.createCollisionShape(**sizes[shape], physicsClientId=client)
    body = pybullet.createMultiBody(0, solid, -1, CENTER.tolist(), QUATERNION.tolist(), physicsClientId=client)
    place, turn = pybullet.getBasePositionAndOrientation(body, physicsClientId=client)
    rows = [
        answer
        for first in range(0, len(shots.start), BATCH)
        for answer in pybullet.rayTestBatch(
            shots.start[first : first + BATCH], shots.end[first : first + BATCH], 1, physicsClientId=client
        )
    ]
    pybullet.disconnect(client)
    if len(rows) != len(shots.start):
        raise RuntimeError(f"PyBullet answered {len(rows)} of {len(shots.start)} rays")
    miss = np.array([row[0] < 0 for row in rows])
    fraction, normal = np.array([row[2] for row in rows]), np.array([row[4] for row in rows])
    fraction[miss], normal[miss] = np.nan, np.nan
    return Answers(fraction, normal, _off(place, np.reshape(pybullet.getMatrixFromQuaternion(turn), (3, 3))))


def mj_ray(shape: str, shots: Shots) -> Answers:
    """Answers of MuJoCo's `mj_ray`."""
    kinds = mujoco.mjtGeom
    sizes = {
        "cylinder": (kinds.mjGEOM_CYLINDER, [RADIUS, HALF_LENGTH, 0]),
        "capsule": (kinds.mjGEOM_CAPSULE, [RADIUS, HALF_LENGTH, 0]),
        "sphere": (kinds.mjGEOM_SPHERE, [RADIUS, 0, 0]),
        "ellipsoid": (kinds.mjGEOM_ELLIPSOID, [RADIUS, RADIUS, HALF_LENGTH]),
        "box": (kinds.mjGEOM_BOX, HALF_EXTENTS.tolist()),
    }
    kind, size = sizes[shape]
    x, y, z, w = QUATERNION
    spec = mujoco.MjSpec()
    spec.worldbody.add_geom(type=kind, size=size, pos=CENTER, quat=[w, x, y, z])
    model = spec.compile()
    data = mujoco.MjData(model)
    mujoco.mj_forward(model, data)
    if model.geom_size[0].tolist() != size:
        raise RuntimeError(f"MuJoCo changed the size {size} to {model.geom_size[0]}")
    geom = np.zeros(1, np.int32)
    normal = np.full((len(shots.start), 3), np.nan)
    fraction = np.array(
        [
            mujoco.mj_ray(model, data, start, along, None, True, -1, geom, out)
            for start, along, out in zip(shots.start, shots.end - shots.start, normal, strict=True)
        ]
    )
    miss = (fraction < 0) | (fraction > 1)
    fraction[miss], normal[miss] = np.nan, np.nan
    return Answers(fraction, normal, _off(data.geom_xpos[0], data.geom_xmat[0].reshape(3, 3)))


def _off(place: Float64Array, matrix: Float64Array) -> float:
    """Largest distance by which another pose moves a point of the limbs, in metres."""
    where, turn = np.asarray(place, np.longdouble), np.asarray(matrix, np.longdouble)
    ends = (np.linalg.norm(where + s * HALF_LENGTH * turn[:, 2] - p) for s, p in ((-1, P1), (1, P2)))
    reach = np.linalg.norm(HALF_EXTENTS + RADIUS)
    return float(max(np.linalg.norm(where - CENTER) + np.linalg.norm(matrix - FRAME.T, 2) * reach, *ends))


ENGINES = {
    "cylcollide": (ours, set(LIMBS)),
    "PyBullet": (bullet, {"cylinder", "capsule", "sphere", "box"}),
    "MuJoCo": (mj_ray, {"cylinder", "capsule", "sphere", "ellipsoid", "box"}),
}
"""Each engine, and the shapes it has."""
