"""The 3D view of the worst rays: the character as cylinder meshes, the bullet's path and both answers."""

import colorsys
from typing import Any

import numpy as np
import plotly.graph_objects as go

from cylcollide._types import Float64Array, Int32Array
from cylcollide.crosscheck.judge.result import Poses
from cylcollide.crosscheck.report.chart_style import COLORS
from cylcollide.crosscheck.report.worst import WorstRay

CORNERS = 40
"""Corners of a drawn circle."""

UP = np.array([0.0, 1.0, 0.0])
"""The humanoid's data has y up."""


def scene(poses: Poses, worst: list[WorstRay]) -> dict[str, Any]:
    """All the page needs to draw the worst rays.

    Returns
    -------
    dict
        ``poses``: traces of the character by row of Poses; ``rays``: for each worst ray its ``pose``, the traces of
        its ``answers`` and the ``layout`` of the view.
    """
    return {
        "poses": {str(pose): _character(poses, pose).to_dict()["data"] for pose in {ray.pose for ray in worst}},
        "rays": [_ray_view(poses, ray) for ray in worst],
    }


def cylinder_rings(
    p1: Float64Array, p2: Float64Array, radius: float, corners: int
) -> tuple[Float64Array, Float64Array]:
    """Corners of both rims, (corners, 3) each; equal rows lie on one line along the wall."""
    first, second = across(p2 - p1)
    turn = np.linspace(0.0, 2.0 * np.pi, corners, endpoint=False)[:, None]
    ring = radius * (np.cos(turn) * first + np.sin(turn) * second)
    return p1 + ring, p2 + ring


def cylinder_mesh(
    p1: Float64Array, p2: Float64Array, radius: float, corners: int = CORNERS
) -> tuple[Float64Array, Int32Array]:
    """Points (4 c + 2, 3) and triangles (4 c, 3) of a cylinder; wall and caps share no point, so rims stay sharp."""
    rim1, rim2 = cylinder_rings(p1, p2, radius, corners)
    points = np.concatenate([rim1, rim2, rim1, rim2, [p1, p2]])
    here, n = np.arange(corners), corners
    there, one = np.roll(here, -1), np.ones_like(here)
    triangles = np.concatenate(
        [
            np.stack([here, there, here + n], axis=1),
            np.stack([there, there + n, here + n], axis=1),
            np.stack([there + 2 * n, here + 2 * n, 4 * n * one], axis=1),
            np.stack([here + 3 * n, there + 3 * n, (4 * n + 1) * one], axis=1),
        ]
    )
    return points, triangles.astype(np.int32)


def limb_colors(count: int) -> list[str]:
    """Soft colours whose hues lie a golden angle apart, so that neighbours differ."""
    shades = (colorsys.hls_to_rgb(0.58 + 0.381966 * i, 0.64, 0.42) for i in range(count))
    return ["#" + "".join(f"{round(255 * c):02x}" for c in shade) for shade in shades]


def unit(vector: Float64Array) -> Float64Array:
    """The vector at length 1."""
    scaled: Float64Array = vector / np.linalg.norm(vector)
    return scaled


def across(axis: Float64Array) -> tuple[Float64Array, Float64Array]:
    """Two unit vectors at right angles to ``axis`` and to each other."""
    first = unit(np.cross(axis, np.eye(3)[int(np.argmin(np.abs(axis)))]))
    return first, np.cross(unit(axis), first)


def outward(ray: WorstRay) -> tuple[Float64Array, Float64Array]:
    """Unit vectors along the bullet's path and, at right angles to it, out of the limb that is said to be hit first."""
    path = unit(np.subtract(ray.end, ray.start))
    engine_first = ray.limb_true < 0 or (ray.limb_engine != ray.limb_true and ray.fraction_engine < ray.fraction_true)
    normal = np.array(ray.normal_engine if engine_first else ray.normal_true)
    aside = normal - (normal @ path) * path
    # A bullet straight along the normal has no outward side: any will do.
    return path, unit(aside) if np.linalg.norm(aside) > 1e-6 else across(path)[0]


