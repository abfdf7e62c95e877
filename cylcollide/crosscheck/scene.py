"""The 3D view of the worst rays: the character as cylinder meshes, the bullet's path and both answers.

Each ray has two views. ``body`` shows the whole character; ``close`` looks along the limb's axis, without perspective,
at a window a few times as wide as the error, so that a gap between bullet and limb is seen in its true size.
"""

import colorsys
from typing import Any

import numpy as np
import plotly.graph_objects as go

from cylcollide._types import Float64Array
from cylcollide.crosscheck.figures import COLORS
from cylcollide.crosscheck.result import CrosscheckResult
from cylcollide.crosscheck.worst import WorstRay

COARSE, FINE = 40, 720
"""Corners of a drawn circle. FINE keeps the drawn limb within 10 ppm of its radius, below every gap worth drawing."""

UP = np.array([0.0, 1.0, 0.0])
"""The humanoid's data has y up."""

Triangles = np.ndarray[tuple[int, int], np.dtype[np.int32]]


def scene(result: CrosscheckResult, worst: list[WorstRay]) -> dict[str, Any]:
    """All the page needs to draw the worst rays.

    Returns
    -------
    dict
        ``poses``: traces of the character by row of Poses; ``rays``: for each worst ray its pose and, by view, the
        traces to add, the numbers of the pose's traces to leave out, and the layout of the scene.
    """
    poses = {ray.pose: _character(result, ray.pose) for ray in worst}
    return {
        "poses": {str(pose): figure.to_dict()["data"] for pose, figure in poses.items()},
        "rays": [
            {"pose": str(ray.pose), "views": {"body": _body_view(result, ray), "close": _close_view(result, ray)}}
            for ray in worst
        ],
    }


def cylinder_mesh(p1: Float64Array, p2: Float64Array, radius: float, corners: int) -> tuple[Float64Array, Triangles]:
    """Points (4 c + 2, 3) and triangles (4 c, 3) of a cylinder; side and caps share no point, so rims stay sharp."""
    first, second = _across(p2 - p1)
    turn = np.linspace(0.0, 2.0 * np.pi, corners, endpoint=False)[:, None]
    ring = radius * (np.cos(turn) * first + np.sin(turn) * second)
    points = np.concatenate([p1 + ring, p2 + ring, p1 + ring, p2 + ring, [p1, p2]])
    here = np.arange(corners)
    there = np.roll(here, -1)
    n, one = corners, np.ones_like(here)
    triangles = np.concatenate(
        [
            np.stack([here, there, here + n], axis=1),
            np.stack([there, there + n, here + n], axis=1),
            np.stack([there + 2 * n, here + 2 * n, 4 * n * one], axis=1),
            np.stack([here + 3 * n, there + 3 * n, (4 * n + 1) * one], axis=1),
        ]
    ).astype(np.int32)
    return points, triangles


def limb_colors(count: int) -> list[str]:
    """Soft colours whose hues lie a golden angle apart, so that neighbours differ."""
    shades = (colorsys.hls_to_rgb(0.58 + 0.381966 * i, 0.64, 0.42) for i in range(count))
    return ["#" + "".join(f"{round(255 * c):02x}" for c in shade) for shade in shades]


def _character(result: CrosscheckResult, pose: int) -> go.Figure:
    """One mesh per limb, in order, and last the rims of all of them as lines."""
    figure, poses = go.Figure(), result.poses
    for limb in range(len(poses.limb_names)):
        _add_limb(figure, result, pose, limb, COARSE)
    rims = []
    for limb, radius in enumerate(poses.radius.tolist()):
        points, _ = cylinder_mesh(poses.p1[pose, limb], poses.p2[pose, limb], radius, COARSE)
        for ring in (points[:COARSE], points[COARSE : 2 * COARSE]):
            rims += [ring, ring[:1], np.full((1, 3), np.nan)]
    _add_line(figure, np.concatenate(rims), "ink", 1.5)
    return figure


def _body_view(result: CrosscheckResult, ray: WorstRay) -> dict[str, Any]:
    """The whole character, seen from the side of the bullet's path and from where the hit faces the viewer."""
    p1, p2 = result.poses.p1[ray.pose], result.poses.p2[ray.pose]
    reach = float(result.poses.radius.max())
    low = np.minimum(p1, p2).min(axis=0) - reach
    high = np.maximum(p1, p2).max(axis=0) + reach
    center, half = (low + high) / 2, float((high - low).max()) / 2 + 0.05
    path = _unit(np.subtract(ray.end, ray.start))
    sideways = np.cross(path, UP)
    sideways = _unit(sideways) if np.linalg.norm(sideways) > 0.1 else np.array([1.0, 0.0, 0.0])
    normal = _known(ray.normal_true, ray.normal_engine)
    eye = sideways * (1.0 if sideways @ normal >= 0.0 else -1.0) + 0.3 * normal + 0.25 * UP - 0.25 * path
    figure = _answers(ray, center, half, 0.3 * half)
    return _view(figure, [], center, half, 1.45 * _unit(eye), UP, "perspective")


