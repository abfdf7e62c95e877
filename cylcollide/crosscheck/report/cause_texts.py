"""What each cause is, in words for a reader who does not know it; all numbers come from the run.

In the texts ``engine`` is its name, ``stop``, ``rim`` and ``big`` are lengths measured on it: see ``docs/causes.md``.
"""

from cylcollide.crosscheck.causes.cause import Cause

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
