"""LoggedShots: the contents of a log, read-only, and all shots judged again; and why one was judged as it was."""

from __future__ import annotations

import json
from collections.abc import Callable, Iterable, Iterator, Mapping
from dataclasses import dataclass
from functools import cached_property, partial
from os import PathLike
from threading import Lock
from typing import TYPE_CHECKING, Any, NamedTuple, Self, TypeVar

import numpy as np

from cylcollide import validate
from cylcollide._types import Float64Array, Int64Array
from cylcollide._version import __version__
from cylcollide.characters.judged import Judged
from cylcollide.characters.judged_shot import ends_of
from cylcollide.characters.policy import Policy
from cylcollide.history.miss_explanation import MissExplanation
from cylcollide.history.pose_history import PoseHistory
from cylcollide.limbs.explain import Explanation
from cylcollide.limbs.figures import PORT, viewer_of
from cylcollide.process.signatures import Shown
from cylcollide.shotlog.pages import NO_STATE
from cylcollide.shotlog.rejudged import (
    PageSpan,
    Rejudged,
    ReplayedCall,
    SpanResult,
    calls_of,
    joined,
    judge_span,
    spans_of,
)
from cylcollide.shotlog.replay import MOST_RINGS, Replay
from cylcollide.shotlog.shots import arguments_of_call
from cylcollide.shotlog.source import Source
from cylcollide.shotlog.states import Receiver, Values
from cylcollide.shotlog.values import unpacked
from cylcollide.world.hit_world import HitWorld, world_in
from cylcollide.world.snapshot import Snapshot

if TYPE_CHECKING:
    from matplotlib.figure import Figure

Used = TypeVar("Used")
Progress = Callable[[int, int], None]
RunSpans = Callable[[Any, list[PageSpan]], Iterable[SpanResult]]
"""Applies a function to all spans, in any processes, and returns the results in order."""


@dataclass(frozen=True, eq=False)
class LoggedShot(metaclass=Shown):
    """One logged shot: one ray of a judged call."""

    number: int
    """Number of the shot in the log."""
    row: int
    """Row in its call."""
    rays: int
    """Number of rays of the call."""
    tick: int
    """The last tick before the call; -1 for none."""
    note: Mapping[str, Any] | None
    """The note that `ShotLog.note` added to the call."""
    start: Float64Array
    """Start of the segment, or origin of the ray; (3,)."""
    end: Float64Array
    """End of the segment; of a ray the origin plus the direction; (3,)."""
    time: float | None
    """The requested time; None for the present, or if a tick was requested."""
    policy: Policy
    energy: float
    limb: int
    """Row of the limb that counted, -1 for a miss."""

    @property
    def hit(self) -> bool:
        """Whether a limb counted."""
        return self.limb >= 0


