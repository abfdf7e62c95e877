"""Minimises a case by delta debugging: changes one thing, casts again, keeps the change if the disagreement remains.

"Delta debugging" after Zeller and Hildebrandt, *Simplifying and Isolating Failure-Inducing Input* (2002). The size of a
case is a tuple of numbers, compared lexicographically: :func:`size`.
"""

from collections.abc import Callable, Iterator
from dataclasses import asdict, replace
from itertools import product
from math import ceil, log2
from typing import Any

import numpy as np

from cylcollide._types import Float64Array
from cylcollide.crosscheck.cases.case import Case, tuples
from cylcollide.crosscheck.cases.recast import recast
from cylcollide.crosscheck.cases.variants import scene_of
from cylcollide.crosscheck.compare.comparison import Comparison
from cylcollide.crosscheck.compare.disagreements import VERDICTS
from cylcollide.crosscheck.compare.truth import Truth
from cylcollide.crosscheck.engine import DEFAULT, EngineOf

Size = tuple[int, int, int, int, int]
Now = Callable[[], Case]
"""Returns the smallest case so far, which may have changed since the last candidate was yielded."""

DIGITS = 15
"""Largest number of decimal digits to which numbers are rounded."""
AXES = ((0.0, 0.0, 1.0), (1.0, 0.0, 0.0), (0.6, 0.0, 0.8))
"""Directions of the limb's axis. PyBullet's boxes cull phantoms beside an axis-aligned limb, hence the last one."""
SHORTEST = -1100
"""Replaces the power of 2 of a segment without length: less than that of any float64."""
REACHES = (0.25, 0.5, 1.0, 2.0, 4.0, 8.0, 16.0, 64.0)
"""Distances from the hit at which a segment begins or ends, in sizes of the limb."""


def size(case: Case) -> Size:
    """Size: limbs; settings and other segments of the call; power of 2 of the length; nonzero numbers; digits."""
    numbers, setup = _numbers(case), case.setup
    settings = sum(value != getattr(DEFAULT, name) for name, value in asdict(setup).items())
    settings += len(case.before) + len(case.after)
    texts = [_digits(number) for number in (*numbers, setup.moved, setup.margin or 0.0)]
    doublings = ceil(log2(case.length)) if case.length else SHORTEST
    return len(case.radius), settings, doublings, sum(number != 0 for number in numbers), sum(texts)


def smaller_by(before: Case, after: Case) -> str:
    """The reduction of a case, in words."""
    (limbs, settings, _, numbers, digits), small = size(before), size(after)
    calls = [len(case.before) + len(case.after) for case in (before, after)]
    counts = {
        "limbs": (limbs, small[0]),
        "settings": (settings - calls[0], small[1] - calls[1]),
        "other segments of the call": (calls[0], calls[1]),
    }
    said = [f"{what} {was} → {now}" for what, (was, now) in counts.items() if was != now]
    said += [f"segment {before.length:.3g} m → {after.length:.3g} m", f"numbers other than 0 {numbers} → {small[3]}"]
    return ", ".join([*said, f"their digits {digits} → {small[4]}"])


def is_valid(case: Case) -> bool:
    """Whether every limb has a length and a radius."""
    return min(case.radius) > 0 and all(p1 != p2 for p1, p2 in zip(case.p1, case.p2, strict=True))


def fewer_limbs(now: Now) -> Iterator[Case]:
    """Keep only the limbs of the answers; or drop each other limb, from the last, so that indices stay valid."""
    limbs = range(len(now().radius))
    yield only(now(), now().about)
    for limb in reversed(limbs):
        if limb < len(now().radius) and limb not in now().about:
            yield only(now(), tuple(i for i in range(len(now().radius)) if i != limb))


def plainer_setup(now: Now) -> Iterator[Case]:
    """Use the default setup; then the default of each setting, or its value with up to three digits."""
    yield replace(now(), setup=DEFAULT)
    for name, value in asdict(DEFAULT).items():
        yield replace(now(), setup=replace(now().setup, **{name: value}))
    for name in ("moved", "margin"):
        for digits in (1, 2, 3):
            if value := getattr(now().setup, name):
                shorter: dict[str, Any] = {name: _significant(value, digits)}
                yield replace(now(), setup=replace(now().setup, **shorter))


