"""Force each loop that finds first limbs in turn, and record its calls and results.

Thresholds select the loop of `cylcollide.query.closest`; here they are set so that every batch uses the same loop, and
each use is counted.
"""

from collections import Counter
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field
from typing import Any

import numpy as np
import pytest
from support.check_cylinders import same_bits
from support.machine_code import replace_loop

import cylcollide as cc
from cylcollide.process import threads
from cylcollide.query import chords, closest, exact_fallback, points, scratch
from cylcollide.query.loops import single
from cylcollide.query.loops.brute_force import cast_brute_force
from cylcollide.query.loops.columns import HitColumns
from cylcollide.query.loops.stream import cast_stream

LANES = 8
"""Smaller batches always use the loop of single rays."""

NEVER = 1 << 60
SINGLE, BRUTE_FORCE, STREAMS, MIXED = "single rays", "brute force", "streams", "as shipped"

WAYS: dict[str, dict[str, int]] = {
    SINGLE: {"SMALLEST_STREAM": NEVER},
    BRUTE_FORCE: {"SMALLEST_STREAM": LANES, "FEW_LIMBS": NEVER},
    STREAMS: {"SMALLEST_STREAM": LANES, "FEW_LIMBS": -1},
}
"""Thresholds that make all batches of eight or more rays with one mask use a loop."""

SHORT_STREAMS = {"STREAM_RAYS": 64}
"""Thresholds that split a batch of a few hundred rays into many streams."""

POLICIES = ("hit", "exit", "ignore")

READERS = (scratch, threads, closest, chords, points)
"""Modules that read thresholds at run time; compiled loops contain them as constants."""


def set_threshold(patch: pytest.MonkeyPatch, name: str, value: int) -> None:
    """Replace a threshold in every module that reads it in queries."""
    readers = [module for module in READERS if name in vars(module)]
    assert readers, f"no module reads {name}"
    for module in readers:
        patch.setattr(module, name, value)


@dataclass
class Seen:
    """Counts of a forced loop, so that tests can assert that it was used."""

    batches: Counter[str] = field(default_factory=Counter)  # by loop
    rows: Counter[str] = field(default_factory=Counter)  # "rays", "hits", "misses", "undecided", "inside"

    def kept(self, verdicts: HitColumns) -> None:
        """Count the rows of a query, before undecided ones are resolved."""
        sure = ~verdicts.undecided
        self.rows["rays"] += len(verdicts.limb)
        self.rows["hits"] += int((sure & (verdicts.limb >= 0)).sum())
        self.rows["misses"] += int((sure & (verdicts.limb < 0)).sum())
        self.rows["undecided"] += int(verdicts.undecided.sum())
        self.rows["inside"] += int(verdicts.inside.sum())


@contextmanager
def forced(way: str, **more: int) -> Iterator[Seen]:
    """Make all queries of this process use one loop within the context; `more`: further thresholds."""
    seen = Seen()

    def counted(name: str, loop: Callable[..., Any]) -> Callable[..., Any]:
        def call(*args: Any) -> Any:
            seen.batches[name] += 1
            return loop(*args)

        return call

    made, resolve = cc.RayHits.__init__, exact_fallback.resolve_hits

    def watched(hits: cc.RayHits, read: Any, limbs: Any, inside: Any, resolved: Any = None) -> None:
        if resolved is None:
            assert not read("undecided").any()
            seen.kept(HitColumns(*(read(name) for name in HitColumns._fields)))
        made(hits, read, limbs, inside, resolved)

    def resolving(read: Any, *others: Any) -> Any:
        assert read("undecided").any()
        seen.kept(HitColumns(*(read(name) for name in HitColumns._fields)))
        return resolve(read, *others)

    with pytest.MonkeyPatch.context() as patch:
        for name, value in {**WAYS.get(way, {}), **more}.items():
            set_threshold(patch, name, value)
        patch.setattr(scratch, "_kept", type(scratch._kept)())  # these thresholds set the size of scratch memory
        for name, loop in ((SINGLE, single.cast_single_rays), (BRUTE_FORCE, cast_brute_force), (STREAMS, cast_stream)):
            replace_loop(patch, loop, counted(name, loop))
        patch.setattr(cc.RayHits, "__init__", watched)
        patch.setattr(exact_fallback, "resolve_hits", resolving)
        yield seen


def cast_by_all_loops(
    cast: Callable[[], cc.RayHits], ways: tuple[str, ...] = tuple(WAYS), check_undecided: bool = True, **more: int
) -> tuple[cc.RayHits, dict[str, Seen]]:
    """The hits of `cast` by the first loop; asserts that the other loops are used and give the same bits.

    `check_undecided`: streams leave equally many rows undecided, unless boxes are visited in another order.
    """
    seen: dict[str, Seen] = {}
    first: cc.RayHits | None = None
    for way in ways:
        with forced(way, **more) as seen[way]:
            hits = cast()
        if len(hits) >= LANES:
            assert set(seen[way].batches) == {way}, f"asked for {way}, went {seen[way].batches}"
        if first is None:
            first = hits
            continue
        differ = same_bits(first, hits)
        assert not differ, f"{way}: {differ}, {shown_difference(first, hits)}"
        if check_undecided and way != BRUTE_FORCE:  # whose rays are not culled by boxes, nor by their frame
            assert seen[way].rows["undecided"] == seen[ways[0]].rows["undecided"], way
    assert first is not None
    return first, seen


def shown_difference(one: cc.RayHits, two: cc.RayHits) -> str:
    """The first rows that differ in limb, fraction, face or start inside, as text."""
    differ = (one.limb != two.limb) | (one.fraction != two.fraction) | (one.face != two.face)
    rows = np.flatnonzero(differ | (one.started_inside != two.started_inside))
    lines = [
        f"row {i}: {h.limb[i]} {h.fraction[i]!r} {h.face[i]} {h.started_inside[i]}"
        for i in rows[:3]
        for h in (one, two)
    ]
    rays = one._read("batch").rays
    shown = f"{rays.origin[rows[:3]]!r} {rays.second[rows[:3]]!r}"
    return f"{len(rows)} of {len(one)} rows, rays {shown}: {lines}"
