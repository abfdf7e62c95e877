"""Helpers for a scene: the ray under the mouse, and limbs as lines."""

from __future__ import annotations

from typing import Any, TypeAlias

import numpy as np

from cylcollide._types import Float64Array
from cylcollide.limbs import outlines as lines
from cylcollide.limbs.limbs import Limbs
from cylcollide.panda3d.joints import core

Segment: TypeAlias = tuple[Float64Array, Float64Array]


def mouse_segment(base: Any, at: tuple[float, float] | None = None) -> Segment | None:
    """The segment under a point of the window, from the near to the far plane of the camera's lens.

    Parameters
    ----------
    base
        The `ShowBase`.
    at
        From (-1, -1), lower left, to (1, 1), upper right; default: the mouse.

    Returns
    -------
    tuple or None
        Start and end (3,) in the frame of `base.render`; None if the mouse is outside of the
        window.

    Raises
    ------
    ValueError
        If `base` is no `ShowBase`.
    """
    if not all(hasattr(base, name) for name in ("mouseWatcherNode", "camLens", "cam", "render")):
        raise ValueError(f"base: expected the ShowBase of the program, got {type(base).__name__}")
    if at is None:
        if base.mouseWatcherNode is None or not base.mouseWatcherNode.hasMouse():  # None: there is no window
            return None
        at = tuple(base.mouseWatcherNode.getMouse())
    near, far = core.LPoint3(), core.LPoint3()
    if not base.camLens.extrude(core.LPoint2(*at), near, far):
        return None
    start, end = (np.array(base.render.getRelativePoint(base.cam, point), dtype=np.float64) for point in (near, far))
    return start, end


def wireframe(limbs: Limbs, color: tuple[float, float, float, float] = (1, 0.2, 0.2, 1), thickness: float = 1.0) -> Any:
    """Lines that outline limbs, as a new `NodePath`; attach it with `reparentTo(base.render)`.

    ValueError if `limbs` are not `Limbs`.
    """
    if not isinstance(limbs, Limbs):
        raise ValueError(f"limbs: expected Limbs, got {type(limbs).__name__}; those of a world are world.limbs")
    pen = core.LineSegs("limbs")
    pen.setColor(*color)
    pen.setThickness(thickness)
    for start, end in lines.outlines(limbs).tolist():
        pen.moveTo(*start)
        pen.drawTo(*end)
    return core.NodePath(pen.create())
