"""Motions of glTF 2.0 files: the rotations of joints over time, and the path of the root."""

import warnings
from dataclasses import dataclass
from os import PathLike
from typing import Any

import numpy as np

from cylcollide import shapes, validate
from cylcollide._types import Float64Array
from cylcollide.characters import gltf_checks, gltf_file, quaternions
from cylcollide.characters.gltf_checks import ArgumentError
from cylcollide.characters.gltf_file import GltfFile

LARGEST_TURN = np.deg2rad(5.0)
"""Frames are inserted where a node turns further between two frames: clips interpolate by nlerp, glTF by slerp."""

WIDTHS = {"translation": 3, "rotation": 4, "scale": 3}

CURVE_STEP, CURVE_PARTS = 1.0 / 60.0, 100.0
"""Longest time between frames along cubic splines, in seconds, and the largest number of parts between two keys: more
would not improve the approximation of a cubic."""

MOVED = 1e-3
"""A warning names joints that translate by more than this fraction of the skeleton's size: a clip only rotates them."""


@dataclass(frozen=True, slots=True)
class _Track:
    """The keys of one property of a node."""

    times: Float64Array
    values: Float64Array  # (keys, width), or (keys, 3, width) of cubic splines: tangent in, value, tangent out
    how: str  # LINEAR, STEP or CUBICSPLINE

    def at(self, times: Float64Array) -> Float64Array:
        """The values at times, (n, width), clamped to the first and the last key."""
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
    paths = [
        _between(file, bone, bones[parent] if parent >= 0 else -1) for bone, parent in zip(bones, parents, strict=True)
    ]
    names = file.bone_names(bones)
    at = _posed(file, paths, parents, names, tracks, times)
    rest = _posed(file, paths, parents, names, {}, times[:1])
    offsets = np.stack([positions[0] for positions, _ in at])
    _warn_of_translations(file, names, at, offsets)
    return {
        "bone_names": names, "parents": parents, "offsets": offsets, "times": times,
        "root_positions": at[0][0], "orientations": np.stack([turn for _, turn in at], axis=1),
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
    if not validate.is_integer(row) or not 0 <= int(row) < len(names):
        known, got = ", ".join(map(repr, names)), validate.shown(wanted)
        raise ArgumentError(f"animation: expected a name or row of {known}, got {got}")
    return animations[int(row)]


def _tracks(file: GltfFile, animation: Any) -> dict[tuple[int, str], _Track]:
    """The tracks of an animation by node and property."""
    tracks = {}
    for row, channel in enumerate(animation.channels):
        node, path = channel.target.node, channel.target.path
        if node is None or path == "weights":
            continue
        node = validate.index(node, f"node of channel {row}", len(file.document.nodes))
        sampler = gltf_checks.element(animation.samplers, channel.sampler, f"sampler of channel {row}")
        how = sampler.interpolation or "LINEAR"
        validate.one_of(path, f"path of channel {row}", *WIDTHS)
        validate.one_of(how, f"interpolation of channel {row}", "LINEAR", "STEP", "CUBICSPLINE")
        times = file.accessor(sampler.input, "SCALAR").astype(np.float64)[:, 0]
        values = file.accessor(sampler.output, f"VEC{WIDTHS[path]}").astype(np.float64)
        if not len(times) or not np.isfinite(times).all() or not (np.diff(times) > 0.0).all():
            raise ValueError(f"accessor {sampler.input}: expected finite increasing times, got others for node {node}")
        rows = (3 if how == "CUBICSPLINE" else 1) * len(times)
        if len(values) != rows or not np.isfinite(values).all():
            raise ValueError(f"accessor {sampler.output}: expected {rows} finite rows for node {node}, got others")
        if how == "CUBICSPLINE":
            values = values.reshape(len(times), 3, -1)
        if path == "rotation" and not (values[:, 1] if how == "CUBICSPLINE" else values).any(axis=1).all():
            raise ValueError(f"rotations of node {node}: expected quaternions, got zeros")
        tracks[node, path] = _Track(times, values, how)
    if not any(path != "scale" for _, path in tracks):
        raise ValueError("its animation moves no node")
    return tracks


def _bones(file: GltfFile, tracks: dict[tuple[int, str], _Track]) -> tuple[list[int], list[int]]:
    """Nodes of the tree with most moving joints (without skins: moving nodes), parents first; and parents' rows."""
    known = {joint for skin in range(len(file.document.skins or ())) for joint in file.joints(skin)}
    known = known or {node for node, path in tracks if path != "scale"}
    above, depth, tops = file.trees_of(known)
    trees: dict[int, list[int]] = {}
    for node in sorted(known, key=lambda node: (depth[node], node)):
        trees.setdefault(tops[node], []).append(node)
    moving = {node for node, _ in tracks}
    bones = max(trees.values(), key=lambda tree: (sum(node in moving for node in tree), len(tree)))
    rows = {node: row for row, node in enumerate(bones)}
    return bones, [rows.get(above[node], -1) for node in bones]


def _between(file: GltfFile, bone: int, stop: int) -> list[int]:
    """The nodes on the path to a bone from below node `stop`, or from the scene."""
    path = [bone]
    while file.parents[path[-1]] not in (stop, -1):
        path.append(file.parents[path[-1]])
    return path[::-1]


def _frame_times(tracks: dict[tuple[int, str], _Track]) -> Float64Array:
    """Times of all keys, from 0, with times inserted where large rotations and curves need them."""
    keys = [track.times for track in tracks.values()]
    before = [np.nextafter(t.times[1:], 0.0) for t in tracks.values() if t.how == "STEP"]
    times = np.unique(np.concatenate([[0.0], *keys, *before]))
    times = times[times >= 0.0]
    parts = np.ones(len(times) - 1)
    for (_, path), track in tracks.items():
        if track.how == "CUBICSPLINE":
            parts = np.maximum(parts, np.ceil(np.diff(times) / CURVE_STEP).clip(max=CURVE_PARTS))
        elif path == "rotation" and track.how == "LINEAR":
            turns = track.at(times)
            apart = 2.0 * np.arccos(np.clip(np.abs(quaternions.dot(turns[1:], turns[:-1])), 0.0, 1.0))
            parts = np.maximum(parts, np.ceil(apart / LARGEST_TURN))
    more = [np.linspace(a, b, int(n), endpoint=False) for a, b, n in zip(times[:-1], times[1:], parts, strict=True)]
    return np.unique(np.concatenate([*more, times[-1:]]))


def _posed(
    file: GltfFile,
    paths: list[list[int]],
    parents: list[int],
    names: list[str],
    tracks: dict[tuple[int, str], _Track],
    times: Float64Array,
) -> list[tuple[Float64Array, Float64Array]]:
    """Positions (n, 3) and rotations (n, 4) of bones at times, each in the frame of its parent, in units of the scene.

    A path has the nodes from below the parent to the bone. A bone of scale 0 gets the identity rotation.
    """
    found, scales = [], {-1: 1.0}
    for row, (path, parent) in enumerate(zip(paths, parents, strict=True)):
        whole = _local(file, path[0], tracks, times)
        for node in path[1:]:
            whole = whole @ _local(file, node, tracks, times)
        positions = scales[parent] * whole[:, :3, 3]
        if not whole[:, :3, :3].any():
            found.append((positions, np.tile(quaternions.IDENTITY, (len(times), 1))))
            scales[row] = 0.0
            continue
        parts = gltf_checks.unscaled(whole)
        if parts is None:
            raise ValueError(
                f"node {path[-1]} ({names[row]!r}): expected a bone that is turned and has one scale > 0 in the scene, "
                "got one mirrored, sheared or scaled by axes; apply its scale and those above it before the export"
            )
        turns, sizes = parts
        found.append((positions, quaternions.of_matrices(turns)))
        scales[row] = scales[parent] * float(sizes[0])
    return found


def _local(file: GltfFile, node: int, tracks: dict[tuple[int, str], _Track], times: Float64Array) -> Float64Array:
    """The transform of a node in the frame of the node above it at times, (n, 4, 4)."""
    translation, turn = tracks.get((node, "translation")), tracks.get((node, "rotation"))
    matrices = file.local[[node]]
    if translation is None and turn is None:
        return np.asarray(np.broadcast_to(matrices, (len(times), 4, 4)))
    matrices = np.repeat(matrices, len(times), axis=0)
    if translation is not None:
        matrices[:, :3, 3] = translation.at(times)
    if turn is not None:
        turns = turn.at(times)
        row = validate.first_bad_row((turns == 0.0).all(axis=1))
        if row is not None:
            raise ValueError(
                f"rotations of node {node}: expected quaternions, got zeros at {times[row]:.6g} s, where a spline "
                "passes through 0; negate the keys after it"
            )
        matrices[:, :3, :3] = shapes.rotation_matrices(turns) * file.parts(node)[2]
    return matrices


def _warn_of_translations(
    file: GltfFile, names: list[str], at: list[tuple[Float64Array, Float64Array]], offsets: Float64Array
) -> None:
    """Warn of joints that translate, which a clip cannot represent."""
    size = float(np.abs(offsets[1:]).sum(axis=0).max(initial=0.0))
    moved = [np.ptp(positions, axis=0).max() > MOVED * size for positions, _ in at[1:]]
    slid = [name for name, far in zip(names[1:], moved, strict=True) if far]
    if slid:
        warnings.warn(
            f"{file.path}: {len(slid)} joints translate in their parents' frames; a clip has only their rotations: "
            f"{', '.join(slid[:12])}",
            UserWarning,
            stacklevel=6,
        )
