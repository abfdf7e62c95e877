"""The words of the cross-check: numbers with their units, a case in a sentence, and the texts of ``wording.toml``.

Sentences about a whole run are in the template of the page. See ``docs/causes.md`` for the causes.
"""

import tomllib
from collections.abc import Callable, Mapping
from importlib.resources import files
from math import degrees, hypot, isnan

from cylcollide.crosscheck.cases.case import BULLET, UNNAMED, Case
from cylcollide.crosscheck.compare.comparison import UNIT
from cylcollide.crosscheck.compare.disagreements import Cause, Kind
from cylcollide.crosscheck.engine import DEFAULT, Setup
from cylcollide.crosscheck.records import JsonObject

TEXTS = tomllib.loads(files("cylcollide.crosscheck.cases").joinpath("wording.toml").read_text(encoding="utf-8"))
"""Tables ``causes`` and ``figures`` by name, and the list ``advice``."""

CAUSES: dict[Cause, JsonObject] = {Cause[name]: said for name, said in TEXTS["causes"].items()}

UNITS = ((1.0, "m"), (1e-3, "mm"), (1e-6, "µm"), (1e-9, "nm"))
SPACE = "\u00a0"
"""Prevents a line break between a number and its unit."""
NOTHING = "–"
"""Replaces an unknown number."""
TOUCHES = 1e-9
"""Share of a limb's radius: a cut of at most this depth is called a touch."""


def length(metres: float | None) -> str:
    """Three digits in a suitable unit: ``0.87 mm``; a dash for nan or None."""
    if metres is None or isnan(metres):
        return NOTHING
    # 0.9999 mm is 1 mm, not 1,000 µm: the unit follows from the rounded digits.
    shown = abs(float(f"{metres:.3g}"))
    size, unit = next(((size, unit) for size, unit in UNITS if shown >= size), UNITS[-1])
    return f"{digits(metres / size)}{SPACE}{unit}" if abs(metres) >= 1e-12 else f"0{SPACE}mm"


def digits(value: float | None) -> str:
    """Three significant digits, without an exponent from 1e-4 on; a dash for nan or None."""
    if value is None or isnan(value):
        return NOTHING
    size = abs(value)
    if size >= 100:
        return f"{value:,.0f}"
    if size >= 1e-4:
        return f"{value:.3g}"
    return f"{value:.1e}" if size > 0.0 else "0"


def angle(turned: float | None) -> str:
    """Degrees with the unit's sign; a dash for nan or None."""
    if turned is None or isnan(turned):
        return NOTHING
    return f"{turned:.3g}°" if turned >= 1e-3 else "less than 0.001°"


def percent(part: float, whole: float) -> str:
    """A share in per cent; only exact shares are shown as 0 or 100."""
    if part == 0 or whole == 0:
        return f"0{SPACE}%"
    share = 100.0 * part / whole
    if 0.0 < share < 0.01:
        return f"less than 0.01{SPACE}%"
    if 99.95 <= share < 100.0:
        return f"over 99.9{SPACE}%"
    return (f"{share:.2f}" if share < 1.0 else f"{share:.1f}".removesuffix(".0")) + f"{SPACE}%"


def counted(number: int, singular: str, plural: str | None = None) -> str:
    """``1 pose``, ``2,000 poses``."""
    return f"{number:,} {singular if number == 1 else plural or singular + 's'}"


def power(exponent: float) -> str:
    """A power of ten, ``10⁻³``."""
    return "10" + str(int(exponent)).translate(str.maketrans("-0123456789", "⁻⁰¹²³⁴⁵⁶⁷⁸⁹"))


def scale_words(radius: float) -> str:
    """The radius of a limb in words."""
    return f"{digits(1e2 * radius)}{SPACE}cm" if 0.01 <= radius < 1.0 else length(radius)


def quantity(value: float | None, kind: str) -> str:
    """A number of a kind of disagreement in its unit: an angle, a count of answers, or a length."""
    if value is None:
        return NOTHING
    if kind == Kind.NORMAL.label:
        return f"{degrees(value):.2g}°" if 0.0 < degrees(value) < 1e-3 else angle(degrees(value))
    return f"{value:,.0f}" if kind == Kind.LOST.label else length(value)


def kinds_words(kinds: Mapping[str, int]) -> str:
    """Counts by kind, most frequent first."""
    ranked = sorted(kinds.items(), key=lambda item: -item[1])
    said = {Kind.NORMAL.label: ("normal off", "normals off")}
    return ", ".join(counted(count, *said.get(kind, (kind, kind))) for kind, count in ranked)


def engine_name(case: Case) -> str:
    """The name of a case's engine for sentences."""
    return "PyBullet" if case.engine == BULLET else case.engine