class LoggedShots(metaclass=Shown):
    """The shots of a log, read-only: `len(log)`, `log[i]`; `log.judged(i)`, `log.rejudge()`.

    A log that was cut or damaged has the shots of its first ticks, as far as a chain of digests
    confirms them. Neither the file nor those beside it are changed. A log that is still being
    written is copied, with all committed ticks. OSError if the file cannot be read. ValueError if
    it is not a log, is of a newer version, or is damaged from the start.
    """

    def __init__(self, path: str | PathLike[str]) -> None:
        self._source = Source(path)
        self._pages = list(self._source.confirmed_pages())
        if not self._pages or not self._pages[0].state:
            self._source.close()
            raise ValueError(f"{path}: expected a log, got a damaged file (no whole state that its digest confirms)")
        shots = [page.shots for page in self._pages]
        self._first: Int64Array = np.concatenate([[0], np.cumsum(shots)]).astype(np.int64)
        whole = [page for page in self._pages if page.tick is not None]
        self._ticks: Int64Array = np.array([page.tick for page in whole], np.int64)
        self._times: Float64Array = np.array([page.time for page in whole], np.float64)
        self._last: tuple[PageSpan, ReplayedCall, Iterator[ReplayedCall]] | None = None
        """The call of the shot that was judged again last, its span, and the later calls of the span."""
        self._lock = Lock()

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *error: object) -> None:
        self.close()

    def close(self) -> None:
        """Close the file."""
        with self._lock:
            self._last = None
        self._source.close()

    def __repr__(self) -> str:
        return f"LoggedShots({len(self)} shots, {len(self.ticks)} ticks, by cylcollide {self.version} at {self.level})"

    @property
    def version(self) -> str:
        """Version of the cylcollide that wrote the log."""
        return str(self._source.about["cylcollide"])

    @property
    def level(self) -> str:
        """Level of the machine code that judged."""
        return str(self._source.about["level"])

    @property
    def ticks(self) -> Int64Array:
        """Numbers of the complete ticks, ascending."""
        return self._ticks

    @property
    def times(self) -> Float64Array:
        """Times of the complete ticks."""
        return self._times

    def __len__(self) -> int:
        return int(self._first[-1])

    def __iter__(self) -> Iterator[LoggedShot]:
        """One shot after another."""
        return (shot for page in range(len(self._pages)) for shot in self._of_page(page))

    def __getitem__(self, number: int) -> LoggedShot:
        """A shot by its number; IndexError if there is none."""
        page, shot = self._page_of(number)
        return self._of_page(page)[shot - int(self._first[page])]

    def _page_of(self, number: int) -> tuple[int, int]:
        """The page of a shot, and its number in the log, from 0."""
        if not validate.is_integer(number) or not -len(self) <= int(number) < len(self):
            known = f"{-len(self)} to {len(self) - 1}" if len(self) else "none"
            raise IndexError(f"shot: expected {known}, got {number!r}; the log has {len(self)}")
        shot = range(len(self))[number]
        return int(np.searchsorted(self._first, shot, "right")) - 1, shot

    def _of_page(self, page: int) -> list[LoggedShot]:
        """The shots of a page."""
        found: list[LoggedShot] = []
        for name, call in unpacked(self._source.page(page))["entries"]:
            if name == "shots":
                found += self._of_call(call, int(self._first[page]) + len(found), page)
        return found

    def _of_call(self, call: Values, first: int, page: int) -> list[LoggedShot]:
        """The shots of a call on a page, given by index; `first`: the number of the first one."""
        arguments, before = arguments_of_call(call, self._source), self._pages[page - 1].tick if page else None
        n, start, tick = len(call["first"]), call["first"], call.get("tick", -1 if before is None else before)
        end = call["second"] if call["segments"] else start + call["second"]
        note = None if call["note"] is None else json.loads(call["note"])
        time, energy, policy = arguments.get("time"), arguments["energy"], arguments["policy"]
        return [
            LoggedShot(
                first + row, row, n, tick, note, start[row], end[row], _of_row(time, row),
                policy if isinstance(policy, Policy) else policy[row], _of_row(energy, row), call["limb"].item(row),
            )
            for row in range(n)
        ]  # fmt: skip

    def view(self, *, up: str = "auto", port: int = PORT, open_browser: bool = True) -> Any:
        """Show all ticks and shots in the browser; as `HitWorld.view`."""
        return viewer_of(self, up, port, open_browser)

    # Judged again -----------------------------------------------------------------------------------------------------

    def judged(self, number: int) -> Judged:
        """A shot judged again, in the state at its time: one row; see `judged.explain(0)`."""
        judged: Judged = self._again(number, lambda judged, *_: judged)
        return judged

    def explain(self, number: int) -> ShotExplanation:
        """Why a shot was judged as it was; `print` or `plot` it."""
        return self._again(number, explanation_of)

    def _states(self, first: int = 0) -> Iterator[Snapshot]:
        """The world at each of `ticks`, from index `first` on."""
        wanted = [page.index for page in self._pages if page.tick is not None][first:]
        begin = max(page.index for page in self._pages[: wanted[0] + 1] if page.state != NO_STATE) if wanted else 0
        replay = Replay(self._source)
        for page in self._pages[begin:]:
            for _ in replay.calls(page.index):
                pass
            if page.index >= wanted[0] and page.tick is not None:
                yield replay.world.snapshot()

    def _again(self, number: int, use: Callable[[Judged, Any, Values, int], Used]) -> Used:
        """Apply a function to a shot judged again, the object it was made on, its call, and its row.

        A later shot of the same span continues from the last one, so a loop over all shots replays the log once.
        """
        page, shot = self._page_of(number)
        span = [one for one in self._spans if one.begin <= page][-1]
        with self._lock:
            last, self._last = self._last, None  # after an interrupt the replay begins again
            if last is None or last[0] is not span or shot < last[1].first:
                calls = calls_of(self._source, span)
                call = next(calls, None)
            else:
                _, call, calls = last
            while call is not None and shot >= call.first + len(call.values["first"]):
                call = next(calls, None)
            if call is None:
                raise ValueError(f"shot: expected one of a tick that the log has, got {number}; the log ends before it")
            row = shot - call.first
            used = use(call.judged[row : row + 1], call.receiver, call.values, row)
            self._last = span, call, calls
        return used

    def _judged_calls(self) -> Iterator[tuple[list[LoggedShot], Judged]]:
        """The shots of one call after another, and the call judged again."""
        for span in self._spans:
            for call in calls_of(self._source, span):
                yield self._of_call(call.values, call.first, call.page), call.judged

    @cached_property
    def _spans(self) -> list[PageSpan]:
        about = self._source.about["history"]
        return spans_of(self._pages, about["ticks"] + MOST_RINGS if about else 0)

    def rejudge(
        self, policy: Policy | None = None, *, run: RunSpans | None = None, progress: Progress | None = None
    ) -> Rejudged:
        """Judge all shots again, and compare.

        Parameters
        ----------
        policy
            A second policy to judge by; `result.other` of the returned object has its hits and
            damage.
        run
            Distributes spans of the log: an executor's `map`; None: in this process.
        progress
            A function that is called with the number of judged shots and of all shots.
        """
        allows_differences = self.version != __version__
        work = partial(judge_span, self._source.file, self._source.is_copy, allows_differences, policy)
        results, done = [], 0
        spans: RunSpans = map if run is None else run
        for result in spans(work, self._spans):
            results.append(result)
            done += result.shots
            if progress is not None:
                progress(done, len(self))
        return Rejudged(joined(results), len(self.ticks), self.version, not allows_differences)


