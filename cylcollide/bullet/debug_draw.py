"""Wireframes for PyBullet's debug lines."""

from collections.abc import Iterable
from typing import TypeAlias

import numpy as np

from cylcollide._types import Float64Array
from cylcollide.bullet.client import Client
from cylcollide.bullet.plane import Sheet
from cylcollide.bullet.tuples import RayTestResult
from cylcollide.limbs.wireframe import across, outlines

Color: TypeAlias = tuple[float, float, float]
"""Red, green and blue, 0 to 1."""

CROSS = 0.02  # half length of a hit's cross, in metres
FIELD = 1.0  # half width of the square drawn for a plane, in metres

__all__ = ["Color", "crosses", "outlines", "redraw", "sheet_outline"]


def redraw(client: Client, drawn: list[int], lines: Iterable[tuple[Float64Array, Color]]) -> list[int]:
    """Remove what was drawn, draw lines (m, 2, 3) in their colours; returns what is drawn, which only a window has."""
    for item in drawn:
        client.removeUserDebugItem(item)
    items = [
        int(client.addUserDebugLine(*line.tolist(), lineColorRGB=list(color)))
        for of_color, color in lines
        for line in of_color
    ]
    return [item for item in items if item >= 0]


def sheet_outline(sheet: Sheet) -> Float64Array:
    """A square in the plane and its normal: five lines (5, 2, 3)."""
    normal = np.array(sheet.normal) / np.linalg.norm(sheet.normal)
    u, v = FIELD * across(normal)
    corners = np.array(sheet.point) + np.array([u + v, u - v, -u - v, v - u])
    edges = np.stack([corners, np.roll(corners, -1, axis=0)], axis=1)
    return np.concatenate([edges, [[np.array(sheet.point), np.array(sheet.point) + normal]]])


def crosses(hits: Iterable[RayTestResult]) -> Float64Array:
    """Three short lines through every hit, (3 m, 2, 3); misses have none."""
    points = np.array([hit[3] for hit in hits if hit[0] >= 0], dtype=np.float64).reshape(-1, 1, 3)
    arms = CROSS * np.eye(3)
    return np.stack([points - arms, points + arms], axis=2).reshape(-1, 2, 3)
