"""What the page of a sweep over poses says in words: every sentence is computed from the run."""

from collections.abc import Callable

import numpy as np

from cylcollide._types import Float64Array
from cylcollide.crosscheck.number_format import SPACE, angle, counted, digits, length, percent
from cylcollide.crosscheck.records import JsonObject
from cylcollide.crosscheck.report.measures import grazing_phantoms, phantom_gaps, right_hits
from cylcollide.crosscheck.run.run import Result, wrong_count

ENOUGH = 5  # hits in a decade of graze depth before its median is worth a sentence


def verdict(summary: JsonObject, error: Float64Array, tilt: Float64Array) -> tuple[str, str]:
    """Two sentences: how many verdicts are wrong, and how far off the right hits are, in metres and degrees."""
    total = summary["families"][-1]
    shot = (
        f"{counted(summary['rays'], 'bullet')} at {counted(summary['poses'], 'pose')} of "
        f"{counted(len(summary['motions']), 'motion')}"
    )
    wrong = wrong_count(total)
    if wrong == 0:
        first = f"{shot}: {summary['engine']} agrees on every verdict and every limb."
    else:
        proof = (
            "every one is proved by rational arithmetic"
            if total["proved"] == wrong
            else f"only {total['proved']:,} of these are proved by rational arithmetic"
        )
        first = (
            f"{shot}: {summary['engine']} is wrong about {wrong:,} ({percent(wrong, total['rays'])}): "
            f"{counted(total['phantom'], 'phantom hit')}, {total['missed']:,} missed and {total['wrong_limb']:,} on "
            f"the wrong limb; {proof}."
        )
    if len(error) == 0:
        return first, "There is no hit on which both sides agree."
    early, late = percent(int((error < 0).sum()), len(error)), percent(int((error > 0).sum()), len(error))
    earliest, latest = length(-min(float(error.min()), 0.0)), length(max(float(error.max()), 0.0))
    return first, (
        f"Of the {counted(len(error), 'hit')} that both sides credit to the same limb, {early} are reported early, by "
        f"up to {earliest}, and {late} late, by up to {latest}; the normal is off by {angle(float(np.median(tilt)))} "
        f"in the median and by {angle(float(tilt.max()))} at worst."
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
    gap, outside = phantom_gaps(result.tally), 100.0 * grazing_phantoms(result.tally)
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
    median, most, largest = np.percentile(early, (50, 99, 100))
    return (
        f"{len(early):,} of {counted(len(error), 'agreed hit')} are early: half of these by more than "
        f"{length(float(median))}, one in a hundred by more than {length(float(most))}, the worst by "
        f"{length(float(largest))}."
    )


def power(exponent: float) -> str:
    """A power of ten, ``10⁻³``."""
    return "10" + str(int(exponent)).translate(str.maketrans("-0123456789", "⁻⁰¹²³⁴⁵⁶⁷⁸⁹"))
