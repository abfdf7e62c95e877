"""A recorded motion: root positions and joint orientations over time, from BVH and DeepMimic files."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from functools import cached_property
from os import PathLike
from typing import Any, Literal
from weakref import ref

import numpy as np
from numpy.typing import ArrayLike

from cylcollide import shapes, validate
from cylcollide._types import Float64Array, Int32Array, Int64Array
from cylcollide.bones.frames import Followers, pose_frames
from cylcollide.characters import bvh_file, deepmimic, followers, quaternions
from cylcollide.characters.skeleton import Immutable, Skeleton, checked_names
from cylcollide.constants import LARGEST_NUMBER
from cylcollide.process import files

Up = Literal["y", "z"]

Pose = tuple[Float64Array, Float64Array, Float64Array]

RIGS = 8
"""The number of rigs for which a clip caches the bones that follow it."""


class Clip(Immutable):
    """A recorded motion of a skeleton.

    Immutable; make it with `Clip.load_bvh`, `load_gltf` or `load_deepmimic`. Attributes (b bones, f
    frames): `bone_names`, a tuple of b strings, the root first; `parents` (b,), -1 for the root;
    `offsets` (b, 3), the start of each bone in the frame of its parent; `tips` (b, 3), its end in
    its own frame, zero if the file has none; `times` (f,), seconds from the first frame;
    `root_positions` (f, 3); `orientations` (f, b, 4), unit quaternions x, y, z, w relative to the
    parent, the root's to the world; `rest_orientations` (b, 4), those of the rest pose, 0, 0, 0, 1
    in BVH. A rig of this skeleton has the offsets as rest positions, and these rest orientations.
    """

    bone_names: tuple[str, ...]
    parents: Int32Array
    offsets: Float64Array
    tips: Float64Array
    times: Float64Array
    root_positions: Float64Array
    orientations: Float64Array
    rest_orientations: Float64Array

    _scaled = ("orientations", "rest_orientations")
    _known: tuple[tuple[ref[Skeleton], Followers], ...]

    def __init__(
        self,
        bone_names: Sequence[str],
        parents: ArrayLike,
        offsets: ArrayLike,
        times: ArrayLike,
        root_positions: ArrayLike,
        orientations: ArrayLike,
        tips: ArrayLike | None = None,
        rest_orientations: ArrayLike | None = None,
    ) -> None:
        """Check the attributes of these names; quaternions of any length but 0.

        ValueError if shapes do not match, a parent does not precede its child, the first bone is
        not the only root, a name is repeated, times do not increase from 0, or numbers are not
        accepted.
        """
        names = checked_names(bone_names)
        b, frames = len(names), validate.vectors(root_positions, "root_positions")
        rows = validate.integers(parents, "parents", b, -1, b - 1, one=False)
        row = validate.first_bad_row((rows >= np.arange(b)) | ((rows < 0) != (np.arange(b) == 0)))
        if row is not None:
            raise ValueError(
                f"parents: expected -1 for the first bone only and an earlier row for others, got {rows[row]} in row "
                f"{row}, {names[row]}; sort the bones from the root outwards"
            )
        seconds = validate.per_row(times, "times", len(frames))
        if not len(seconds) or seconds[0] != 0.0 or not (np.diff(seconds) > 0.0).all():
            raise ValueError("times: expected seconds from the first frame, 0 first and increasing; sort the frames")
        turns = validate.as_numbers(orientations, "orientations", f"({len(frames)}, {b}, 4)")
        if turns.shape != (len(frames), b, 4):
            raise ValueError(f"orientations: expected shape ({len(frames)}, {b}, 4), got {turns.shape}")
        turns = shapes.quaternions(turns.reshape(-1, 4), "orientations", len(frames) * b)
        turns = quaternions.normalised(turns)
        rest = np.tile(quaternions.IDENTITY, (b, 1)) if rest_orientations is None else rest_orientations
        self._set_columns(
            parents=rows.astype(np.int32),
            offsets=validate.vectors(offsets, "offsets", b),
            tips=np.zeros((b, 3)) if tips is None else validate.vectors(tips, "tips", b),
            rest_orientations=quaternions.normalised(shapes.quaternions(rest, "rest_orientations", b)),
            times=seconds,
            root_positions=frames,
            orientations=turns.reshape(len(frames), b, 4),
        )
        vars(self).update(bone_names=names, _known=())

    @property
    def _arguments(self) -> tuple[Any, ...]:
        """The arguments of the constructor, checked."""
        skeleton = (self.bone_names, self.parents, self.offsets)
        return (*skeleton, self.times, self.root_positions, self.orientations, self.tips, self.rest_orientations)

    @classmethod
    def load_bvh(cls, path: str | PathLike[str], *, up: Up = "y", scale: float = 1.0) -> Clip:
        """Read a BVH file.

        Parameters
        ----------
        path
            The file.
        up
            "y" keeps the axes of the file, in which y usually points up. "z" turns everything, also
            the bones' frames, so that y becomes z and z becomes -y.
        scale
            Factor from units of the file to units of the result: 0.01 from centimetres to metres.

        Raises
        ------
        OSError
            If the file cannot be opened.
        ValueError
            If it is not BVH; the message has the line, the expected text and the remedy. Also for
            another `up`, or a bad `scale`.
        """
        validate.one_of(up, "up", "y", "z")
        factor = validate.one_number(scale)
        if not 0.0 < factor <= LARGEST_NUMBER:
            raise ValueError(f"scale: expected a number > 0 and at most 2**500, got {validate.shown(scale)}")
        names, parents, offsets, times, positions, turns, tips = bvh_file.read(path)
        if up == "z":
            turns = turns[..., [0, 2, 1, 3]] * np.array([1.0, -1.0, 1.0, 1.0])
            offsets, positions, tips = (
                v[:, [0, 2, 1]] * np.array([1.0, -1.0, 1.0]) for v in (offsets, positions, tips)
            )
        with files.named_in_errors(path):
            return cls(names, parents, factor * offsets, times, factor * positions, turns, factor * tips)

    @classmethod
    def load_deepmimic(cls, path: str | PathLike[str]) -> Clip:
        """Read a DeepMimic motion of the humanoid, ``humanoid3d_*.txt``; metres, y up, facing x.

        OSError if the file cannot be opened. ValueError if it is not a motion of this body; the
        message has the first bad frame and the remedy.
        """
        with files.named_in_errors(path):
            read = deepmimic.read(path)
            skeleton = (deepmimic.BONE_NAMES, deepmimic.PARENTS, deepmimic.OFFSETS)
            return cls(*skeleton, read.times, read.frames[:, 1:4], deepmimic.orientations(read))

    @classmethod
    def load_gltf(cls, path: str | PathLike[str], animation: str | int | None = None) -> Clip:
        """Read an animation of a glTF 2.0 file; metres, y up. Its bones match the rig of that file.

        Bones are the joints of its skins, or, without skins, the nodes that move. Frames are at all
        keys, and at more times where a joint turns far between two keys; along a spline 60 per
        second, at most 100 between two keys. Only the root may translate: a warning names the first
        12 other joints that do. Scales and morph targets are ignored.

        Parameters
        ----------
        path
            The file.
        animation
            Name or row of the animation; None for the only one.

        Raises
        ------
        ImportError
            Without pygltflib: install the extra `gltf`.
        OSError
            If the file, or one that it names, cannot be opened.
        ValueError
            If it is not glTF, requires an extension that cannot be read, has no such animation, or
            has a bone that is mirrored, sheared or scaled non-uniformly.
        """
        from cylcollide.characters import gltf_motion  # noqa: PLC0415  # needs an extra

        with files.named_in_errors(path):
            return cls(**gltf_motion.read(path, animation))

    def retargeted(self, rig: Skeleton, bones: Mapping[str, str] | None = None) -> Clip:
        """The motion for a skeleton of other proportions, names and rest, with the bones of the rig.

        In the world, each bone rotates from its rest like its counterpart in the clip. Arms and
        legs with other directions at rest (T pose, A pose) are first turned to the clip's. The path
        of the root is scaled by the length of the legs. Nothing else is adapted: feet may slide or
        sink into the ground, hands that touch in the clip may not, twist about a limb's axis starts
        from the rig's rest, and bones without a counterpart, such as fingers, keep their rest.

        Parameters
        ----------
        rig
            The skeleton to move.
        bones
            Names of bones of the clip by names of bones of the rig. None: equal names, or the
            standard names of Mixamo, VRM, Unreal, SMPL and motion capture, whichever gives more
            pairs.

        Raises
        ------
        ValueError
            If no bones correspond, or a name is unknown.
        """
        from cylcollide.characters import retarget  # noqa: PLC0415  imported on first use

        if not isinstance(rig, Skeleton):
            raise ValueError(f"rig: expected a Rig, got {type(rig).__name__}")
        pairs = retarget.pairs_by_name(rig, self._skeleton, bones)
        moved = retarget.carried_over(rig, self._skeleton, pairs, self.root_positions, self.orientations)
        return Clip(times=self.times, **moved)

    def __repr__(self) -> str:
        return f"Clip({len(self.times)} frames in {self.duration:.3g} s, {len(self.bone_names)} bones)"

    @property
    def duration(self) -> float:
        """Seconds from the first frame to the last."""
        return float(self.times[-1])

    @property
    def frame_rate(self) -> float:
        """Frames per second on average, 0 for a single frame."""
        return (len(self.times) - 1) / self.duration if self.duration else 0.0

    @property
    def travel(self) -> Float64Array:
        """The displacement of the root from first to last frame, (3,): add it in each loop to walk on."""
        return np.asarray(self.root_positions[-1] - self.root_positions[0])

    def at(self, times: ArrayLike, rig: Skeleton | None = None, *, loop: bool = False) -> Pose:
        """The poses at times, one per time: the arguments of `Rig.forward`.

        Between two frames positions are interpolated linearly, and orientations by normalised
        linear interpolation (nlerp) the short way.

        Parameters
        ----------
        times
            Seconds from the first frame, (n,) or one number for one pose.
        rig
            The rig whose bones to pose, by name; bones that the clip lacks keep their rest. None:
            the bones of the clip.
        loop
            Whether to repeat the motion, also of the root, after the last frame and before the
            first, instead of holding these frames.

        Returns
        -------
        tuple
            Root positions (n, 3), root orientations (n, 4) and joint orientations (n, b, 4), unit
            quaternions x, y, z, w. The root's motion is in the first two; its own joint is 0, 0, 0,
            1. If the rig's bone with the name of the clip's root is not its only root, the rig's
            first root is placed so that this bone follows the clip, and other roots go with it.

        Raises
        ------
        ValueError
            If times are not finite, `loop` is no bool, or the rig has none of the bones that move.

        Warns
        -----
        UserWarning
            If the rig has fewer than half of the bones that move. It names the others, once per
            rig.
        """
        numbers = validate.as_numbers(times, "times", "(n,) or one number")
        seconds = validate.per_row(numbers, "times", numbers.size if numbers.ndim else 1)
        chosen = self._followers(self._skeleton if rig is None else rig)
        first, second, share, _ = frames_around(self.times, seconds, validate.flag(loop, "loop"))
        k = len(seconds)
        positions, roots, joints = np.empty((k, 3)), np.empty((k, 4)), np.empty((k, len(chosen.source), 4))
        frames = self.root_positions, self.orientations
        pose_frames(*frames, chosen, first, second, share, positions, roots, joints)
        return positions, roots, joints

    @cached_property
    def _skeleton(self) -> Skeleton:
        """The clip's own bones at rest."""
        return Skeleton(self.bone_names, self.parents, self.offsets, self.rest_orientations)

    def _followers(self, rig: Skeleton) -> Followers:
        """The bones of a rig that follow the motion; cached for the last rigs by weak references."""
        for known, found in self._known:
            if known() is rig:
                return found
        found = followers.of_rig(self.bone_names, self.root_positions, self.orientations, rig)
        vars(self)["_known"] = ((ref(rig), found), *self._known[: RIGS - 1])
        return found


def frames_around(
    frame_times: Float64Array, times: Float64Array, loop: bool
) -> tuple[Int64Array, Int64Array, Float64Array, Float64Array]:
    """The frames around times, both in seconds from the first frame; times are clamped to the motion, or looped.

    Frame times increase from 0. In a loop the last frame coincides with the first. Returns, for each time, the rows of
    two adjacent frames, the fraction of the way from one to the other, and the number of completed loops: 0 unless the
    motion loops, inf beyond float64.
    """
    duration = frame_times[-1]
    turns = np.zeros_like(times)
    if loop and duration > 0.0:
        within = np.mod(times, duration)  # exact for times of any size
        with np.errstate(over="ignore"):  # the count may exceed float64 for the shortest motions
            turns = np.rint((times - within) / duration)
    else:
        within = np.clip(times, 0.0, duration)
    last = len(frame_times) - 1
    first = np.clip(np.searchsorted(frame_times, within, side="right") - 1, 0, max(last - 1, 0))
    second = np.minimum(first + 1, last)
    step = np.where(second > first, frame_times[second] - frame_times[first], 1.0)
    return first, second, (within - frame_times[first]) / step, turns