def fewer_calls(now: Now) -> Iterator[Case]:
    """Keep only the nearest segments on either side of those that are cast in the same call."""
    for most in (0, 1, 3, 10, 30, 100, 300):
        yield replace(now(), before=now().before[max(len(now().before) - most, 0) :])
        yield replace(now(), after=now().after[:most])


def shorter(now: Now) -> Iterator[Case]:
    """Shorten the segment at its start, end, or both, to `REACHES` sizes of the limb from the reported hits."""
    for reach, ends in product(REACHES, (("start", "end"), ("start",), ("end",))):
        case = now()
        hits = [fraction for fraction in (case.fraction_true, case.fraction_engine) if fraction is not None]
        if hits and case.length > 0.0:
            lengths = np.linalg.norm(np.subtract(case.p2, case.p1), axis=1)
            largest = max(float(np.hypot(lengths[limb], 2 * case.radius[limb])) for limb in case.about)
            start, end, share = np.array(case.start), np.array(case.end), reach * largest / case.length
            at = {"start": max(0.0, min(hits) - share), "end": min(1.0, max(hits) + share)}
            placed = {name: tuples((start + at[name] * (end - start)).tolist()) for name in ends}
            yield replace(case, start=placed.get("start", case.start), end=placed.get("end", case.end))


def aligned(now: Now) -> Iterator[Case]:
    """Rotate and move the world: an end or the centre of the relevant limb to the origin, its axis to one of `AXES`."""
    for axis, share in product((*AXES, None), (0.0, 1.0, 0.5)):
        case, limb = now(), now().about[-1]
        p1, along = np.array(case.p1[limb]), np.subtract(case.p2[limb], case.p1[limb])
        # The point at this share of the limb's axis becomes the origin; without an axis the world is only moved.
        turn = np.eye(3) if axis is None else _turn(along, np.subtract(case.end, case.start), np.array(axis))
        points = np.array([*case.p1, *case.p2, case.start, case.end])
        placed = (points - (p1 + share * along)) @ turn.T
        # Set numbers to 0 that differ from it only by rounding.
        rounding = 4 * np.finfo(np.float64).eps * np.abs(points).max()
        yield _with_points(case, np.where(np.abs(placed) <= rounding, 0.0, placed))


def rounder(now: Now) -> Iterator[Case]:
    """Round all numbers at once, the fewest digits first; then one at a time to 0, to one digit, to 1, and so on."""
    numbers = _numbers(now())
    for decimals in range(DIGITS):
        yield _with_numbers(now(), [round(number, decimals) for number in _numbers(now())])
    for place in sorted(range(len(numbers)), key=lambda place: -_digits(numbers[place])):
        for digits in (0, 1, None, *range(2, DIGITS + 1)):
            current = _numbers(now())
            current[place] = float(np.sign(current[place])) if digits is None else _significant(current[place], digits)
            yield _with_numbers(now(), current)


PASSES = (fewer_limbs, plainer_setup, fewer_calls, shorter, aligned, rounder)
"""All passes; those that remove the most come first."""


def only(case: Case, limbs: tuple[int, ...]) -> Case:
    """The case with only these limbs, which must include those of its answers."""

    def kept(rows: tuple[Any, ...]) -> Any:
        return tuple(rows[limb] for limb in limbs) if rows else ()

    at = {limb: place for place, limb in enumerate(limbs)} | {-1: -1}
    limb_true, limb_engine = at[case.limb_true], at[case.limb_engine]
    kept_was: Any = tuple(map(kept, case.was))
    case = replace(case, p1=kept(case.p1), p2=kept(case.p2), radius=kept(case.radius), names=kept(case.names))
    return replace(case, limb_true=limb_true, limb_engine=limb_engine, was=kept_was)


def _significant(number: float, digits: int) -> float:
    """The number with this many significant digits; 0 with none."""
    return float(f"{number:.{digits - 1}e}") if digits else 0.0


def _digits(number: float) -> int:
    """Number of significant decimal digits in the shortest form of a number; 0 for 0."""
    mantissa, _, _ = repr(abs(number)).partition("e")
    return len(mantissa.replace(".", "").strip("0"))


