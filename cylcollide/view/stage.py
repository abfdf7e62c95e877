"""The scene in the browser: instances of limbs, bones and marks; a new frame sends only what has changed."""

from collections.abc import Mapping
from functools import cache
from typing import Any

import numpy as np
from numpy.typing import NDArray

from cylcollide._types import Float64Array
from cylcollide.limbs.limbs import Limbs
from cylcollide.limbs.outlines import COLORS, group_colors
from cylcollide.view.frames import Frame
from cylcollide.view.instances import FEW, Instances, instances_of
from cylcollide.view.marks import COLORS as MARK_COLORS
from cylcollide.view.marks import NO_MARKS, Marks, unit_direction
from cylcollide.world.hit_world import HitWorld

ZERO: Float64Array = np.zeros(3)
"""The origin of the world."""

WALL = "#a9a297"
BONE = "#20242a"
STRUCK = "#e4189f"
"""The limb that counts."""
LINE = 3.0
"""Width of a line on the screen."""
SUN, CELLS, CELL, SECTION, WIDTH = 1.6, 15, 235, 190, 0.006
"""Light from above; cells of the ground to each side; gray of lines, and of each fifth; half their width, in cells."""
SAME = 2.0**-20
"""Numbers that change by a smaller share of a usual limb's size are not sent again."""
STEP = 1000.0
"""Origins of views are whole multiples of this number of ground cells."""
THINNEST, FARTHEST = 1e-12, 1e12
"""Least size of a usual limb and largest distance from the origin that a browser draws: it squares float32 numbers."""


