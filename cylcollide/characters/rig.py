"""Rig: limbs fastened to bones. Poses of the bones place the limbs of characters."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from os import PathLike
from pathlib import Path
from types import MappingProxyType
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import ArrayLike

from cylcollide import validate
from cylcollide._types import Float64Array, Shape
from cylcollide.bones.forward import pose_bones
from cylcollide.bones.rig_rows import Bones, Parts, Placed, place_limbs
from cylcollide.characters import poses
from cylcollide.characters.rig_data import bone_offsets
from cylcollide.characters.rig_edits import EditableRig
from cylcollide.limbs.limbs import Limbs
from cylcollide.process.files import named_in_errors, write_text

if TYPE_CHECKING:
    from matplotlib.figure import Figure

    from cylcollide.characters.rig_parts import OtherShapes
    from cylcollide.characters.skin.gauges import Least
    from cylcollide.characters.skin.gltf import Names, Space
    from cylcollide.characters.skin.skin import Skin


class Rig(EditableRig):
    """Bones in a tree, and limbs fastened to them. Immutable.

    Parameters
    ----------
    bone_names
        Names of the b bones, all different.
    parents
        The parent of each bone, (b,), by index; -1 for a root. Parents precede their children.
    rest_positions, rest_orientations
        The bones at rest, (b, 3) and (b, 4), relative to their parents; of a root, to the
        character. Quaternions x, y, z, w of any length but 0.
    limbs
        The limbs, m of them, each in the frame of its bone.
    limb_bone
        The bone of each limb, (m,), by index; one integer stands for all.
    groups
        Numbers of hit groups by name, as in the `hit_group` of the limbs.

    Raises
    ------
    ValueError
        On wrong shapes and numbers that are not accepted, a parent that does not precede its child,
        a repeated name, a bone that does not exist. The message names the bone or limb.
    """

    def place(self, positions: ArrayLike, orientations: ArrayLike, *, character: ArrayLike | None = None) -> Limbs:
        """The limbs of k characters in the world, k·m rows, by character, in the order of the rig.

        Each limb end is within 0.51 ulp (of the largest coordinate of bone and limb end) of the
        real transform by the normalised quaternion (`docs/numerics.md`, "Poses").

        Parameters
        ----------
        positions, orientations
            The bones in the world: (k, b, 3) and (k, b, 4), or (b, 3) and (b, 4) for one character.
        character
            The number of each character, (k,), or one for all; None: that of the rig's limbs.

        Raises
        ------
        ValueError
            On wrong shapes, numbers that are not accepted, and poses so far from the origin that a
            limb leaves the range of accepted numbers or its axis vanishes. The message names
            character, bone and limb.
        """
        at, turn = poses.bone_poses(positions, orientations, len(self.bone_names))
        k, bones, m, solids = len(at), len(self.bone_names), len(self.limbs), len(self._rows.boxes)
        labels = None if character is None else validate.integers(character, "character", k, -1, 2**31 - 1)
        placed, order = Placed(np.empty((k * m, 3)), np.empty((k * m, 3)), np.empty((k * solids, 12))), np.arange(k)
        first = Parts(*((order * rows).astype(np.int32) for rows in (m, solids, bones)))
        bad = place_limbs(self._rows, bones, Bones(at.reshape(-1, 3), turn.reshape(-1, 4)), first, placed)
        if bad >= 0:
            poses.raise_misplaced(self, at, turn, bad)
        return poses.repeated(self.limbs, placed, labels, k)

    def forward(
        self,
        root_positions: ArrayLike,
        root_orientations: ArrayLike,
        joint_orientations: ArrayLike,
        *,
        joint_positions: ArrayLike | None = None,
    ) -> tuple[Float64Array, Float64Array]:
        """The bones of k characters from their joints: positions (k, b, 3), quaternions (k, b, 4).

        Parameters
        ----------
        root_positions
            Position of the first root in the world, (k, 3), or (3,) for all. Further roots keep
            their rest positions relative to it.
        root_orientations
            Orientation of each character, (k, 4), or (4,) for all.
        joint_orientations
            Orientation of each bone in the frame of its parent, instead of its rest orientation,
            (k, b, 4), or (b, 4) for all; `rest_orientations` gives the rest pose. A root's is
            applied before `root_orientations`.
        joint_positions
            Position of each bone in the frame of its parent, instead of its rest position,
            (k, b, 3), or (b, 3) for all: for joints that slide, or turn about another point than
            the bone's origin. Roots are treated as with `rest_positions`.

        Raises
        ------
        ValueError
            On wrong shapes, numbers that are not accepted, and bones beyond 2**500. The message
            names character and bone.
        """
        at, turn, joints, moved = poses.joint_poses(
            root_positions, root_orientations, joint_orientations, joint_positions, self.bone_names
        )
        offsets = self._rest_offsets if moved is None else bone_offsets(moved, self.parents)
        positions, orientations = np.empty((*joints.shape[:2], 3)), np.empty(joints.shape)
        bad = pose_bones(self.parents, at, turn, offsets, joints, positions, orientations)
        if bad >= 0:
            poses.raise_unposed(self, at, turn, joints, positions, bad)
        return positions, orientations

    @classmethod
    def humanoid(cls, height: float = 1.75, up: str = "z") -> Rig:
        """A person of 17 limbs, standing with hanging arms; identity quaternions are the rest pose.

        Bones and limbs have the same names: pelvis (the root, at the height of the hips), abdomen,
        chest, neck, head; with prefixes `left_` and `right_`: upper_arm, forearm, hand, thigh,
        shank, foot. Hit groups: head 1, torso 2 (with the neck), arm 3 (with the hand), leg 4 (with
        the foot).

        `height` is from sole to crown, in any unit, 2**-400 to 2**400. `up`: with "z", z points up,
        x forward, y to the left; with "y", y up, z forward, x to the left. The origin of the
        character lies between the soles.
        """
        from cylcollide.characters import humanoid  # noqa: PLC0415  imported on first use

        return cls(*humanoid.rig_arguments(height, up))

    @classmethod
    def from_urdf(cls, path: str | PathLike[str], mesh: OtherShapes = "raise") -> Rig:
        """The robot of a URDF file: one bone per link, in its frame, and one limb per collision shape.

        Cylinders, spheres, boxes and PyBullet's capsules become limbs, named after the collision,
        otherwise after the link. `mesh` is for other shapes: "raise" a ValueError, or "skip" them.
        The origin of a joint is the rest transform of its child; a joint that slides by q along its
        axis moves it to `rest_positions` + R(`rest_orientations`) axis q: pass this to `forward` as
        `joint_positions`. OSError if the file cannot be opened. ValueError if it is not URDF,
        joints form no tree, or shapes are not limbs; the message names them.
        """
        from cylcollide.characters import urdf  # noqa: PLC0415  imported on first use

        with named_in_errors(path):
            return cls(*urdf.rig_arguments(path, mesh))

    @classmethod
    def from_mjcf(cls, path: str | PathLike[str], mesh: OtherShapes = "raise") -> Rig:
        """The model of an MJCF file, as MuJoCo compiles it: one bone per body, one limb per geom.

        `mesh` as in `from_urdf`. Spheres, capsules, cylinders, boxes and ellipsoids of revolution
        become limbs, named after the geom, otherwise after the body. Geoms of the world (a floor)
        are left out, as are those that collide with nothing (`contype` and `conaffinity` 0), unless
        a `<pair>` names them. Joints that slide, or turn about another point than the body's
        origin, move the body in the frame of its parent: pass its positions there to `forward` as
        `joint_positions`. ImportError without mujoco: install the extra `rigs`. ValueError if
        MuJoCo does not compile the file, the model has no bodies, or shapes are not limbs; the
        message names the body.
        """
        from cylcollide.characters import mjcf  # noqa: PLC0415  imported on first use

        with named_in_errors(path):
            return cls(*mjcf.rig_arguments(path, mesh))

    @classmethod
    def from_skin(
        cls,
        vertices: ArrayLike,
        faces: ArrayLike,
        weights: ArrayLike,
        bone_names: Sequence[str],
        parents: ArrayLike,
        rest_positions: ArrayLike,
        rest_orientations: ArrayLike,
        *,
        shapes: Iterable[Shape] = (Shape.CYLINDER, Shape.TAPERED, Shape.CAPSULE),
        coverage: float = 0.95,
        least_share: float = 0.005,
        least: Least = "volume",
        groups: Mapping[str, int] = MappingProxyType({}),
        bone_groups: Mapping[str, str] = MappingProxyType({}),
    ) -> Rig:
        """Limbs fitted to a skin: for each bone the smallest limb of the given shapes that covers it.

        A piece of skin belongs to the bone with the largest weight, so limbs end at the joints.
        Bones that mirror each other in name, place and skin get mirrored limbs, fitted to both
        parts at once. The skin is the rig's `skin`; `characters.skin.skin_report(rig)` measures how
        well the limbs fit it; docs/characters.md compares the shapes.

        Parameters
        ----------
        vertices, faces, weights
            The skin at rest: (v, 3); triangles (f, 3), counterclockwise seen from outside; the
            weight of each bone at each vertex, (v, b).
        bone_names, parents, rest_positions, rest_orientations
            The bones, as in the constructor.
        shapes
            Any of `Shape.CYLINDER`, `TAPERED`, `CAPSULE`, `ELLIPSOID`, `SPHERE`, `BOX`; among
            volumes that differ by less than 2 %, the shape that is given first.
        coverage
            Share of the area of a bone's skin that its limb covers; above 0, at most 1.
        least_share
            A bone with a smaller share of the skin gets no limb, and its skin goes to its parent.
        least
            The size to minimise: "volume", or "surface", which minimises hits of random rays.
        groups, bone_groups
            Numbers of hit groups by name, and the name of the group of a bone's limb; 0 for others.

        Raises
        ------
        ValueError
            On wrong shapes and numbers, vertices without weight, unknown bones and groups.
        """
        from cylcollide.characters.skin import fit  # noqa: PLC0415  imported on first use
        from cylcollide.characters.skin.skin import Skin  # noqa: PLC0415

        skin = Skin(vertices, faces, weights, bone_names, parents, rest_positions, rest_orientations)
        limbs = fit.fit(skin, shapes, coverage, least_share, least, groups, bone_groups)
        rig = cls(*skin._bone_columns, *limbs, groups)
        vars(rig).update(skin=skin)
        return rig

    @classmethod
    def from_gltf(
        cls, path: str | PathLike[str], *, meshes: str | Sequence[str] | None = None,
        without: str | Sequence[str] = (), names: Names = "file", space: Space = "auto",
        shapes: Iterable[Shape] = (Shape.CYLINDER, Shape.TAPERED, Shape.CAPSULE), coverage: float = 0.95,
        least_share: float = 0.005, least: Least = "volume",
        groups: Mapping[str, int] = MappingProxyType({}), bone_groups: Mapping[str, str] = MappingProxyType({}),
    ) -> Rig:  # fmt: skip
        """Limbs fitted to the skin of a glTF 2.0 file, as in `from_skin`.

        `meshes`, `without`, `names` and `space` are those of `characters.skin.Skin.from_gltf`: the
        meshes to read, the names of bones, and whether limbs are in the units of the scene. The
        others are those of `from_skin`. The skin is the rig's `skin`.

        Raises
        ------
        ImportError
            Without pygltflib: install the extra `gltf`.
        OSError
            If the file, or one that it names, cannot be opened.
        ValueError
            If the file has no skin, or one that cannot be read; and as `from_skin`.
        """
        from cylcollide.characters.skin.skin import Skin  # noqa: PLC0415  imported on first use

        skin = Skin.from_gltf(path, meshes=meshes, without=without, names=names, space=space)
        return cls.from_skin(
            skin.vertices, skin.faces, skin.weights, *skin._bone_columns, shapes=shapes, coverage=coverage,
            least_share=least_share, least=least, groups=groups, bone_groups=bone_groups,
        )  # fmt: skip

    def save(self, path: str | PathLike[str]) -> None:
        """Write a JSON file by `characters/rig.schema.json`; numbers keep their bits.

        The file is replaced in one step once everything is written: a failure leaves the old file.
        """
        from cylcollide.characters import rig_files  # noqa: PLC0415  imported on first use

        write_text(Path(path), rig_files.text_of(self, indent=1))

    @classmethod
    def load(cls, path: str | PathLike[str]) -> Rig:
        """Read a file that `save` wrote, or another that follows `characters/rig.schema.json`.

        OSError if the file cannot be opened. ValueError if it is not such a file, or holds a rig
        that the constructor rejects; the message names field and row.
        """
        from cylcollide.characters import json_text, rig_files  # noqa: PLC0415  imported on first use

        with named_in_errors(path, json_text.SEE.format("rig.schema.json")):
            return cls(*rig_files.read(Path(path).read_bytes()))

    def plot(
        self, path: str | PathLike[str] | None = None, *, skin: Skin | bool | None = None, unit: str = "m"
    ) -> Figure:
        """A figure of the rig at rest, from front and side; written to a file if a path is given.

        `skin`, a `Skin` or True for the rig's own, is drawn behind the limbs; ValueError if there
        is none. `unit` labels the axes. ImportError without matplotlib: install the extra `plot`.
        """
        from cylcollide.limbs.pictures import rig_figure  # noqa: PLC0415  imported on first use

        drawn: Any = self.skin if skin is True else None if skin is False else skin
        if (drawn is None and skin is True) or not (drawn is None or hasattr(drawn, "faces")):
            raise ValueError(
                f"skin: expected a Skin, got {validate.shown(drawn)}; rigs of from_skin and from_gltf have one"
            )
        positions, turns = self.forward(self.rest_positions[0], [0.0, 0.0, 0.0, 1.0], self.rest_orientations)
        limbs, mesh = self.place(positions, turns), None if drawn is None else (drawn.vertices, drawn.faces)
        return rig_figure(limbs, self.groups, positions[0], self.parents, mesh, repr(self), path, unit)
