"""Rigs for tests: one with every shape on a few bones, and poses for it."""

from typing import Any

import numpy as np
from support.cases.one_of_each_shape import LIMBS

import cylcollide as cc

BONES = ("hip", "knee", "ankle", "sword")
PARENTS = [-1, 0, 1, -1]
REST_POSITIONS = [[0.1, 0.2, 0.9], [0.0, 0.1, -0.4], [0.0, 0.0, -0.4], [0.5, 0.0, 1.0]]
REST_ORIENTATIONS = [[0, 0, 0, 1], [0.1, 0.2, 0.3, 0.9], [0, 0, 2, 2], [1, 0, 0, 1]]
GROUPS = {"leg": 4, "weapon": -7}


def every_shape() -> cc.Limbs:
    """Return two limbs of each shape, in the order of their codes, with different labels."""
    parts = []
    for shape, limb in LIMBS.items():
        for i in range(2):
            part = limb.moved(limb.p1 + 0.1 * i, limb.p2 + 0.1 * i).inflated(0.01 * i)
            names = (f"{shape.name.lower()} {i}",)
            table = part._table._replace(mask=np.array([1 + 2 * i + 4 * shape], np.uint32))
            parts.append(cc.Limbs(table, np.array([4 - 11 * i], np.int32), names))
    return cc.Limbs.concat(parts)


def mixed_rig(**changes: Any) -> cc.Rig:
    """Return a rig of four bones, two of them roots, with two limbs of every shape; `changes` replace arguments."""
    limbs = every_shape()
    given = {
        "bone_names": BONES, "parents": PARENTS, "rest_positions": REST_POSITIONS,
        "rest_orientations": REST_ORIENTATIONS, "limbs": limbs, "groups": GROUPS,
        "limb_bone": np.resize([3, 0, 1, 1, 2, 0, 0], len(limbs)),
    }  # fmt: skip
    return cc.Rig(**{**given, **changes})


def random_poses(rig: cc.Rig, k: int, seed: int = 0) -> tuple[np.ndarray, np.ndarray]:
    """Return random positions and orientations of the bones of k characters; quaternions of any length."""
    rng = np.random.default_rng(seed)
    b = len(rig.bone_names)
    lengths = 2.0 ** rng.integers(-20, 20, (k, b, 1))
    return 5.0 * rng.normal(size=(k, b, 3)), lengths * rng.normal(size=(k, b, 4))


def own_rig(clip: cc.Clip) -> cc.Rig:
    """Return a rig with the bones of a clip and a sphere on the first."""
    ball = cc.Limbs.spheres([[0, 0, 0]], 1.0)
    return cc.Rig(clip.bone_names, clip.parents, clip.offsets, clip.rest_orientations, ball, 0)
