"""PoseHistory: the last states of a world, and queries in the past with a time for each ray."""

from __future__ import annotations

import operator
from contextlib import nullcontext
from copy import copy
from os import PathLike
from typing import TYPE_CHECKING, Any, Unpack

import numpy as np
from numpy.typing import ArrayLike

from cylcollide import validate
from cylcollide._types import Float64Array, Int64Array
from cylcollide.characters.policy_checks import Group
from cylcollide.history import misses
from cylcollide.history.miss_explanation import MissExplanation
from cylcollide.history.misses import MissOptions
from cylcollide.history.queries import PastQueries
from cylcollide.history.ticks import Interpolation, Ring, Tick, structure_of, tick_of
from cylcollide.limbs.figures import PORT, viewer_of
from cylcollide.limbs.pictures import Scene, scene_figure
from cylcollide.limbs.shot_figure import ends_of_shot, first_hit, shot_figure
from cylcollide.process.signatures import with_options
from cylcollide.world.hit_world import HitWorld
from cylcollide.world.layout import WorldLayout
from cylcollide.world.observers import ChangeLock
from cylcollide.world.snapshot import Snapshot

if TYPE_CHECKING:
    from matplotlib.figure import Figure


class PoseHistory(PastQueries):
    """The last recorded states of a world, called ticks. Queries read ticks, never the present world.

    A query takes `time`, one or one per ray, or `tick` and `alpha`. Time t means the last tick k
    that is not after t, and alpha = (t - times[k]) / (times[k + 1] - times[k]). Between ticks,
    bones are interpolated and carry their limbs, or the ends of limbs are interpolated; the verdict
    is exact for the float64 numbers of `limbs_at` that time. A character that had no pose at tick k
    is not hit; its layers, rig and shapes are those of tick k.

    Queries share these arguments, besides those of the world's queries: `on_old`, the treatment of
    times and ticks that are not kept ("error": a ValueError that names the rows; "clamp": the
    nearest kept time, marked in `clamped` of the result; "miss": nothing is hit);
    `protected_since`, for each character the time from which on it is not hit.

    Parameters
    ----------
    world
        The world to record.
    ticks
        The number of ticks to keep.
    interpolate
        "bones": positions linearly, orientations by normalised linear interpolation (nlerp) the
        short way. "ends": ends of limbs, linearly; boxes keep the axes of tick k. Bare limbs are
        always interpolated by their ends.
    teleport_distance
        A character whose first bone moves farther in one tick keeps its place until the next
        tick; so does one that was posed with `teleport=True`.
    """

    def __init__(
        self, world: HitWorld, ticks: int = 64, interpolate: Interpolation = "bones", teleport_distance: float = np.inf
    ) -> None:
        if not isinstance(world, HitWorld):
            raise ValueError(f"world: expected a HitWorld, got {type(world).__name__}")
        validate.one_of(interpolate, "interpolate", "bones", "ends")
        self._world, self._interpolate = world, interpolate
        self._distance = validate.from_zero(teleport_distance, "teleport_distance")
        if not validate.is_integer(ticks) or not 1 <= operator.index(ticks) < 2**31:
            raise ValueError(f"ticks: expected an integer from 1 to 2147483647, got {validate.shown(ticks)}")
        self._most = operator.index(ticks)
        self._ring: Ring | None = None
        self._recorded_layout: WorldLayout | None = None
        self._recording = ChangeLock()

    def __getstate__(self) -> dict[str, Any]:
        """A copy has its own lock, without observers."""
        return {**vars(self), "_recording": ChangeLock()}

    def __len__(self) -> int:
        return len(self._kept_ticks)

    @property
    def _kept_ticks(self) -> tuple[Tick, ...]:
        return () if self._ring is None else self._ring.ticks

    def __repr__(self) -> str:
        ticks = self._kept_ticks
        kept = f"ticks {ticks[0].number} to {ticks[-1].number}" if ticks else "no ticks yet"
        times = f", times {ticks[0].time:.13g} to {ticks[-1].time:.13g}" if ticks else ""
        return f"PoseHistory({kept}{times}, {self._interpolate} interpolated)"

    @property
    def world(self) -> HitWorld:
        """The world whose states are recorded."""
        return self._world

    @property
    def ticks(self) -> Int64Array:
        """Numbers of the kept ticks, ascending."""
        return np.array([tick.number for tick in self._kept_ticks], np.int64)

    @property
    def times(self) -> Float64Array:
        """Times of the kept ticks, ascending."""
        return np.array([tick.time for tick in self._kept_ticks])

    def record(self, time: float) -> int:
        """Record the present state of the world; returns the number of its tick, counted from 0.

        Raises
        ------
        ValueError
            If the time is not finite, or not after that of the last tick.
        """
        moment = float(validate.in_range(validate.per_row(time, "time", 1), "time")[0])
        observed = bool(self._recording.observers)  # then the world must not change before observers are notified
        with self._recording.changing(), self._world._lock() if observed else nullcontext():
            ring = self._ring
            if ring is not None and moment <= ring.ticks[-1].time:
                raise ValueError(f"time: expected more than {ring.ticks[-1].time}, that of the last tick, got {moment}")
            number = 0 if ring is None else ring.last + 1
            self._keep(self._world.snapshot(), number, moment)
            self._recording.notify("record", time=moment, number=number)
            return number

    def _keep(self, state: Snapshot, number: int, time: float) -> None:
        """Keep a state as a tick with this number."""
        ring = self._ring
        structure = None if ring is None else ring.ticks[-1].structure
        if structure is None or state._layout is not self._recorded_layout:
            structure = structure_of(state, structure, self._interpolate)
        tick = tick_of(state, number, time, self._interpolate, structure)
        self._ring = Ring((tick,)) if ring is None else ring.with_tick(tick, self._most, self._distance)
        self._recorded_layout = state._layout

    def _kept(self) -> Ring:
        if self._ring is None:
            raise ValueError("history: expected at least one tick, got none; call record(time) first")
        return self._ring

    @with_options
    def explain_miss(
        self,
        start: ArrayLike,
        end: ArrayLike,
        time: float,
        *,
        hit_group: Group | None = None,
        resolution: float | None = None,
        **options: Unpack[MissOptions],
    ) -> MissExplanation:
        """Why a segment missed at a time: the nearest limb, the gap, and when it would have hit.

        Parameters
        ----------
        start, end
            Ends of the closed segment, (3,).
        time
            The time of the segment; it must be kept.
        hit_group
            Only limbs of this group, by name or number, even behind others; None: all.
        resolution
            The longest step of the search for hits at other kept times; None: 1/4 of each tick.
            Begin and end of each interval that is found are exact.
        mask, ignore_character, protected_since, threads
            As in queries.

        Raises
        ------
        ValueError
            As in queries; also on a group that no rig of the world names, and a resolution that is
            not positive or needs more than a million steps.
        """
        groups = self._world.snapshot()._group_names
        # The copy keeps the present ticks if this history records more meanwhile.
        return misses.explain_miss(copy(self), start, end, time, hit_group, resolution, groups, options)

    def plot(
        self,
        time: float,
        path: str | PathLike[str] | None = None,
        *,
        focus: ArrayLike | None = None,
        shot: ArrayLike | None = None,
        ignore_character: int | None = None,
        unit: str = "m",
    ) -> Figure:
        """A figure of the limbs at a time (filled) and at present (dashed); as `HitWorld.plot`.

        Raises
        ------
        ValueError
            On a time that is not kept, and as `HitWorld.plot`.
        ImportError
            Without matplotlib: install the extra `plot`.
        """
        state, now = self._limbs_at(time, None, None), self._world.snapshot()._scene()
        scene, moment = Scene(state.limbs(), state._labels.static, now.groups), f"at time {time:.13g}"
        if shot is None:
            title = f"filled: limbs {moment}; dashed: now"
            return scene_figure("PoseHistory.plot", scene, focus, title, path, unit, now)
        start, end = ends_of_shot(shot)
        crossed = self.chords_segments(start, end, time, ignore_character=ignore_character)
        drawn = first_hit(scene, crossed, start[0], end[0], ignore_character, focus)
        title = f"{drawn.verdict(scene, unit)} {moment}"
        return shot_figure("PoseHistory.plot", scene, drawn, title, path, unit, focus, now.limbs)

    def view(self, *, up: str = "auto", port: int = PORT, open_browser: bool = True) -> Any:
        """Show all kept ticks in the browser; as `HitWorld.view`."""
        return viewer_of(self, up, port, open_browser)
