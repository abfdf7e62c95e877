"""What the page of a run by families says in words. All numbers are the run's; what a cause is, is written here."""

import math
from dataclasses import asdict

from cylcollide.crosscheck.cases.case import Case
from cylcollide.crosscheck.cases.case_words import headline
from cylcollide.crosscheck.cases.cause_words import MEASURED, quantity
from cylcollide.crosscheck.causes.cause import Cause
from cylcollide.crosscheck.engine.setup import Setup
from cylcollide.crosscheck.judge.disagreements import Kind
from cylcollide.crosscheck.number_format import SPACE, counted, digits, length, percent
from cylcollide.crosscheck.records import JsonObject
from cylcollide.crosscheck.report.case_choice import radius_of, subject
from cylcollide.crosscheck.run.run import wrong_count


def facts(summary: JsonObject) -> dict[str, float]:
    """What was measured of the limbs built by default: the stop, the rim's radius, and from where limbs are big."""
    default = [c for c in summary["calibrations"] if c["setup"] == asdict(Setup())] or summary["calibrations"]
    big = [c["big_from"] for c in summary["calibrations"] if c["big_from"] is not None]
    return {
        "stop": max((c["stop"] for c in default), default=math.nan),
        "rim": max((c["rim"] for c in default), default=math.nan),
        "big": min(big, default=math.nan),
    }


def title(summary: JsonObject, thing: str = "segment") -> str:
    """The verdict as a heading."""
    total = summary["families"][-1]
    wrong, engine = wrong_count(total), summary["engine"]
    if not wrong:
        return f"{engine} gives the right verdict on {counted(total['rays'], thing)}"
    why = ": here is why" if summary["causes"] and summary["unexplained"]["count"] == 0 else ""
    return f"{engine} is wrong about {wrong:,} of {counted(total['rays'], thing)}{why}"


def verdict(summary: JsonObject) -> tuple[str, str]:
    """Two sentences: what is wrong, and whether it is explained."""
    total, engine = summary["families"][-1], summary["engine"]
    wrong = wrong_count(total)
    several = len(summary["families"]) > 2
    drawn = "drawn to bring out one way of being wrong each" if several else f"of the family “{total_family(summary)}”"
    proof = (
        "every one of these is proved by rational arithmetic"
        if total["proved"] == wrong
        else f"only {total['proved']:,} of these are proved by rational arithmetic"
    )
    parts = [counted(total["phantom"], "phantom hit"), f"{total['missed']:,} missed"]
    parts += [f"{total['wrong_limb']:,} on the wrong limb"] if total["wrong_limb"] else []
    lost = f", and {total['lost']:,} segments get no answer at all" if total["lost"] else ""
    share = percent(wrong, total["rays"])
    first = (
        f"Of {counted(total['rays'], 'segment')}, {drawn}, {engine} gives {wrong:,} ({share}) a wrong verdict: "
        f"{_listed(parts)}; {proof}{lost}."
        if wrong
        else f"Of {counted(total['rays'], 'segment')}, {drawn}, {engine} gives every one the right verdict{lost}."
    )
    return first, _explained(summary)


def not_tried_words(summary: JsonObject) -> list[str]:
    """A sentence for every family whose share of the segments was too small for it."""
    return [
        f"{left['family']} was not tried: its calls cannot be made as small as its share of {summary['asked']:,} "
        f"segments; {left['rays']:,} are enough for one."
        for left in summary["not_tried"]
    ]


def total_family(summary: JsonObject) -> str:
    """The family of a run of one."""
    return str(summary["families"][0]["family"])


