"""Pictures of limbs, walls and shots from a few sides: the common parts of all `plot` methods of scenes.

Limbs that are hit are green, gaps red, walls grey. Nearer limbs cover those behind.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from os import PathLike
from textwrap import fill
from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np
from numpy.typing import ArrayLike

from cylcollide import validate
from cylcollide._types import BoolArray, Float64Array, Int32Array, Int64Array
from cylcollide.limbs.figures import add_polygons, new_figure, save_figure
from cylcollide.limbs.limbs import Limbs
from cylcollide.limbs.outlines import AROUND, COLORS, LINE, group_colors, hull, surfaces, up_axis
from cylcollide.query.labels import NO_STATIC

if TYPE_CHECKING:
    from matplotlib.figure import Figure

HIT, GAP, WALL, NOW = "#1f9d55", "#d3263b", "#9a958c", "#44546a"
TARGET, OTHERS = "#b9cbe0", "#e9eef4"
"""Colours of the limbs of the target character of a shot, and of others near it."""
WALLS_SHOWN = 0.3
"""Opacity of walls."""
SKIN = "#d8d3cb"
FROM_ABOVE = "from above"
MARGIN = 1.12
"""Size of a window relative to its contents."""


@dataclass(frozen=True, slots=True)
class Scene:
    """Limbs at a moment, for pictures."""

    limbs: Limbs
    static: Int32Array
    """Handle of the static that each limb belongs to, -1 for others; (n,)."""
    groups: Mapping[str, int] = field(default_factory=dict)
    """Numbers of hit groups by name."""

    @property
    def is_wall(self) -> BoolArray:
        """Whether each limb belongs to a static; (n,)."""
        return np.asarray(self.static != NO_STATIC)

    @property
    def characters(self) -> Int64Array:
        """The characters that have limbs, ascending."""
        known = self.limbs.character[self.limbs.character >= 0]
        return np.unique(known).astype(np.int64)

    @property
    def up(self) -> int:
        """The axis that points up, guessed from the characters."""
        return up_axis(self.limbs, self.limbs.character >= 0)

    def rows_of(self, focus: ArrayLike | None) -> Int64Array:
        """The rows of the limbs of these characters; None: all limbs but walls, or all if there are only walls."""
        if focus is None:
            rows = np.flatnonzero(~self.is_wall)
            return rows if len(rows) else np.arange(len(self.limbs))
        ids = np.atleast_1d(validate.integers(focus, "focus", np.size(focus), 0, 2**31 - 1))
        unknown = np.setdiff1d(ids, self.characters)
        if len(unknown):
            known = ", ".join(map(str, self.characters[:8].tolist())) or "none"
            raise ValueError(f"focus: expected characters with limbs at that time ({known}), got {unknown[0]}")
        return np.flatnonzero(np.isin(self.limbs.character, ids))

    def about(self, limb: int) -> Int64Array:
        """The rows of the limbs of a limb's character; without a character, only the limb's row."""
        own = int(self.limbs.character[limb])
        return np.flatnonzero(self.limbs.character == own) if own >= 0 else np.array([limb])


class View(NamedTuple):
    """An orthographic view."""

    title: str
    labels: tuple[str, str]
    """Labels of the axes to the right and upwards."""
    axes: Float64Array
    """Unit vectors to the right, upwards, and away from the eye, rows of (3, 3)."""
    origin: Float64Array
    """The point at 0, 0."""

    def flat(self, points: Float64Array) -> Float64Array:
        """Points (n, 3) in coordinates of the picture, (n, 2)."""
        return np.asarray((points - self.origin) @ self.axes[:2].T)

    def depths(self, limbs: Limbs) -> Float64Array:
        """Depths of the centres of limbs along the direction of view; (n,)."""
        return np.asarray((0.5 * limbs.p1 + 0.5 * limbs.p2 - self.origin) @ self.axes[2])


def axis_views(up: int, unit: str) -> tuple[View, View, View]:
    """The views from the front, from the side and from above, in world coordinates."""
    across, away = (up + 2) % 3, (up + 1) % 3
    return (
        _axis_view("from the front", across, up, unit),
        _axis_view("from the side", away, up, unit),
        _axis_view(FROM_ABOVE, away, across, unit),
    )


def _axis_view(title: str, right: int, up: int, unit: str) -> View:
    labels, axes = (f"{'xyz'[right]} [{unit}]", f"{'xyz'[up]} [{unit}]"), np.eye(3)[[right, up]]
    return View(title, labels, np.array([*axes, -np.cross(*axes)]), np.zeros(3))


# Drawing ------------------------------------------------------------------------------------------------------------


def window(axes: Any, view: View, points: Float64Array, least: float = 1.0) -> None:
    """Show a rectangle with all these points (n, 3); its short sides are at least `least` times the long ones."""
    flat = view.flat(points)
    low, high = flat.min(axis=0), flat.max(axis=0)
    long = MARGIN * float((high - low).max() or 1.0)
    (x, y), (right, up) = 0.5 * (low + high), 0.5 * np.maximum(MARGIN * (high - low), least * long)
    axes.set(aspect="equal", xlim=(x - right, x + right), ylim=(y - up, y + up))
    axes.set(xlabel=view.labels[0], ylabel=view.labels[1])
    axes.set_title(view.title, fontsize=10)


def draw_limbs(
    axes: Any, view: View, limbs: Limbs, rows: Sequence[int], colors: Sequence[str], around: int = AROUND, **style: Any
) -> None:
    """Draw the limbs inside the window in their colours, one per row, from the farthest to the nearest."""
    depths, shown = view.depths(limbs), []
    (left, right), (low, high) = axes.get_xlim(), axes.get_ylim()
    for i, color, points in zip(rows, colors, surfaces(limbs, rows, around), strict=True):
        outline = view.flat(points)
        (x0, y0), (x1, y1) = outline.min(axis=0), outline.max(axis=0)
        if x0 <= right and x1 >= left and y0 <= high and y1 >= low:
            shown.append((depths[i], hull(outline, around), color))
    shown.sort(key=lambda one: -float(one[0]))
    look = {"facecolors": [color for _, _, color in shown], "edgecolors": LINE, "linewidths": 0.6, **style}
    add_polygons(axes, [outline for _, outline, _ in shown], **look)


def draw_walls(axes: Any, view: View, limbs: Limbs, rows: Sequence[int]) -> None:
    """Draw statics, transparent."""
    draw_limbs(axes, view, limbs, rows, [WALL] * len(rows), alpha=WALLS_SHOWN)


def draw_now(axes: Any, view: View, limbs: Limbs, rows: Sequence[int]) -> None:
    """Draw limbs at their present places, dashed."""
    draw_limbs(axes, view, limbs, rows, ["none"] * len(rows), edgecolors=NOW, linestyles="--", linewidths=1.0)


def pale(color: str, share: float = 0.5) -> str:
    """A colour mixed with white."""
    parts = (int(color[k : k + 2], 16) for k in (1, 3, 5))
    return "#" + "".join(f"{round(255 - share * (255 - part)):02x}" for part in parts)


def key(axes: Any, label: str, **style: Any) -> None:
    """Add an entry to the legend."""
    axes.fill([], [], **{"edgecolor": LINE, "linewidth": 0.6, "label": label, **style})


def add_keys(axes: Any, has_walls: bool, has_now: bool) -> None:
    """Add entries for walls, and for limbs at their present places, to the legend."""
    if has_walls:
        key(axes, "static (wall, floor)", facecolor=WALL, alpha=WALLS_SHOWN)
    if has_now:
        key(axes, "now", facecolor="none", edgecolor=NOW, linestyle="--")


def finished(figure: Figure, title: str, path: str | PathLike[str] | None) -> Figure:
    """The figure with its title and legend, written to a file if a path is given; dollar signs begin no formula."""
    if any(axes.get_legend_handles_labels()[0] for axes in figure.axes):
        figure.legend(loc="outside lower center", fontsize=9, ncols=6, frameon=False)
    figure.suptitle("\n".join(fill(line, 110) for line in title.split("\n")), fontsize=11)
    texts: Any = figure.findobj(lambda one: hasattr(one, "set_parse_math"))
    for text in texts:
        text.set_parse_math(False)
    if path is not None:
        save_figure(figure, path, dpi=150)
    return figure


# A scene ------------------------------------------------------------------------------------------------------------


def scene_figure(
    method: str, scene: Scene, focus: ArrayLike | None, title: str, path: str | PathLike[str] | None, unit: str,
    now: Scene | None = None,
) -> Figure:  # fmt: skip
    """The figure of a scene: characters from three sides; or a map, if there are several and none is in focus.

    `now`: limbs that are also drawn, dashed.
    """
    limbs, rows = scene.limbs, scene.rows_of(focus).tolist()
    in_focus = np.unique(limbs.character[rows])
    is_map = focus is None and len(in_focus) > 1
    views = axis_views(scene.up, unit)[2:] if is_map else axis_views(scene.up, unit)
    figure = new_figure(method, 8.0 if is_map else 5.0 * len(views), 8.0 if is_map else 5.8)
    numbers, groups = group_colors(scene.groups), limbs.hit_group.tolist()
    walls = np.flatnonzero(scene.is_wall).tolist()
    colors = dict.fromkeys(np.flatnonzero(~scene.is_wall).tolist(), OTHERS)
    colors |= {i: pale(numbers.get(groups[i], COLORS[0]), 0.7) for i in rows}
    live = [] if now is None else np.flatnonzero(~now.is_wall & np.isin(now.limbs.character, in_focus)).tolist()
    outlines = [*surfaces(limbs, rows), *(() if now is None else surfaces(now.limbs, live))]
    for axes, view in zip(np.atleast_1d(figure.subplots(1, len(views))), views, strict=True):
        window(axes, view, np.concatenate(outlines or [np.zeros((1, 3))]))
        draw_walls(axes, view, limbs, [i for i in walls if i not in colors])
        draw_limbs(axes, view, limbs, list(colors), list(colors.values()))
        if now is not None:
            draw_now(axes, view, now.limbs, live)
        for one in scene.characters.tolist() if is_map else ():
            middle = view.flat(0.5 * (limbs.p1 + limbs.p2)[limbs.character == one]).mean(axis=0)
            axes.plot(*middle, marker="o", markersize=14, color=COLORS[3], fillstyle="none")
            axes.annotate(str(one), middle, (10, -3), textcoords="offset points", fontsize=9, clip_on=True)
    first, shown = figure.axes[0], set() if is_map else {groups[i] for i in rows}
    for name, number in scene.groups.items():
        if number in shown:
            key(first, f"{name} ({number})", facecolor=pale(numbers[number], 0.7))
    add_keys(first, bool(scene.is_wall.any()), now is not None)
    return finished(figure, title, path)


def rig_figure(
    limbs: Limbs,
    groups: Mapping[str, int],
    joints: Float64Array, parents: Int32Array, skin: tuple[Float64Array, Int32Array] | None, title: str,
    path: str | PathLike[str] | None, unit: str,
) -> Figure:  # fmt: skip
    """The figure of a rig from the front and from the side: limbs, joints (b, 3), bones, and a skin behind them.

    The skin is vertices (v, 3) and triangles (f, 3).
    """
    figure = new_figure("Rig.plot", 8.0, 8.0)
    colors = group_colors(groups)
    of_limbs = [colors.get(group, COLORS[0]) for group in limbs.hit_group.tolist()]
    points = np.concatenate([joints, *surfaces(limbs, range(len(limbs)))])
    points = points if skin is None else np.concatenate([points, skin[0]])
    up = int(np.argmax(np.ptp(points, axis=0)))
    for axes, view in zip(figure.subplots(1, 2), axis_views(up, unit)[:2], strict=True):
        window(axes, view, points, 0.5)
        if skin is not None:
            triangles = view.flat(skin[0])[skin[1]]
            add_polygons(axes, list(triangles), facecolors=SKIN, edgecolors=SKIN, linewidths=0.3)
        draw_limbs(axes, view, limbs, range(len(limbs)), of_limbs, alpha=0.45)
        for bone, parent in enumerate(parents.tolist()):
            if parent >= 0:
                axes.plot(*view.flat(joints[[parent, bone]]).T, color=LINE, linewidth=1.0)
        axes.plot(*view.flat(joints).T, linestyle="", marker=".", color=LINE)
    for name, number in groups.items():
        key(figure.axes[0], f"{name} ({number})", facecolor=colors[number], alpha=0.45)
    if skin is not None:
        key(figure.axes[0], "skin", facecolor=SKIN)
    return finished(figure, title, path)
