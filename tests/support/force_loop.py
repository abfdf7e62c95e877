"""Every loop that finds first limbs, forced one after another, and what each of them was seen to do.

Which loop `cylcollide.query.closest` takes depends on thresholds; here they are set so that every batch takes the same
one, and the loops count how often they were taken.
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
from support.thresholds import set_threshold

import cylcollide as cc
from cylcollide.query import scratch
from cylcollide.query.loops import single
from cylcollide.query.loops.brute_force import cast_brute_force
from cylcollide.query.loops.columns import HitColumns
from cylcollide.query.loops.stream import cast_stream

LANES = 8
"""Smaller batches than this always go one by one."""

NEVER = 1 << 60
SINGLE, BRUTE_FORCE, STREAMS, MIXED = "single rays", "brute force", "streams", "as shipped"

WAYS: dict[str, dict[str, int]] = {
    SINGLE: {"SMALLEST_STREAM": NEVER},
    BRUTE_FORCE: {"SMALLEST_STREAM": LANES, "FEW_LIMBS": NEVER},
    STREAMS: {"SMALLEST_STREAM": LANES, "FEW_LIMBS": -1},
}
"""The thresholds for a way to be taken by all batches of eight or more rays with one mask."""

SHORT_STREAMS = {"STREAM_RAYS": 64}
"""So that a batch of a few hundred rays needs many streams."""

POLICIES = ("hit", "exit", "ignore")


@dataclass
class Seen:
    """What a forced way did: a comparison of ways that were not taken compares nothing."""

    batches: Counter[str] = field(default_factory=Counter)  # by way
    rows: Counter[str] = field(default_factory=Counter)  # "rays", "hits", "misses", "undecided", "inside"
    raw: HitColumns | None = None  # of the last query, before anything is resolved

    def kept(self, verdicts: HitColumns) -> None:
        """Keep a copy, and count."""
        self.raw = HitColumns(*(column.copy() for column in verdicts))
        sure = ~verdicts.undecided
        self.rows["rays"] += len(verdicts.limb)
        self.rows["hits"] += int((sure & (verdicts.limb >= 0)).sum())
        self.rows["misses"] += int((sure & (verdicts.limb < 0)).sum())
        self.rows["undecided"] += int(verdicts.undecided.sum())
        self.rows["inside"] += int(verdicts.inside.sum())


@contextmanager
def forced(way: str, **more: int) -> Iterator[Seen]:
    """All queries of this process go this way while the context lasts; `more`: further thresholds."""
    seen = Seen()

    def counted(name: str, loop: Callable[..., Any]) -> Callable[..., Any]:
        def call(*args: Any) -> Any:
            seen.batches[name] += 1
            return loop(*args)

        return call

    made = cc.RayHits.__init__

    def watched(hits: cc.RayHits, read: Any, limbs: Any, inside: Any, near: Any = None, resolved: Any = None) -> None:
        seen.kept(HitColumns(*(read(name) for name in HitColumns._fields)))
        assert resolved is None
        assert (near is not None) == read("undecided").any()
        made(hits, read, limbs, inside, near)

    with pytest.MonkeyPatch.context() as patch:
        for name, value in {**WAYS.get(way, {}), **more}.items():
            set_threshold(patch, name, value)
        patch.setattr(scratch, "_kept", type(scratch._kept)())  # scratch memory is as large as these thresholds say
        for name, loop in ((SINGLE, single.cast_single_rays), (BRUTE_FORCE, cast_brute_force), (STREAMS, cast_stream)):
            replace_loop(patch, loop, counted(name, loop))
        patch.setattr(cc.RayHits, "__init__", watched)
        yield seen


def cast_all_ways(
    cast: Callable[[], cc.RayHits], ways: tuple[str, ...] = tuple(WAYS), check_undecided: bool = True, **more: int
) -> tuple[cc.RayHits, dict[str, Seen]]:
    """What `cast` answers one by one; asserts that the other ways give the same bits, and were taken.

    So must the verdicts be before anything is resolved. `check_undecided`: streams leave the same rows undecided, too.
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
        check_same_verdicts(seen[ways[0]], seen[way], way, check_undecided and way != BRUTE_FORCE)
    assert first is not None
    return first, seen


def check_same_verdicts(one: Seen, two: Seen, way: str, undecided_too: bool) -> None:
    """Assert that two ways wrote the same columns before anything was resolved, at least where both are sure.

    Without a tree other rows may be undecided: boxes keep limbs away whose own bounds would not decide, and a ray that
    starts too far away for any box may be decided by its limbs. So may they be between two traversals of one tree,
    where such limbs are many: what comes first decides which boxes are out of reach. The answers are equal.
    """
    assert one.raw is not None
    assert two.raw is not None
    comparable = np.ones(len(one.raw.limb), bool) if undecided_too else ~(one.raw.undecided | two.raw.undecided)

    for name, x, y in zip(HitColumns._fields, one.raw, two.raw, strict=True):
        rows = np.flatnonzero(comparable & (x.view(f"u{x.itemsize}") != y.view(f"u{y.itemsize}")))
        assert not len(rows), (
            f"{way}: raw {name} differs in {len(rows)} rows, first {rows[0]}: {x[rows[0]]} {y[rows[0]]}"
        )


def shown_difference(one: cc.RayHits, two: cc.RayHits) -> str:
    """The first rows in which limb, fraction or face differ."""
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
