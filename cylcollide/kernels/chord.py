"""Where a ray crosses a face of a limb, accurately, and the chord of a ray in one piece of a limb.

Verdict and face are already certain; the middle of the bounds is the guess. One Newton step from there, with its
residual in double-double, is enough, except at a graze (`curve.py`; `docs/numerics.md`, "Accuracy of a hit").
"""

from typing import TypeAlias

from cylcollide._types import POLICY_HIT, Face
from cylcollide.kernels.curve import short_step
from cylcollide.kernels.dispatch import face_curve, graze_step
from cylcollide.kernels.double_double import DoubleDouble, DoubleDoubleVector, dd_add, two_sum
from cylcollide.kernels.inside_policy import ray_hit_bounds
from cylcollide.kernels.interval import UNDECIDED_FACE, Span
from cylcollide.kernels.limb_table import Limb
from cylcollide.kernels.ray import Ray
from cylcollide.runtime.compile import inlined

INSIDE = float(Face.INSIDE)


@inlined
def face_crossing(
    ray: Ray, displacement: DoubleDoubleVector, guess: float, limb: Limb, face: float, entering: bool
) -> DoubleDouble:
    """The fraction at which one ray crosses a face of one limb, which it certainly does near `guess`."""
    origin = ray.origin
    curve = face_curve(origin, displacement, guess, limb, face)
    step, short = short_step(curve, guess)
    if short:
        return two_sum(guess, step)
    solved = graze_step(origin, displacement, guess, limb, face, entering)
    return dd_add((guess, 0.0), solved)


ChordEnds: TypeAlias = tuple[DoubleDouble, DoubleDouble, float, float]
"""Entry and exit of a chord, as fractions of the ray, and their faces: INSIDE where the ray starts or ends in it."""


@inlined
def unrefined_chord(ray: Ray, limit: float, span: Span) -> tuple[bool, ChordEnds]:
    """Whether the bounds decide a chord, and the chord's faces; its entry and exit are set to 0 and `limit`."""
    bounds = ray_hit_bounds(ray, span, POLICY_HIT)
    last = span.last_face if span.outer[1] <= ray.limit else INSIDE
    is_open = span.outer[1] > ray.limit and not span.inner[1] > ray.limit
    is_open = is_open or bounds.face == UNDECIDED_FACE or last == UNDECIDED_FACE
    return bounds.certain and not is_open, ((0.0, 0.0), (limit, 0.0), bounds.face, last)


@inlined
def certain_chord(
    displacement: DoubleDoubleVector, ray: Ray, limit: float, limb: Limb, span: Span
) -> tuple[bool, ChordEnds]:
    """The chord of one ray in the piece of a limb that `span` bounds, and whether the bounds decide it.

    `limit` is the ray's largest fraction. If a chord is not decided, entry and exit are 0 and the limit, and a face may
    be `UNDECIDED_FACE`.
    """
    decided, (entry, leave, first, last) = unrefined_chord(ray, limit, span)
    if not decided:
        return False, (entry, leave, first, last)
    enters, leaves = first != INSIDE, last != INSIDE
    if enters:
        guess = 0.5 * (span.outer[0] + span.inner[0]) * ray.per_length
        entry = face_crossing(ray, displacement, guess, limb, first, enters)
    if leaves:
        guess = 0.5 * (span.inner[1] + span.outer[1]) * ray.per_length
        leave = face_crossing(ray, displacement, guess, limb, last, not leaves)
    return True, (entry, leave, first, last)
