"""The explanation of a miss as data, text and a figure."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from functools import partial
from math import frexp
from os import PathLike
from typing import TYPE_CHECKING, Any

import numpy as np

from cylcollide._types import NO_LIMB, Float64Array, Int32Array
from cylcollide.limbs.explain import remarks_on_end
from cylcollide.limbs.limbs import Limbs
from cylcollide.limbs.pictures import GAP, HIT, NOW, Scene
from cylcollide.limbs.shot_figure import DrawnShot, shot_figure
from cylcollide.query.hits import RayHit
from cylcollide.query.record import Record

if TYPE_CHECKING:
    from matplotlib.figure import Figure

INTERVALS_SHOWN = 3
"""The number of intervals that are printed."""


@dataclass(frozen=True, eq=False)
class MissExplanation(Record):
    """Why a segment missed at its time, and when it would have hit.

    `print` it, or `plot` it. Arrays are read-only. It considers all limbs, or only those of one hit
    group, even behind others. Without such a limb, `limb`, `character`, `static` and `hit_group`
    are -1, `limb_name` is None, `gap` and `fraction` inf, and points nan.
    """

    hit: bool
    """Whether the segment hits after all; `limb` is then the first one, and `gap` is 0."""
    limb: int
    """The nearest limb, a row of `PoseHistory.limbs_at` of that time."""
    limb_name: str | None
    character: int
    static: int
    """The static of the nearest limb, -1 for none."""
    hit_group: int
    """The hit group of the nearest limb."""
    gap: float
    """Euclidean distance of segment and limb; error at most `DISTANCE_BOUND` times the limb's size and distance."""
    point: Float64Array
    """The point of the limb nearest to the segment, (3,); for a hit, the hit point."""
    segment_point: Float64Array
    """The point of the segment nearest to the limb, (3,)."""
    fraction: float
    """The fraction of `segment_point` along the segment."""
    intervals: Float64Array
    """The intervals of kept time in which the same segment would have hit: begins and ends, (k, 2), ascending.

    It hits at both ends, and misses at the next float64 outside of them, unless that is outside of the kept time.
    """
    resolution: float
    """The longest step between tested times; a shorter interval may have been missed."""
    asked_group: int | None
    """The requested hit group; None: any."""
    first: RayHit
    """The first hit of the segment at that time, of any group."""
    start: Float64Array
    end: Float64Array
    time: float
    tick: int
    alpha: float
    ticks: Float64Array
    """The times of all kept ticks."""
    _group_names: Mapping[str, int] = field(repr=False)
    """Numbers of hit groups by name."""
    _limbs: Limbs = field(repr=False)
    """All limbs at that time."""
    _statics: Int32Array = field(repr=False)
    """Handle of the static of each limb, -1 for none."""
    _exclusion_reasons: str = field(repr=False, default="")
    """Why there is no nearest limb: the reasons for which limbs cannot be hit, with counts."""

    def __str__(self) -> str:
        begin, end = self.ticks[[0, -1]]
        when = f"time {self._moment(self.time)} (tick {self.tick}, alpha {self.alpha:.3g})"
        of_group = "" if self.asked_group is None else f" of group {self._group(self.asked_group)}"
        if self.hit:
            verdict = f"hit after all: {self._name(self)} at {when}"
            where = f"{_place(self.point, self.gap)}, at fraction {self.fraction:.4g} of the segment"
        elif self.limb == NO_LIMB:
            verdict, where = f"miss: no limb{of_group} can be hit at {when}", self._exclusion_reasons
        else:
            limb = self._name(self)
            verdict = f"miss: {self.gap:.4g} beside {limb} at {when}"
            begin_of_gap = f"{_place(self.segment_point, self.gap)}, at fraction {self.fraction:.4g} of the segment"
            where = f"from {begin_of_gap}, to {_place(self.point, self.gap)}"
        lines = [verdict, where, self._when_it_hits()]
        if self.asked_group is not None:
            first, limb = self.first, "nothing"
            if first.hit:
                limb = self._name(first)
            lines.insert(2, f"first on its way at that time: {limb}")
        lines.append(
            f"searched: {self._moment(begin)} to {self._moment(end)}, in steps of {self.resolution:.3g} and less"
        )
        if not self.hit:
            lines += remarks_on_end(self.end.tolist())
        return "\n  ".join(lines)

    def _moment(self, time: float) -> str:
        """A time in words, rounded to about 1e-8 of the kept time; of the time itself if one tick is kept."""
        digits = 8 - frexp(float(self.ticks[-1] - self.ticks[0]) or time)[1] * 3 // 10
        return f"{round(time, digits):.15g}"

    def _group(self, number: int) -> str:
        """A hit group, by name if it has one."""
        names = [repr(name) for name, its in self._group_names.items() if its == number]
        return names[0] if names else str(number)

    def _name(self, found: MissExplanation | RayHit) -> str:
        """A limb in words."""
        character, static = found.character, found.static
        owner = f" of character {character}" if character >= 0 else f" of static {static}" if static >= 0 else ""
        limb = repr(found.limb_name) if found.limb_name else f"limb {found.limb}"
        return f"{limb}{owner} (group {self._group(found.hit_group)})"

    def _when_it_hits(self) -> str:
        """The intervals nearest to the time in words, ascending."""
        away = [max(begin - self.time, self.time - end, 0.0) for begin, end in self.intervals]
        near = sorted(np.argsort(away, kind="stable")[:INTERVALS_SHOWN].tolist())
        words = [
            f"{self._moment(begin)} to {self._moment(end)} ({self._away(begin, end)})"
            for begin, end in self.intervals[near].tolist()
        ]
        if len(away) > len(near):
            words.append(f"and in {len(away) - len(near)} intervals farther away")
        what = "a limb" if self.asked_group is None else f"group {self._group(self.asked_group)}"
        return f"the same segment would have hit {what}: {'; '.join(words) or 'never'}"

    def _away(self, begin: float, end: float) -> str:
        """How far an interval is from the time, in words."""
        if begin > self.time:
            return f"{begin - self.time:.3g} later"
        return f"{self.time - end:.3g} earlier" if end < self.time else "now"

    def plot(self, path: str | PathLike[str] | None = None, *, unit: str = "m", time_unit: str = "s") -> Figure:
        """Draw the gap (red) along the segment and from above, and the times of hits (green).

        Parameters
        ----------
        path
            File to write, its format given by its suffix; None writes nothing.
        unit, time_unit
            Units of lengths and times, for the labels of the axes.

        Raises
        ------
        ImportError
            Without matplotlib: install the extra `plot`.
        """
        shot = DrawnShot(self.start, self.end)
        if self.limb != NO_LIMB:
            shot = DrawnShot(
                self.start, self.end, self.limb, self.hit, self.point, None if self.hit else self.segment_point
            )
        title = f"{str(self).split(chr(10), 1)[0]}\n{self._when_it_hits()}"
        scene = Scene(self._limbs, self._statics)
        timeline = partial(_draw_timeline, miss=self, unit=time_unit)
        return shot_figure("MissExplanation.plot", scene, shot, title, path, unit, below=timeline)


