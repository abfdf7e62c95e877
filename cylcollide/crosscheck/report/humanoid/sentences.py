"""What the report says in words: every sentence is computed from the result, none is written beforehand."""

from collections.abc import Callable

import numpy as np

from cylcollide._types import BoolArray, Float64Array
from cylcollide.crosscheck.generate.bullets import BULLET_FAMILIES
from cylcollide.crosscheck.judge.result import KINDS, CrosscheckResult, FamilyRow
from cylcollide.crosscheck.number_format import SPACE, angle, counted, digits, length, percent
from cylcollide.crosscheck.report.worst import WorstRay

ENOUGH = 5  # hits in a decade of graze depth before its median is worth a sentence


def wrong_count(row: FamilyRow) -> int:
    """How many bullets of a row got a wrong verdict or limb."""
    return row.missed + row.phantom + row.wrong_limb


def title(result: CrosscheckResult) -> str:
    """The verdict as a heading."""
    wrong = wrong_count(result.rows[-1])
    shot = counted(result.rays, "bullet")
    return f"{result.engine} is wrong about {wrong:,} of {shot}" if wrong else f"{result.engine} agrees on {shot}"


def verdict(result: CrosscheckResult) -> tuple[str, str]:
    """Two sentences: how many verdicts are wrong, and how far off the right ones are."""
    total, poses = result.rows[-1], result.poses
    shot = (
        f"{counted(result.rays, 'bullet')} at {counted(len(poses.motion), 'pose')} of "
        f"{counted(len(set(poses.motion)), 'motion')}"
    )
    wrong = wrong_count(total)
    if wrong == 0:
        first = f"{shot}: {result.engine} agrees on every verdict and every limb."
    else:
        proof = (
            "every one is proved by rational arithmetic"
            if total.proved == wrong
            else f"only {total.proved:,} of these are proved by rational arithmetic"
        )
        first = (
            f"{shot}: {result.engine} is wrong about {wrong:,} ({percent(wrong, total.rays)}): "
            f"{counted(total.phantom, 'phantom hit')}, {total.missed:,} missed and {total.wrong_limb:,} on the wrong "
            f"limb; {proof}."
        )
    error, normal = result.agreed.distance_error, result.agreed.normal_error
    if len(error) == 0:
        return first, "There is no hit on which both sides agree."
    early, late = percent(int((error < 0).sum()), len(error)), percent(int((error > 0).sum()), len(error))
    earliest, latest = length(-min(float(error.min()), 0.0)), length(max(float(error.max()), 0.0))
    return first, (
        f"Of the {counted(len(error), 'hit')} that both sides credit to the same limb, {early} are reported early, by "
        f"up to {earliest}, and {late} late, by up to {latest}; the normal is off by {angle(float(np.median(normal)))} "
        f"in the median and by {angle(float(normal.max()))} at worst."
    )


def headline(result: CrosscheckResult, worst: WorstRay) -> str:
    """One sentence: what is wrong about one of the worst rays."""
    name = {limb: result.poses.limb_names[limb].replace("_", " ") for limb in worst.limbs}
    true, other = name.get(worst.limb_true, ""), name.get(worst.limb_engine, "")
    size = length(worst.severity)
    return {
        "phantom": f"{result.engine} hits the {other}, which the bullet passes at a distance of {size}.",
        "missed": f"{result.engine} hits nothing, but the bullet cuts the {true} to a depth of {size}.",
        "wrong limb": f"{result.engine} hits the {other}, but truly the first hit is the {true}, {size} from there.",
        "early": f"{result.engine} hits the {true} {size} before its surface.",
        "late": f"{result.engine} hits the {true} {size} behind its surface.",
    }[worst.kind]


