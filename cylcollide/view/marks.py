"""The marks of a shot: its path, where it enters and leaves limbs, normals, and the gap of a miss."""

from typing import Any, NamedTuple

import numpy as np

from cylcollide._types import Float64Array
from cylcollide.characters.judged import Judged

HIT, MISSED = "#c8372d", "#4a5560"
COLORS = {"gap": HIT, "normals": "#1f5fa8", "entries": "#1f7a3d", "exits": "#d1812a", "places": HIT}
"""Colours of marks; that of the path depends on the shot."""

NO_LINES: Float64Array = np.empty((0, 2, 3))
NO_POINTS: Float64Array = np.empty((0, 3))


class Marks(NamedTuple):
    """Lines (k, 2, 3) and points (k, 3) about a shot."""

    path: Float64Array = NO_LINES
    gap: Float64Array = NO_LINES
    normals: Float64Array = NO_LINES
    entries: Float64Array = NO_POINTS
    exits: Float64Array = NO_POINTS
    places: Float64Array = NO_POINTS
    """Hits of another engine."""
    path_color: str = MISSED
    struck: int = -1
    """Row of the limb that counts."""
    points: float = 1.0
    """Size of the points, relative to one that suits a usual limb."""

    @property
    def place(self) -> Float64Array:
        """The place to look at, (3,): the gap, the first hit, or the start of the shot."""
        first = (self.gap, self.entries, self.places, self.path)
        return next(points.reshape(-1, 3)[0] for points in first if len(points))


NO_MARKS = Marks()


def unit_direction(way: Float64Array, otherwise: Float64Array) -> Float64Array:
    """The unit vector of `way` (3,); `otherwise`, unchanged, if it has no direction.

    The squares of tiny and of huge components are not representable, so the largest component is divided out first.
    """
    largest = float(np.abs(way).max())
    if not 0.0 < largest < np.inf:
        return otherwise
    scaled = way / largest
    return np.asarray(scaled / np.linalg.norm(scaled))


def marks_of_shot(judged: Judged, start: Float64Array, end: Float64Array, size: float, gap: Any = None) -> Marks:
    """Marks of one judged shot, a row; the length of normals is three times the `size` of a usual limb.

    `gap`: a `MissExplanation`, whose gap is drawn.
    """
    chords = judged.impacts.chords
    entry, leave, normal = chords.entry_position, chords.exit_position, chords.entry_normal
    has_normal = np.isfinite(normal).all(axis=1) & (normal != 0.0).any(axis=1)
    normals = np.stack([entry, entry + 3.0 * size * normal], axis=1)[has_normal]
    missed = NO_LINES
    if gap is not None and np.isfinite(gap.point).all():
        missed = np.array([[gap.segment_point, gap.point]])
    color = HIT if judged.hit[0] else MISSED
    return Marks(np.array([[start, end]]), missed, normals, entry, leave, path_color=color, struck=int(judged.limb[0]))
