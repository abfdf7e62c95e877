"""What follows for people who use the engine: an advice stands on numbers of the run, or it is not given."""

import math
from collections.abc import Callable, Sequence
from typing import Any, NamedTuple

from cylcollide.crosscheck.compare.disagreements import Cause
from cylcollide.crosscheck.engine import BulletClient
from cylcollide.crosscheck.number_format import counted, length, percent, scale_words
from cylcollide.crosscheck.records import JsonObject, texts
from cylcollide.crosscheck.report.measures import ARM, construction_rows, facts, margin_rows, scale_rows
from cylcollide.crosscheck.run.run import wrong_count

ADVISED_MARGIN = 1e-3
"""Metres: what PyBullet gives to a limb that is built by default."""


class Advice(NamedTuple):
    """What to do, why, and the numbers of this run behind it."""

    title: str
    text: str
    evidence: list[str]
    code: str = ""


TEXTS = texts("report/advice.toml")


def _advice(name: str, evidence: list[str], **fields: Any) -> Advice:
    said = TEXTS[name]
    return Advice(said["title"].format(**fields), said["text"].format(**fields), evidence, said.get("code", ""))


def advice(summary: JsonObject) -> list[Advice]:
    """All that the run has numbers for, for users of PyBullet; none for another engine."""
    if summary["engine"] != BulletClient.name:
        return []
    return [found for rule in RULES if (found := rule(summary)) is not None]


def _scale(summary: JsonObject) -> Advice | None:
    rows, big = scale_rows(summary, ("generic",)), facts(summary)["big"]
    small = [row for row in rows if row["radius"] <= ARM]
    large = [row for row in rows if ARM < row["radius"] < (math.inf if math.isnan(big) else big)]
    tried = _trials(summary, Cause.TERMINATION, "world x")
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
    shares = [percent(row["phantom"], row["misses"]) for row in (at, grown)]
    sizes = [scale_words(row["radius"]) for row in (at, grown)]
    return _advice(
        "scale",
        [
            f"{shares[0]} of the generic segments that miss a limb of {sizes[0]} are phantom hits, {shares[1]} in a "
            f"world where it has {sizes[1]}",
            f"grown worlds did as predicted in {tried} trials on cases of the {Cause.TERMINATION.label}",
        ],
        stop=length(facts(summary)["stop"]),
        limit=limit,
    )


def _margin(summary: JsonObject) -> Advice | None:
    rows = {row["margin"]: row for row in margin_rows(summary) if row["hits"]}
    if ADVISED_MARGIN not in rows or 0.0 not in rows:
        return None
    none, kept, widest = rows[0.0], rows[ADVISED_MARGIN], rows[max(rows)]
    missed = [row["missed"] / row["hits"] for row in (none, kept, widest)]
    if missed[1] >= min(missed[0], missed[2]):
        return None
    return _advice(
        "margin",
        [
            f"margin {length(row['margin']) if row['margin'] else '0'}: {percent(row['missed'], row['hits'])} of the "
            f"hits are missed, {percent(row['phantom'], row['misses'])} of the misses are phantom hits"
            for row in (none, kept, widest)
        ],
    )


def _flag(summary: JsonObject) -> Advice | None:
    rows = {row["construction"]: row for row in construction_rows(summary)}
    if not {"urdf", "urdf-implicit"} <= set(rows):
        return None
    hull, implicit = ((wrong_count(row), row["rays"]) for row in (rows["urdf"], rows["urdf-implicit"]))
    if hull[0] * implicit[1] <= implicit[0] * hull[1]:
        return None
    tried = _trials(summary, Cause.SHAPE, "implicit cylinder")
    evidence = [f"wrong verdicts: {percent(*hull)} without the flag, {percent(*implicit)} with it"]
    return _advice(
        "flag", evidence + ([f"the error of shape went away in {tried} trials with the flag"] if tried else [])
    )


def _batch(summary: JsonObject) -> Advice | None:
    whole = [call["asked"] for call in summary["calls"] if call["asked"] == call["answered"]]
    short = [
        f"{call['asked']:,} segments as {'lists' if call['as_lists'] else 'arrays'}: "
        f"{counted(call['answered'], 'answer')}"
        for call in summary["calls"]
        if call["asked"] > call["answered"]
    ]
    if not whole or not short:
        return None
    return _advice("batch", [f"{max(whole):,} segments: {max(whole):,} answers", *short], most=max(whole))


def _starts(summary: JsonObject) -> Advice | None:
    rows = {row["family"]: row for row in summary["families"]}
    inside, near = rows.get("inside-start"), rows.get("near-start")
    if not inside or not inside["missed"]:
        return None
    evidence = [f"{percent(inside['missed'], inside['hits'])} of the segments that start inside a limb get no hit"]
    if near and near["phantom"]:
        phantoms = percent(near["phantom"], near["rays"] - near["hits"])
        evidence.append(f"of those that start 0.5 to 2 mm outside and miss, {phantoms} are phantom hits")
    return _advice("starts", evidence, stop=length(facts(summary)["stop"]))


def _boxes(summary: JsonObject) -> Advice | None:
    tried = _trials(summary, Cause.BROAD_PHASE, "boxes refreshed")
    if not tried:
        return None
    # Those of the extremes have no length, and no box helps them.
    rows = [row for row in summary["families"][:-1] if row["family"] != "extremes"]
    count = sum(row["causes"].get(Cause.BROAD_PHASE.label, 0) for row in rows)
    said = [f"{counted(count, 'hit')} missed at a box", f"they came back in {tried} trials with fresh boxes"]
    return _advice("boxes", said)


def _ends(summary: JsonObject) -> Advice | None:
    cause, tried = _cause(summary, Cause.SEGMENT_END), _trials(summary, Cause.SEGMENT_END, "segment lengthened")
    if cause is None or not tried:
        return None
    kinds = ", ".join(f"{count:,} {kind}" for kind, count in cause["kinds"].items())
    return _advice("ends", [f"{kinds} at the end of a segment", f"right in {tried} trials with a longer segment"])


def _errors(summary: JsonObject) -> Advice | None:
    row = next((row for row in summary["families"] if row["family"] == "humanoid" and row["early"]), None)
    if row is None:
        return None
    median, most, worst = (length(mm / 1e3) for mm in row["early_mm"])
    evidence = [
        f"{percent(row['early'], row['hits'])} of the hits on the humanoid are early: half by over {median}, one in a "
        f"hundred by over {most}, the worst by {worst}"
    ]
    if row["normal"]:
        tilt, _, steepest = row["normal_deg"]
        evidence.append(f"normals that are off are so by {tilt:.3g}° in the median, by {steepest:.3g}° at worst")
    return _advice("errors", evidence)


Rule = Callable[[JsonObject], Advice | None]
RULES: Sequence[Rule] = (_scale, _margin, _flag, _batch, _starts, _boxes, _ends, _errors)


def _cause(summary: JsonObject, cause: Cause) -> JsonObject | None:
    return next((row for row in summary["causes"] if row["cause"] == cause.label), None)


def _trials(summary: JsonObject, cause: Cause, change: str) -> str:
    """How many trials of a change held, of how many; nothing if there was none."""
    row = _cause(summary, cause)
    changes = [] if row is None else [c for c in row["interventions"]["changes"] if c["change"].startswith(change)]
    held, failed = (sum(change[name] for change in changes) for name in ("held", "failed"))
    return "" if not held else f"{held:,} of {held + failed:,}" if failed else f"all {held:,}"