def _character(poses: Poses, pose: int) -> go.Figure:
    """One mesh per limb and the rims of all of them as lines."""
    figure, rims = go.Figure(), []
    colors = limb_colors(len(poses.limb_names))
    for limb, (name, radius) in enumerate(zip(poses.limb_names, poses.radius.tolist(), strict=True)):
        points, triangles = cylinder_mesh(poses.p1[pose, limb], poses.p2[pose, limb], radius)
        x, y, z = points.astype(np.float32).T
        i, j, k = triangles.T
        figure.add_mesh3d(
            x=x,
            y=y,
            z=z,
            i=i,
            j=j,
            k=k,
            color=colors[limb],
            name=name.replace("_", " "),
            hoverinfo="name",
            lighting={"ambient": 0.62, "diffuse": 0.55, "specular": 0.08, "roughness": 0.9, "fresnel": 0.05},
            lightposition={"x": 2000, "y": 8000, "z": 4000},
        )
        for rim in (points[:CORNERS], points[CORNERS : 2 * CORNERS]):
            rims += [rim, rim[:1], np.full((1, 3), np.nan)]
    _add_line(figure, np.concatenate(rims), "ink", 1.5)
    return figure


def _ray_view(poses: Poses, ray: WorstRay) -> dict[str, Any]:
    """One ray at the whole character, seen from where the hit faces the viewer and the path runs across."""
    p1, p2 = poses.p1[ray.pose], poses.p2[ray.pose]
    reach = float(poses.radius.max())
    low, high = np.minimum(p1, p2).min(axis=0) - reach, np.maximum(p1, p2).max(axis=0) + reach
    center, half = (low + high) / 2.0, float((high - low).max()) / 2.0
    path, out = outward(ray)
    figure = go.Figure()
    _add_answers(figure, ray, _clip(np.array(ray.start), np.array(ray.end), center, half), 0.25 * half)
    layout: dict[str, Any] = {
        f"{name}axis": {"range": [float(middle - half), float(middle + half)], "visible": False}
        for name, middle in zip("xyz", center, strict=True)
    }
    eye = 1.35 * unit(out + 0.3 * UP - 0.3 * path)
    layout["aspectmode"] = "cube"
    layout["camera"] = {"eye": _xyz(eye), "up": _xyz(UP), "center": _xyz(np.zeros(3))}
    return {"pose": str(ray.pose), "answers": figure.to_dict()["data"], "layout": layout}


def _add_answers(figure: go.Figure, ray: WorstRay, path: Float64Array, size: float) -> None:
    """The bullet's path with an arrow, and of each side that says hit the point and the normal."""
    _add_line(figure, path, "path", 5.0, name="bullet")
    along = unit(path[1] - path[0])
    x, y, z, u, v, w = ([float(c)] for c in (*(path[0] + 0.2 * (path[1] - path[0])), *along))
    figure.add_cone(
        x=x,
        y=y,
        z=z,
        u=u,
        v=v,
        w=w,
        sizemode="raw",
        sizeref=0.4 * size,
        anchor="center",
        showscale=False,
        meta="path",
        hoverinfo="skip",
        lighting={"ambient": 0.9, "diffuse": 0.2},
    )
    for name, position, normal, color, symbol in (
        ("true hit", ray.position_true, ray.normal_true, COLORS["true"], "circle"),
        ("reported hit", ray.position_engine, ray.normal_engine, COLORS["early"], "diamond"),
    ):
        if not np.isnan(position).any():
            _add_line(figure, np.array([position, np.add(position, np.multiply(size, normal))]), color, 6.0, name=name)
            x, y, z = ([c] for c in position)
            marker = {"size": 6, "color": color, "symbol": symbol}
            figure.add_scatter3d(x=x, y=y, z=z, mode="markers", name=name, marker=marker, hoverinfo="name")


def _add_line(figure: go.Figure, points: Float64Array, color: str, width: float, name: str = "") -> None:
    """A line through points (n, 3), broken at nan; ``ink`` and ``path`` are coloured by the page."""
    x, y, z = points.astype(np.float32).T
    line = {"width": width} if color in ("ink", "path") else {"width": width, "color": color}
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


def _xyz(vector: Float64Array) -> dict[str, float]:
    return dict(zip("xyz", vector.tolist(), strict=True))
