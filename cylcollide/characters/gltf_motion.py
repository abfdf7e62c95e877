"""Motions of glTF 2.0 files: the turns of joints over time, and the way of the root."""

import warnings
from dataclasses import dataclass
from os import PathLike
from typing import Any

import numpy as np

from cylcollide._types import Float64Array
from cylcollide.characters import gltf_file, quaternions
from cylcollide.characters.gltf_file import ArgumentError, GltfFile

LARGEST_TURN = np.deg2rad(5.0)
"""Between frames that turn a node further, others are inserted: a clip interpolates linearly, glTF along circles."""

CURVE_STEP = 1.0 / 60.0
"""Longest time between frames of a motion of cubic splines, seconds."""

MOVED = 1e-3
"""Joints that move by more than this share of the size of the skeleton are named: the bones of a clip only turn."""


@dataclass(frozen=True, slots=True)
class _Track:
    """The keys of one property of a node."""

    times: Float64Array
    values: Float64Array  # (keys, width), or (keys, 3, width) of cubic splines: tangent in, value, tangent out
    how: str  # LINEAR, STEP or CUBICSPLINE

    def at(self, times: Float64Array) -> Float64Array:
        """The values at times, (n, width); before the first key and after the last these."""
        last = len(self.times) - 1
        first = np.clip(np.searchsorted(self.times, times, side="right") - 1, 0, last)
        second = np.minimum(first + 1, last)
        step = self.times[second] - self.times[first]
        share = np.clip((times - self.times[first]) / np.where(step > 0.0, step, 1.0), 0.0, 1.0)
        if self.how == "CUBICSPLINE":
            t, d = share[:, None], step[:, None]
            a, b = self.values[first, 1], self.values[second, 1]
            leaving, arriving = d * self.values[first, 2], d * self.values[second, 0]
            return np.asarray(
                (2 * t**3 - 3 * t**2 + 1) * a + (t**3 - 2 * t**2 + t) * leaving
                + (3 * t**2 - 2 * t**3) * b + (t**3 - t**2) * arriving
            )  # fmt: skip
        if self.how == "STEP":
            return self.values[first]
        a, b = self.values[first], self.values[second]
        if a.shape[1] == 4:
            return quaternions.slerp(quaternions.normalised(a), quaternions.normalised(b), share)
        return np.asarray((1.0 - share[:, None]) * a + share[:, None] * b)


def read(path: str | PathLike[str], animation: str | int | None) -> dict[str, Any]:
    """The arguments of `Clip` for an animation of a file; see `Clip.load_gltf`."""
    return gltf_file.read(path, "an animation", lambda file: _motion(file, animation))


def _motion(file: GltfFile, wanted: str | int | None) -> dict[str, Any]:
    tracks = _tracks(file, _chosen(file, wanted))
    bones, parents = _bones(file, tracks)
    times = _frame_times(tracks)
    between = [_between(file, bones, bone, parents[row]) for row, bone in enumerate(bones)]
    at = [_posed(file, path, tracks, times) for path in between]
    turns = np.stack([turn for _, turn in at], axis=1)
    rest = [_posed(file, path, {}, times[:1]) for path in between]
    offsets = np.stack([place[0] for place, _ in at])
    _name_moved(file, bones, at, offsets)
    return {
        "bone_names": [file.joint_name(node) for node in bones], "parents": parents, "offsets": offsets, "times": times,
        "root_positions": at[0][0], "orientations": turns,
        "rest_orientations": np.stack([turn[0] for _, turn in rest]),
    }  # fmt: skip


def _chosen(file: GltfFile, wanted: str | int | None) -> Any:
    animations = file.document.animations or []
    if not animations:
        raise ValueError("it has no animation; export it with the motion")
    names = [one.name or f"animation_{row}" for row, one in enumerate(animations)]
    row = wanted
    if isinstance(wanted, str) and names.count(wanted) == 1:
        row = names.index(wanted)
    if wanted is None and len(names) == 1:
        row = 0
    if not isinstance(row, int) or isinstance(row, bool) or not 0 <= row < len(names):
        raise ArgumentError(f"animation: expected a name or row of {', '.join(map(repr, names))}, got {wanted!r}")
    return animations[row]


def _tracks(file: GltfFile, animation: Any) -> dict[tuple[int, str], _Track]:
    """The tracks of an animation by node and property."""
    tracks = {}
    for channel in animation.channels:
        if channel.target.node is None or channel.target.path == "weights":
            continue
        sampler = animation.samplers[channel.sampler]
        times, values = (file.accessor(number).astype(np.float64) for number in (sampler.input, sampler.output))
        how = sampler.interpolation or "LINEAR"
        if how == "CUBICSPLINE":
            values = values.reshape(len(times), 3, -1)
        if len(values) != len(times) or not (np.diff(times[:, 0]) > 0.0).all() or not np.isfinite(values).all():
            raise ValueError(
                f"expected {len(times)} keys of increasing times, got others for node {channel.target.node}"
            )
        tracks[channel.target.node, channel.target.path] = _Track(times[:, 0], values, how)
    if not any(path != "scale" for _, path in tracks):
        raise ValueError("its animation moves no node")
    return tracks


