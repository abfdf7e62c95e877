"""From a skinned body to a rig: limbs fitted to the skin, how well they fit, and a picture at rest and in a jump.

Run: python demos/skin.py skin.png   (needs matplotlib: pip install '.[plot]')
The body is MakeHuman's (CC0), the motion Carnegie Mellon's: demos/data/ORIGIN.txt.
"""

import sys
from pathlib import Path

import numpy as np
from matplotlib.collections import PolyCollection
from matplotlib.figure import Figure

import cylcollide as cc
from cylcollide.characters.skin import Skin, skin_report
from cylcollide.limbs.outlines import COLORS, hull, surface_points

DATA = Path(__file__).with_name("data")
UNIT = 0.0254 / 0.45  # metres in a unit of the clip, as its source says
PARTS = {"Head": "head", "Neck": "head", "Leg": "leg", "Foot": "leg", "Toe": "leg"} | dict.fromkeys(
    ("Arm", "Hand", "Finger"), "arm"
)
GROUPS = {"head": 1, "torso": 2, "arm": 3, "leg": 4}
LIGHT = np.array([0.4, 0.5, 0.75])


def body() -> tuple[cc.Rig, Skin]:
    given = dict(np.load(DATA / "body.npz"))
    names = given["bone_names"].tolist()
    groups = {name: next((group for part, group in PARTS.items() if part in name), "torso") for name in names}
    return cc.Rig.from_skin(**given, coverage=0.9, least="surface", groups=GROUPS, bone_groups=groups), Skin(**given)


def draw(axes, vertices: np.ndarray, faces: np.ndarray, limbs: cc.Limbs, right: np.ndarray) -> None:
    """The skin, shaded and translucent, and the outlines of the limbs over it; `right` points right, y up."""
    view = np.stack([right, [0, 1, 0], np.cross(right, [0, 1, 0])])
    corners = (vertices @ view.T)[faces]
    normals = np.cross(corners[:, 1] - corners[:, 0], corners[:, 2] - corners[:, 0])
    normals /= np.linalg.norm(normals, axis=1, keepdims=True) + 1e-30
    seen = [k for k in np.argsort(corners[:, :, 2].mean(axis=1)) if normals[k, 2] > 0]
    shade = 0.35 + 0.6 * np.clip(normals[seen] @ LIGHT, 0, 1)[:, None] * np.ones(3)
    axes.add_collection(PolyCollection(corners[seen, :, :2], facecolors=shade, edgecolors=shade, linewidths=0.2))
    outlines = [surface_points(limbs, limb) @ view.T for limb in range(len(limbs))]
    for limb in np.argsort([points[:, 2].mean() for points in outlines]):
        x, y = hull(outlines[limb][:, :2]).T
        color = COLORS[int(limbs.hit_group[limb])]
        axes.fill(x, y, facecolor=f"{color}73", edgecolor=color, linewidth=1.0)
    axes.set_axis_off()
    axes.set(aspect="equal", ylim=vertices[:, 1].min() + np.array([-0.05, 1.75]))


def main() -> None:
    rig, skin = body()
    print(rig, skin_report(rig, skin), sep="\n")
    clip = cc.Clip.load_bvh(DATA / "jump.bvh", scale=UNIT)
    times = np.linspace(0, clip.duration, 400)
    poses = clip.at(times, rig)
    jump = int(rig.forward(*poses)[0][:, :, 1].min(axis=1).argmax())  # the pose whose lowest bone is highest
    rest = (rig.rest_positions[0], [0, 0, 0, 1], rig.rest_orientations)
    shown = {
        "at rest, from the front": (rest, [1, 0, 0]),
        "at rest, from the side": (rest, [0, 0, 1]),
        f"in a jump, {times[jump]:.1f} s into the clip": (tuple(part[[jump]] for part in poses), [0, 0, -1]),
    }
    figure = Figure(figsize=(13, 7), layout="constrained")
    for axes, (title, (pose, right)) in zip(figure.subplots(1, 3, sharey=False), shown.items(), strict=True):
        positions, orientations = rig.forward(*pose)
        limbs = rig.place(positions, orientations)
        draw(axes, skin.posed(positions[0], orientations[0]), skin.faces, limbs, np.array(right, dtype=float))
        axes.set_title(title, fontsize=10)
    kinds = repr(rig.limbs).removeprefix(f"Limbs({len(rig.limbs)}: ").removesuffix(")")
    figure.suptitle(f"Limbs fitted to a skin of {len(skin.faces):,} triangles: {kinds}", fontsize=12)
    for path in filter(lambda word: word.endswith((".png", ".svg")), sys.argv[1:]):
        figure.savefig(path, dpi=110)


if __name__ == "__main__":
    main()
