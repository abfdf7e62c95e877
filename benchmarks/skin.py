"""What players feel of limbs in place of a skin: random rays at an animated body, by shapes and coverage.

    python benchmarks/skin.py --out benchmarks/skin.csv            # needs '.[peers]' for Embree

The body and its clip are those of `demos/data/`. At each of 50 poses, spread over the clip, 2,000 rays pass through
points drawn evenly from the skin's bounding box, 5 cm larger on each side, in directions drawn evenly from all. The
truth is Embree's verdict on the triangles of the posed skin; a sample of it is compared with Möller and Trumbore's test
of every triangle in float64. A row of the CSV counts, for limbs of the named shapes that cover a share of each bone's
skin, rays that hit limbs and not the skin (phantom) and rays that hit the skin and no limb (missed); "best" is, for
each bone, the smallest shape out of all. Limbs are of least volume, or of least surface.
"""

import argparse
import csv
import sys
from itertools import product
from pathlib import Path

import numpy as np
from embreex.mesh_construction import TriangleMesh
from embreex.rtcore_scene import EmbreeScene

import cylcollide as cc
from cylcollide import Shape
from cylcollide.characters.skin import Skin, skin_report

DATA = Path(__file__).parents[1] / "demos" / "data"
UNIT = 0.0254 / 0.45
"""Metres in a unit of the clip, as its source says."""

POSES, RAYS, MARGIN = 50, 2_000, 0.05
CHECKED = 200
COVERAGES = (0.8, 0.9, 0.95)
SETS = {shape.name.lower(): (shape,) for shape in (
    Shape.CYLINDER, Shape.TAPERED, Shape.CAPSULE, Shape.ELLIPSOID, Shape.SPHERE, Shape.BOX,
)}  # fmt: skip
SETS["cylinder or tapered or capsule"] = (Shape.CYLINDER, Shape.TAPERED, Shape.CAPSULE)
SETS["best"] = tuple(shapes[0] for shapes in SETS.values() if len(shapes) == 1)


def random_rays(vertices: np.ndarray, rng: np.random.Generator) -> tuple[np.ndarray, np.ndarray]:
    """Origins outside the box and unit directions, (n, 3) each."""
    low, high = vertices.min(axis=0) - MARGIN, vertices.max(axis=0) + MARGIN
    directions = rng.normal(size=(RAYS, 3))
    directions /= np.linalg.norm(directions, axis=1)[:, None]
    return rng.uniform(low, high, (RAYS, 3)) - np.linalg.norm(high - low) * directions, directions


def skin_hits(vertices: np.ndarray, faces: np.ndarray, origins: np.ndarray, directions: np.ndarray) -> np.ndarray:
    """Which rays hit the skin, by Embree."""
    scene = EmbreeScene()
    TriangleMesh(scene, vertices.astype(np.float32), faces)
    found = scene.run(origins.astype(np.float32), directions.astype(np.float32), output=True)
    return found["primID"] >= 0


def every_triangle(vertices: np.ndarray, faces: np.ndarray, origin: np.ndarray, direction: np.ndarray) -> bool:
    """Whether one ray hits the skin, as Möller and Trumbore have it."""
    a, b, c = (vertices[faces[:, k]] for k in range(3))
    p, t = np.cross(direction, c - a), origin - a
    with np.errstate(divide="ignore", invalid="ignore"):
        inverse = 1.0 / ((b - a) * p).sum(axis=1)
        q = np.cross(t, b - a)
        u, v = (t * p).sum(axis=1) * inverse, (q @ direction) * inverse
        return bool(((u >= 0) & (v >= 0) & (u + v <= 1) & ((q * (c - a)).sum(axis=1) * inverse >= 0)).any())


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--out", type=argparse.FileType("w"), default=sys.stdout)
    out = csv.writer(parser.parse_args().out, lineterminator="\n")
    arguments = dict(np.load(DATA / "body.npz"))
    skin, clip = Skin(**arguments), cc.Clip.load_bvh(DATA / "jump.bvh", scale=UNIT)
    poses = clip.at(np.linspace(0.0, clip.duration, POSES), skin)
    rng = np.random.default_rng(17)

    bones = cc.Rig(*skin.skeleton, cc.Limbs.spheres([[0, 0, 0]], 1.0), 0)
    positions, orientations = bones.forward(*poses)
    meshes = [skin.posed(*pose) for pose in zip(positions, orientations, strict=True)]
    rays = [random_rays(mesh, rng) for mesh in meshes]
    truth = [skin_hits(mesh, skin.faces, *ray) for mesh, ray in zip(meshes, rays, strict=True)]
    plain = [
        every_triangle(meshes[0], skin.faces, *ray) for ray in zip(*(part[:CHECKED] for part in rays[0]), strict=True)
    ]
    assert np.sum(plain != truth[0][:CHECKED]) <= 1, "Embree's float32 verdicts differ from every triangle's in float64"

    hits = int(np.sum(truth))
    out.writerow(
        ["shapes", "least", "coverage", "limbs", "rays", "skin_hits", "phantom", "missed", "phantom_pct", "missed_pct",
         "skin_covered_pct", "volume_ratio"]
    )  # fmt: skip
    for name, shapes in SETS.items():
        for least, coverage in product(("volume", "surface"), COVERAGES):
            rig = cc.Rig.from_skin(**arguments, shapes=shapes, coverage=coverage, least=least)
            phantom = missed = 0
            for k in range(POSES):
                found = cc.HitWorld(rig.place(positions[k], orientations[k])).cast_rays(*rays[k]).hit
                phantom += int(np.sum(found & ~truth[k]))
                missed += int(np.sum(~found & truth[k]))
            fit = skin_report(rig, skin).whole
            out.writerow(
                [name, least, coverage, len(rig.limbs), POSES * RAYS, hits, phantom, missed,
                 *(f"{100 * part:.2f}" for part in (phantom / hits, missed / hits, fit.coverage)),
                 f"{fit.volume_ratio:.2f}"]
            )  # fmt: skip
            print(
                name,
                least,
                coverage,
                f"{100 * phantom / hits:.2f} {100 * missed / hits:.2f}",
                file=sys.stderr,
                flush=True,
            )


if __name__ == "__main__":
    main()
