"""Limbs of a history in PyBullet's window, beside those of now."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from cylcollide.bullet.client import Client
from cylcollide.bullet.debug_draw import Color, outlines
from cylcollide.history.pose_history import PoseHistory


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
        Whose limbs are drawn.
    time
        When; it must be kept.
    color, live_color
        Of limbs then, and of limbs now; None draws none of now.
    replaces
        What an earlier call returned: its lines are drawn anew where they are needed, and taken
        away if not.

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
        For a client that is not connected, or a time that is not kept; nothing is drawn then.
    """
    drawn, layers = Client(client), [(history.limbs_at(time), color)]
    if live_color is not None:
        layers.append((history.world.limbs, live_color))
    lines = [(line.tolist(), color) for limbs, color in layers for line in outlines(limbs)]
    old, items = [item for item in replaces if item >= 0], []
    for k, ((start, end), rgb) in enumerate(lines):
        before = {"replaceItemUniqueId": old[k]} if k < len(old) else {}
        items.append(int(drawn.addUserDebugLine(start, end, lineColorRGB=list(rgb), **before)))
    for item in old[len(lines) :]:
        drawn.removeUserDebugItem(item)
    return items
