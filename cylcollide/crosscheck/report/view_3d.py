"""The worst cases in three dimensions, limbs as meshes, path and both answers, and beside each view its cut."""

import colorsys
from collections.abc import Sequence
from typing import Any

import numpy as np
import plotly.graph_objects as go

from cylcollide._types import Float64Array, Int32Array
from cylcollide.crosscheck.cases.case import Case
from cylcollide.crosscheck.generate.target import across, unit
from cylcollide.crosscheck.records import JsonObject
from cylcollide.crosscheck.report.case_choice import Drawn
from cylcollide.crosscheck.report.chart_style import COLORS
from cylcollide.crosscheck.report.close_up import ANSWERS, cut, outward
from cylcollide.crosscheck.report.rendering import bare

CORNERS = 40
"""Corners of a drawn circle."""
UP = np.array([0.0, 1.0, 0.0])
"""The humanoid's data has y up."""
NEARER, FARTHER = 1.35, 1.755
"""Distance of the eye by half the view: one or two limbs fill the view more than a character does."""
LIGHT = {
    "lighting": {"ambient": 0.62, "diffuse": 0.55, "specular": 0.08, "roughness": 0.9, "fresnel": 0.05},
    "lightposition": {"x": 2000, "y": 8000, "z": 4000},
}


def views(calibrations: Sequence[JsonObject], cases: Sequence[Case]) -> JsonObject:
    """All the page needs to draw the cases, about the centres of their limbs.

    Returns
    -------
    dict
        ``poses``: traces of the limbs by case; ``rays``: for each case its ``pose``, the traces of its ``answers``,
        the ``layout`` of the view, and the cut beside it, ``section``.
    """
    places = {str(rank): Drawn.of(case, calibrations) for rank, case in enumerate(cases, 1)}
    return {
        "poses": {rank: _limbs(place).to_dict()["data"] for rank, place in places.items()},
        "rays": [{"pose": rank, **_view(place), "section": bare(cut(place))} for rank, place in places.items()],
    }


def cylinder_mesh(
    p1: Float64Array, p2: Float64Array, radius: float, corners: int = CORNERS
) -> tuple[Float64Array, Int32Array]:
    """Points (4 c + 2, 3) and triangles (4 c, 3) of a cylinder; wall and caps share no point, so rims stay sharp."""
    axis = unit(p2 - p1)
    first = across(axis)
    turn = np.linspace(0.0, 2.0 * np.pi, corners, endpoint=False)[:, None]
    ring = radius * (np.cos(turn) * first + np.sin(turn) * np.cross(axis, first))
    points = np.concatenate([p1 + ring, p2 + ring, p1 + ring, p2 + ring, [p1, p2]])
    here, n = np.arange(corners), corners
    there, one = np.roll(here, -1), np.ones_like(here)
    wall = (here, there, here + n), (there, there + n, here + n)
    caps = (there + 2 * n, here + 2 * n, 4 * n * one), (here + 3 * n, there + 3 * n, (4 * n + 1) * one)
    return points, np.concatenate([np.stack(rows, axis=1) for rows in (*wall, *caps)]).astype(np.int32)


def limb_colors(count: int) -> list[str]:
    """Soft colours whose hues lie a golden angle apart, so that neighbours differ."""
    shades = (colorsys.hls_to_rgb(0.58 + 0.381966 * i, 0.64, 0.42) for i in range(count))
    return ["#" + "".join(f"{round(255 * c):02x}" for c in shade) for shade in shades]


def _limbs(place: Drawn) -> go.Figure:
    """One mesh per limb and the rims of all of them as lines."""
    figure, rims = go.Figure(), []
    for limb, color in enumerate(limb_colors(len(place.p1))):
        points, triangles = cylinder_mesh(place.p1[limb], place.p2[limb], place.case.radius[limb])
        mesh: dict[str, Any] = dict(zip("xyzijk", (*points.astype(np.float32).T, *triangles.T), strict=True))
        figure.add_mesh3d(**mesh, color=color, name=place.case.name(limb), hoverinfo="name", **LIGHT)
        for rim in (points[:CORNERS], points[CORNERS : 2 * CORNERS]):
            rims += [rim, rim[:1], np.full((1, 3), np.nan)]
    _add_line(figure, np.concatenate(rims), "ink", 1.5)
    return figure


def _view(place: Drawn) -> JsonObject:
    """The answers, seen from where the hit faces the viewer and the path runs across."""
    reach = max(place.case.radius)
    low, high = np.minimum(place.p1, place.p2).min(axis=0) - reach, np.maximum(place.p1, place.p2).max(axis=0) + reach
    center, half = (low + high) / 2.0, float((high - low).max()) / 2.0
    path, figure = place.direction, go.Figure()
    # A segment of no length gets one that cannot be seen.
    end = place.end if place.case.length else place.start + 1e-6 * place.radius * path
    seen = _clip(place.start, end, center, half)
    _add_line(figure, seen, "path", 5.0, name="path")
    at, along = seen[0] + 0.2 * (seen[1] - seen[0]), unit(seen[1] - seen[0])
    arrow = {name: [float(number)] for name, number in zip("xyzuvw", (*at, *along), strict=True)}
    look = {"sizemode": "raw", "sizeref": 0.4 * (0.25 * half), "anchor": "center", "showscale": False, "meta": "path"}
    figure.add_cone(**arrow, **look, hoverinfo="skip", lighting={"ambient": 0.9, "diffuse": 0.2})
    for side, name, color, symbol in ANSWERS:
        position = place.hit(side)
        if position is not None:
            _add_line(figure, np.array([position, position + 0.25 * half * place.normal(side)]), color, 6.0, name=name)
            x, y, z = ([c] for c in position.tolist())
            marker = {"size": 6, "color": COLORS[color], "symbol": symbol}
            figure.add_scatter3d(x=x, y=y, z=z, mode="markers", name=name, marker=marker, hoverinfo="name")
    eye = (NEARER if len(place.p1) > 2 else FARTHER) * unit(outward(place) + 0.3 * UP - 0.3 * path)
    places = {"eye": eye, "up": UP, "center": np.zeros(3)}
    camera = {name: dict(zip("xyz", place.tolist(), strict=True)) for name, place in places.items()}
    ranges = {
        f"{name}axis": {"range": [float(middle - half), float(middle + half)], "visible": False}
        for name, middle in zip("xyz", center, strict=True)
    }
    return {"answers": figure.to_dict()["data"], "layout": {**ranges, "aspectmode": "cube", "camera": camera}}


def _add_line(figure: go.Figure, points: Float64Array, color: str, width: float, name: str = "") -> None:
    """A line through points (n, 3), broken at nan; ``ink`` and ``path`` are coloured by the page."""
    x, y, z = points.astype(np.float32).T
    line = {"width": width} if color in ("ink", "path") else {"width": width, "color": COLORS[color]}
    hover = "name" if name else "skip"
    figure.add_scatter3d(x=x, y=y, z=z, mode="lines", line=line, meta=color, name=name, hoverinfo=hover)


def _clip(start: Float64Array, end: Float64Array, center: Float64Array, half: float) -> Float64Array:
    """The piece of a segment that lies in the cube of half width ``half``, (2, 3)."""
    path = end - start
    with np.errstate(divide="ignore", invalid="ignore"):
        walls = np.sort(np.stack([(center - half - start) / path, (center + half - start) / path]), axis=0)
    low, high = np.nanmax(walls[0], initial=0.0), np.nanmin(walls[1], initial=1.0)
    piece: Float64Array = start + np.array([[low], [high]]) * path
    return piece
