"""What the page says in words. All numbers are the run's; what a cause is, stands in ``cases/words.py``."""

import math
from collections.abc import Callable

import numpy as np

from cylcollide._types import Float64Array
from cylcollide.crosscheck.cases.case import Case
from cylcollide.crosscheck.cases.words import MEASURED, headline, quantity
from cylcollide.crosscheck.compare.disagreements import Cause, Kind
from cylcollide.crosscheck.engine import Setup
from cylcollide.crosscheck.number_format import (
    SPACE,
    all_or,
    angle,
    counted,
    digits,
    length,
    listed,
    percent,
    power,
    scale_words,
)
from cylcollide.crosscheck.records import JsonObject
from cylcollide.crosscheck.report.measures import RightHits, grazing_phantoms, right_hits
from cylcollide.crosscheck.run.run import Result, wrong_count

ENOUGH = 5
"""Hits in a decade of graze depth before its median is worth a sentence."""


def title(summary: JsonObject, thing: str = "segment") -> str:
    """The verdict as a heading."""
    total = summary["families"][-1]
    wrong, engine = wrong_count(total), summary["engine"]
    if not wrong:
        return f"{engine} gives the right verdict on {counted(total['rays'], thing)}"
    why = ": here is why" if summary["causes"] and summary["unexplained"]["count"] == 0 else ""
    return f"{engine} is wrong about {wrong:,} of {counted(total['rays'], thing)}{why}"


def verdict(summary: JsonObject) -> tuple[str, str]:
    """Two sentences on a run by families: what is wrong, and whether it is explained."""
    total, engine = summary["families"][-1], summary["engine"]
    wrong = wrong_count(total)
    drawn = "drawn to bring out one way of being wrong each"
    if len(summary["families"]) <= 2:
        drawn = f"of the family “{summary['families'][0]['family']}”"
    parts = [counted(total["phantom"], "phantom hit"), f"{total['missed']:,} missed"]
    parts += [f"{total['wrong_limb']:,} on the wrong limb"] if total["wrong_limb"] else []
    lost = f", and {total['lost']:,} segments get no answer at all" if total["lost"] else ""
    share, proof = percent(wrong, total["rays"]), _proof(total, "every one of these is")
    said = f"{wrong:,} ({share}) a wrong verdict: {listed(parts)}; {proof}" if wrong else "every one the right verdict"
    return f"Of {counted(total['rays'], 'segment')}, {drawn}, {engine} gives {said}{lost}.", _explained(summary)


def _proof(total: JsonObject, every: str) -> str:
    proved = every if total["proved"] == wrong_count(total) else f"only {total['proved']:,} of these are"
    return f"{proved} proved by rational arithmetic"


def _explained(summary: JsonObject) -> str:
    open_, causes = summary["unexplained"], [c for c in summary["causes"] if c["cause"] != Cause.UNEXPLAINED.label]
    every = open_["disagreements"]
    if not every:
        return "Distances and normals agree as well."
    named = [f"{percent(cause['count'], every)} {cause['cause']}" for cause in causes[:3]]
    left = "none is" if not open_["count"] else f"{open_['count']:,} {'is' if open_['count'] == 1 else 'are'}"
    tested, proved = (sum(cause["interventions"][name] for cause in causes) for name in ("tested", "proved"))
    tried = f"; of {counted(tested, 'case')} tried again with one thing changed, {all_or(proved, tested)} did as the "
    return (
        f"With errors of distance and of normal there are {counted(every, 'disagreement')}, and {left} left "
        f"unexplained: {listed(named)}{' come first' if len(causes) > 3 else ''}"
        f"{tried + 'cause predicts' if tested else ''}."
    )


def not_tried_words(summary: JsonObject) -> list[str]:
    """A sentence for every family whose share of the segments was too small for it."""
    return [
        f"{left['family']} was not tried: its calls cannot be made as small as its share of {summary['asked']:,} "
        f"segments; {left['rays']:,} are enough for one."
        for left in summary["not_tried"]
    ]


def case_words(case: Case) -> str:
    """What is wrong about a case, its limb called by its size, and how the limb was built."""
    about = f"the limb (radius {scale_words(case.radius[case.limb])})"
    built = "" if case.built.is_default else f" Built with {_built(case.built)}."
    return headline(case, lambda limb: about if limb == case.limb else "another limb") + built


