"""How often `doubt_segments` gives DEPENDS, by shape, and how often no tried place changes the verdict.

    python benchmarks/doubts.py

2,000 segments of 2 m through or past one limb 40 cm long; 4,000 places of it, at the radius, are tried for each of the
first 300 segments that depend.
"""

import numpy as np

import cylcollide as cc

SEGMENTS, PLACES, TRIED = 2_000, 4_000, 300
ENDS = [0.0, 0.0, -0.2], [0.0, 0.0, 0.2]
LIMBS = {
    "cylinder": cc.Limbs.cylinders(*ENDS, 0.06),
    "tube": cc.Limbs.tubes(*ENDS, 0.06, 0.03),
    "tapered cylinder": cc.Limbs.tapered_cylinders(*ENDS, 0.06, 0.04),
    "ellipsoid": cc.Limbs.ellipsoids(*ENDS, 0.06),
    "capsule": cc.Limbs.capsules(*ENDS, 0.06),
    "sphere": cc.Limbs.spheres([0, 0, 0], 0.1),
    "box": cc.Limbs.boxes([0, 0, 0], [0, 0, 0, 1], [0.06, 0.08, 0.2]),
}


def directions(rng: np.random.Generator, n: int) -> np.ndarray:
    """Unit vectors (n, 3)."""
    v = rng.normal(size=(n, 3))
    return v / np.linalg.norm(v, axis=1, keepdims=True)


def main() -> None:
    rng = np.random.default_rng(1)
    around = directions(rng, PLACES)
    for name, limbs in LIMBS.items():
        world, along = cc.HitWorld(limbs), directions(rng, SEGMENTS)
        aim = rng.uniform([-0.12, -0.12, -0.26], [0.12, 0.12, 0.26], (SEGMENTS, 3))
        for radius in (0.01, 0.03):
            found = world.doubt_segments(aim - along, aim + along, radius)
            tried, same = np.flatnonzero(found.verdict == cc.Doubt.DEPENDS)[:TRIED], 0
            for i in tried:
                hit = world.cast_segments((aim - along)[i] - radius * around, (aim + along)[i] - radius * around).hit
                same += hit.all() or not hit.any()
            depends = np.mean(found.verdict == cc.Doubt.DEPENDS)
            print(f"{name}, {radius} m: {depends:.0%} depend; {same} of {len(tried)} without a place that changes it")


if __name__ == "__main__":
    main()