def _place(point: Float64Array, gap: float) -> str:
    """A point in words, rounded to about 1e-4 of its largest coordinate; to 1e-2 of a gap, if that is less."""
    largest = float(np.abs(point).max())
    digits = 3 - frexp(min(largest, 100.0 * gap) if gap > 0.0 else largest)[1] * 3 // 10
    return f"({', '.join(f'{round(x, digits) + 0.0:.15g}' for x in point.tolist())})"


def _draw_timeline(axes: Any, miss: MissExplanation, unit: str) -> None:
    """Draw the ticks, the times of hits, and the given time."""
    ticks = miss.ticks
    width = float(ticks[-1] - ticks[0]) or 1.0
    axes.vlines(ticks, -0.5, -0.3, color=NOW, linewidth=0.6)
    for begin, end in miss.intervals.tolist():
        axes.barh(0.0, end - begin, left=begin, height=0.6, color=HIT, edgecolor=HIT)
    axes.axvline(miss.time, color=HIT if miss.hit else GAP, linewidth=2.0)
    axes.set(xlim=(ticks[0] - 0.02 * width, ticks[-1] + 0.02 * width), ylim=(-0.5, 0.5), yticks=[])
    axes.set(xlabel=f"time [{unit}]; green: the same shot would have hit; line: when it was fired")