def _built(setup: Setup) -> str:
    """The fields of a setup that are not the default, in words."""
    ways = {"urdf": "loadURDF", "urdf-implicit": "loadURDF and URDF_USE_IMPLICIT_CYLINDER", "mjcf": "loadMJCF"}
    parts = [ways[setup.construction]] if setup.construction in ways else []
    parts += [f"a collision margin of {length(setup.margin)}"] if setup.margin is not None else []
    parts += [f"a move of {length(setup.moved)} into place"] if setup.moved else []
    return listed([*parts, *(["no step of the simulation since"] if setup.stale else [])])


def amount_words(case: Case) -> str:
    """How wrong a case is, in the unit of its kind."""
    return quantity(None if case.amount is None else abs(case.amount), case.kind)


def bound_words(nearest: JsonObject, cause: Cause) -> str:
    """What the cause allows at most, and how near a disagreement of the run came to it; nothing if it has no bound."""
    if nearest["ratio"] is None or cause not in MEASURED:
        return ""
    # A margin beyond the limb's size is a length, whatever it does to the normal.
    bound = quantity(nearest["bound"], Kind.LATE.label if cause == Cause.API_LIMIT else nearest["kind"])
    return f"The disagreement nearest to its bound reaches {ratio_words(nearest['ratio'])} of the {bound} allowed."


MUST = {"vanishes": "vanish", "shrinks": "shrink", "changes": "change", "vanishes for some": "vanish at times"}
"""What an error must do, in the words of the trials."""


def change_rows(changes: list[JsonObject]) -> list[JsonObject]:
    """The interventions on a cause; scales and margins of one direction are put together, with the range of factors."""
    rows: dict[tuple[str, str], JsonObject] = {}
    for change in changes:
        what, _, factor = change["change"].partition(" x ")
        what += f" {'larger' if float(factor) > 1 else 'smaller'}" if factor else ""
        new = {"change": what, "must": MUST[change["predicted"]], "factors": [], "held": 0, "failed": 0}
        row = rows.setdefault((what, change["predicted"]), new)
        row["factors"] += [float(factor)] if factor else []
        row["held"] += change["held"]
        row["failed"] += change["failed"]
    for row in rows.values():
        said = [f"{factor:,.0f}" if factor >= 1 else f"{factor:g}" for factor in sorted(row["factors"])]
        row["change"] += f": × {' to '.join(dict.fromkeys((said[0], said[-1])))}" if said else ""
    return list(rows.values())


def ratio_words(ratio: float) -> str:
    """A share of the bound in per cent, with the digits that set it apart from the whole."""
    left = 1.0 - ratio
    decimals = 1 if left >= 0.01 else min(7, math.ceil(-math.log10(left)) - 1) if left > 1e-9 else 0
    said = f"{100 * ratio:.{decimals}f}"
    return f"{said.rstrip('0').rstrip('.') if decimals else said}{SPACE}%"


def kinds_words(kinds: dict[str, int]) -> str:
    """Counts by kind, most frequent first."""
    ranked = sorted(kinds.items(), key=lambda item: -item[1])
    said = {Kind.NORMAL.label: ("normal off", "normals off")}
    return ", ".join(counted(count, *said.get(kind, (kind, kind))) for kind, count in ranked)


def bullet_verdict(summary: JsonObject, hits: RightHits) -> tuple[str, str]:
    """Two sentences on a sweep over poses: how many verdicts are wrong, and how far off the right hits are."""
    total, error, wrong = summary["families"][-1], hits.error, wrong_count(summary["families"][-1])
    first = (
        f"{counted(summary['rays'], 'bullet')} at {counted(summary['poses'], 'pose')} of "
        f"{counted(len(summary['motions']), 'motion')}: {summary['engine']} "
    )
    first += (
        f"is wrong about {wrong:,} ({percent(wrong, total['rays'])}): {counted(total['phantom'], 'phantom hit')}, "
        f"{total['missed']:,} missed and {total['wrong_limb']:,} on the wrong limb; {_proof(total, 'every one is')}."
        if wrong
        else "agrees on every verdict and every limb."
    )
    if len(error) == 0:
        return first, "There is no hit on which both sides agree."
    early, late = percent(int((error < 0).sum()), len(error)), percent(int((error > 0).sum()), len(error))
    earliest, latest = length(-min(float(error.min()), 0.0)), length(max(float(error.max()), 0.0))
    return first, (
        f"Of the {counted(len(error), 'hit')} that both sides credit to the same limb, {early} are reported early, by "
        f"up to {earliest}, and {late} late, by up to {latest}; the normal is off by "
        f"{angle(float(np.median(hits.tilt)))} in the median and by {angle(float(hits.tilt.max()))} at worst."
    )