def _explained(summary: JsonObject) -> str:
    open_, causes = summary["unexplained"], [c for c in summary["causes"] if c["cause"] != Cause.UNEXPLAINED.label]
    every = open_["disagreements"]
    if not every:
        return "Distances and normals agree as well."
    named = [f"{percent(cause['count'], every)} {cause['cause']}" for cause in causes[:3]]
    left = "none is" if not open_["count"] else f"{open_['count']:,} {'is' if open_['count'] == 1 else 'are'}"
    tested, proved = (sum(cause["interventions"][name] for cause in causes) for name in ("tested", "proved"))
    tried = (
        f"; of {counted(tested, 'case')} tried again with one thing changed, {_all(proved, tested)} did as the "
        f"cause predicts"
        if tested
        else ""
    )
    return (
        f"With errors of distance and of normal there are {counted(every, 'disagreement')}, and {left} left "
        f"unexplained: {_listed(named)}{' come first' if len(causes) > 3 else ''}{tried}."
    )


def case_words(case: Case) -> str:
    """What is wrong about a case, its limb called by its size, and how the limb was built."""
    about = f"the limb (radius {scale_words(radius_of(case))})"
    built = "" if case.built.is_default else f" Built with {_built(case.built)}."
    return headline(case, lambda limb: about if limb == subject(case) else "another limb") + built


def amount_words(case: Case) -> str:
    """How wrong a case is, in the unit of its kind."""
    return quantity(None if case.amount is None else abs(case.amount), case.kind)


def bound_words(nearest: JsonObject, cause: Cause) -> str:
    """What the cause allows at most, and how near a disagreement of the run came to it; nothing if it has no bound."""
    if nearest["ratio"] is None or cause not in MEASURED:
        return ""
    kind = nearest["kind"]
    # A margin beyond the limb's size is a length, whatever it does to the normal.
    of = Kind.LATE.label if cause == Cause.API_LIMIT else kind
    bound = quantity(nearest["bound"], of)
    return f"The disagreement nearest to its bound reaches {ratio_words(nearest['ratio'])} of the {bound} allowed."


def change_rows(changes: list[JsonObject]) -> list[JsonObject]:
    """The interventions on a cause, scales and margins of one direction put together."""
    rows: dict[tuple[str, str], JsonObject] = {}
    for change in changes:
        what, _, factor = change["change"].partition(" x ")
        larger = bool(factor) and float(factor) > 1
        name = (what if not factor else f"{what} {'larger' if larger else 'smaller'}", change["predicted"])
        row = rows.setdefault(name, {"factors": [], "held": 0, "failed": 0})
        row["factors"] += [float(factor)] if factor else []
        row["held"] += change["held"]
        row["failed"] += change["failed"]
    return [
        {"change": _factors(what, row["factors"]), "must": MUST[predicted], **row}
        for (what, predicted), row in rows.items()
    ]


MUST = {
    "vanishes": "vanish",
    "shrinks": "shrink",
    "changes": "change",
    "stays": "stay",
    "vanishes for some": "vanish at times",
}
"""What an error must do, in the words of the trials."""


def _factors(what: str, factors: list[float]) -> str:
    """A change with the range of its factors."""
    if not factors:
        return what
    least, most = (f"{factor:,.0f}" if factor >= 1 else f"{factor:g}" for factor in (min(factors), max(factors)))
    return f"{what}: × {least}" + (f" to {most}" if least != most else "")


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


def _built(setup: Setup) -> str:
    """The fields of a setup that are not the default, in words."""
    margin = f"a collision margin of {length(setup.margin)}" if setup.margin is not None else ""
    ways = {
        "urdf": "loadURDF",
        "urdf-implicit": "loadURDF and URDF_USE_IMPLICIT_CYLINDER",
        "mjcf": "loadMJCF",
    }
    moved = f"a move of {length(setup.moved)} into place" if setup.moved else ""
    stale = "no step of the simulation since" if setup.stale else ""
    return _listed([part for part in (ways.get(setup.construction, ""), margin, moved, stale) if part])


def _listed(parts: list[str]) -> str:
    """``a``, ``a and b``, ``a, b and c``."""
    return " and ".join(filter(None, (", ".join(parts[:-1]), parts[-1]))) if parts else ""


def _all(part: int, whole: int) -> str:
    return "all" if part == whole else f"{part:,}"


def scale_words(radius: float) -> str:
    """A radius on an axis."""
    return f"{digits(1e2 * radius)}{SPACE}cm" if 0.01 <= radius < 1.0 else length(radius)