class Stage:
    """Draws frames into a viser scene.

    `groups`: numbers of hit groups by name. `size`: of a usual limb; points are drawn in proportion. `origin`: the
    place (3,) in the world that is 0 in the scene. `rounded_to`: positions are rounded to multiples of it, which
    compress well. `ghost`: whether limbs are drawn grey and translucent.
    """

    def __init__(
        self, scene: Any, groups: Mapping[str, int], size: float, origin: Float64Array = ZERO,
        rounded_to: float = 0.0, ghost: bool = False,
    ) -> None:  # fmt: skip
        self._scene, self._colors, self._size, self._step = scene, group_colors(groups), size, rounded_to
        self.origin = origin
        self._ghost, self._prefix = ghost, "ghost/" if ghost else ""
        self._limbs: dict[str, tuple[Any, dict[str, NDArray[np.float32]]]] = {}
        """The scene nodes that draw limbs, and the columns that were sent to them."""
        self._made_of: tuple[Any, ...] = ()
        self._lines: dict[str, Any] = {}
        self.shows_bones = False

    def show(self, frame: Frame, marks: Marks = NO_MARKS) -> None:
        """Replace the drawn frame and marks; ValueError if the frame is out of range."""
        check_range(frame, self.origin)
        limbs, at = frame.limbs, self._prefix
        parts = [(f"{at}limbs/{one.name}", one, 1.0) for one in instances_of(limbs, ~frame.is_static)]
        if not self._ghost:
            parts += [(f"statics/{one.name}", one, 0.55) for one in instances_of(limbs, frame.is_static)]
        colors = self.limb_colors(frame, marks.struck)
        opacity = 0.25 if self._ghost else 0.35 if self.shows_bones else 1.0
        made_of = (opacity, colors.tobytes(), *((name, one.rows.tobytes()) for name, one, _ in parts))
        if made_of != self._made_of:
            self.clear()
            self._limbs = {name: self._added(name, one, colors, part * opacity) for name, one, part in parts}
            self._made_of = made_of
        for name, one, _ in parts:
            node, sent = self._limbs[name]
            for what, column in self._columns(one).items():
                if np.abs(column - sent[what]).max(initial=0.0) > SAME * self._size:
                    setattr(node, what, column)
                    sent[what] = column
        if self._ghost:
            return
        self._draw("bones", frame.bones if self.shows_bones else frame.bones[:0], BONE)
        self._draw("path", marks.path, marks.path_color)
        for name, color in MARK_COLORS.items():
            self._draw(name, getattr(marks, name), color, marks.points)

    def clear(self) -> None:
        """Remove all limbs."""
        for node, _ in self._limbs.values():
            node.remove()
        self._limbs, self._made_of = {}, ()

    def limb_colors(self, frame: Frame, struck: int = -1) -> NDArray[np.uint8]:
        """The colour of each limb by its hit group, (n, 3)."""
        if self._ghost:
            return np.full((len(frame.limbs), 3), rgb(BONE), np.uint8)
        groups = frame.limbs.hit_group.tolist()
        named = [self._colors.get(one, COLORS[one % len(COLORS)] if one > 0 else COLORS[0]) for one in groups]
        named = [WALL if static else color for color, static in zip(named, frame.is_static.tolist(), strict=True)]
        if struck >= 0:
            named[struck] = STRUCK
        return np.array([rgb(color) for color in named], np.uint8).reshape(-1, 3)

    def _added(
        self, name: str, one: Instances, colors: NDArray[np.uint8], opacity: float
    ) -> tuple[Any, dict[str, NDArray[np.float32]]]:
        sent = self._columns(one)
        node = self._scene.add_batched_meshes_simple(
            f"/{name}", one.mesh.vertices, one.mesh.triangles, **sent, batched_colors=colors[one.rows], lod="off",
            opacity=None if opacity == 1.0 else opacity, material="standard" if len(colors) <= FEW else "toon5",
            cast_shadow=False, receive_shadow=False,
        )  # fmt: skip
        return node, sent

    def _columns(self, one: Instances) -> dict[str, NDArray[np.float32]]:
        positions, turns, scales = one.positions - self.origin, one.orientations, one.scales
        if self._step:
            positions = np.round(positions / self._step) * self._step
            turns = np.round(turns * TURN_STEPS) / TURN_STEPS
        columns = {"batched_positions": positions, "batched_wxyzs": turns, "batched_scales": scales}
        return {name: column.astype(np.float32) for name, column in columns.items()}

    def _draw(self, name: str, places: Float64Array, color: str, size: float = 1.0) -> None:
        """Replace lines (k, 2, 3) or points (k, 3); `size`: of points."""
        if (before := self._lines.pop(name, None)) is not None:
            before.remove()
        where = drawn(places - self.origin)
        given, scene = (f"/{name}", where.astype(np.float32), rgb(color)), self._scene
        if where.ndim == 3 and len(where):
            self._lines[name] = scene.add_line_segments(*given, thickness=LINE, thickness_units="screen")
        elif len(where):
            look = {"point_size": 0.45 * size * self._size, "point_shape": "circle", "precision": "float32"}
            self._lines[name] = scene.add_point_cloud(*given, **look)


def drawn(where: Float64Array) -> Float64Array:
    """The lines (k, 2, 3) or points (k, 3) that begin within `FARTHEST` of the origin; lines are cut to this length."""
    first = where[:, 0] if where.ndim == 3 else where
    where = where[np.abs(first).max(axis=1) <= FARTHEST]
    if where.ndim == 3:
        way = where[:, 1] - where[:, 0]
        share = FARTHEST / np.maximum(np.abs(way).max(axis=1, keepdims=True), FARTHEST)
        where = np.stack([where[:, 0], where[:, 0] + share * way], axis=1)
    return where


TURN_STEPS = 2.0**13
"""Components of quaternions are rounded to this many steps in files."""


@cache
def rgb(color: str) -> tuple[int, int, int]:
    """Red, green and blue, 0 to 255, of "#rrggbb"."""
    return int(color[1:3], 16), int(color[3:5], 16), int(color[5:7], 16)