def _numbers(case: Case) -> list[float]:
    return [float(number) for number in (*np.ravel(case.p1), *np.ravel(case.p2), *case.radius, *case.start, *case.end)]


def _with_numbers(case: Case, numbers: list[float]) -> Case:
    # Adding 0 turns -0 into 0.
    values, m = np.array(numbers) + 0.0, len(case.radius)
    points = np.concatenate([values[: 6 * m], values[7 * m :]]).reshape(-1, 3)
    return _with_points(case, points, radius=tuples(values[6 * m : 7 * m].tolist()))


def _with_points(case: Case, points: Float64Array, **others: Any) -> Case:
    """The case with these p1, p2, start and end, (2 m + 2, 3)."""
    m, rows = len(case.radius), tuples(points.tolist())
    return replace(case, p1=rows[:m], p2=rows[m : 2 * m], start=rows[-2], end=rows[-1], **others)


def _turn(axis: Float64Array, along: Float64Array, target: Float64Array) -> Float64Array:
    """The rotation that takes an axis to the target, and a direction across it into the target's plane y = 0.

    That direction is the component across the axis of ``along``, unless it vanishes, else of a coordinate axis.
    """
    for direction in (along, *np.eye(3)):
        across = direction - axis * (direction @ axis) / (axis @ axis)
        if np.linalg.norm(across) > 1e-6 * np.linalg.norm(direction):
            break
    across, up = across / np.linalg.norm(across), axis / np.linalg.norm(axis)
    sideways = np.array([target[2], 0.0, -target[0]])
    before = np.array([across, np.cross(up, across), up])
    after = np.array([sideways, np.cross(target, sideways), target])
    return np.asarray(after.T @ before)


MOST_CANDIDATES = 1500
"""The largest number of candidates; each takes some milliseconds, a limb of a new size some tens more."""

KEPT_SHARE = 0.5
"""Least share of its amount that a disagreement keeps, so that a millimetre does not become a rounding error."""


class NotReproducedError(ValueError):
    """The engine does not repeat the disagreement of the case."""


def minimise(case: Case, engine_of: EngineOf, most: int = MOST_CANDIDATES) -> Case:
    """Return a smaller case with the same kind of disagreement and the same cause, as found now.

    The passes take turns until nothing changes. A change is kept if the case is smaller, the engine still disagrees, at
    least half as badly, and exact arithmetic confirms this library. At most ``most`` candidates are cast.
    NotReproducedError if the engine does not disagree in this way to begin with, or this library is wrong.
    """
    live = recast(case, engine_of)
    first = live.again
    if first is None or not live.proved:
        raise NotReproducedError(f"expected a case that the engine repeats, got another answer to this {case.kind}")

    smallest, before, tried = first, None, set[str]()

    def now() -> Case:
        return smallest

    while smallest != before:
        before = smallest
        for simplify in PASSES:
            for candidate in simplify(now):
                pointless = candidate.length == 0.0 < first.length
                if len(tried) == most or pointless or not is_valid(candidate) or size(candidate) >= size(smallest):
                    continue
                if repr(candidate) not in tried:
                    tried.add(repr(candidate))
                    smallest = _repeated(candidate, first, engine_of) or smallest
    return smallest


def _repeated(candidate: Case, goal: Case, engine_of: EngineOf) -> Case | None:
    """The candidate with its present answers; None if it does not show the disagreement of the goal."""
    # Rejects most candidates, before limbs of a new size are calibrated.
    if goal.kind_code in VERDICTS:
        scene, row = scene_of(candidate)
        with engine_of(candidate.setup) as engine:
            both = Comparison.of(engine, Truth(scene))
        if (both.ours.limb[row], both.theirs.limb[row]) != (candidate.limb_true, candidate.limb_engine):
            return None
    live = recast(candidate, engine_of)
    now = live.again
    if now is None or not live.proved or now.cause != goal.cause:
        return None
    as_bad = goal.amount is None or abs(now.amount or 0.0) >= KEPT_SHARE * abs(goal.amount)
    return now if as_bad else None
