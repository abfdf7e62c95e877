"""Judging a log again, in spans that begin at states and can run in any process; and the results."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Iterator, Sequence
from contextlib import closing
from dataclasses import dataclass
from functools import cached_property
from pathlib import Path
from typing import NamedTuple

import numpy as np

from cylcollide.characters.judged import Judged
from cylcollide.characters.policy import Policy
from cylcollide.process.signatures import Shown
from cylcollide.shotlog.pages import NO_STATE, WORLD_ALONE
from cylcollide.shotlog.replay import Replay
from cylcollide.shotlog.shots import PARTS, SAME_EVERYWHERE, differences, judged_again
from cylcollide.shotlog.source import Page, Source
from cylcollide.shotlog.states import Receiver, Values


@dataclass(frozen=True)
class PageSpan:
    """Consecutive pages that are judged together."""

    first: int
    """The page where reading begins."""
    begin: int
    """The first page whose shots are judged; the pages before it fill the history."""
    end: int
    """The page after the last one."""
    shots: int
    """Number of the first shot of page `begin`."""


class Difference(NamedTuple):
    """A judged call whose answer has changed."""

    part: str
    """"verdict", "limb", "face", "order" or "numbers": the first of them that differs."""
    shot: int
    """The shot that differs; if a call has several shots and their limbs are the same, the first one."""
    rays: int
    """Number of rays of the call."""
    tick: int
    logged: int
    """Row of the limb that counted, -1 for a miss."""
    now: int

    def __str__(self) -> str:
        of = "" if self.rays == 1 else f" (in a call of {self.rays})"
        limbs = f": logged {_limb(self.logged)}, now {_limb(self.now)}" if self.logged != self.now else ""
        return f"shot {self.shot}{of}, after tick {self.tick}: {self.part} differs{limbs}"


def _limb(row: int) -> str:
    return "a miss" if row < 0 else f"limb {row}"


class PolicyTally(NamedTuple):
    """The hits and damage of shots by one policy."""

    hits: int = 0
    damage: float = 0.0
    groups: dict[str, int] = {}  # noqa: RUF012  # hits by hit group; never written


class SpanResult(NamedTuple):
    """The result of a span, or of several."""

    shots: int
    calls: int
    differing: int
    """Calls with any difference."""
    first: Difference | None
    """The first difference that the version does not excuse."""
    numbers_differ: int
    """Calls in which only numbers differ."""
    logged: PolicyTally
    other: PolicyTally
    """The tally by another policy, if one was given."""
    changed: int
    """Shots for which another limb counts by that policy, or none."""


@dataclass(frozen=True)
class Rejudged(metaclass=Shown):
    """A log judged again; `print` it."""

    result: SpanResult
    ticks: int
    version: str
    """Version of the cylcollide that wrote the log."""
    is_same_version: bool

    @property
    def shots(self) -> int:
        """Number of shots judged."""
        return self.result.shots

    @property
    def first(self) -> Difference | None:
        """The first difference, None if there is none."""
        return self.result.first

    @property
    def identical(self) -> bool:
        """Whether verdicts, limbs, faces and orders are the same; for the same version also every bit."""
        return self.result.first is None

    def __str__(self) -> str:
        r = self.result
        head = f"{r.shots:,} shots in {r.calls:,} calls, {self.ticks:,} ticks"
        if not self.identical:
            return f"{head}: {r.differing:,} calls differ; the first: {r.first}"
        numbers = ""
        if r.numbers_differ:
            numbers = f"; numbers of {r.numbers_differ:,} calls differ in bits from those of cylcollide {self.version}"
        return f"{head}: judged again identically{numbers}"


def spans_of(pages: Sequence[Page], warm: int) -> list[PageSpan]:
    """The spans of all pages; `warm`: number of ticks that the history keeps, 0 without one."""
    first_shot = np.concatenate([[0], np.cumsum([page.shots for page in pages])]).tolist()
    starts: list[tuple[int, int]] = []
    for page in pages:
        if page.state == NO_STATE:
            continue
        begin = page.index + (warm if page.state == WORLD_ALONE else 0)
        if begin < len(pages) and (not starts or begin > starts[-1][1]):
            starts.append((page.index, begin))
    ends = [begin for _, begin in starts[1:]] + [len(pages)]
    return [PageSpan(first, begin, end, first_shot[begin]) for (first, begin), end in zip(starts, ends, strict=True)]


def judge_span(
    path: Path, is_copy: bool, allows_number_differences: bool, policy: Policy | None, span: PageSpan
) -> SpanResult:
    """Judge the shots of a span again, in any process."""
    with closing(Source(path, is_copy)) as source:
        return joined(_compared(call, allows_number_differences, policy) for call in calls_of(source, span))


@dataclass(frozen=True)
class ReplayedCall:
    """A judged call of a log."""

    first: int
    """Number of its first shot."""
    page: int
    """Index of its page."""
    values: Values
    receiver: Receiver
    """The object it was made on, in its state then until the next call is replayed."""
    source: Source

    @cached_property
    def judged(self) -> Judged:
        """The call made again."""
        return judged_again(self.values, self.receiver, self.source)


def calls_of(source: Source, span: PageSpan) -> Iterator[ReplayedCall]:
    """The calls of a span, one after another."""
    first, replay = span.shots, Replay(source)
    for page in range(span.first, span.end):
        for values, receiver in replay.calls(page):
            if page >= span.begin:
                yield ReplayedCall(first, page, values, receiver, source)
                first += len(values["first"])


def _compared(call: ReplayedCall, allows_number_differences: bool, policy: Policy | None) -> SpanResult:
    values, judged = call.values, call.judged
    found, first, numbers_differ = differences(values, judged), None, 0
    named = [part for part in PARTS if part in found]
    if named:
        if allows_number_differences and named[0] not in SAME_EVERYWHERE:
            numbers_differ, named = 1, []
        else:
            row = found[named[0]]
            limbs = values["limb"].item(row), judged.limb.item(row)
            first = Difference(named[0], call.first + row, len(judged), values.get("tick", -1), *limbs)
    logged, other, changed = PolicyTally(), PolicyTally(), 0
    if policy is not None:
        again = judged_again(values, call.receiver, call.source, policy)
        logged, other = tally_of(judged), tally_of(again)
        changed = int(np.count_nonzero(judged.limb != again.limb))
    return SpanResult(len(judged), 1, int(bool(named)), first, numbers_differ, logged, other, changed)


def tally_of(judged: Judged) -> PolicyTally:
    """The hits and damage of shots."""
    groups, counts = np.unique(judged.hit_group[judged.hit], return_counts=True)
    by_group = dict(zip(map(str, groups.tolist()), counts.tolist(), strict=True))
    return PolicyTally(int(judged.hit.sum()), float(judged.damage.sum()), by_group)


def joined(results: Iterable[SpanResult]) -> SpanResult:
    """The sum of the results of several spans or calls, given in order."""
    every = list(results)
    counts = ("shots", "calls", "differing", "numbers_differ", "changed")
    sums = {name: sum(getattr(one, name) for one in every) for name in counts}
    first = next((one.first for one in every if one.first is not None), None)
    logged, other = (_summed([getattr(one, name) for one in every]) for name in ("logged", "other"))
    return SpanResult(first=first, logged=logged, other=other, **sums)


def _summed(tallies: list[PolicyTally]) -> PolicyTally:
    groups = sum((Counter(one.groups) for one in tallies), Counter[str]())
    return PolicyTally(sum(one.hits for one in tallies), sum(one.damage for one in tallies), dict(groups))