def headline(case: Case, name: Callable[[int], str] | None = None) -> str:
    """One sentence: the engine's answer, and the truth; ``name`` replaces the names of limbs in the case."""
    engine, article = engine_name(case), "the " if case.names else ""
    name = name or (lambda limb: f"{article}{case.name(limb)}")
    true, other = (name(limb) if limb >= 0 else "" for limb in (case.limb_true, case.limb_engine))
    size = "an unknown length" if case.amount is None else length(abs(case.amount))
    inside, normal = case.fraction_true == 0.0, case.normal_engine
    match case.kind_code:
        case Kind.PHANTOM:
            return f"{engine} hits {other}, which the segment passes at a distance of {size}."
        case Kind.MISSED if inside:
            return f"{engine} hits nothing, but the segment starts in {true}, {size} below its surface at the deepest."
        case Kind.MISSED if case.amount is not None and abs(case.amount) <= TOUCHES * case.radius[case.limb_true]:
            return f"{engine} hits nothing, but the segment touches {true}."
        case Kind.MISSED:
            return f"{engine} hits nothing, but the segment cuts {true} to a depth of {size}."
        case Kind.WRONG_LIMB:
            return f"{engine} hits {other}, but truly the first hit is {true}; the two hits are {size} apart."
        case Kind.LOST if case.before or case.after:
            return f"{engine} gives no answer that means something to a segment in a call of {case.bound or 0:,.0f}."
        case Kind.LOST:
            return f"{engine} gives {case.measured or 0:,.0f} answers to a call with {case.bound or 0:,.0f} segments."
        case Kind.EARLY:
            return f"{engine} hits {true} {size} before its surface."
        case Kind.LATE:
            return f"{engine} hits {true} {size} behind {'the start, which lies in it' if inside else 'its surface'}."
        case Kind.POSITION:
            where = f"{size} from where its fraction leads" if case.amount is not None else "that is no point"
            return f"{engine} reports a hit of {other} at a position {where}."
        case Kind.NORMAL if case.normal_true and any(case.normal_true) and normal is None:
            return f"{engine} reports no normal of {true}, though there is one."
        case Kind.NORMAL if normal and any(case.normal_true or ()) and abs(hypot(*normal) - 1.0) > UNIT:
            return f"{engine} reports a normal of {true} of length {hypot(*normal):.3g}, not 1."
        case Kind.NORMAL if case.amount is None:
            return f"{engine} reports a normal of {true}, in which the segment starts, so that there is none."
        case _:
            return f"{engine} reports a normal of {true} that is {angle(degrees(case.amount or 0.0))} off."


def case_words(case: Case) -> str:
    """The headline of a case, with the size of its limb as its name, and the limb's setup."""
    about = f"the limb (radius {scale_words(case.radius[case.limb])})"
    built = "" if case.setup == DEFAULT else f" Built with {_built(case.setup)}."
    return headline(case, lambda limb: about if limb == case.limb else "another limb") + built


def _built(setup: Setup) -> str:
    """The fields of a setup that are not the default, in words."""
    ways = {"urdf": "loadURDF", "urdf-implicit": "loadURDF and URDF_USE_IMPLICIT_CYLINDER", "mjcf": "loadMJCF"}
    parts = [ways[setup.construction]] if setup.construction in ways else []
    parts += [f"a collision margin of {length(setup.margin)}"] if setup.margin is not None else []
    parts += [f"a move of {length(setup.moved)} into place"] if setup.moved else []
    parts += ["no step of the simulation since"] if setup.stale else []
    return ", ".join(parts)


def explained(cause: Cause, engine: str, measured: Mapping[str, float]) -> str:
    """The explanation of a cause; ``measured`` are ``stop``, ``rim`` and ``big`` in metres, nan if unknown."""
    text: str = CAUSES[cause]["explained"]
    return text.format(engine=engine, **{name: length(value) for name, value in measured.items()})


def measured_words(engine: str, case: Case) -> str:
    """The number of a case's cause and its bound, in words; empty without them."""
    cause = case.cause_code
    text: str = CAUSES[cause].get("measured", "")
    if not text or case.measured is None or case.bound is None or case.kind_code == Kind.LOST:
        return ""
    if case.kind_code == Kind.NORMAL and cause != Cause.API_LIMIT:
        tilt, most = (quantity(value, case.kind) for value in (case.measured, case.bound))
        return f"The cause explains up to {most} of tilt; here it adds {tilt}."
    return text.format(engine=engine, measured=length(case.measured), bound=length(case.bound))


def why(case: Case, measured: Mapping[str, float]) -> str:
    """The cause of a case: the explanation, and its number with the bound."""
    if case.cause == UNNAMED:
        return "Its cause was not sought."
    engine, cause = engine_name(case), case.cause_code
    said = measured_words(engine, case)
    if case.kind_code == Kind.LOST:
        said = f"{case.measured or 0:,.0f} answers came to {case.bound or 0:,.0f} rays."
    elif case.measured is None:
        said = "It was found by casting again: there is no number to it."
    elif cause == Cause.BROAD_PHASE and case.measured == 0.0:
        said = "This segment has no length: it is a point."
    elif not said:
        bound = "no bound" if case.bound is None else f"up to {quantity(case.bound, case.kind)}"
        number = CAUSES[cause].get("number", "the number")
        said = f"Measured: {number} is {quantity(case.measured, case.kind)}; allowed: {bound}."
    return f"{explained(cause, engine, measured)} {said}"


def advice(summary: JsonObject, measured: Mapping[str, float]) -> list[JsonObject]:
    """Remedies for users of PyBullet, by the causes found: title, text, code and the evidence.

    A remedy is given if trials of it had the effect that its cause predicts.
    """
    rows = {row["cause"]: row for row in summary["causes"]}
    whole = [call["asked"] for call in summary["calls"] if call["asked"] == call["answered"]]
    fields = {name: length(value) for name, value in measured.items()} | {"most": f"{max(whole, default=0):,}"}
    given = []
    for said in TEXTS["advice"] if summary["engine"] == "PyBullet" else ():
        row = rows.get(Cause[said["cause"]].label)
        changes = [c for c in row["interventions"]["changes"] if c["change"].startswith(said["change"])] if row else []
        held, failed = (sum(change[name] for change in changes) for name in ("held", "failed"))
        if row and held:
            tried = f"all {held:,}" if not failed else f"{held:,} of {held + failed:,}"
            found = f"{row['count']:,} disagreements of this cause, {row['cause']}: {kinds_words(row['kinds'])}"
            evidence = [found, f"{tried} trials did as predicted: {', '.join(c['change'] for c in changes)}"]
            text = {name: said.get(name, "").format(**fields) for name in ("title", "text", "code")}
            given.append(text | {"evidence": evidence})
    return given