def graze_words(result: CrosscheckResult, error: Float64Array, show: Callable[[float], str], what: str) -> str:
    """Compare the error of the deepest and the shallowest grazing hits."""
    depth = result.agreed.depth
    grazing = depth > 0.0
    if not grazing.any():
        return "No bullet of this run grazed a limb and hit it on both sides."
    decade = np.floor(np.log10(depth, where=grazing, out=np.full(len(depth), np.nan)))
    decades = [int(d) for d in np.unique(decade[grazing]) if (decade == d).sum() >= ENOUGH]
    medians = {d: float(np.median(error[decade == d])) for d in decades}
    said = f"{counted(int(grazing.sum()), 'grazing hit')} on which both sides agree."
    if len(medians) < 2:
        return said
    shallow, deep = medians[min(medians)], medians[max(medians)]
    trend = "grows as the cut gets shallower" if shallow > 2 * deep else (
        "shrinks as the cut gets shallower" if deep > 2 * shallow else "hardly depends on the depth of the cut"
    )  # fmt: skip
    return (
        f"{said} The {what} {trend}: in the median {show(deep)} where the line passes {power(max(medians))} to "
        f"{power(max(medians) + 1)} of the radius inside, {show(shallow)} at {power(min(medians))} to "
        f"{power(min(medians) + 1)}."
    )


def family_words(result: CrosscheckResult) -> str:
    """Which family goes wrong most, and how often a plainly aimed bullet does."""
    rows = [row for row in result.rows[:-1] if row.rays > 0]
    if not rows or wrong_count(result.rows[-1]) == 0:
        return "No bullet of any family got a wrong verdict or limb."
    ranked = sorted(rows, key=_wrong_share, reverse=True)
    worst, said = ranked[0], [f"{row.family} {percent(wrong_count(row), row.rays)}" for row in ranked]
    return (
        f"Bullets of the family “{worst.family}” go wrong most: {wrong_count(worst):,} of {worst.rays:,}. "
        f"Share of wrong answers: {', '.join(said)}."
    )


def phantom_words(result: CrosscheckResult) -> str:
    """How far from a limb a phantom hit can be."""
    phantom, grazing = grazing_phantoms(result)
    if not phantom.any():
        return "There is no phantom hit in this run."
    gap = result.disagreements.clearance[phantom]
    widest = float(np.nanmax(gap)) if np.isfinite(gap).any() else np.nan
    largest = "" if np.isnan(widest) else f" The largest gap between bullet and limb is {length(widest)}."
    if not grazing.any():
        return f"{counted(int(phantom.sum()), 'phantom hit')}, none of them by a grazing bullet.{largest}"
    outside = -100.0 * result.disagreements.depth[grazing]
    row = next(row for row in result.rows if row.family == "graze")
    rate = percent(row.phantom, row.rays - row.hits)
    half, most = (f"{digits(float(share))}{SPACE}%" for share in np.percentile(outside, (50, 100)))
    return (
        f"{result.engine} reports a hit for {rate} of the grazing bullets that hit nothing. Half of these "
        f"{counted(len(outside), 'phantom')} pass at least {half} of the radius outside the limb, the farthest {most}."
        f"{largest}"
    )


def early_words(result: CrosscheckResult) -> str:
    """How early the early hits are."""
    error = result.agreed.distance_error
    early = -error[error < 0.0]
    if len(early) == 0:
        return "No hit of this run is reported early."
    median, most, largest = np.percentile(early, (50, 99, 100))
    return (
        f"{len(early):,} of {counted(len(error), 'agreed hit')} are early: half of these by more than "
        f"{length(float(median))}, one in a hundred by more than {length(float(most))}, the worst by "
        f"{length(float(largest))}."
    )


def grazing_phantoms(result: CrosscheckResult) -> tuple[BoolArray, BoolArray]:
    """Which disagreements are phantoms, and which of these come from a bullet that grazes a limb outside."""
    wrong = result.disagreements
    phantom: BoolArray = wrong.kind == KINDS.index("phantom")
    return phantom, phantom & (wrong.family == BULLET_FAMILIES.index("graze")) & (wrong.depth < 0.0)


def power(exponent: float) -> str:
    """A power of ten, ``10⁻³``."""
    return "10" + str(int(exponent)).translate(str.maketrans("-0123456789", "⁻⁰¹²³⁴⁵⁶⁷⁸⁹"))


def _wrong_share(row: FamilyRow) -> float:
    return wrong_count(row) / max(row.rays, 1)
