"""A history with every case between two ticks: characters that move, teleport, despawn or are hidden; bare limbs."""

import numpy as np
from support.cases.everyday_shape_worlds import mixed
from support.character_life import all_shapes_rig

import cylcollide as cc

GOES, JUMPS, LEAVES, HIDDEN = range(4)
"""Indices of the characters in the order of spawning."""


def recorded_world(interpolate: str = "bones", seed: int = 1) -> cc.PoseHistory:
    """Two ticks of 14 bare limbs and 4 characters, both with limbs of all shapes."""
    rng, rig, bare = np.random.default_rng(seed), all_shapes_rig(), mixed(14).limbs()
    world = cc.HitWorld(bare)
    ids = world.spawn(rig, 4)
    poses = []
    for tick in range(2):
        turn = rng.normal(size=(4, 4)) if tick == 0 else poses[0][1][:, 0] + 0.2 * rng.normal(size=(4, 4))
        joints = np.tile([0.0, 0.0, 0.0, 1.0], (4, 4, 1)) + 0.2 * rng.normal(size=(4, 4, 4))
        poses.append(rig.forward(rng.uniform(-3, 3, (4, 3)), turn, joints))
    history = cc.PoseHistory(world, 8, interpolate)
    world.set_poses(ids, *poses[0])
    world.set_layers(ids[HIDDEN], 0)
    history.record(0.0)
    world.set_endpoints(bare.p1 + 0.3, bare.p2 + 0.3)
    world.set_poses(ids[[GOES, LEAVES, HIDDEN]], *(column[[GOES, LEAVES, HIDDEN]] for column in poses[1]))
    world.set_poses(ids[JUMPS], *(column[[JUMPS]] for column in poses[1]), teleport=True)
    world.despawn(ids[LEAVES])
    history.record(1.0)
    return history