def _close_view(result: CrosscheckResult, ray: WorstRay) -> dict[str, Any]:
    """The surroundings of both answers, seen along the axis of the limb that the engine (else the truth) credits."""
    points = np.array([p for p in (ray.position_true, ray.position_engine) if not np.isnan(p).any()])
    center = points.mean(axis=0)
    spread = float(np.linalg.norm(points - center, axis=1).max())
    half = max(1.6 * spread, 4.0 * np.nan_to_num(ray.severity if spread == 0.0 else 0.0), 5e-4)
    subject = ray.limb_engine if ray.limb_engine >= 0 else ray.limb_true
    axis = _unit(result.poses.p2[ray.pose, subject] - result.poses.p1[ray.pose, subject])
    normal = _known(ray.normal_engine, ray.normal_true)
    figure = _answers(ray, center, half, 0.5 * half)
    for limb in ray.limbs:
        _add_limb(figure, result, ray.pose, limb, FINE)
    # A hit on a cap is seen from the side, one on the wall along the axis.
    path = _unit(np.subtract(ray.end, ray.start))
    eye = axis if abs(axis @ normal) < 0.7 else np.cross(normal, path)
    up = normal if np.linalg.norm(np.cross(normal, eye)) > 0.1 else _across(eye)[0]
    return _view(figure, list(ray.limbs), center, half, 1.6 * _unit(eye), up, "orthographic")


def _answers(ray: WorstRay, center: Float64Array, half: float, arrow: float) -> go.Figure:
    """The bullet's path inside the window, and of each side that says hit the point and the normal."""
    figure = go.Figure()
    path = _clip(np.array(ray.start), np.array(ray.end), center, half)
    _add_line(figure, path, "path", 5.0, name="bullet")
    _add_arrow(figure, path, arrow)
    for name, position, normal, color, symbol in (
        ("true hit", ray.position_true, ray.normal_true, COLORS["true"], "circle"),
        ("engine's hit", ray.position_engine, ray.normal_engine, COLORS["early"], "diamond"),
    ):
        if not np.isnan(position).any():
            x, y, z = position
            _add_line(figure, np.array([position, np.add(position, np.multiply(arrow, normal))]), color, 6.0, name=name)
            figure.add_scatter3d(
                x=[x], y=[y], z=[z], mode="markers", name=name, marker={"size": 6, "color": color, "symbol": symbol}
            )
    return figure


def _view(
    figure: go.Figure, hidden: list[int], center: Float64Array, half: float, eye: Float64Array, up: Float64Array, lens: str
) -> dict[str, Any]:
    """Traces and scene layout of one view, a cube of half width ``half`` around ``center``."""
    layout: dict[str, Any] = {
        f"{name}axis": {"range": [float(middle - half), float(middle + half)], "visible": False}
        for name, middle in zip("xyz", center, strict=True)
    }
    layout["aspectmode"] = "cube"
    layout["camera"] = {
        "eye": dict(zip("xyz", eye.tolist(), strict=True)),
        "up": dict(zip("xyz", up.tolist(), strict=True)),
        "center": {"x": 0, "y": 0, "z": 0},
        "projection": {"type": lens},
    }
    return {"data": figure.to_dict()["data"], "hidden": hidden, "scene": layout, "width": 2.0 * half}


def _add_limb(figure: go.Figure, result: CrosscheckResult, pose: int, limb: int, corners: int) -> None:
    poses = result.poses
    points, triangles = cylinder_mesh(poses.p1[pose, limb], poses.p2[pose, limb], float(poses.radius[limb]), corners)
    x, y, z = points.astype(np.float32).T
    i, j, k = triangles.T
    figure.add_mesh3d(
        x=x, y=y, z=z, i=i, j=j, k=k,
        color=limb_colors(len(poses.limb_names))[limb],
        name=poses.limb_names[limb].replace("_", " "),
        hovertemplate="%{fullData.name}<extra></extra>",
        lighting={"ambient": 0.62, "diffuse": 0.55, "specular": 0.08, "roughness": 0.9, "fresnel": 0.05},
        lightposition={"x": 2000, "y": 8000, "z": 4000},
    )  # fmt: skip


def _add_line(figure: go.Figure, points: Float64Array, color: str, width: float, name: str = "") -> None:
    """A line through points (n, 3), broken at nan; ``ink`` and ``path`` are coloured by the page."""
    x, y, z = points.astype(np.float32).T
    line = {"width": width} if color in ("ink", "path") else {"width": width, "color": color}
    figure.add_scatter3d(
        x=x, y=y, z=z, mode="lines", line=line, meta=color, name=name, hoverinfo="name" if name else "skip"
    )


def _add_arrow(figure: go.Figure, path: Float64Array, size: float) -> None:
    """A cone a third of the way in, so that one sees where the bullet comes from."""
    tip, along = path[0] + 0.25 * (path[1] - path[0]), _unit(path[1] - path[0])
    x, y, z, u, v, w = (
        [float(c)] for c in (*tip, *along)
    )
    figure.add_cone(
        x=x, y=y, z=z, u=u, v=v, w=w, sizemode="raw", sizeref=0.35 * size, anchor="center",
        showscale=False, meta="path", hoverinfo="skip", lighting={"ambient": 0.9, "diffuse": 0.2},
    )  # fmt: skip


def _clip(start: Float64Array, end: Float64Array, center: Float64Array, half: float) -> Float64Array:
    """The piece of a segment that lies in the cube, (2, 3)."""
    path = end - start
    with np.errstate(divide="ignore"):
        walls = np.sort(np.stack([(center - half - start) / path, (center + half - start) / path]), axis=0)
    low, high = np.nanmax(walls[0], initial=0.0), np.nanmin(walls[1], initial=1.0)
    clipped: Float64Array = start + np.array([[low], [high]]) * path
    return clipped


def _known(first: tuple[float, ...], second: tuple[float, ...]) -> Float64Array:
    return np.array(second if np.isnan(first).any() else first)


def _unit(vector: Float64Array) -> Float64Array:
    length: Float64Array = vector / np.linalg.norm(vector)
    return length


def _across(axis: Float64Array) -> tuple[Float64Array, Float64Array]:
    """Two unit vectors at right angles to ``axis`` and to each other."""
    helper = np.eye(3)[int(np.argmin(np.abs(axis)))]
    first = _unit(np.cross(axis, helper))
    return first, np.cross(_unit(axis), first)
