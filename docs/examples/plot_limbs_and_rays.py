"""
A volley at a humanoid
======================

Rays that hit are drawn to the point of entry, in the colour of the hit group.
"""

import matplotlib.pyplot as plt
import numpy as np

import cylcollide as cc
from cylcollide.limbs.outlines import COLORS

rig, world = cc.Rig.humanoid(), cc.HitWorld()
ids = world.spawn(rig, 1)
world.set_poses(ids, *rig.forward([[0.0, 0.0, 0.95]], [[0.0, 0.0, 0.0, 1.0]], rig.rest_orientations[None]))

rng = np.random.default_rng(0)
ends = rng.uniform([0.0, -0.7, 0.0], [0.0, 0.7, 1.9], (300, 3))
hits = world.cast_rays([-3.0, 0.3, 1.5], ends - [-3.0, 0.3, 1.5])

axes = plt.figure(figsize=(6, 6)).add_subplot(projection="3d")
for group in np.unique(hits.hit_group[hits.hit]):
    places = hits.position[hits.hit & (hits.hit_group == group)]
    axes.scatter(*places.T, s=14, color=COLORS[group], label=f"group {group}: {len(places)} hits")
axes.scatter(*ends[~hits.hit].T, s=2, color="grey", label=f"{(~hits.hit).sum()} misses")
axes.set(xlabel="x [m]", ylabel="y [m]", zlabel="z [m]", box_aspect=(0.5, 1, 1.4))
axes.legend()
