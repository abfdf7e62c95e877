"""What follows for people who use the engine: an advice stands on numbers of the run, or it is not given."""

import math
from collections.abc import Callable, Sequence
from dataclasses import dataclass

from cylcollide.crosscheck.causes.cause import Cause
from cylcollide.crosscheck.engine.pybullet_client import BulletClient
from cylcollide.crosscheck.number_format import counted, length, percent
from cylcollide.crosscheck.records import JsonObject
from cylcollide.crosscheck.report.measures import ARM, construction_rows, margin_rows, scale_rows
from cylcollide.crosscheck.report.sentences import facts, scale_words

ADVISED_MARGIN = 1e-3
"""Metres: what PyBullet gives to a limb that is built by default."""


@dataclass(frozen=True)
class Advice:
    """What to do, why, and the numbers of this run behind it."""

    title: str
    text: str
    evidence: tuple[str, ...]
    code: str = ""


def advice(summary: JsonObject) -> list[Advice]:
    """All that the run has numbers for, for users of PyBullet; none for another engine."""
    if summary["engine"] != BulletClient.name:
        return []
    return [found for rule in RULES if (found := rule(summary)) is not None]


def _scale(summary: JsonObject) -> Advice | None:
    rows, big = scale_rows(summary, ("generic",)), facts(summary)["big"]
    small = [row for row in rows if row["radius"] <= ARM]
    large = [row for row in rows if ARM < row["radius"] < (math.inf if math.isnan(big) else big)]
    tried = _trials(summary, Cause.TERMINATION, lambda change: change.startswith("world x"))
    if not (small and large and tried):
        return None
    at, grown = small[-1], large[-1]
    if at["phantom"] * grown["misses"] <= grown["phantom"] * at["misses"]:
        return None
    limit = ""
    if not math.isnan(big):
        limit = (
            f" Radii have to stay below {length(big)}, from where the rounding of big shapes was measured: a limb of "
            f"{scale_words(ARM)} can grow by {10 ** math.floor(math.log10(0.99 * big / ARM)):,}."
        )
    return Advice(
        "Ask in a larger world",
        "Multiply positions and sizes before they go into the engine that rays are asked of, and divide the "
        "answers: the "
        f"stop of {length(facts(summary)['stop'])} stays what it is, and becomes a smaller share of the limb.{limit}",
        (
            f"{percent(at['phantom'], at['misses'])} of the generic segments that miss a limb of "
            f"{scale_words(at['radius'])} "
            f"are phantom hits, {percent(grown['phantom'], grown['misses'])} in a world where it has "
            f"{scale_words(grown['radius'])}",
            f"grown worlds did as predicted in {_of(tried)} trials on cases of the {Cause.TERMINATION.label}",
        ),
    )


def _margin(summary: JsonObject) -> Advice | None:
    rows = {row["margin"]: row for row in margin_rows(summary) if row["hits"]}
    if ADVISED_MARGIN not in rows or 0.0 not in rows:
        return None
    kept, none, widest = rows[ADVISED_MARGIN], rows[0.0], rows[max(rows)]
    if _rate(kept) >= min(_rate(none), _rate(widest)):
        return None
    return Advice(
        "Leave the collision margin alone",
        "Above all do not set it to zero to get rid of phantoms: those do not come from the margin, and hits are lost.",
        tuple(
            f"margin {length(row['margin']) if row['margin'] else '0'}: {percent(row['missed'], row['hits'])} of "
            f"the hits "
            f"are missed, {percent(row['phantom'], row['misses'])} of the misses are phantom hits"
            for row in (none, kept, widest)
        ),
    )


def _rate(row: JsonObject) -> float:
    return float(row["missed"] / row["hits"])


def _flag(summary: JsonObject) -> Advice | None:
    rows = {row["construction"]: row for row in construction_rows(summary)}
    hull, implicit = rows.get("urdf"), rows.get("urdf-implicit")
    if not hull or not implicit:
        return None
    wrong = [(row["missed"] + row["phantom"] + row["wrong_limb"], row["rays"]) for row in (hull, implicit)]
    tried = _trials(summary, Cause.SHAPE, lambda change: change == "implicit cylinder")
    if wrong[0][0] * wrong[1][1] <= wrong[1][0] * wrong[0][1]:
        return None
    evidence = [f"wrong verdicts: {percent(*wrong[0])} without the flag, {percent(*wrong[1])} with it"]
    evidence += [f"the error of shape went away in {_of(tried)} trials with the flag"] if tried else []
    return Advice(
        "Load cylinders as cylinders",
        "Without the flag loadURDF makes a prism of a cylinder and adds a margin around it.",
        tuple(evidence),
        "p.loadURDF(path, flags=p.URDF_USE_IMPLICIT_CYLINDER)",
    )


