"""A world of one character with one limb, for results by hand; and a history of two humanoids."""

import numpy as np

import cylcollide as cc


def one_bone_rig(limbs: cc.Limbs) -> cc.Rig:
    """A rig with the limbs on one bone, at the origin at rest."""
    return cc.Rig(["bone"], [-1], [[0, 0, 0]], [[0, 0, 0, 1]], limbs, 0)


def one_limb_world(**labels) -> tuple[cc.HitWorld, cc.Rig, np.ndarray]:
    """World, rig and id of a character with one bone and a cylinder from 0 to 1 on the bone's x axis."""
    limb = cc.Limbs.cylinders([0, 0, 0], [1, 0, 0], 0.1, name="arm", **labels)
    world, rig = cc.HitWorld(), one_bone_rig(limb)
    return world, rig, world.spawn(rig)


def one_limb_history(
    *poses: tuple[float, float, float, float], teleport_distance: float = np.inf, first: float = 0.0, **labels
) -> tuple[cc.HitWorld, np.ndarray, cc.PoseHistory]:
    """The world, its character, and a history with one pose per second, from `first` on: position and angle about z."""
    world, _, ids = one_limb_world(**labels)
    history = cc.PoseHistory(world, teleport_distance=teleport_distance)
    for k, (*place, turn) in enumerate(poses):
        world.set_poses(ids, [place], [about_z(turn)])
        history.record(first + k)
    return world, ids, history


AT_REST = (0.0, 0.0, 0.0, 0.0)
"""A pose of `one_limb_history`."""


def two_humanoids() -> tuple[cc.PoseHistory, np.ndarray]:
    """The history and ids of a humanoid that moves along y, and of another one that stands still at x = 3."""
    world, rig = cc.HitWorld(), cc.Rig.humanoid()
    ids, joints = world.spawn(rig, 2), np.tile(rig.rest_orientations, (2, 1, 1))
    history = cc.PoseHistory(world)
    for k in range(11):
        world.set_poses(ids, *rig.forward([[0, 0.2 * k - 1.0, 0.95], [3, 0, 0.95]], [[0, 0, 0, 1]] * 2, joints))
        history.record(k / 10)
    return history, ids


def about_z(angle: float) -> list[float]:
    return [0.0, 0.0, float(np.sin(angle / 2)), float(np.cos(angle / 2))]
