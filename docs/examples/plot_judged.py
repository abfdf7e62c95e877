"""
A shot that goes through
========================

`judged.plot(i)` shows one shot: the limbs that count are green, the one that stops it is the last.
"""

import cylcollide as cc

rig, world = cc.Rig.humanoid(), cc.HitWorld()
ids = world.spawn(rig, 2)
roots = [[0.0, 0.0, 0.95], [1.2, 0.1, 0.95]]
world.set_poses(ids, *rig.forward(roots, [[0.0, 0.0, 0.0, 1.0]] * 2, [rig.rest_orientations] * 2))

policy = cc.Policy.penetration(loss={"torso": 1.5, "default": 3.0}, damage={"head": 4.0, "default": 1.0})
judged = world.judge_segments([-3.0, 0.0, 1.55], [3.0, 0.1, 1.0], policy, energy=1.0)
print(judged.explain(0))
figure = judged.plot(0)
