"""Rig: limbs fastened to bones. Poses of its bones make the limbs of characters."""

from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from os import PathLike
from types import MappingProxyType
from typing import TYPE_CHECKING, Any, Literal, NoReturn

import numpy as np
from numpy.typing import ArrayLike

from cylcollide import validate
from cylcollide._types import Float64Array, Int32Array, Shape
from cylcollide.characters import humanoid, poses, rig_checks, rig_drawing, rig_files
from cylcollide.characters.skin import fit
from cylcollide.characters.skin.skin import Skin
from cylcollide.kernels.limb_table import make_table
from cylcollide.kernels.rig_rows import BoneRows, RigRows, place_limbs, pose_bones
from cylcollide.limbs.limbs import Limbs

if TYPE_CHECKING:
    from matplotlib.figure import Figure


class Rig:
    """Bones in a tree, and limbs fastened to them. Immutable.

    Parameters
    ----------
    bone_names
        One string a bone, b of them, all different.
    parents
        The parent of each bone, (b,), by index; -1 for a root. Parents precede their children.
    rest_positions, rest_orientations
        The bones at rest, (b, 3) and (b, 4), relative to their parents; of a root, to the character. Quaternions
        x, y, z, w of any length but 0.
    limbs
        The limbs, m of them, each in the frame of its bone.
    limb_bone
        The bone of each limb, (m,), by index; one integer stands for all.
    groups
        Names of hit groups, each with its number, as in the `hit_group` of the limbs.

    Raises
    ------
    ValueError
        On wrong shapes and numbers that are not accepted, a parent that does not precede its child, a name that comes
        twice, a bone that does not exist; it names the bone or limb.
    """

    __hash__ = None  # type: ignore[assignment]  # arrays inside

    bone_names: tuple[str, ...]
    parents: Int32Array
    rest_positions: Float64Array
    rest_orientations: Float64Array
    limbs: Limbs
    """The limbs in the frames of their bones."""
    limb_bone: Int32Array
    groups: Mapping[str, int]
    """Numbers of hit groups by name, read-only."""
    rows: RigRows
    """The limbs as loops read them."""
    _skeleton: BoneRows

    def __init__(
        self,
        bone_names: Sequence[str],
        parents: ArrayLike,
        rest_positions: ArrayLike,
        rest_orientations: ArrayLike,
        limbs: Limbs,
        limb_bone: ArrayLike,
        groups: Mapping[str, int] = MappingProxyType({}),
    ) -> None:
        names = rig_checks.bone_names(bone_names)
        parent_rows = rig_checks.parents(parents, names)
        positions = rig_checks.bone_vectors(rest_positions, "rest_positions", names)
        orientations = rig_checks.bone_quaternions(rest_orientations, "rest_orientations", names)
        bone = rig_checks.limb_bones(limb_bone, limbs, names)
        table = limbs.table
        offsets = np.where((parent_rows < 0)[:, None], positions - positions[0], positions)
        for column in (parent_rows, positions, orientations, bone, offsets):
            column.flags.writeable = False
        vars(self).update(
            bone_names=names, parents=parent_rows, rest_positions=positions, rest_orientations=orientations,
            limbs=limbs, limb_bone=bone, groups=MappingProxyType(rig_checks.groups(groups)),
            rows=RigRows(bone, table.p1, table.p2, table.box, table.boxes), _skeleton=BoneRows(parent_rows, offsets),
        )  # fmt: skip

    def __setattr__(self, name: str, value: object) -> NoReturn:
        """Rigs never change: AttributeError."""
        raise AttributeError(f"{name}: a Rig is immutable; make another with Rig(...)")

    def __delattr__(self, name: str) -> NoReturn:
        """Rigs never change: AttributeError."""
        raise AttributeError(f"{name}: a Rig is immutable; make another with Rig(...)")

    def __reduce__(self) -> tuple[type["Rig"], tuple[Any, ...]]:
        """Copies and pickles are made by the constructor, which makes their arrays read-only again."""
        return Rig, self._given()

    def _given(self) -> tuple[Any, ...]:
        """The arguments of the constructor."""
        skeleton = (self.bone_names, self.parents, self.rest_positions, self.rest_orientations)
        return (*skeleton, self.limbs, self.limb_bone, dict(self.groups))

    def __eq__(self, other: object) -> bool:
        """Whether all columns, limbs and names are equal; the order of the groups does not count."""
        if not isinstance(other, Rig):
            return NotImplemented
        pairs = zip(self._given(), other._given(), strict=True)
        return all(np.array_equal(a, b) if isinstance(a, np.ndarray) else a == b for a, b in pairs)

    @property
    def limb_names(self) -> tuple[str, ...]:
        """The names of the limbs."""
        return self.limbs.names

    def __repr__(self) -> str:
        kinds = Counter(Shape(kind).name.lower() for kind in self.limbs.kind.tolist())
        limbs = ", ".join(f"{count} {name}" for name, count in kinds.items()) or "none"
        groups = ", ".join(f"{name} {number}" for name, number in self.groups.items()) or "none"
        roots = ", ".join(self.bone_names[i] for i in np.flatnonzero(self.parents < 0).tolist())
        return f"Rig({len(self.bone_names)} bones from {roots}; {len(self.limbs)} limbs: {limbs}; groups: {groups})"

    def place(self, positions: ArrayLike, orientations: ArrayLike, character: ArrayLike | None = None) -> Limbs:
        """The limbs of k characters in the world, k·m rows, character by character, in the order of the rig.

        Each limb end is within 0.51 ulp of its real place, by the largest coordinate among bone and limb end.

        Parameters
        ----------
        positions, orientations
            The bones in the world: (k, b, 3) and (k, b, 4), or (b, 3) and (b, 4) for one character; quaternions
            x, y, z, w of any length but 0.
        character
            The number of each character, (k,), or one for all; None: as the limbs of the rig have it.

        Raises
        ------
        ValueError
            On wrong shapes, numbers that are not accepted, and poses so far out that a limb leaves the range of
            accepted numbers or loses its axis; it names character, bone and limb.
        """
        at, turn = poses.bone_poses(positions, orientations, len(self.bone_names))
        k, m, table = len(at), len(self.limbs), self.limbs.table
        labels = np.tile(table.character, k)
        if character is not None:
            numbers = validate.integers(character, "character", k, -1, 2**31 - 1)
            labels = np.repeat(numbers.astype(np.int32), m)
        p1, p2, boxes = np.empty((k * m, 3)), np.empty((k * m, 3)), np.empty((k * len(table.boxes), 12))
        bad = place_limbs(self.rows, at, turn, p1, p2, boxes)
        if bad >= 0:
            poses.raise_misplaced(self.bone_names, self.limb_names, self.rows, at, turn, bad)
        first_box = np.repeat(np.arange(k, dtype=np.int32) * np.int32(len(table.boxes)), m)
        box = np.where(np.tile(table.box, k) >= 0, np.tile(table.box, k) + first_box, np.int32(-1))
        placed = make_table(
            np.tile(table.kind, k), p1, p2, np.tile(table.radius, k), np.tile(table.radius2, k), box, boxes, labels,
            np.tile(table.mask, k),
        )  # fmt: skip
        return Limbs(placed, np.tile(self.limbs.hit_group, k), self.limb_names * k)

    def forward(
        self, root_positions: ArrayLike, root_orientations: ArrayLike, joint_orientations: ArrayLike
    ) -> tuple[Float64Array, Float64Array]:
        """The bones of k characters in the world, from their joints: positions (k, b, 3), unit quaternions (k, b, 4).

        Parameters
        ----------
        root_positions
            Where the first root is in the world, (k, 3), or (3,) for all. Further roots stand beside it as at rest.
        root_orientations
            How each character is turned, (k, 4), or (4,) for all.
        joint_orientations
            How each bone is turned in the frame of its parent, in place of its rest orientation, (k, b, 4), or (b, 4)
            for all: `rest_orientations` is the pose of rest. A root's is applied before `root_orientations`.

        Raises
        ------
        ValueError
            On wrong shapes, numbers that are not accepted, and bones beyond 2**500; it names character and bone.
        """
        at, turn, joints = poses.joint_poses(
            root_positions, root_orientations, joint_orientations, len(self.bone_names)
        )
        positions, orientations = np.empty((*joints.shape[:2], 3)), np.empty(joints.shape)
        bad = pose_bones(self._skeleton, at, turn, joints, positions, orientations)
        if bad >= 0:
            poses.raise_unposed(self.bone_names, at, turn, joints, positions, bad)
        return positions, orientations

    @classmethod
    def humanoid(cls, height: float = 1.75, up: str = "z") -> "Rig":
        """A person of 17 limbs, standing with hanging arms; identity quaternions are the pose of rest.

        Bones carry the names of their limbs: pelvis (the root, at the height of the hips), abdomen, chest, neck, head;
        and left and right, upper_arm, forearm, hand, thigh, shank, foot. Hit groups: head 1, torso 2 (with the neck),
        arm 3 (with the hand), leg 4 (with the foot).

        Parameters
        ----------
        height
            From sole to crown, in any unit, 2**-400 to 2**400.
        up
            "z": z points up, x forward, y to the left. "y": y points up, z forward, x to the left. The origin of the
            character lies between the soles.
        """
        return cls(*humanoid.rig_arguments(height, up))

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
        shapes: Iterable[Shape] = fit.AXIAL,
        coverage: float = 0.95,
        least_share: float = 0.005,
        least: Literal["volume", "surface"] = "volume",
        groups: Mapping[str, int] = MappingProxyType({}),
        bone_groups: Mapping[str, str] = MappingProxyType({}),
    ) -> "Rig":
        """Limbs fitted to a skin: for each bone, of the allowed shapes, the one of least size that covers its part.

        A piece of skin belongs to the bone that carries most of it, so limbs end at the joints. Bones that mirror each
        other by name, place and skin get limbs that do so, fitted to both parts at once. `characters.skin.skin_report`
        says how well all of it fits; docs/characters.md, which shapes do best.

        Parameters
        ----------
        vertices, faces, weights
            The skin at rest: (v, 3); triangles (f, 3), counterclockwise seen from outside; what each bone carries of
            each vertex, (v, b).
        bone_names, parents, rest_positions, rest_orientations
            The bones, as the constructor takes them.
        shapes
            Any of `Shape.CYLINDER`, `TAPERED`, `CAPSULE`, `ELLIPSOID`, `SPHERE`, `BOX`; of sizes that differ by less
            than 2 % in volume the one that is named first.
        coverage
            Share of a part that its limb covers, by area times weight of the bone; above 0, at most 1.
        least_share
            A bone with a smaller share of the skin gets no limb, and its skin goes to its parent.
        least
            What of a limb is least: its volume, or its surface, to which the rays that hit it are proportional.
        groups, bone_groups
            Numbers of hit groups by name, and the name of a bone's group, in which its limb will be; 0 for others.

        Raises
        ------
        ValueError
            On wrong shapes and numbers that are not accepted, vertices without weight, unknown bones and groups.
        """
        skin = Skin(vertices, faces, weights, bone_names, parents, rest_positions, rest_orientations)
        fitted = fit.fit(skin, shapes, coverage, least_share, least, fit.group_numbers(skin, groups, bone_groups))
        return cls(*skin.skeleton, fitted.limbs, fitted.limb_bone, groups)

    @classmethod
    def from_gltf(cls, path: str | PathLike[str], **options: Any) -> "Rig":
        """Limbs fitted to the skin of a glTF 2.0 file, as `from_skin` does it with these options.

        Raises
        ------
        ImportError
            If pygltflib is not installed, which the extra `gltf` brings.
        OSError
            If the file, or one that it names, cannot be opened.
        ValueError
            If it has no skin, or one that cannot be read; and as `from_skin`.
        """
        skin = Skin.from_gltf(path)
        return cls.from_skin(skin.vertices, skin.faces, skin.weights, *skin.skeleton, **options)

    def save(self, path: str | PathLike[str]) -> None:
        """Write the rig to a JSON file, as `characters/rig.schema.json` describes it; all numbers keep their bits.

        The file is replaced in one step, when all is written: a failure leaves the old one.
        """
        rig_files.write(path, *self._given())

    @classmethod
    def load(cls, path: str | PathLike[str]) -> "Rig":
        """Read the rig of a file that `save` wrote, or of another that follows `characters/rig.schema.json`.

        Raises
        ------
        OSError
            If the file cannot be opened.
        ValueError
            If it is not such a file, or holds a rig that the constructor refuses; with field and row.
        """
        arguments = rig_files.read(path)
        try:
            return cls(*arguments)
        except ValueError as error:
            raise ValueError(f"{path}: {error}") from None

    def plot(self, path: str | PathLike[str] | None = None) -> "Figure":
        """A figure of the rig at rest, from the front and from the side; written to a file if a path is given.

        Raises
        ------
        ImportError
            If matplotlib is not installed, which the extra `plot` brings.
        """
        rest = self.forward(self.rest_positions[0], [0.0, 0.0, 0.0, 1.0], self.rest_orientations)
        return rig_drawing.draw(self.place(*rest), rest[0][0], self.parents, self.groups, repr(self), path)
