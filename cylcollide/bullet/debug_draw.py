"""Wireframes for PyBullet's debug lines, and the limbs of a history drawn in its window beside the present ones."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from typing import TYPE_CHECKING, Any, TypeAlias

import numpy as np

from cylcollide._types import Float64Array
from cylcollide.bullet.client import Client
from cylcollide.bullet.plane import Sheet
from cylcollide.bullet.tuples import RayTestResult
from cylcollide.limbs.meshes import frames_along
from cylcollide.limbs.outlines import outlines

if TYPE_CHECKING:
    from cylcollide.history.pose_history import PoseHistory

Color: TypeAlias = tuple[float, float, float]
"""Red, green and blue, 0 to 1."""

CROSS = 0.02  # half length of a hit's cross, in metres
FIELD = 1.0  # half width of the square drawn for a plane, in metres


def checked_color(values: Any, name: str) -> Color:
    """Three numbers from 0 to 1; ValueError for all else."""
    try:
        red, green, blue = map(float, values)
    except (TypeError, ValueError):
        red = green = blue = np.nan
    if not all(0.0 <= part <= 1.0 for part in (red, green, blue)):
        raise ValueError(f"{name}: expected red, green and blue from 0 to 1, got {values!r}; divide bytes by 255")
    return red, green, blue


def draw(client: Client, lines: Iterable[tuple[Float64Array, Color]], replaces: Iterable[int]) -> list[int]:
    """Draw lines (m, 2, 3) in their colours in place of earlier items; returns PyBullet's number of each line.

    Numbers below 0, as a client without a window returns them, stand for no item.
    """
    old, items = iter([item for item in replaces if item >= 0]), []
    for of_color, color in lines:
        for start, end in of_color.tolist():
            item = next(old, None)
            before = {} if item is None else {"replaceItemUniqueId": item}
            items.append(int(client.addUserDebugLine(start, end, lineColorRGB=list(color), **before)))
    for item in old:
        client.removeUserDebugItem(item)
    return items


def sheet_outline(sheet: Sheet) -> Float64Array:
    """A square in the plane and its normal: five lines (5, 2, 3)."""
    normal = np.array(sheet.normal) / np.linalg.norm(sheet.normal)
    u, v = FIELD * frames_along(normal[None])[0][0]
    corners = np.array(sheet.point) + np.array([u + v, u - v, -u - v, v - u])
    edges = np.stack([corners, np.roll(corners, -1, axis=0)], axis=1)
    return np.concatenate([edges, [[np.array(sheet.point), np.array(sheet.point) + normal]]])


def crosses(hits: Iterable[RayTestResult]) -> Float64Array:
    """Three short lines through every hit, (3 m, 2, 3); misses have none. ValueError for anything else."""
    try:
        points = np.array([hit[3] for hit in hits if hit[0] >= 0], dtype=np.float64).reshape(-1, 1, 3)
    except (TypeError, ValueError, IndexError):
        raise ValueError(
            f"hits: expected results of rayTest or rayTestBatch, got {type(hits).__name__} of something else; "
            "pass what a call returns, not one of its rows"
        ) from None
    arms = CROSS * np.eye(3)
    return np.stack([points - arms, points + arms], axis=2).reshape(-1, 2, 3)


def draw_rewound(
    client: Any,
    history: PoseHistory,
    time: float,
    *,
    color: Color = (0.85, 0.3, 0.1),
    live_color: Color | None = (0.6, 0.65, 0.7),
    replaces: Sequence[int] = (),
) -> list[int]:
    """Draw the limbs of a history at a time, and its world's limbs as they are now, as debug lines.

    Parameters
    ----------
    client
        What `pybullet.connect` returned, a `BulletClient`, or the module `pybullet`; it need not
        have the bodies.
    history
        The history whose limbs are drawn.
    time
        The time, which the history must keep.
    color, live_color
        Colours of the limbs at that time, and of the present ones; None does not draw the latter.
    replaces
        The result of an earlier call: its lines are reused, and removed if there are too many.

    Returns
    -------
    list of int
        PyBullet's number of each line, for `replaces` or `removeUserDebugItem`; -1 each in a DIRECT
        client, which shows none.

    Raises
    ------
    ImportError
        Without pybullet: install the extra `crosscheck`.
    ValueError
        For a client that is not connected, a time that is not kept, or a bad colour; nothing is
        drawn then.
    """
    drawn, layers = Client(client), [(history.limbs_at(time), checked_color(color, "color"))]
    if live_color is not None:
        layers.append((history.world.limbs, checked_color(live_color, "live_color")))
    return draw(drawn, [(outlines(limbs), color) for limbs, color in layers], replaces)
