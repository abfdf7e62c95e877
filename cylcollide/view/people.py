"""People in recorded motion: characters of one rig that walk in circles, or move on the spot."""

from collections.abc import Iterator, Sequence
from pathlib import Path

import numpy as np

from cylcollide import quaternions
from cylcollide._types import Float64Array, Int32Array, Int64Array, Shape
from cylcollide.characters.clip import Clip
from cylcollide.characters.rig import Rig
from cylcollide.limbs.limbs import Limbs
from cylcollide.process.files import named_in_errors
from cylcollide.world.hit_world import HitWorld

MOTIONS = ("walk", "run", "dance_a", "walk", "punch", "walk", "spinkick", "dance_b")
"""Motions of PyBullet's humanoid, assigned in turn."""
APART = 2.6
"""Metres between people, and between the middles of their circles."""
STANDS = 0.4
"""Speed in metres per second below which a motion stays on the spot."""


def range_rig() -> Rig:
    """A standing person of cylinders, capsules and spheres: shapes that PyBullet has, too."""
    rig = Rig.humanoid()
    return Rig(
        rig.bone_names, rig.parents, rig.rest_positions, rig.rest_orientations,
        Limbs.concat([_plain(rig.limbs[i]) for i in range(len(rig.limbs))]), rig.limb_bone, rig.groups,
    )  # fmt: skip


def _plain(limb: Limbs) -> Limbs:
    """A cylinder for a tapered cylinder, and a capsule for an ellipsoid; other limbs unchanged."""
    kind, p1, p2, radius = limb.kind[0], limb.p1, limb.p2, limb.radius
    labels = {"name": limb.names, "hit_group": limb.hit_group}
    if kind == Shape.TAPERED:
        return Limbs.cylinders(p1, p2, 0.5 * (radius + limb.radius2), **labels)  # type: ignore[arg-type]
    if kind == Shape.ELLIPSOID:
        inset = radius[:, None] * (p2 - p1) / np.linalg.norm(p2 - p1, axis=1)[:, None]
        return Limbs.capsules(p1 + inset, p2 - inset, radius, **labels)  # type: ignore[arg-type]
    return limb


def clips_for(rig: Rig, files: Sequence[Path] = ()) -> list[Clip]:
    """Motions from files (BVH, glTF, DeepMimic), for this rig; without files PyBullet's, or one walk without PyBullet.

    OSError or ValueError for a file that is not a motion, or one of other bones.
    """
    clips = []
    for file in files:
        with named_in_errors(file):
            clips.append(_loaded(file).retargeted(rig))
    if clips:
        return clips
    try:
        from cylcollide._pybullet import data_folder  # noqa: PLC0415  belongs to an extra
    except ImportError:
        return [walk(rig)]
    folder = data_folder() / "data" / "motions"
    return [Clip.load_deepmimic(folder / f"humanoid3d_{name}.txt").retargeted(rig) for name in MOTIONS]


def _loaded(file: Path) -> Clip:
    suffix = file.suffix.lower()
    if suffix == ".txt":
        return Clip.load_deepmimic(file)
    return Clip.load_gltf(file) if suffix in (".glb", ".gltf", ".vrm", ".vrma") else Clip.load_bvh(file)


def walk(rig: Rig) -> Clip:
    """A motion of `Rig.humanoid` along x, 1.3 metres per second, with swinging arms and legs."""
    times = np.linspace(0.0, 1.2, 25)
    turns = np.tile(rig.rest_orientations, (len(times), 1, 1))
    for bone, sense in (("left_thigh", 0.4), ("right_thigh", -0.4), ("left_upper_arm", -0.3), ("right_upper_arm", 0.3)):
        angle = sense * np.sin(2.0 * np.pi * times / times[-1])
        turns[:, rig.bone_names.index(bone)] = quaternions.from_axis_angle([0.0, 1.0, 0.0], angle)
    roots = np.tile(rig.rest_positions[0], (len(times), 1))
    roots[:, 0] = 1.3 * times
    return Clip(rig.bone_names, rig.parents, rig.rest_positions, times, roots, turns)


class People:
    """Characters of a world, each with a motion, a place and a circle."""

    def __init__(self, world: HitWorld, rig: Rig, clips: Sequence[Clip], count: int, seed: int = 0) -> None:
        rng = np.random.default_rng(seed)
        self.ids = world.spawn(rig, count)
        self._world, self._rig = world, rig
        self._of_clip = [(clip, np.arange(k, count, len(clips))) for k, clip in enumerate(clips) if k < count]
        side = int(np.ceil(np.sqrt(count)))
        row, column = np.divmod(np.arange(count), side)
        self._middle = APART * (np.column_stack([row, column]) - 0.5 * (side - 1)) + rng.uniform(-0.4, 0.4, (count, 2))
        self._phase, self._begin = rng.uniform(0.0, 2.0 * np.pi, count), rng.uniform(0.0, 3.0, count)

    def pose(self, time: float) -> None:
        """Set the poses of all characters at a time, seconds."""
        for ids, positions, orientations in self.poses(time):
            self._world.set_poses(ids, positions, orientations)

    def poses(self, time: float) -> Iterator[tuple[Int32Array, Float64Array, Float64Array]]:
        """Characters of each motion, and the positions and orientations of their bones at a time, seconds."""
        for clip, rows in self._of_clip:
            roots, turns, joints = clip.at(time + self._begin[rows], self._rig, loop=True)
            heading, places = self._walked(clip, rows, time, roots)
            spin = quaternions.from_axis_angle([0.0, 0.0, 1.0], heading)
            yield self.ids[rows], *self._rig.forward(places, quaternions.multiply(spin, turns), joints)

    def _walked(
        self, clip: Clip, rows: Int64Array, time: float, roots: Float64Array
    ) -> tuple[Float64Array, Float64Array]:
        """Headings and places on circles, at the speed of the motion itself."""
        travel = clip.travel * [1.0, 1.0, 0.0]
        way = float(np.hypot(*travel[:2]))
        speed = way / clip.duration if clip.duration else 0.0
        radius = 0.42 * APART if speed > STANDS else 0.0
        share = np.mod(time + self._begin[rows], clip.duration) / clip.duration if clip.duration else 0.0 * rows
        local = roots - np.outer(share, travel) - clip.root_positions[0] * [1.0, 1.0, 0.0]
        angle = self._phase[rows] + (speed * time / radius if radius else 0.0)
        ahead = np.arctan2(travel[1], travel[0]) if radius else 0.0
        heading = angle + 0.5 * np.pi - ahead
        cos, sin = np.cos(heading), np.sin(heading)
        x = self._middle[rows, 0] + radius * np.cos(angle) + cos * local[:, 0] - sin * local[:, 1]
        y = self._middle[rows, 1] + radius * np.sin(angle) + sin * local[:, 0] + cos * local[:, 1]
        return heading, np.column_stack([x, y, local[:, 2]])
