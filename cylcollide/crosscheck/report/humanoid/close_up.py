"""The close-up of a worst ray: the limbs cut open in the plane of the bullet's path and the surface normal.

In that plane the path is the horizontal axis and a gap between bullet and limb is seen in its true size, which no view
from outside can show: the errors are a hundredth of a limb.
"""

from typing import Any

import numpy as np
import plotly.graph_objects as go

from cylcollide._types import Float64Array
from cylcollide.crosscheck.judge.result import CrosscheckResult
from cylcollide.crosscheck.report.chart_style import COLORS
from cylcollide.crosscheck.report.humanoid.view_3d import cylinder_rings, limb_colors, outward
from cylcollide.crosscheck.report.worst import WorstRay

CORNERS = 1440
"""Corners of a cut limb: they keep its outline within 3 millionths of its radius."""

MM = 1000.0


def section(result: CrosscheckResult, ray: WorstRay) -> go.Figure:
    """Draw one ray's close-up.

    The origin is the true hit, or the engine's where there is no true one; millimetres along the path to the right,
    millimetres out of the limb upwards.
    """
    path, out = outward(ray)
    frame = MM * np.stack([path, out, np.cross(path, out)])
    points = np.array([p for p in (ray.position_true, ray.position_engine) if not np.isnan(p).any()])
    along = (points - points[0]) @ frame[0]
    # Twice the distance between the two answers, or a few gaps (cuts) where there is but one answer.
    half = max(0.9 * float(np.ptp(along)) if len(points) > 1 else 3.0 * MM * float(np.nan_to_num(ray.severity)), 0.02)
    figure, middle = go.Figure(), float(along.mean())
    for limb in ray.limbs:
        _add_limb(figure, result, ray.pose, limb, frame, points[0])
    add_path(figure, (middle - 9.0 * half, middle + 9.0 * half), middle - 0.8 * half)
    for name, position, normal, color, symbol in (
        ("true hit", ray.position_true, ray.normal_true, COLORS["true"], "circle"),
        ("reported hit", ray.position_engine, ray.normal_engine, COLORS["early"], "diamond"),
    ):
        if not np.isnan(position).any():
            at = float((np.array(position) - points[0]) @ frame[0])
            add_hit(figure, name, at, 0.45 * half * (frame @ np.array(normal)) / MM, color, symbol)
    figure.update_xaxes(title="mm along the path", range=[middle - half, middle + half], zeroline=False)
    figure.update_yaxes(title="mm outward", scaleanchor="x", range=[-0.9 * half, 0.9 * half], zeroline=False)
    figure.update_layout(showlegend=False)
    return figure


def outline(rim1: Float64Array, rim2: Float64Array) -> Float64Array | None:
    """Where the plane z = 0 cuts a cylinder: corners in order around (n, 2), or None if it passes by.

    Parameters
    ----------
    rim1, rim2
        Corners of the two rims, (c, 3) each, in the frame of the plane.
    """
    tails = np.concatenate([rim1, rim1, rim2])
    heads = np.concatenate([rim2, np.roll(rim1, -1, axis=0), np.roll(rim2, -1, axis=0)])
    crossing = (tails[:, 2] < 0.0) != (heads[:, 2] < 0.0)
    if crossing.sum() < 3:
        return None
    tails, heads = tails[crossing], heads[crossing]
    share = tails[:, 2:] / (tails[:, 2:] - heads[:, 2:])
    cut: Float64Array = (tails + share * (heads - tails))[:, :2]
    around = cut - cut.mean(axis=0)
    return cut[np.argsort(np.arctan2(around[:, 1], around[:, 0]))]


def _add_limb(
    figure: go.Figure, result: CrosscheckResult, pose: int, limb: int, frame: Float64Array, origin: Float64Array
) -> None:
    poses = result.poses
    rims = cylinder_rings(poses.p1[pose, limb], poses.p2[pose, limb], float(poses.radius[limb]), CORNERS)
    cut = outline(*((rim - origin) @ frame.T for rim in rims))
    if cut is not None:
        color, name = limb_colors(len(poses.limb_names))[limb], poses.limb_names[limb].replace("_", " ")
        figure.add_scatter(
            x=cut[:, 0],
            y=cut[:, 1],
            fill="toself",
            mode="lines",
            line={"color": color, "width": 1.5},
            name=name,
            fillcolor=color + "80",
            hoveron="fills",
            hoverinfo="name",
        )


def add_path(
    figure: go.Figure, ends: tuple[float, float], arrow: float, drawn: tuple[bool, bool] = (False, False)
) -> None:
    """The bullet's path between two places on the axis with an arrow head at a third; ends marked if ``drawn``."""
    marks: dict[str, Any] = {
        "symbol": ["circle", "triangle-right", "square"],
        "size": [9 * drawn[0], 13 * (ends[0] < arrow < ends[1]), 8 * drawn[1]],
    }
    figure.add_scatter(
        x=[ends[0], arrow, ends[1]] if ends[0] < arrow < ends[1] else [ends[0], ends[0], ends[1]],
        y=[0.0, 0.0, 0.0],
        mode="lines+markers",
        line={"width": 2},
        marker=marks,
        meta="path",
        name="bullet",
        hoverinfo="name",
    )


def add_hit(figure: go.Figure, name: str, at: float, normal: Float64Array, color: str, symbol: str) -> None:
    """One answer: the point on the path and the normal as far as it lies in the plane."""
    figure.add_scatter(
        x=[at, at + float(normal[0])],
        y=[0.0, float(normal[1])],
        mode="lines+markers",
        name=name,
        hoverinfo="name+x",
        line={"width": 3, "color": color},
        marker={"size": [11, 0], "symbol": symbol, "color": color},
    )
