"""A case in words: what is wrong, and what causes it; every number is the case's own or was measured on its engine.

In the texts about causes ``engine`` is its name; ``stop``, ``rim`` and ``big`` are lengths. See ``docs/causes.md``.
"""

from collections.abc import Callable, Mapping
from math import degrees, hypot

from cylcollide.crosscheck.cases.case import BULLET, Case
from cylcollide.crosscheck.cases.fields import UNNAMED, Vector
from cylcollide.crosscheck.judge.comparison import UNIT
from cylcollide.crosscheck.judge.disagreements import Cause, Kind
from cylcollide.crosscheck.number_format import angle, length

TOUCHES = 1e-9
"""Share of a limb's radius: a cut that is no deeper is called a touch."""


def engine_name(case: Case) -> str:
    """What the engine is called in a sentence."""
    return "PyBullet" if case.engine == BULLET else case.engine


def _is_unit(normal: Vector) -> bool:
    return abs(hypot(*normal) - 1.0) <= UNIT


def headline(case: Case, name: Callable[[int], str] | None = None) -> str:
    """One sentence: what the engine says, and what is true; ``name`` calls limbs by another name than the case does."""
    engine, article = engine_name(case), "the " if case.names else ""
    name = name or (lambda limb: f"{article}{case.name(limb)}")
    true, other = (name(limb) if limb >= 0 else "" for limb in (case.limb_true, case.limb_engine))
    size = "an unknown length" if case.amount is None else length(abs(case.amount))
    inside = case.fraction_true == 0.0
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
        case Kind.NORMAL if case.normal_true and any(case.normal_true) and case.normal_engine is None:
            return f"{engine} reports no normal of {true}, though there is one."
        case Kind.NORMAL if case.normal_engine and any(case.normal_true or ()) and not _is_unit(case.normal_engine):
            return f"{engine} reports a normal of {true} of length {hypot(*case.normal_engine):.3g}, not 1."
        case Kind.NORMAL if case.amount is None:
            return f"{engine} reports a normal of {true}, in which the segment starts, so that there is none."
        case _:
            return f"{engine} reports a normal of {true} that is {angle(degrees(case.amount or 0.0))} off."


EXPLAINED = {
    Cause.TERMINATION: (
        "{engine} walks along the segment and stops once it is within {stop} of the limb: that is its hit. A "
        "segment that passes closer than that is hit though it touches nothing. One that does meet the limb is "
        "reported before the surface, and the flatter it comes in, the farther before."
    ),
    Cause.RIM_ROUNDING: (
        "{engine} shrinks the limb by its collision margin, {rim} by default, and rolls a ball of that radius "
        "around what is left. Side and caps stay where they are, but the sharp rim is now round: a segment that "
        "only cuts the corner is missed, and near the rim hits come late and normals lean over."
    ),
    Cause.EARLY_EXIT: (
        "The distance to the limb is found step by step, and the search ends too early where the four points "
        "it works with lie nearly in a plane. The distance is then a little too great, the walk goes a little too far, "
        "and the hit lies behind the surface with a tilted normal."
    ),
    Cause.BIG_SHAPE: (
        "On large limbs, here from {big} in radius, rounding in the search for the distance outweighs all else: "
        "hits lie up to a margin too deep, and shallow cuts are missed."
    ),
    Cause.INSIDE_START: (
        "A segment that starts inside the limb has no distance to walk. {engine} reports no hit, or sometimes one "
        "at the start with a normal that means nothing; this library reports a hit at the start, and no normal."
    ),
    Cause.NO_CORE_DISTANCE: (
        "A distance is known outside of the core only, that is, of the limb less its margin. Where the margin is "
        "thin, a step can land in the core: from there no distance comes back, and the segment goes through the "
        "limb as if it were not there."
    ),
    Cause.NOISY_NORMAL: (
        "The normal is the direction of the last distance found, and that is as short as rounding itself: chance "
        "decides where it points. A shallow cut is thrown away when its normal happens to point along the segment."
    ),
    Cause.SHAPE: (
        "The solid is another one: a cylinder out of a URDF file is held as a prism with flat sides, and the "
        "margin is added around it. What is reported is a fair hit of the wrong shape."
    ),
    Cause.SEGMENT_END: (
        "A segment that ends just in front of the limb is hit, for its end is within {stop} of it. One that ends "
        "just behind the surface is missed when the last step goes beyond its end."
    ),
    Cause.BROAD_PHASE: (
        "Before a limb is looked at, its box must be met. That box is an old one if the limb was moved, or its "
        "margin changed, without a step of the simulation; and a segment of no length meets no box at all."
    ),
    Cause.API_LIMIT: (
        "The call was beyond what the interface takes: more rays than a batch can hold, which then stay without an "
        "answer, or a margin larger than the limb, which turns it inside out."
    ),
    Cause.SINGLE_PRECISION: (
        "All fractions reported are single precision numbers: seven digits of the segment's length."
    ),
    Cause.UNEXPLAINED: "No cause claims these disagreements. Every one of them is kept in cases.json.",
}
"""What goes on, and what comes of it."""

MEASURED = {
    Cause.TERMINATION: "The reported point is {measured} from what {engine} holds; its stop allows {bound}.",
    Cause.RIM_ROUNDING: "{measured} of the limb are lost there; a rim of this radius can take {bound}.",
    Cause.EARLY_EXIT: "The point is {measured} too deep in what {engine} holds; the measured law allows {bound}.",
    Cause.BIG_SHAPE: "It is {measured} deep in what {engine} holds; the margin allows {bound}.",
    Cause.NO_CORE_DISTANCE: "The margin is {measured} thick, and steps go up to {bound} too far.",
    Cause.NOISY_NORMAL: "The cut is {measured} deep in what {engine} holds; up to {bound} a normal is noise.",
    Cause.SHAPE: "The measured solid explains up to {bound}; here it is {measured}.",
    Cause.SEGMENT_END: "{measured} decide it; up to {bound} can go wrong at an end.",
    Cause.API_LIMIT: "The limb measures {measured}, the margin {bound}.",
}
"""What the number of a cause is, and what its bound; causes whose number bounds nothing are left out."""

NUMBER = {
    Cause.INSIDE_START: "the start's signed distance from the limb",
    Cause.SINGLE_PRECISION: "the error",
    Cause.UNEXPLAINED: "the number that no bound holds",
}
"""What is measured where the cause's number bounds nothing."""


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
        number = NUMBER.get(cause, "the number")
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
