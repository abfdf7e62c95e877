"""
Engines compared
================

The same segments at the same limbs, in every engine that is installed (extra `peers`).

An engine gets limbs by `build` and answers each segment with a limb, or -1. Engines differ in what
a start in a limb means. `capabilities.inside` names the rule, and `inside=` makes this library follow
it.
"""

from importlib.util import find_spec

import matplotlib.pyplot as plt
import numpy as np

import cylcollide as cc
from cylcollide import engines

rig, rng = cc.Rig.humanoid(), np.random.default_rng(0)
limbs = rig.place(*rig.forward([0.0, 0.0, 0.95], [0, 0, 0, 1], rig.rest_orientations))
limbs = cc.Limbs.cylinders(limbs.p1, limbs.p2, limbs.radius, name=rig.limb_names)
world = cc.HitWorld(limbs)

# %%
# 4,000 segments pass the side of a limb, 0.1 µm to 10 cm inside or outside.
rows = rng.integers(len(limbs), size=4000)
axis = limbs.p2[rows] - limbs.p1[rows]
way = rng.normal(size=(4000, 3))
out = np.cross(way, axis)
out /= np.linalg.norm(out, axis=1, keepdims=True)
way /= np.linalg.norm(way, axis=1, keepdims=True)
off = limbs.radius[rows] + rng.choice([-1.0, 1.0], 4000) * 10.0 ** rng.uniform(-7.0, -1.0, 4000)
middle = limbs.p1[rows] + rng.uniform(size=(4000, 1)) * axis + off[:, None] * out
starts, ends = middle - 3.0 * way, middle + 3.0 * way
truth = world.cast_segments(starts, ends)
depth = np.abs(truth.clearance)  # metres by which each verdict is decided

# %%
# Engines by name: a dozen lines for all of them.
wrong = {}
for name, missing in engines.available().items():
    if missing:
        print(f"{name:12} not installed")
        continue
    with engines.create(name) as engine:
        if not engine.capabilities.rays:
            continue
        engine.build(limbs)
        theirs = engine.cast_segments(starts, ends)
        ours = world.cast_segments(starts, ends, inside=engine.capabilities.inside)
    wrong[name] = (theirs.limb >= 0) != ours.hit
    off = 6e3 * np.abs(theirs.fraction - ours.fraction)[ours.hit & (theirs.limb == ours.limb)]
    print(f"{name:12} {wrong[name].sum():4} verdicts wrong; distances off by {np.median(off):.0e}, {off.max():.0e} mm")

# %%
# Others by hand: trimesh casts rays at triangles; coal casts none, but tests whether two solids
# overlap. There a segment is a capsule with a radius of 1 nm.
if find_spec("trimesh") and find_spec("embreex"):
    mesh = limbs.to_mesh(sides=64)
    wrong["trimesh"] = mesh.ray.intersects_any(starts, ends - starts) != truth.hit
if find_spec("coal"):
    import coal

    def placed(solid: object, p1: np.ndarray, p2: np.ndarray) -> tuple:
        """A solid about the z axis, put on the axis from p1 to p2."""
        z = (p2 - p1) / np.linalg.norm(p2 - p1)
        x = np.cross(z, np.eye(3)[np.abs(z).argmin()])
        x /= np.linalg.norm(x)
        return solid, coal.Transform3s(np.column_stack([x, np.cross(z, x), z]), (p1 + p2) / 2)

    lengths = np.linalg.norm(limbs.p2 - limbs.p1, axis=1)
    solids = [
        placed(coal.Cylinder(*size), *axis)
        for *size, axis in zip(limbs.radius, lengths, zip(limbs.p1, limbs.p2, strict=True), strict=True)
    ]
    segments = [placed(coal.Capsule(1e-9, 6.0), *pair) for pair in zip(starts, ends, strict=True)]
    asked = coal.CollisionRequest()
    meets = [any(coal.collide(*limb, *ray, asked, coal.CollisionResult()) for limb in solids) for ray in segments]
    wrong["coal"] = np.array(meets) != truth.hit

# %%
# How close to a surface are the segments with a wrong verdict?
edges = np.logspace(-7, -1, 13)
places = np.sqrt(edges[1:] * edges[:-1])
plt.figure(figsize=(8, 5))
for marker, (name, rows) in zip("os^vDPX*d", wrong.items(), strict=False):
    share = 100.0 * np.histogram(depth[rows], edges)[0] / np.histogram(depth, edges)[0]
    plt.semilogx(places, share, marker, linestyle="-", label=f"{name}: {rows.sum()} of 4000")
plt.xlabel("metres by which a limb may grow or shrink before the verdict changes")
plt.ylabel("wrong verdicts [%]")
plt.legend()