def usual_size(frame: Frame) -> float:
    """The size for lines and points: the median radius, or half extent, of limbs that are not statics."""
    limbs = frame.limbs
    sizes = limbs.radius + limbs.half_extents.min(axis=1)  # one of them is 0
    chosen = sizes[~frame.is_static] if (~frame.is_static).any() else sizes
    return float(np.median(chosen)) if len(chosen) else 1.0


def box_around(frame: Frame, origin: Float64Array = ZERO) -> tuple[Float64Array, Float64Array]:
    """The corners (3,), from an origin, of a box around all limbs that are not statics, or all; 0 without limbs."""
    limbs: Any = frame.limbs if frame.is_static.all() else frame.limbs[~frame.is_static]
    if not len(limbs):
        return np.zeros(3), np.zeros(3)
    ends, reach = np.concatenate([limbs.p1, limbs.p2]) - origin, float(reaches(limbs).max())
    return ends.min(axis=0) - reach, ends.max(axis=0) + reach


def reaches(limbs: Limbs) -> Float64Array:
    """Bounds on how far limbs reach beyond their ends; (n,)."""
    return np.asarray(np.maximum(limbs.radius, np.linalg.norm(limbs.half_extents, axis=1)))


def origin_of(frame: Frame) -> Float64Array:
    """The place (3,) that is 0 in a view with this first frame, near its limbs: pictures have float32.

    It is a whole multiple of `STEP` cells, so 0 for limbs near the world's origin. ValueError if the frame is out of
    range.
    """
    (low, high), step = box_around(frame), STEP * cell_of(frame)
    origin = np.round((0.5 * low + 0.5 * high) / step) * step
    check_range(frame, origin)
    return np.asarray(origin)


def check_range(frame: Frame, origin: Float64Array) -> None:
    """Raise a ValueError if limbs are too small, or too far from the origin of a view, for a browser."""
    limbs, size = frame.limbs, usual_size(frame)
    far = np.abs([limbs.p1 - origin, limbs.p2 - origin]).max(axis=(0, 2)) + reaches(limbs)
    if size < THINNEST or far.max(initial=0.0) > FARTHEST:
        expected = f"limbs with a median radius of at least {THINNEST:g}, all within {FARTHEST:g} of {origin.tolist()}"
        raise ValueError(
            f"view: expected {expected}, got {size:g}, and one up to {far.max():g} away; show them in another unit"
        )


def view_of(frame: Frame, up: int, origin: Float64Array) -> tuple[Float64Array, Float64Array]:
    """The position of a camera that sees all limbs, and the point that it looks at; (3,) each, from an origin.

    `up`: the axis that points up.
    """
    low, high = box_around(frame, origin)
    if not len(frame.limbs):
        return np.array([3.0, 3.0, 3.0]), np.zeros(3)
    middle, away = 0.5 * low + 0.5 * high, np.full(3, 0.45)
    away[(up + 1) % 3] = 1.0
    return middle + away / np.linalg.norm(away) * 0.9 * float(np.linalg.norm(high - low)), middle


def beside(frame: Frame, place: Float64Array, way: Float64Array, up: int, aside: float = 1.0) -> Float64Array:
    """The position (3,) of a camera beside a place of a shot. `way`: direction of the shot; `aside`: 0 for from behind.

    The view shows a person, or a limb if there are only a few. A shot without length counts as one along an axis.
    """
    limbs, size, upright, level = frame.limbs, usual_size(frame), np.eye(3)[up], np.eye(3)[up - 1]
    ahead = unit_direction(way, np.eye(3)[up - 2])
    across = np.cross(ahead, upright)
    across = level if np.linalg.norm(across) < 1e-3 else unit_direction(across, level)
    far = (20.0 if len(limbs) > 4 else 7.0) * size
    eyes = place + far * (np.outer([aside, -aside], across) - 0.3 * ahead + 0.25 * upright)
    hidden = HitWorld(limbs).occluded_segments(eyes, place + 0.05 * (eyes - place))
    return np.asarray(eyes[int(hidden[0] and not hidden[1])])


