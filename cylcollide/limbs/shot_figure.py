"""The figure of one shot among limbs and walls: along the shot, from above, and close up at a near miss."""

from collections.abc import Callable
from os import PathLike
from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np
from numpy.typing import ArrayLike

from cylcollide import validate
from cylcollide._types import NO_CHARACTER, NO_LIMB, BoolArray, Float64Array, Int64Array
from cylcollide.limbs.distance import nearest_limb
from cylcollide.limbs.explain_drawing import visible
from cylcollide.limbs.figures import new_figure
from cylcollide.limbs.limbs import Limbs
from cylcollide.limbs.outlines import AROUND, LINE, surfaces
from cylcollide.limbs.pictures import (
    FROM_ABOVE,
    GAP,
    HIT,
    OTHERS,
    TARGET,
    WALL,
    Scene,
    View,
    add_keys,
    axis_views,
    draw_limbs,
    draw_now,
    draw_walls,
    finished,
    key,
    pale,
    window,
)
from cylcollide.query.chords import Chords

if TYPE_CHECKING:
    from matplotlib.figure import Figure

CROSSED = "#8fa9c6"
"""Colour of limbs that a shot crosses and that do not count."""
FARTHEST = 8.0
"""Largest extent of a shot in the view from above, in sizes of its target."""
CLOSE, CLOSEST = 0.04, 1e-3
"""A gap between these fractions of a picture's size is shown close up; smaller ones are too small for outlines."""
CLOSE_UP = 2.5
"""The size of the close-up, in gaps."""
FINE = 128
"""Corners of outlines in a close-up."""
ARROW = 0.75
"""Position of the arrow, as a fraction of the visible part of a ray."""
PERSON = 2.0
"""Size of the surroundings of a shot at a wall, if there are no characters."""
SHORTEST = 1e-9
"""Relative to the picture's size: a shorter segment has no direction."""


class DrawnShot(NamedTuple):
    """One ray, and the limbs that it hits, crosses or misses. Points are (3,)."""

    start: Float64Array
    end: Float64Array
    limb: int = NO_LIMB
    """The limb that is hit, or the nearest one of a miss; -1 for none."""
    hit: bool = False
    point: Float64Array | None = None
    """The hit point, or the point of the limb nearest to the ray."""
    ray_point: Float64Array | None = None
    """The point of the ray nearest to the limb; None for a hit."""
    crossed: Int64Array = np.zeros(0, np.int64)
    """All limbs that the ray crosses, (c,)."""
    inside: Float64Array = np.zeros((0, 2, 3))
    """Entry and exit of each crossed limb, (c, 2, 3)."""
    counts: BoolArray = np.zeros(0, np.bool_)
    """Whether each crossed limb counts, (c,)."""
    radius: float = 0.0
    """Radius of a thick ray."""

    @property
    def gap(self) -> float:
        """The distance of the shot from the limb, 0 for a hit."""
        if self.ray_point is None or self.point is None:
            return 0.0
        return float(np.linalg.norm(self.point - self.ray_point))

    def verdict(self, scene: Scene, unit: str) -> str:
        """The limb that the shot hits or misses, in words."""
        if self.limb == NO_LIMB:
            return "miss: there is nothing to hit" if not len(self.crossed) else "no hit: nothing counts"
        named = self.named(scene)
        return f"hit: {named}" if self.hit else f"miss: {self.gap:.4g} {unit} beside {named}"

    def named(self, scene: Scene) -> str:
        """The limb and its character or static, in words."""
        limb, static = self.limb, int(scene.static[self.limb])
        character, name = int(scene.limbs.character[limb]), scene.limbs.names[limb] or f"limb {limb}"
        return name + (f" of character {character}" if character >= 0 else f" of static {static}" * (static >= 0))


def ends_of_shot(shot: ArrayLike) -> tuple[Float64Array, Float64Array]:
    """Start and end (1, 3) of the argument `shot`."""
    ends = validate.vectors(shot, "shot, start and end", 2)
    return ends[:1], ends[1:]


def missed(scene: Scene, start: Float64Array, end: Float64Array, may_hit: BoolArray) -> DrawnShot:
    """A shot, from start to end (3,), that hits none of the limbs `may_hit` (n,), and the nearest of them.

    Walls count only if there are no other limbs.
    """
    may_hit = may_hit & ~scene.is_wall if (may_hit & ~scene.is_wall).any() else may_hit
    near = nearest_limb(scene.limbs._table, np.flatnonzero(may_hit), start, end)
    if near is None:
        return DrawnShot(start, end)
    return DrawnShot(start, end, near.limb, False, near.point, near.segment_point)


