"""Rays per second of every engine on every workload, side by side; every disagreement is resolved exactly."""

from collections.abc import Callable, Sequence
from contextlib import ExitStack
from dataclasses import dataclass, replace
from functools import partial

import numpy as np

from cylcollide._types import NO_LIMB, Int32Array, Shape
from cylcollide.bench.timing import interleaved, seconds, spread
from cylcollide.bench.workloads import Segments, Workload
from cylcollide.engines import Engine, EngineHits, create
from cylcollide.exact.line import segment_numbers
from cylcollide.exact.order import closest
from cylcollide.limbs.limbs import Limbs
from cylcollide.query.exact_fallback import exact_limb
from cylcollide.world import HitWorld

BASE = "cylcollide"
LEAN = "cylcollide, lean"
"""Limb and fraction only, what a hit test needs; the other rows compute limb, fraction, position and normal."""
TURN = 0.4  # largest duration of an engine's turn in seconds: slower engines get fewer rays
PROBE, FEWEST = 100, 200  # rays of the first estimate, and the smallest number that is timed

Progress = Callable[[str], None]


@dataclass(frozen=True)
class Row:
    """Measurements of one engine on one workload; nan or 0 if it cannot take part, for the reason in `note`."""

    workload: str
    limbs: int
    engine: str
    version: str
    rays: int = 0  # a round; fewer for a slow engine
    hits: int = 0
    rate: float = float("nan")  # rays per second, median of the rounds; comparable only within one run
    ratio: float = float("nan")  # rate over that of cylcollide in the same round: median, least and largest
    ratio_low: float = float("nan")
    ratio_high: float = float("nan")
    wrong_verdicts: int = 0  # proved in exact arithmetic
    wrong_limbs: int = 0
    build_seconds: float = float("nan")
    note: str = ""


def run(workload: Workload, engines: Sequence[str], rays: int, rounds: int, progress: Progress) -> list[Row]:
    """Measure engines, given by name, `BASE` first, on one workload: build all, then cast in turns.

    `progress` is called with a line of text at each step.
    """
    limbs = workload.limbs()
    world = HitWorld(limbs)
    segments = workload.segments(world, rays)
    rows: dict[str, Row] = {}
    with ExitStack() as stack:
        ready: dict[str, tuple[Engine, Segments]] = {}
        for name in engines:
            progress(f"{workload.name}: building {name}")
            engine = stack.enter_context(create(name))
            unfit = unsupported_reason(engine, limbs)
            rows[name] = row = Row(
                workload.name, len(limbs), engine.name, ", ".join(engine.versions.values()), note=unfit
            )
            if unfit:
                continue
            building = seconds(lambda engine=engine: engine.build(limbs))  # type: ignore[misc]  # bound in the loop
            share = segments.first(_affordable(engine, segments))
            ready[name] = engine, share
            n = len(share.starts)
            note = "" if n == len(segments.starts) else "slow: fewer rays"
            rows[name] = replace(row, rays=n, build_seconds=building, note=note)
            if name == BASE:
                rows[LEAN] = replace(row, engine=LEAN, rays=len(segments.starts))
        progress(f"{workload.name}: {rounds} rounds")
        works = {name: partial(engine.cast_segments, *share) for name, (engine, share) in ready.items()}
        results = {name: work() for name, work in works.items()}  # also warms up; few rays would run other loops

        def lean() -> object:
            hits = world.cast_segments(*segments, threads=1)
            return hits.limb, hits.fraction

        times = interleaved({**works, LEAN: lean}, rounds)
    per_ray = {name: taken / rows[name].rays for name, taken in times.items()}
    progress(f"{workload.name}: resolving disagreements")
    wrong = _wrong_results(limbs, segments, results)
    results[LEAN], wrong[LEAN] = results[BASE], wrong[BASE]
    for name, taken in per_ray.items():
        ratio, low, high = spread(per_ray[BASE] / taken)
        rows[name] = replace(
            rows[name], hits=int((results[name].limb >= 0).sum()), rate=1 / spread(taken)[0],
            ratio=ratio, ratio_low=low, ratio_high=high, wrong_verdicts=wrong[name][0], wrong_limbs=wrong[name][1],
        )  # fmt: skip
    return list(rows.values())


def unsupported_reason(engine: Engine, limbs: Limbs) -> str:
    """Why an engine cannot take part; empty if it can."""
    can = engine.capabilities
    lacking = can.lacks(Shape(kind) for kind in np.unique(limbs.kind).tolist())
    if lacking:
        return f"does not hold {', '.join(shape.name.lower() for shape in lacking)}"
    if can.practical_limbs is not None and len(limbs) > can.practical_limbs:
        return f"left out above {can.practical_limbs:,} limbs: building takes minutes"
    return ""


def _affordable(engine: Engine, segments: Segments) -> int:
    """The number of rays that an engine casts in a turn, at least `FEWEST`."""
    n = len(segments.starts)
    probe = min(PROBE, n)
    engine.cast_segments(*segments.first(probe))
    taken = seconds(lambda: engine.cast_segments(*segments.first(probe)))
    if taken * n / probe > TURN:  # exclude the fixed cost of a call: estimate again with more rays
        probe = max(probe, min(n, int(0.1 * TURN / taken * probe)))
        taken = seconds(lambda: engine.cast_segments(*segments.first(probe)))
    return n if taken * n / probe <= TURN else min(n, max(FEWEST, int(TURN / taken * probe)))


def _wrong_results(limbs: Limbs, segments: Segments, results: dict[str, EngineHits]) -> dict[str, list[int]]:
    """Wrong verdicts and limbs of each engine; for ours, the largest numbers of all comparisons."""
    ours = results[BASE].limb
    found, ours_wrong = {}, np.zeros(2, int)
    for name, hits in results.items():
        n = len(hits.limb)
        theirs_wrong, counts = resolve_disagreements(limbs, segments.first(n), hits.limb, ours[:n])
        found[name], ours_wrong = theirs_wrong.tolist(), np.maximum(ours_wrong, counts)
    return found | {BASE: ours_wrong.tolist()}


def resolve_disagreements(
    limbs: Limbs, segments: Segments, theirs: Int32Array, ours: Int32Array
) -> "np.ndarray[tuple[int, int], np.dtype[np.int64]]":
    """Count wrong results among segments whose hit limbs differ; `theirs` and `ours` (n,), -1 for a miss.

    Only the limbs of the two results are tested, in exact arithmetic: the one hit first is right, ties by index.
    Returns two rows, theirs and ours: number of wrong verdicts, and of wrong limbs.
    """
    counts = np.zeros((2, 2), np.int64)
    for row in np.flatnonzero(theirs != ours).tolist():
        named = {int(theirs[row]), int(ours[row])} - {NO_LIMB}
        ray = segment_numbers(segments.starts[row], segments.ends[row])
        hit, _ = closest(ray, [(limb, exact_limb(limbs._table, limb)) for limb in sorted(named)], "hit")
        truth = NO_LIMB if hit is None else hit[0]
        for side, limb in enumerate((theirs[row], ours[row])):
            if limb != truth:
                counts[side, int(limb != NO_LIMB and truth != NO_LIMB)] += 1
    return counts