def look_at_shot(
    camera: Any, frame: Frame, marks: Marks, up: int, origin: Float64Array, as_player: bool = False
) -> None:
    """Aim a camera at the place of a shot, from the side or over the shoulder of its player.

    The camera stays as it is if that is too far from the origin of the view.
    """
    (start, end), place = marks.path[0], marks.place
    seen_at, aside = (start, 0.0) if as_player else (place, 1.0)
    if np.abs([seen_at - origin, place - origin]).max() <= FARTHEST:
        camera.position = beside(frame, seen_at, end - start, up, aside) - origin
        camera.look_at = place - origin


def aim(camera: Any, eye: Float64Array, at: Float64Array, up: int) -> None:
    """Aim the camera of a client at a place; in a narrow window from farther away, above the panel at the bottom."""
    narrow = min(camera.aspect, 1.0)
    away, lower = (eye - at) / narrow, 0.3 * (narrow < 1.0)
    camera.position, camera.look_at = at + away, at - lower * np.linalg.norm(away) * np.eye(3)[up]


def prepare(server: Any, up: int, eye: Float64Array, at: Float64Array, ground: Float64Array, cell: float) -> None:
    """Put the camera of a server at `eye`, looking at a place, a light beside it, and lines on a ground.

    viser's own grid and lights take a third of the frame time of a software renderer.
    """
    scene, camera, upright, distance = server.scene, server.initial_camera, np.eye(3)[up], np.linalg.norm(eye - at)
    scene.set_up_direction("+" + "xyz"[up])
    camera.position, camera.look_at, camera.up = eye, at, upright
    camera.near, camera.far = 1e-3 * float(distance), 1e3 * float(distance)
    way = (eye - at) / distance
    scene.add_light_directional("/sun", intensity=SUN, position=way + upright + 0.6 * np.cross(way, upright))
    a, b, steps = (up + 1) % 3, (up + 2) % 3, np.arange(-CELLS, CELLS + 1)
    square = np.zeros((4, 3), np.float32)
    square[:, [a, b]] = [[-1, -1], [1, -1], [1, 1], [-1, 1]]
    places, scales = np.zeros((2, len(steps), 3)), np.full((2, len(steps), 3), WIDTH * cell)
    for place, scale, along, across in zip(places, scales, (a, b), (b, a), strict=True):
        place[:, across], scale[:, along] = cell * steps, cell * CELLS
    gray = np.tile(np.where(steps % 5 == 0, SECTION, CELL), 2)
    scene.add_batched_meshes_simple(
        "/ground", square, np.array([[0, 1, 2], [0, 2, 3]]), np.tile([1.0, 0.0, 0.0, 0.0], (len(gray), 1)),
        (ground + places).reshape(-1, 3), batched_scales=scales.reshape(-1, 3),
        batched_colors=np.tile(gray, (3, 1)).T.astype(np.uint8), lod="off", material="toon5", side="double",
        cast_shadow=False, receive_shadow=False,
    )  # fmt: skip


def cell_of(frame: Frame) -> float:
    """The size of the cells of the ground: a power of ten, about 10 usual limbs."""
    return float(10.0 ** np.round(np.log10(10.0 * usual_size(frame))))


def ground_of(frame: Frame, up: int, origin: Float64Array) -> tuple[Float64Array, float]:
    """The place (3,), from an origin, of a ground at the lowest limb, and the size of its cells."""
    limbs, cell = frame.limbs, cell_of(frame)
    if not len(limbs):
        return np.zeros(3), cell
    reach = limbs.radius + limbs.half_extents[:, up]  # one of them is 0
    ends = np.stack([limbs.p1, limbs.p2]) - origin
    place = np.round(ends.mean(axis=(0, 1)) / cell) * cell
    place[up] = float((ends[:, :, up].min(axis=0) - reach).min())
    return place, cell
