"""Which engines hit my limbs? All installed ones, at segments close to surfaces; one row of the table per engine.

Run: python comparison.py TABLE
"""

import sys
from pathlib import Path

import numpy as np

import cylcollide as cc
from cylcollide import engines


def main(path: str) -> None:
    rng = np.random.default_rng(0)
    p1 = rng.uniform(-1.0, 1.0, (40, 3))
    limbs = cc.Limbs.cylinders(p1, p1 + rng.normal(0.0, 0.2, (40, 3)), rng.uniform(0.03, 0.1, 40))
    limb = rng.integers(0, 40, 2000)
    axis, way = (limbs.p2 - limbs.p1)[limb], rng.normal(size=(2000, 3))
    side = np.cross(axis, way)
    side *= (limbs.radius[limb] + rng.normal(0.0, 5e-4, 2000))[:, None] / np.linalg.norm(side, axis=1, keepdims=True)
    middle = limbs.p1[limb] + 0.5 * axis + side
    starts, ends = middle - 2.0 * way, middle + 2.0 * way
    world = cc.HitWorld(limbs)
    rows = ["engine,missed,phantom,distance_mm"]
    for name, why_not in engines.available().items():
        if why_not:
            print(why_not)
            continue
        with engines.create(name) as engine:
            if not engine.capabilities.rays:
                continue
            engine.build(limbs)
            theirs = engine.cast_segments(starts, ends)
            ours = world.cast_segments(starts, ends, inside=engine.capabilities.inside)  # one meaning of starts inside
        hit, same = theirs.limb >= 0, ours.hit & (theirs.limb == ours.limb)
        off = 1e3 * np.abs(theirs.fraction - ours.fraction)[same] * np.linalg.norm(ends - starts, axis=1)[same]
        rows.append(f"{name},{(ours.hit & ~hit).sum()},{(hit & ~ours.hit).sum()},{off.max():.3g}")
    with Path(path).open("w") as file:
        print(*rows, sep="\n", file=file)


if __name__ == "__main__":
    main(sys.argv[1])