def _bones(file: GltfFile, tracks: dict[tuple[int, str], _Track]) -> tuple[list[int], list[int]]:
    """Nodes of the tree of most moving joints, or, without skins, moving nodes, parents first; their parents' rows."""
    known = {joint for skin in file.document.skins or () for joint in skin.joints}
    known = known or {node for node, path in tracks if path != "scale"}
    above = {node: [up for up in file.ancestors(node) if up in known] for node in known}
    trees: dict[int, list[int]] = {}
    for node in sorted(known, key=lambda node: (len(above[node]), node)):
        trees.setdefault(above[node][-1] if above[node] else node, []).append(node)
    moving = {node for node, _ in tracks}
    bones = max(trees.values(), key=lambda tree: (sum(node in moving for node in tree), len(tree)))
    rows = {node: row for row, node in enumerate(bones)}
    return bones, [rows[above[node][0]] if above[node] else -1 for node in bones]


def _between(file: GltfFile, bones: list[int], bone: int, parent: int) -> list[int]:
    """The nodes from below the parent of a bone, or from the scene, to the bone."""
    stop, path = bones[parent] if parent >= 0 else -1, [bone]
    for node in file.ancestors(bone):
        if node == stop:
            break
        path.append(node)
    return path[::-1]


def _frame_times(tracks: dict[tuple[int, str], _Track]) -> Float64Array:
    """Times of all keys, from 0, and as many between them as large turns and curves need."""
    keys = [track.times for track in tracks.values()]
    before = [np.nextafter(t.times[1:], 0.0) for t in tracks.values() if t.how == "STEP"]
    times = np.unique(np.concatenate([[0.0], *keys, *before]))
    times = times[times >= 0.0]
    parts = np.ones(len(times) - 1)
    for (_, path), track in tracks.items():
        if track.how == "CUBICSPLINE":
            parts = np.maximum(parts, np.ceil(np.diff(times) / CURVE_STEP))
        elif path == "rotation" and track.how == "LINEAR":
            turns = track.at(times)
            apart = 2.0 * np.arccos(np.clip(np.abs(quaternions.dot(turns[1:], turns[:-1])), 0.0, 1.0))
            parts = np.maximum(parts, np.ceil(apart / LARGEST_TURN))
    more = [np.linspace(a, b, int(n), endpoint=False) for a, b, n in zip(times[:-1], times[1:], parts, strict=True)]
    return np.unique(np.concatenate([*more, times[-1:]]))


def _posed(
    file: GltfFile, path: list[int], tracks: dict[tuple[int, str], _Track], times: Float64Array
) -> tuple[Float64Array, Float64Array]:
    """Positions (n, 3) and turns (n, 4) at times of the last of some nodes, each in the frame of the one before it."""
    n = len(times)
    place, turn, scale = np.zeros((n, 3)), np.tile(quaternions.IDENTITY, (n, 1)), np.ones(3)
    for above in file.ancestors(path[0]):
        scale = scale * _transform(file, above)[2]
    for node in path:
        shift, own_turn, own_scale = _transform(file, node)
        if (node, "translation") in tracks:
            shift = tracks[node, "translation"].at(times)
        if (node, "rotation") in tracks:
            own_turn = tracks[node, "rotation"].at(times)
        place = place + quaternions.rotated(turn, scale * shift)
        turn = quaternions.product(turn, quaternions.normalised(np.broadcast_to(own_turn, (n, 4))))
        scale = scale * own_scale
    return place, turn


def _transform(file: GltfFile, node: int) -> tuple[Float64Array, Float64Array, Float64Array]:
    """Translation, rotation and scale of a node at rest."""
    matrix = file.local[node]
    scale = np.linalg.norm(matrix[:3, :3], axis=0)
    return matrix[:3, 3], quaternions.of_matrices(matrix[None, :3, :3] / scale)[0], scale


def _name_moved(
    file: GltfFile, bones: list[int], at: list[tuple[Float64Array, Float64Array]], offsets: Float64Array
) -> None:
    """Warn of joints that slide: what a clip cannot say."""
    size = float(np.abs(offsets[1:]).sum(axis=0).max(initial=0.0))
    moved = [np.ptp(place, axis=0).max() > MOVED * size for place, _ in at[1:]]
    names = [file.joint_name(node) for node, far in zip(bones[1:], moved, strict=True) if far]
    if names:
        warnings.warn(
            f"{file.path}: {len(names)} joints move in their parents' frames, and a clip only turns them: "
            f"{', '.join(names[:12])}",
            UserWarning,
            stacklevel=6,
        )