def graze_words(depth: Float64Array, error: Float64Array, show: Callable[[float], str], what: str) -> str:
    """Compare the error of the deepest and the shallowest grazing hits; both (n,), of all right hits."""
    grazing = depth > 0.0
    if not grazing.any():
        return "No bullet of this run grazed a limb and hit it on both sides."
    decade = np.floor(np.log10(depth, where=grazing, out=np.full(len(depth), np.nan)))
    decades = [int(d) for d in np.unique(decade[grazing]) if (decade == d).sum() >= ENOUGH]
    medians = {d: float(np.median(error[decade == d])) for d in decades}
    text = f"{counted(int(grazing.sum()), 'grazing hit')} on which both sides agree."
    if len(medians) < 2:
        return text
    shallow, deep = medians[min(medians)], medians[max(medians)]
    trend = "grows as the cut gets shallower" if shallow > 2 * deep else (
        "shrinks as the cut gets shallower" if deep > 2 * shallow else "hardly depends on the depth of the cut"
    )  # fmt: skip
    return (
        f"{text} The {what} {trend}: in the median {show(deep)} where the line passes {power(max(medians))} to "
        f"{power(max(medians) + 1)} of the radius inside, {show(shallow)} at {power(min(medians))} to "
        f"{power(min(medians) + 1)}."
    )


def family_words(summary: JsonObject) -> str:
    """Which family goes wrong most, and how often a plainly aimed bullet does."""
    rows = [row for row in summary["families"][:-1] if row["rays"] > 0]
    if not rows or wrong_count(summary["families"][-1]) == 0:
        return "No bullet of any family got a wrong verdict or limb."
    ranked = sorted(rows, key=lambda row: wrong_count(row) / row["rays"], reverse=True)
    worst, shares = ranked[0], [f"{row['family']} {percent(wrong_count(row), row['rays'])}" for row in ranked]
    return (
        f"Bullets of the family “{worst['family']}” go wrong most: {wrong_count(worst):,} of {worst['rays']:,}. "
        f"Share of wrong answers: {', '.join(shares)}."
    )


def phantom_words(result: Result) -> str:
    """How far from a limb a phantom hit can be."""
    gap = result.tally.column("amount")[result.tally.column("kind") == Kind.PHANTOM]
    outside = 100.0 * grazing_phantoms(result.tally)
    if not len(gap):
        return "There is no phantom hit in this run."
    largest = f" The largest gap between bullet and limb is {length(float(gap.max()))}."
    if not len(outside):
        return f"{counted(len(gap), 'phantom hit')}, none of them by a grazing bullet.{largest}"
    row = next(row for row in result.summary["families"] if row["family"] == "graze")
    rate = percent(row["phantom"], row["rays"] - row["hits"])
    half, most = (f"{digits(float(share))}{SPACE}%" for share in np.percentile(outside, (50, 100)))
    return (
        f"{result.summary['engine']} reports a hit for {rate} of the grazing bullets that hit nothing. Half of these "
        f"{counted(len(outside), 'phantom')} pass at least {half} of the radius outside the limb, the farthest {most}."
        f"{largest}"
    )


def early_words(result: Result) -> str:
    """How early the early hits are."""
    error = right_hits(result.tally).error
    early = -error[error < 0.0]
    if len(early) == 0:
        return "No hit of this run is reported early."
    median, most, largest = (length(float(metres)) for metres in np.percentile(early, (50, 99, 100)))
    return (
        f"{len(early):,} of {counted(len(error), 'agreed hit')} are early: half of these by more than {median}, one in "
        f"a hundred by more than {most}, the worst by {largest}."
    )