class ShotExplanation(NamedTuple):
    """Why a shot was judged as it was; `print` it, or `plot` it."""

    judged: Judged
    """The shot judged again, one row."""
    why: Explanation | MissExplanation | None
    """How the ray hits the limb that counts, or misses all; None for thick rays, and if nothing can be hit."""

    def __str__(self) -> str:
        decision = str(self.judged.explain(0)).partition(", ")[2]
        return decision if self.why is None else f"{decision}\n{self.why}"

    def plot(self, path: str | PathLike[str] | None = None) -> Figure:
        """The figure of `judged.plot(0)`, written to a file if a path is given, and its errors."""
        return self.judged.plot(0, path)


def explanation_of(judged: Judged, receiver: Receiver, call: Values, row: int) -> ShotExplanation:
    """Why a shot was judged as it was: `row` of a call on `receiver`; `judged`: the shot judged again."""
    is_past = isinstance(receiver, PoseHistory)
    if (is_past and judged.tick[0] < 0) or _of_row(call["radius"], row) > 0.0:
        return ShotExplanation(judged, None)
    time = float(judged.time[0]) if is_past else 0.0
    history = receiver
    if not isinstance(history, PoseHistory):  # a history of one tick, at time 0
        history = PoseHistory(history if isinstance(history, HitWorld) else world_in(HitWorld, history))
        history.record(0.0)
    limbs = history.limbs_at(time)
    start, end = ends_of(judged, 0, limbs)
    if judged.hit[0]:
        return ShotExplanation(judged, limbs.explain_segment(start, end, limb=int(judged.limb[0])))
    filters: Any = {"mask": _of_row(call["mask"], row), "ignore_character": _of_row(call["ignored"], row)}
    if is_past and call["protected"]:
        filters["protected_since"] = dict(zip(*(column.tolist() for column in call["protected"]), strict=True))
    return ShotExplanation(judged, history.explain_miss(start, end, time, **filters))


def _of_row(value: Any, row: int) -> Any:
    """The entry of a row in a column, or in a number for all rows."""
    array = None if value is None else np.asarray(value).reshape(-1)
    return None if array is None else array.item(row if len(array) > 1 else 0)
