"""
A late shot
===========

The server judges a shot in the world that the player saw: past limbs filled, present ones dashed, walls grey.
"""

import numpy as np

import cylcollide as cc

rig, world = cc.Rig.humanoid(), cc.HitWorld()
ids = world.spawn(rig, 2)
world.add_static(cc.Limbs.boxes([[-2.0, -0.5, 1.2]], [0, 0, 0, 1], [0.1, 0.6, 1.2]))
history = cc.PoseHistory(world, ticks=64)
for tick in range(20):
    roots = [[0.0, 0.04 * tick, 0.95], [1.5, 0.5 - 0.02 * tick, 0.95]]
    world.set_poses(ids, *rig.forward(roots, [[0.0, 0.0, 0.0, 1.0]] * 2, np.tile(rig.rest_orientations, (2, 1, 1))))
    history.record(tick / 60)

start, end = [-5.0, 0.36, 1.3], [5.0, 0.36, 1.3]
now, then = world.cast_segments([start], [end]), history.cast_segments([start], [end], 9 / 60)
print("now: ", now.limb_name[0])
print("then:", then.limb_name[0], "of character", then.character[0])
figure = history.plot(9 / 60, shot=(start, end))
