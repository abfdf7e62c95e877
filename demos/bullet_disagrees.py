"""A bullet passes 0.4 mm beside an arm. PyBullet reports a hit; the distance to the axis shows a miss.

Run: python demos/bullet_disagrees.py   (needs pybullet: pip install '.[crosscheck]')
"""

from fractions import Fraction

import numpy as np

import cylcollide as cc
from cylcollide.engines.bullet import BulletEngine

RADIUS = 0.05


def main() -> None:
    # an arm along a slanted axis; the bullets fly across it at chosen distances from the axis
    p1, p2 = np.array([0.1, -0.2, 1.0]), np.array([0.25, 0.1, 1.2])
    axis = (p2 - p1) / np.linalg.norm(p2 - p1)
    across = np.cross(axis, [0.0, 0.0, 1.0])
    across /= np.linalg.norm(across)
    beside = np.cross(across, axis)
    gaps = np.array([-2e-3, -4e-4, -1e-6, 1e-6, 4e-4, 9e-4, 2e-3])  # metres outside (+) or inside (-) the wall
    middle = (p1 + p2) / 2 + (RADIUS + gaps)[:, None] * beside
    starts, ends = middle - 3.0 * across, middle + 3.0 * across

    arm = cc.Limbs.cylinders([p1], [p2], RADIUS)
    ours = arm.cast_segments(starts, ends)
    with BulletEngine() as engine:
        engine.build(arm)
        theirs = engine.cast_segments(starts, ends)

    print("  gap (mm)   exact   PyBullet   PyBullet's point is off by")
    for i, gap in enumerate(gaps):
        bullet = theirs.limb[i] >= 0
        off = "-"
        if bullet and ours.hit[i]:
            off = f"{1000 * np.linalg.norm(theirs.position[i] - ours.position[i]):.3f} mm"
        elif bullet:
            off = "a hit where there is none"
        print(f"{1000 * gap:+10.3f}   {'hit' if ours.hit[i] else 'miss':5}   {'hit' if bullet else 'miss':8}   {off}")

    # the same verdict by hand: |(start - p1) . (d x a)|^2 against r^2 |d x a|^2, in rational numbers
    phantom = int(np.flatnonzero((theirs.limb >= 0) & ~ours.hit)[-1])
    o, d = exact(starts[phantom]), exact(ends[phantom]) - exact(starts[phantom])
    a = exact(p2) - exact(p1)
    n = np.array([d[1] * a[2] - d[2] * a[1], d[2] * a[0] - d[0] * a[2], d[0] * a[1] - d[1] * a[0]])
    ratio = ((o - exact(p1)) @ n) ** 2 / (Fraction(RADIUS) ** 2 * (n @ n))
    print(f"phantom at {1000 * gaps[phantom]:+.3f} mm: (distance / radius)^2 - 1 = {float(ratio - 1):.3e} > 0, a miss")


def exact(vector: np.ndarray) -> np.ndarray:
    """The float64 numbers as fractions."""
    return np.array([Fraction(float(x)) for x in vector], dtype=object)


if __name__ == "__main__":
    main()