def first_hit(
    scene: Scene, chords: Chords, start: Float64Array, end: Float64Array, ignored: int | None, focus: ArrayLike | None
) -> DrawnShot:
    """A shot, from start to end (3,), with these chords; the first limb counts.

    Without chords, the nearest limb is shown; with `focus`, only limbs of these characters.
    """
    if not len(chords):
        own = NO_CHARACTER if ignored is None else ignored
        may_hit = (scene.limbs.character != own) | (own == NO_CHARACTER)
        if focus is not None:
            may_hit &= np.isin(np.arange(len(may_hit)), scene.rows_of(focus))
        return missed(scene, start, end, may_hit)
    inside = np.stack([chords.entry_position, chords.exit_position], axis=1)
    limb, counts = chords.limb.astype(np.int64), np.arange(len(chords)) == 0
    return DrawnShot(start, end, int(limb[0]), True, inside[0, 0], None, limb, inside, counts)


def along_shot(shot: DrawnShot, up: int, size: float, unit: str) -> View:
    """The view along a shot, which is at 0, 0. If its length is 0, the view is towards the limb, or sideways."""
    at = shot.start if shot.point is None else shot.point if shot.ray_point is None else shot.ray_point
    ways = [shot.end - shot.start, np.zeros(3) if shot.point is None else shot.point - at, np.eye(3)[(up + 1) % 3]]
    forward = next(way / np.linalg.norm(way) for way in ways if np.linalg.norm(way) > SHORTEST * size)
    uprights = [np.eye(3)[up], np.eye(3)[(up + 1) % 3]]
    upright = next(v for one in uprights if np.linalg.norm(v := one - (one @ forward) * forward) > 0.2)
    upright /= np.linalg.norm(upright)
    labels = f"to the right of the shot [{unit}]", f"above the shot [{unit}]"
    return View("as seen along the shot", labels, np.array([np.cross(forward, upright), upright, forward]), at)


def shot_figure(
    method: str, scene: Scene, shot: DrawnShot, title: str, path: str | PathLike[str] | None, unit: str,
    focus: ArrayLike | None = None, now: Limbs | None = None, below: Callable[[Any], None] | None = None,
) -> "Figure":  # fmt: skip
    """The figure of a shot at a scene; `below` draws the panel below it.

    It shows the character that is hit or missed, or those in `focus`. `now`: limbs that are also drawn, dashed.
    """
    limbs = scene.limbs
    about = scene.rows_of(focus) if focus is not None or shot.limb == NO_LIMB else scene.about(shot.limb)
    size = _size(scene, about)
    point = shot.point if shot.point is not None else 0.5 * (shot.start + shot.end)
    points = np.concatenate([point[None], *surfaces(limbs, about)])
    points = np.clip(points, point - size, point + size) if focus is None else points
    along, above = along_shot(shot, scene.up, size, unit), _map_view(shot, scene.up, unit)
    gap, extent = shot.gap, float(np.ptp(along.flat(points), axis=0).max())
    close = CLOSEST * size < gap < CLOSE * extent
    panels = ["along", *(["close"] if close else []), "map"]
    figure = new_figure(method, 5.0 * len(panels), 6.0 if below is None else 6.8)
    rows: list[Any] = [panels, ["below"] * len(panels)][: 1 if below is None else 2]
    axes = figure.subplot_mosaic(rows, height_ratios=[7, 1][: len(rows)])
    seen = np.concatenate([points, along.origin[None]])
    _draw(axes["along"], along, scene, shot, about, seen)
    if close:
        middle = 0.5 * (along.origin + point)
        corners = middle + CLOSE_UP * 0.5 * gap * np.array([[-1.0], [1.0]]) * along.axes[:2].sum(axis=0)
        _draw(axes["close"], along._replace(title="close up"), scene, shot, about, corners, FINE)
    way = np.clip([shot.start, *shot.inside[shot.counts, 1]], point - FARTHEST * size, point + FARTHEST * size)
    _draw(axes["map"], above, scene, shot, about, np.concatenate([points, way]))
    if now is not None:
        live = np.flatnonzero(np.isin(now.character, limbs.character[about]) & (now.character >= 0)).tolist()
        for name, view in (("along", along), ("map", above)):
            draw_now(axes[name], view, now, live)
    _legend(axes, scene, shot, unit, now is not None)
    if below is not None:
        below(axes["below"])
    return finished(figure, title, path)


def _size(scene: Scene, about: Int64Array) -> float:
    """The extent shown around the point of a shot: the size of its target, of a wall at most the size of a person."""
    points = list(surfaces(scene.limbs, about))
    own = float(np.ptp(np.concatenate(points), axis=0).max()) if points else 0.0
    if not points or not scene.is_wall[about].all():
        return own or PERSON
    people = [np.ptp(scene.limbs.p1[scene.limbs.character == one], axis=0).max() for one in scene.characters.tolist()]
    return min(own, float(np.median(people)) if people else PERSON)


def _map_view(shot: DrawnShot, up: int, unit: str) -> View:
    """The view from above; for a shot that goes up or down, the view from the side."""
    step = np.abs(shot.end - shot.start)
    _, side, above = axis_views(up, unit)
    return side if step[up] > 0.9 * float(np.linalg.norm(step)) else above


