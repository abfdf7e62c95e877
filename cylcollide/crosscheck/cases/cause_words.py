"""A cause in words: what happens in the engine, which number tells, and how large it may be. See ``docs/causes.md``."""

from math import degrees, pi
from typing import NamedTuple

from cylcollide.crosscheck.cases.case import Case
from cylcollide.crosscheck.cases.fields import UNNAMED
from cylcollide.crosscheck.causes.cause import Cause
from cylcollide.crosscheck.judge.disagreements import Kind
from cylcollide.crosscheck.number_format import angle, length


class Reason(NamedTuple):
    """Why, and what the measured number is."""

    text: str
    number: str


POINT = "the reported point's distance from the solid that the engine holds"
DEPTH = "the reported point's depth below that surface"
CUT = "the cut's depth"

REASONS = {
    Cause.TERMINATION: Reason(
        "The search ends as soon as it is this close to the surface and calls that a hit.", POINT
    ),
    Cause.RIM_ROUNDING: Reason(
        "The engine holds a smaller cylinder with a margin around it: its rim is round, and what lies between is lost.",
        "the depth below the true surface",
    ),
    Cause.EARLY_EXIT: Reason("A step goes a little too far, into the limb, and the search ends there.", DEPTH),
    Cause.BIG_SHAPE: Reason("The limb is so large that rounding, not the law of small limbs, says how deep.", DEPTH),
    Cause.INSIDE_START: Reason(
        "The segment starts in the limb: the engine has a policy of its own for that.",
        "the start's signed distance from the limb",
    ),
    Cause.NO_CORE_DISTANCE: Reason(
        "A step goes through the margin into the core, where the engine finds no distance any more.",
        "the margin that is stepped through",
    ),
    Cause.NOISY_NORMAL: Reason("So shallow a cut leaves the normal, and with it the hit, to rounding.", CUT),
    Cause.SHAPE: Reason("The engine holds another solid than the limb: larger, with facets, or open.", "the distance"),
    Cause.SEGMENT_END: Reason("The segment ends this close to the surface, nearer than the engine can resolve.", "it"),
    Cause.BROAD_PHASE: Reason("The boxes around the limbs cull the segment before the limb is asked.", "the length"),
    Cause.API_LIMIT: Reason("The call, not the geometry, is beyond what the engine's interface takes.", "the number"),
    Cause.SINGLE_PRECISION: Reason("The engine's fractions are float32 numbers.", "the error"),
    Cause.UNEXPLAINED: Reason("No cause that is known claims it: please report it.", "the number that no bound holds"),
}


def why(case: Case) -> str:
    """The cause of a case: what happens, and its number against the bound."""
    if case.cause == UNNAMED:
        return "Nobody has asked for its cause yet."
    reason = REASONS[case.cause_code]
    return " ".join([reason.text, *_numbers(case, reason)])


def _numbers(case: Case, reason: Reason) -> list[str]:
    if case.kind_code == Kind.LOST:
        return [f"{case.measured or 0:,.0f} answers came to {case.bound or 0:,.0f} rays."]
    if case.measured is None:
        return ["It was found by casting again: there is no number to it."]
    if case.cause_code == Cause.BROAD_PHASE and case.measured == 0.0:
        return ["This segment has no length: it is a point."]
    if case.kind_code == Kind.NORMAL:
        turned = angle(degrees(case.measured))
        # A right angle is the bound where the tilt follows from the place alone.
        by_place = case.bound == 0.5 * pi
        said = (
            f"Measured: at the reported point the surface is turned by {turned}"
            if by_place
            else f"Measured: the normal is {turned} off the engine's own surface there"
        )
        said += "" if case.bound is None else f"; allowed: {angle(degrees(case.bound))}"
        return [f"{said}."]
    if case.cause_code == Cause.API_LIMIT and case.bound is not None:
        return [f"The margin asked for, {length(case.bound)}, is larger than the limb, {length(case.measured)}."]
    said = f"Measured: {reason.number} is {length(case.measured)}"
    return [f"{said}; allowed: {'no bound' if case.bound is None else 'up to ' + length(case.bound)}."]
