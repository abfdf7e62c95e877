"""What is wrong about a case, in one sentence; every number in it is the case's own."""

from math import degrees

from cylcollide.crosscheck import words
from cylcollide.crosscheck.case import BULLET, Case
from cylcollide.crosscheck.causes.names import Kind
from cylcollide.crosscheck.words import angle


def engine_name(case: Case) -> str:
    """What the engine is called in a sentence."""
    return "PyBullet" if case.engine == BULLET else case.engine


def length(metres: float) -> str:
    """Three digits in the unit that fits: what is a millimetre when rounded is said in millimetres."""
    return words.length(float(f"{metres:.3g}"))


def headline(case: Case) -> str:
    """One sentence: what the engine says, and what is true."""
    engine = engine_name(case)
    true, other = (case.name(limb) if limb >= 0 else "" for limb in (case.limb_true, case.limb_engine))
    size = "an unknown length" if case.amount is None else length(abs(case.amount))
    match case.kind_code:
        case Kind.PHANTOM:
            return f"{engine} hits {other}, which the segment passes at a distance of {size}."
        case Kind.MISSED:
            return f"{engine} hits nothing, but the segment cuts {true} to a depth of {size}."
        case Kind.WRONG_LIMB:
            return f"{engine} hits {other}, but truly the first hit is {true}; the two hits are {size} apart."
        case Kind.LOST:
            return f"{engine} gives {case.measured or 0:,.0f} answers to a call with {case.bound or 0:,.0f} rays."
        case Kind.EARLY:
            return f"{engine} hits {true} {size} before its surface."
        case Kind.LATE:
            where = "the start, which lies in it" if case.fraction_true == 0.0 else "its surface"
            return f"{engine} hits {true} {size} behind {where}."
        case Kind.NORMAL if case.amount is None:
            return f"{engine} reports a normal of {true}, in which the segment starts, so that there is none."
        case _:
            return f"{engine} reports a normal of {true} that is {angle(degrees(case.amount or 0.0))} off."
