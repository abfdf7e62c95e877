"""One bullet, one arm: every public field of a hit, and what "exact" means on a graze.

Run: python demos/one_ray.py
"""

import numpy as np

import cylcollide as cc


def main() -> None:
    # an upper arm and a forearm, metres
    arm = cc.Limbs.cylinders(
        p1=[[0.0, 0.0, 1.4], [0.0, 0.3, 1.3]],
        p2=[[0.0, 0.3, 1.3], [0.2, 0.5, 1.2]],
        radius=[0.05, 0.04],
        character=7,
        name=["upper arm", "forearm"],
    )
    world = cc.HitWorld(arm)

    hits = world.cast_segments(starts=[[-2.0, 0.1, 1.4]], ends=[[2.0, 0.1, 1.35]])
    hit = hits[0]
    print(f"hit the {arm.names[hit.limb]} of character {hit.character} on its {cc.Face(hit.face).name}")
    print(f"  at {hit.position.round(4)}, {hit.distance:.4f} m from the muzzle, normal {hit.normal.round(4)}")
    print(f"  out through the {cc.Face(hit.exit_face).name} after {1000 * hit.thickness:.1f} mm of arm")

    # graze the same solid: an axis along z, radius 1, the bullet along x at height y
    pillar = cc.Limbs.cylinders([[0, 0, -1]], [[0, 0, 1]], 1.0)
    heights = np.array([np.nextafter(1.0, 0.0), 1.0, np.nextafter(1.0, 2.0)])
    grazes = pillar.cast_segments([[-3.0, y, 0.0] for y in heights], [[3.0, y, 0.0] for y in heights])
    for y, touched, thickness in zip(heights.tolist(), grazes.hit, grazes.thickness, strict=True):
        print(f"graze at y = {y!r}: {'hit' if touched else 'miss'}, {1000 * thickness:.6f} mm deep")
    print(f"decided by exact arithmetic: {grazes.rechecked} of {len(grazes)}")


if __name__ == "__main__":
    main()
