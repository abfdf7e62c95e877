"""A world of one character with one limb, for which all is known."""

import numpy as np

import cylcollide as cc


def one_limb_world(**labels) -> tuple[cc.HitWorld, cc.Rig, np.ndarray]:
    """One character with one bone, and a cylinder along its x axis from 0 to 1."""
    limb = cc.Limbs.cylinders([0, 0, 0], [1, 0, 0], 0.1, name="arm", **labels)
    rig = cc.Rig(["bone"], [-1], [[0, 0, 0]], [[0, 0, 0, 1]], limb, [0])
    world = cc.HitWorld()
    return world, rig, world.spawn(rig)


def about_z(angle: float) -> list[float]:
    return [0.0, 0.0, float(np.sin(angle / 2)), float(np.cos(angle / 2))]
