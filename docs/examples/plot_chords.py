"""
Through several limbs
=====================

`chords_segments` returns every limb along each ray, with entry and exit: the metres of limb that a bullet passes.
"""

import matplotlib.pyplot as plt
import numpy as np

import cylcollide as cc

rig, world = cc.Rig.humanoid(), cc.HitWorld()
ids = world.spawn(rig, 1)
world.set_poses(ids, *rig.forward([[0.0, 0.0, 0.95]], [[0.0, 0.0, 0.0, 1.0]], rig.rest_orientations[None]))

y, z = np.meshgrid(np.linspace(-0.5, 0.5, 300), np.linspace(0.0, 1.9, 570))
starts = np.column_stack([np.full(y.size, -2.0), y.ravel(), z.ravel()])
chords = world.chords_segments(starts, starts + np.array([4.0, 0.0, 0.0]))
depth = np.bincount(chords.ray, chords.thickness, len(starts)).reshape(y.shape)

plt.figure(figsize=(5, 8))
plt.imshow(np.where(depth > 0, depth, np.nan), origin="lower", extent=(-0.5, 0.5, 0.0, 1.9), cmap="viridis")
plt.colorbar(label="sum of thickness [m]")
plt.xlabel("y [m]")
plt.ylabel("z [m]")
