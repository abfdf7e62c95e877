"""Subjects of a view, as frames, and shots in words: limbs, rigs, worlds, histories, logs, cases of the cross-check."""

from collections import deque
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from functools import partial, singledispatch
from itertools import islice
from typing import TYPE_CHECKING, Any

import numpy as np

from cylcollide._types import Float64Array, Int64Array
from cylcollide.characters.judged import Judged
from cylcollide.characters.judged_shot import ends_of
from cylcollide.characters.rig import Rig
from cylcollide.history.miss_explanation import MissExplanation
from cylcollide.history.pose_history import PoseHistory
from cylcollide.limbs.limbs import Limbs
from cylcollide.shotlog.logged import LoggedShot, LoggedShots, explanation_of
from cylcollide.shotlog.states import Values
from cylcollide.view.frames import Frame, frame_at, frame_of_limbs, frame_of_rig, frame_of_state, frame_of_tick
from cylcollide.view.marks import Marks, marks_of_shot
from cylcollide.view.stage import usual_size
from cylcollide.world.hit_world import HitWorld
from cylcollide.world.snapshot import Snapshot

if TYPE_CHECKING:
    from cylcollide.crosscheck.cases.case import Case


@dataclass(frozen=True)
class ShotView:
    """One shot: the limbs that were judged, and the explanation."""

    judged: Frame
    """The limbs that were judged, as the player saw them."""
    now: Frame | None
    """The server's world at the time of judging; None if it is the same."""
    marks: Marks
    words: str
    frame: int | None = None
    """The number of the frame that shows the time of the shot."""


@dataclass(frozen=True)
class Subject:
    """Frames, one or more, and shots."""

    title: str
    groups: Mapping[str, int]
    frame: Callable[[int], Frame]
    """The frame with a number."""
    times: Float64Array = field(default_factory=lambda: np.zeros(1))
    """Times of the frames, one per frame."""
    shots: Sequence[str] = ()
    """A line about each shot."""
    shot_view: Callable[[int], ShotView] | None = None
    """The shot with a number."""


@singledispatch
def subject_of(seen: Any) -> Subject:
    """The frames and shots of an object; ValueError if it cannot be viewed."""
    expected = "Limbs, a Rig, a HitWorld, a PoseHistory, a log that ShotLog.open returned, or cases"
    raise ValueError(f"view: expected {expected}, got {type(seen).__name__}")


@subject_of.register
def _(seen: Limbs) -> Subject:
    return Subject(repr(seen), {}, lambda _: frame_of_limbs(seen))


@subject_of.register
def _(seen: Rig) -> Subject:
    return Subject(f"Rig: {len(seen.bone_names)} bones", seen.groups, lambda _: frame_of_rig(seen))


@subject_of.register
def _(seen: Snapshot) -> Subject:
    return Subject(f"{len(seen)} limbs", seen._group_names, lambda _: frame_of_state(seen))


@subject_of.register
def _(seen: HitWorld) -> Subject:
    state = seen.snapshot()
    return Subject(repr(seen), state._group_names, lambda _: frame_of_state(state))


@subject_of.register
def _(seen: PoseHistory) -> Subject:
    ticks = seen._kept_ticks
    if not ticks:
        return subject_of(seen.world)
    groups = seen.world.snapshot()._group_names
    return Subject(f"{len(ticks)} ticks", groups, lambda i: frame_of_tick(seen, ticks[i]), seen.times)


# Logs -----------------------------------------------------------------------------------------------------------------


@subject_of.register
def _(seen: LoggedShots) -> Subject:
    if not len(seen.ticks):
        raise ValueError(
            f"{seen._source.path}: expected a log with at least one tick, got none to show; record a history while it "
            "is written, or call its tick(time)"
        )
    states = _States(seen)
    groups = states[0]._group_names

    def shot_view(number: int) -> ShotView:
        return seen._again(number, partial(_shot_view_of, seen[number], seen.ticks))

    title = f"{len(seen)} shots, {len(seen.ticks)} ticks"
    return Subject(title, groups, lambda i: frame_of_state(states[i]), seen.times, _ShotLines(seen), shot_view)


STEPS = 64
"""If the next state is at most this many ticks later, reading continues; else the log is replayed."""


