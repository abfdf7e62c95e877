"""What is wrong about a case, in one sentence; every number in it is the case's own."""

from collections.abc import Callable
from math import degrees, hypot

from cylcollide.crosscheck.cases.case import BULLET, Case
from cylcollide.crosscheck.cases.fields import Vector
from cylcollide.crosscheck.judge.comparison import UNIT
from cylcollide.crosscheck.judge.disagreements import Kind
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
