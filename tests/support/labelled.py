"""A state in which bones carry some of the limbs, as in characters; the others are bare."""

from fractions import Fraction

import numpy as np
from numpy.typing import NDArray
from support.oracle.pose import rational, turned

import cylcollide as cc
from cylcollide.query.labels import RowLabels

LABEL_FIELDS = ("limb_name", "hit_group", "static", "bone", "rig_limb", "local_position", "local_normal")
"""Fields of results that come from labels."""


def carried(limbs: cc.Limbs, seed: int = 5) -> cc.Snapshot:
    """Return a state with these limbs: a third are bare, the others are on nine bones with random orientations."""
    rng, n = np.random.default_rng(seed), len(limbs)
    row = np.arange(n, dtype=np.int32)
    bare = row % 3 == 0
    labels = RowLabels(
        np.array([f"limb {i}" for i in range(n)], object),
        (row % 7).astype(np.int32),
        np.where(bare, -1, row % 5).astype(np.int32),
        np.where(bare, -1, row // 2).astype(np.int32),
        np.where(bare, -1, row % 9).astype(np.int32),
        rng.uniform(-3.0, 3.0, (9, 3)),
        rng.normal(size=(9, 4)) * 10.0 ** rng.integers(-3, 4, (9, 1)),
        np.full(n, -1, np.int32),
    )
    for column in labels:
        column.setflags(write=False)
    state = cc.HitWorld(limbs).snapshot()
    object.__setattr__(state, "__class__", type("CarriedSnapshot", (cc.Snapshot,), {"_labels": labels}))
    return state


def into_frame(turn: NDArray[np.float64], vector: list[Fraction]) -> list[Fraction]:
    """Return a vector in the frame turned by a quaternion x, y, z, w of any length but 0, in rational numbers."""
    x, y, z, w = rational(turn)
    return [*turned((-x, -y, -z, w), tuple(vector))]