def _draw(
    axes: Any, view: View, scene: Scene, shot: DrawnShot, about: Int64Array, points: Float64Array, corners: int = AROUND
) -> None:
    """Draw one view of the shot, in a window around points (n, 3)."""
    window(axes, view, points)
    limbs, mine, is_wall = scene.limbs, about.tolist(), scene.is_wall
    crossed, counted = (rows[~is_wall[rows]].tolist() for rows in (shot.crossed, shot.crossed[shot.counts]))
    colors = dict.fromkeys(np.flatnonzero(~is_wall).tolist(), OTHERS) | dict.fromkeys(mine, TARGET)
    colors |= dict.fromkeys(crossed, CROSSED) | dict.fromkeys(counted, pale(HIT))
    if shot.limb != NO_LIMB:
        colors[shot.limb] = pale(HIT) if shot.hit else pale(GAP, 0.3)
    depths = view.depths(limbs)
    middle = float(depths[about].mean()) if len(about) else 0.0
    walls = [i for i in np.flatnonzero(is_wall).tolist() if i not in colors]
    if view.title != FROM_ABOVE:  # skip limbs behind the start, and walls behind the character
        from_start = float((shot.start - view.origin) @ view.axes[2])
        colors = {i: color for i, color in colors.items() if depths[i] > from_start or i in mine or i in crossed}
        begins = [(points - view.origin).dot(view.axes[2]).min() for points in surfaces(limbs, walls)]
        walls = [i for i, depth in zip(walls, begins, strict=True) if depth < middle]
    draw_walls(axes, view, limbs, [i for i in walls if depths[i] >= middle])
    missed_limb = {shot.limb: colors.pop(shot.limb)} if shot.limb in colors and not shot.hit else {}
    for drawn in (colors, missed_limb):  # the missed limb is drawn over limbs in front of it
        draw_limbs(axes, view, limbs, list(drawn), list(drawn.values()), corners)
    draw_walls(axes, view, limbs, [i for i in walls if depths[i] < middle])
    _draw_ray(axes, view, shot)


def _draw_ray(axes: Any, view: View, shot: DrawnShot) -> None:
    """Draw the ray with an arrow, its stretches inside limbs, and its hit point or the gap of a miss."""
    ends = view.flat(np.array([shot.start, shot.end]))
    (left, right), (low, high) = axes.get_xlim(), axes.get_ylim()
    if np.linalg.norm(ends[1] - ends[0]) > 0.01 * (right - left):
        axes.plot(*ends.T, color=LINE, linewidth=1.2)
        tail, head = visible(ends, np.array([left, low]), np.array([right, high]))
        tip = tail + ARROW * (head - tail)
        axes.annotate("", tip, tail, arrowprops={"arrowstyle": "-|>", "color": LINE, "shrinkA": 0, "shrinkB": 0})
        for stretch, counts in zip(shot.inside, shot.counts.tolist(), strict=True):
            axes.plot(*view.flat(stretch).T, color=HIT if counts else CROSSED, linewidth=3.0 if counts else 2.0)
    if shot.ray_point is not None and shot.point is not None:
        axes.plot(*view.flat(np.array([shot.ray_point, shot.point])).T, color=GAP, linewidth=2.0)
        axes.plot(*view.flat(shot.ray_point[None]).T, marker="x", markersize=9, markeredgewidth=2.0, color=LINE)
    elif shot.point is not None:
        axes.plot(*view.flat(shot.point[None]).T, marker="o", markersize=7, color=HIT, markeredgecolor="white")
    if shot.radius > 0.0 and view.title != FROM_ABOVE:
        turn = np.linspace(0.0, 2.0 * np.pi, 90)
        axes.plot(shot.radius * np.cos(turn), shot.radius * np.sin(turn), color=LINE, linewidth=0.8, linestyle=":")


def _legend(panels: Any, scene: Scene, shot: DrawnShot, unit: str, has_now: bool) -> None:
    """Add the legend."""
    axes = panels["along"]
    if shot.limb != NO_LIMB:
        verdict, color = ("hit", pale(HIT)) if shot.hit else ("nearest", pale(GAP, 0.3))
        key(axes, f"{verdict}: {shot.named(scene)}", facecolor=color)
    if shot.ray_point is not None:
        axes.plot([], [], color=GAP, linewidth=2.0, label=f"gap: {shot.gap:.4g} {unit}")
        axes.plot([], [], linestyle="", marker="x", color=LINE, label="the shot")
    elif shot.point is not None:
        axes.plot([], [], linestyle="", marker="o", color=HIT, label="where it hits")
    if _has(panels["map"], CROSSED):
        key(axes, "also crossed", facecolor=CROSSED)
    add_keys(axes, _has(axes, WALL) or _has(panels["map"], WALL), has_now)


def _has(axes: Any, color: str) -> bool:
    """Whether anything is drawn in a colour."""
    from matplotlib.colors import same_color  # noqa: PLC0415  # an extra

    return any(same_color(one[:3], color) for drawn in axes.collections for one in drawn.get_facecolor())
