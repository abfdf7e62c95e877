"""
Why did I miss?
===============

The gap to the nearest limb is red; times at which the same shot hits are green.
"""

import cylcollide as cc

rig, world = cc.Rig.humanoid(), cc.HitWorld()
ids = world.spawn(rig, 1)
history = cc.PoseHistory(world, ticks=64)
for tick in range(20):
    root = [[0.0, 0.04 * tick, 0.95]]
    world.set_poses(ids, *rig.forward(root, [[0.0, 0.0, 0.0, 1.0]], rig.rest_orientations[None]))
    history.record(tick / 60)

why = history.explain_miss([-2.0, 0.05, 1.7], [2.0, 0.05, 1.7], 10 / 60)
print(why)
figure = why.plot()