class _States:
    """The states of a log by the index of their tick: the next `STEPS` are read on, any other one needs a replay."""

    def __init__(self, log: LoggedShots) -> None:
        self._log, self._rest, self._at = log, log._states(), 0
        self._last = next(self._rest)

    def __getitem__(self, index: int) -> Snapshot:
        if index != self._at:
            if not self._at < index < self._at + STEPS:
                self._rest, self._at = self._log._states(index), index - 1
            (self._last,) = deque(islice(self._rest, index - self._at), 1)
            self._at = index
        return self._last


class _ShotLines(Sequence[str]):
    """A line about each shot of a log, read on access."""

    def __init__(self, log: LoggedShots) -> None:
        self._log = log

    def __len__(self) -> int:
        return len(self._log)

    def __getitem__(self, number: Any) -> Any:
        if isinstance(number, slice):
            return [self[i] for i in range(*number.indices(len(self)))]
        shot = self._log[number]
        note = "" if shot.note is None else "  " + ", ".join(f"{k} {v}" for k, v in shot.note.items())
        return f"{shot.number}: tick {shot.tick}, {'hit' if shot.hit else 'miss'}{note}"


def _shot_view_of(shot: LoggedShot, ticks: Int64Array, judged: Judged, state: Any, call: Values, row: int) -> ShotView:
    """The `ShotView` of a logged shot, given the log's ticks; the shot judged again, in `state`; its call and row."""
    why, now, at = explanation_of(judged, state, call, row), None, ""
    if not isinstance(state, PoseHistory):
        then = frame_of_state(state.snapshot())
    elif judged.tick[0] < 0:
        then, at = frame_of_state(state.world.snapshot()), " at a time that was not kept; the present state is shown"
    else:
        then, now = frame_at(state, float(judged.time[0])), frame_of_state(state.world.snapshot())
        at = f" at time {float(judged.time[0]):.13g}"
    missed = why.why if isinstance(why.why, MissExplanation) else None
    marks = marks_of_shot(judged, *ends_of(judged, 0, then.limbs), usual_size(then), missed)
    note = "" if shot.note is None else f", {dict(shot.note)}"
    again = int(judged.limb[0])
    differs = "" if again == shot.limb else f"\nLogged: row {shot.limb}; judged again: row {again}."
    words = f"shot {shot.number}, after tick {shot.tick}{note}, judged{at}\n{why}{differs}"
    frame = int(np.clip(np.searchsorted(ticks, shot.tick), 0, len(ticks) - 1))
    return ShotView(then, now, marks, words, frame)


# Cases of the cross-check ---------------------------------------------------------------------------------------------


def subject_of_cases(cases: Sequence["Case"], title: str) -> Subject:
    """Cases of the cross-check: both answers to each."""
    from cylcollide.crosscheck.cases.wording import headline  # noqa: PLC0415  needs an extra

    def shot_view(number: int) -> ShotView:
        return _case_view(cases[number], headline(cases[number]))

    lines = [f"{i}: {case.kind}, {case.name(case.limb)}" for i, case in enumerate(cases)]
    return Subject(title, {}, lambda _: shot_view(0).judged, shots=lines, shot_view=shot_view)


def _case_view(case: "Case", sentence: str) -> ShotView:
    limbs = case.limbs
    named = Limbs.cylinders(case.p1, case.p2, case.radius, name=[case.name(i) for i in range(len(limbs))])
    start, end = np.array(case.start), np.array(case.end)
    places, normals, size = [], [], float(np.median(limbs.radius))
    for fraction, normal in ((case.fraction_true, case.normal_true), (case.fraction_engine, case.normal_engine)):
        at = [] if fraction is None else [start + fraction * (end - start)]
        places.append(np.array(at).reshape(-1, 3))
        normals += [] if fraction is None or normal is None else [[at[0], at[0] + 2.0 * size * np.array(normal)]]
    marks = Marks(
        path=np.array([[start, end]]),
        normals=np.array(normals).reshape(-1, 2, 3),
        entries=places[0],
        places=places[1],
        struck=case.limb_true,
    )
    cause = f"\nCause: {case.cause}." if case.cause else ""
    words = f"{case.address}\n{sentence}{cause}\nGreen: the true hit; red: the other engine's."
    return ShotView(frame_of_limbs(named), None, marks, words)
