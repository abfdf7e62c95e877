"""A world of one character with one limb, for which all is known; and one of two people."""

import numpy as np

import cylcollide as cc


def one_bone_rig(limbs: cc.Limbs) -> cc.Rig:
    """Limbs on one bone, which rests in the origin."""
    return cc.Rig(["bone"], [-1], [[0, 0, 0]], [[0, 0, 0, 1]], limbs, 0)


def one_limb_world(**labels) -> tuple[cc.HitWorld, cc.Rig, np.ndarray]:
    """One character with one bone, and a cylinder along its x axis from 0 to 1."""
    limb = cc.Limbs.cylinders([0, 0, 0], [1, 0, 0], 0.1, name="arm", **labels)
    world, rig = cc.HitWorld(), one_bone_rig(limb)
    return world, rig, world.spawn(rig)


def one_limb_history(
    *poses: tuple[float, float, float, float], teleport_distance: float = np.inf, **labels
) -> tuple[cc.HitWorld, np.ndarray, cc.PoseHistory]:
    """That world, its character, and its poses, a tick a second each: where the bone is, and its turn about z."""
    world, _, ids = one_limb_world(**labels)
    history = cc.PoseHistory(world, teleport_distance=teleport_distance)
    for k, (*place, turn) in enumerate(poses):
        world.set_poses(ids, [place], [about_z(turn)])
        history.record(k)
    return world, ids, history


AT_REST = (0.0, 0.0, 0.0, 0.0)
"""A pose of `one_limb_history`."""


def two_people() -> tuple[cc.PoseHistory, np.ndarray]:
    """The history of one who walks along y, and of one who stands behind, and their ids."""
    world, rig = cc.HitWorld(), cc.Rig.humanoid()
    ids, joints = world.spawn(rig, 2), np.tile(rig.rest_orientations, (2, 1, 1))
    history = cc.PoseHistory(world)
    for k in range(11):
        world.set_poses(ids, *rig.forward([[0, 0.2 * k - 1.0, 0.95], [3, 0, 0.95]], [[0, 0, 0, 1]] * 2, joints))
        history.record(k / 10)
    return history, ids


def about_z(angle: float) -> list[float]:
    return [0.0, 0.0, float(np.sin(angle / 2)), float(np.cos(angle / 2))]
