"""A judged ray for pictures: its path, the limbs that it crosses, and those that count."""

from os import PathLike
from typing import TYPE_CHECKING, Any

import numpy as np

from cylcollide._types import NO_CHARACTER, Float64Array, Reason
from cylcollide.limbs.limbs import Limbs
from cylcollide.limbs.pictures import Scene
from cylcollide.limbs.shot_figure import DrawnShot, missed, shot_figure
from cylcollide.query.request import batch_rows

if TYPE_CHECKING:
    from matplotlib.figure import Figure

COUNT = (Reason.COUNTED, Reason.PASSED_THROUGH, Reason.STOPPED)
"""Reasons of the limbs that count as hit or passed through."""
BEYOND = 1.1
"""Length of a drawn unlimited ray, relative to its last exit, or to the farthest limb."""


def figure_of(judged: Any, row: int, path: str | PathLike[str] | None, unit: str) -> "Figure":
    """The figure of one row of `Judged`."""
    is_past = judged._sample_times is not None
    tick, alpha = (judged.tick.item(row), judged.alpha.item(row)) if is_past else (0, 0.0)
    if tick < 0:
        raise ValueError(f"ray: expected one of a time that is kept, got ray {row}, of time {judged.time[row]:.13g}")
    scene: Scene = judged._limbs._scene(tick, alpha)
    shot = shot_of(judged, row, scene)
    title = f"{shot.verdict(scene, unit)}\n{str(judged.explain(row)).splitlines()[0]}"
    return shot_figure("Judged.plot", scene, shot, title, path, unit)


def shot_of(judged: Any, row: int, scene: Scene) -> DrawnShot:
    """One row of `Judged` as a drawn shot, in its scene."""
    (start, end), impacts = ends_of(judged, row, scene.limbs), judged.impacts[row]
    inside = np.stack([impacts.entry_position, impacts.exit_position], axis=1)
    crossed, counts, limb = impacts.limb.astype(np.int64), np.isin(impacts.reason, COUNT), int(judged.limb[row])
    batch = batch_rows(judged.impacts._batch, np.array([row]))
    radius = float(batch.rays.radius.max(initial=0.0))
    if limb >= 0:
        return DrawnShot(start, end, limb, True, judged.position[row], None, crossed, inside, counts, radius)
    if len(impacts):  # without energy
        return DrawnShot(start, end, crossed=crossed, inside=inside, counts=counts, radius=radius)
    ignored, mask = int(batch.ignored[0]), np.uint32(batch.mask[0])
    of_others = (scene.limbs.character != ignored) | (ignored == NO_CHARACTER)
    return missed(scene, start, end, of_others & ((scene.limbs.mask & mask) != 0))._replace(radius=radius)


def ends_of(judged: Any, row: int, limbs: Limbs) -> tuple[Float64Array, Float64Array]:
    """Start and end (3,) of a row; an unlimited ray is cut beyond its last exit, or beyond all limbs."""
    rays = batch_rows(judged.impacts._batch, np.array([row])).rays
    start, second = rays.origin[0], rays.second[0]
    if rays.is_segment:
        return start, second
    length, most = float(np.linalg.norm(second)), float(rays.distance[0])
    if not np.isfinite(most) and judged.hit[row]:
        most = BEYOND * length * float(judged.impacts[row].exit_fraction.max())
    elif not np.isfinite(most):
        far = np.concatenate([limbs.p1, limbs.p2]) - start
        most = BEYOND * float(np.linalg.norm(far, axis=1).max(initial=length))
    return start, start + second * (most / length)
