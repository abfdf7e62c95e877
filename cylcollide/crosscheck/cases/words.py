"""A case in words: what is wrong, and what causes it; every number is the case's own or was measured on its engine.

The texts about causes are in ``causes.toml``. See ``docs/causes.md``.
"""

from collections.abc import Callable, Mapping
from math import degrees, hypot

from cylcollide.crosscheck.cases.case import BULLET, Case
from cylcollide.crosscheck.cases.fields import UNNAMED
from cylcollide.crosscheck.compare.comparison import UNIT
from cylcollide.crosscheck.compare.disagreements import Cause, Kind
from cylcollide.crosscheck.number_format import angle, length
from cylcollide.crosscheck.records import texts

TOUCHES = 1e-9
"""Share of a limb's radius: a cut that is no deeper is called a touch."""


def engine_name(case: Case) -> str:
    """What the engine is called in a sentence."""
    return "PyBullet" if case.engine == BULLET else case.engine


def headline(case: Case, name: Callable[[int], str] | None = None) -> str:
    """One sentence: what the engine says, and what is true; ``name`` calls limbs by another name than the case does."""
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


TEXTS = {Cause[name]: said for name, said in texts("cases/causes.toml").items()}
EXPLAINED: dict[Cause, str] = {cause: said["explained"] for cause, said in TEXTS.items()}
"""What goes on, and what comes of it."""
MEASURED: dict[Cause, str] = {cause: said["measured"] for cause, said in TEXTS.items() if "measured" in said}
"""What the number of a cause is, and what its bound; causes whose number bounds nothing are left out."""


def explained(cause: Cause, engine: str, measured: Mapping[str, float]) -> str:
    """What goes on; ``measured`` are ``stop``, ``rim`` and ``big`` in metres, nan where unknown."""
    return EXPLAINED[cause].format(engine=engine, **{name: length(value) for name, value in measured.items()})


def measured_words(engine: str, case: Case) -> str:
    """The number of a case's cause beside its bound, or nothing where there is none."""
    text, cause = MEASURED.get(case.cause_code, ""), case.cause_code
    if not text or case.measured is None or case.bound is None or case.kind_code == Kind.LOST:
        return ""
    if case.kind_code == Kind.NORMAL and cause != Cause.API_LIMIT:
        tilt, most = (quantity(value, case.kind) for value in (case.measured, case.bound))
        return f"The cause explains up to {most} of tilt; here it adds {tilt}."
    measured, bound = (quantity(value, Kind.LATE.label) for value in (case.measured, case.bound))
    return text.format(engine=engine, measured=measured, bound=bound)


def why(case: Case, measured: Mapping[str, float]) -> str:
    """The cause of a case: what goes on, and its number against the bound."""
    if case.cause == UNNAMED:
        return "Nobody has asked for its cause yet."
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
        number = TEXTS[cause].get("number", "the number")
        said = f"Measured: {number} is {quantity(case.measured, case.kind)}; allowed: {bound}."
    return f"{explained(cause, engine, measured)} {said}"


def quantity(value: float | None, kind: str) -> str:
    """A number of a kind of disagreement in its unit: an angle, a count of answers, or a length."""
    if value is None:
        return "–"
    if kind == Kind.NORMAL.label:
        turned = degrees(value)
        return angle(turned) if not 0.0 < turned < 1e-3 else f"{turned:.2g}°"
    return f"{value:,.0f}" if kind == Kind.LOST.label else length(value)