def _batch(summary: JsonObject) -> Advice | None:
    whole = [call["asked"] for call in summary["calls"] if call["asked"] == call["answered"]]
    short = [call for call in summary["calls"] if call["asked"] > call["answered"]]
    if not whole or not short:
        return None
    said = [
        f"{call['asked']:,} segments as {'lists' if call['as_lists'] else 'arrays'}: "
        f"{counted(call['answered'], 'answer')}"
        for call in short
    ]
    return Advice(
        f"Send at most {max(whole):,} rays in a call",
        "And compare the number of answers with that of the rays: a call that is too long loses them, not always "
        "with an "
        "error.",
        (f"{max(whole):,} segments: {max(whole):,} answers", *said),
    )


def _starts(summary: JsonObject) -> Advice | None:
    rows = {row["family"]: row for row in summary["families"]}
    inside, near = rows.get("inside-start"), rows.get("near-start")
    if not inside or not inside["missed"]:
        return None
    evidence = [f"{percent(inside['missed'], inside['hits'])} of the segments that start inside a limb get no hit"]
    stop = length(facts(summary)["stop"])
    if near and near["phantom"]:
        misses = near["rays"] - near["hits"]
        evidence.append(
            f"of those that start 0.5 to 2 mm outside and miss, {percent(near['phantom'], misses)} are phantom hits"
        )
    return Advice(
        "Start rays outside of the limbs",
        f"And more than the stop of {stop} away from them. Take the shooter's own limbs out, and begin earlier on "
        f"the line "
        "where a muzzle is inside something.",
        tuple(evidence),
    )


def _boxes(summary: JsonObject) -> Advice | None:
    tried = _trials(summary, Cause.BROAD_PHASE, lambda change: change == "boxes refreshed")
    if not tried:
        return None
    # Those of the extremes have no length, and no box helps them.
    rows = [row for row in summary["families"][:-1] if row["family"] != "extremes"]
    count = sum(row["causes"].get(Cause.BROAD_PHASE.label, 0) for row in rows)
    return Advice(
        "Refresh the boxes before you ask",
        "The box of a body that was made and left alone fits tightly, and after a new margin it is an old one: "
        "hits at its "
        "very edge are lost until the boxes have been computed anew.",
        (f"{counted(count, 'hit')} missed at a box", f"they came back in {_of(tried)} trials with fresh boxes"),
        "p.performCollisionDetection()",
    )


def _ends(summary: JsonObject) -> Advice | None:
    cause = _cause(summary, Cause.SEGMENT_END)
    tried = _trials(summary, Cause.SEGMENT_END, lambda change: change == "segment lengthened")
    if cause is None or not tried:
        return None
    kinds = [f"{count:,} {kind}" for kind, count in cause["kinds"].items()]
    return Advice(
        "End rays behind the limb, not at it",
        "A ray that ends within a stop of a surface may be a hit or not. Let it go on, and compare the distance "
        "yourself.",
        (f"{', '.join(kinds)} at the end of a segment", f"right in {_of(tried)} trials with a longer segment"),
    )


def _errors(summary: JsonObject) -> Advice | None:
    row = next((row for row in summary["families"] if row["family"] == "humanoid" and row["early"]), None)
    if row is None:
        return None
    median, most, worst = (length(mm / 1e3) for mm in row["early_mm"])
    off = row["normal_deg"]
    evidence = [f"{percent(row['early'], row['hits'])} of the hits on the humanoid are early: half by over {median}, "
                f"one in a hundred by over {most}, the worst by {worst}"]  # fmt: skip
    if row["normal"]:
        evidence.append(f"normals that are off are so by {off[0]:.3g}° in the median, by {off[2]:.3g}° at worst")
    return Advice(
        "Do not build on the point and the normal",
        "Decals, ricochets and damage by depth see these errors. Where they matter, take the limb from the "
        "engine and the "
        "point and normal from exact geometry.",
        tuple(evidence),
    )


RULES: Sequence[Callable[[JsonObject], Advice | None]] = (
    _scale,
    _margin,
    _flag,
    _batch,
    _starts,
    _boxes,
    _ends,
    _errors,
)


def _cause(summary: JsonObject, cause: Cause) -> JsonObject | None:
    return next((row for row in summary["causes"] if row["cause"] == cause.label), None)


def _trials(summary: JsonObject, cause: Cause, wanted: Callable[[str], bool]) -> tuple[int, int] | None:
    """How many trials of a change held, of how many; None if there was none."""
    row = _cause(summary, cause)
    changes = [] if row is None else [c for c in row["interventions"]["changes"] if wanted(c["change"])]
    held, failed = (sum(change[name] for change in changes) for name in ("held", "failed"))
    return (held, held + failed) if held else None


def _of(tried: tuple[int, int]) -> str:
    return f"all {tried[1]:,}" if tried[0] == tried[1] else f"{tried[0]:,} of {tried[1]:,}"
