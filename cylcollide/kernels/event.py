"""Does a ray hit a limb, when, and what is its chord there? From bounds to an answer, or to "not decided".

This is where the policy for a ray that starts inside comes in, and nowhere else.
"""

from math import inf
from typing import NamedTuple, TypeAlias

from cylcollide._types import HIT, MISS, POLICY_HIT, POLICY_IGNORE, UNSURE, Face
from cylcollide.kernels.crossing import face_crossings
from cylcollide.kernels.double_double import DoubleDouble, DoubleDoubleVector, Vector
from cylcollide.kernels.interval import UNDECIDED, Span, hit_verdict, start_verdict
from cylcollide.kernels.ray import Ray
from cylcollide.kernels.solid import pieces, ray_limb
from cylcollide.kernels.table import Limb
from cylcollide.simd import compiled, merged

INSIDE = int(Face.INSIDE)
Event: TypeAlias = tuple[int, float, float, bool]
"""Verdict, earliest and latest time of the hit in metres, whether the ray starts in the stretch."""


class CertainChord(NamedTuple):
    """The chord of a ray in a stretch it certainly hits, if both faces are decided; fractions."""

    decided: bool
    entry: DoubleDouble
    exit: DoubleDouble
    first_face: int
    last_face: int


@merged
def ray_event(ray: Ray, span: Span, policy: int) -> Event:
    """Does this stretch count as hit, when at the earliest and at the latest (metres), and does the ray start in it?"""
    verdict = hit_verdict(span.outer, span.inner, ray.limit)
    if verdict == MISS:
        return MISS, inf, inf, False
    start = start_verdict(span.outer, span.inner)
    if start == MISS:
        return verdict, span.outer[0], span.inner[0], False
    if start == UNSURE:
        return UNSURE, 0.0, inf, False
    if policy == POLICY_HIT:
        return HIT, 0.0, 0.0, True
    if policy == POLICY_IGNORE or span.inner[1] > ray.limit:
        return MISS, inf, inf, True
    return (HIT if span.outer[1] <= ray.limit else UNSURE), span.inner[1], span.outer[1], True


@merged
def limb_event(ray: Ray, limb: Limb, policy: int, latest: float) -> tuple[int, float, float, bool, int]:
    """The event of the first stretch that counts, and which stretch that is; MISS if that is later than `latest`."""
    started_inside = False
    for piece in range(pieces(limb)):
        span = ray_limb(ray, limb, piece)
        if span.outer[0] > latest:
            continue
        status, lower, upper, inside = ray_event(ray, span, policy)
        started_inside |= inside
        if status != MISS:
            return status, lower, upper, started_inside, piece
        if inside:
            break  # ignored, or never left: what comes behind does not count
    return MISS, inf, inf, started_inside, 0


@compiled
def certain_chord(
    origin: Vector, displacement: DoubleDoubleVector, ray: Ray, limit: float, limb: Limb, piece: int
) -> CertainChord:
    """The chord of a ray in a stretch that it certainly hits; `limit` is its largest fraction."""
    span = ray_limb(ray, limb, piece)
    first, last = INSIDE, INSIDE
    start = start_verdict(span.outer, span.inner)
    if start == MISS:
        first = span.first_face
    if span.outer[1] <= ray.limit:
        last = span.last_face
    ends_undecided = span.outer[1] > ray.limit and not span.inner[1] > ray.limit
    if start == UNSURE or ends_undecided or first == UNDECIDED or last == UNDECIDED:
        return CertainChord(False, (0.0, 0.0), (0.0, 0.0), first, last)
    entry, leave = (0.0, 0.0), (limit, 0.0)
    if first != INSIDE or last != INSIDE:
        begin = span.inner[0] if first != INSIDE else max(span.inner[0], 0.0)
        end = span.inner[1] if last != INSIDE else min(span.inner[1], ray.limit)
        crossings = face_crossings(origin, displacement, limb, first, last, 0.5 * (begin + end) / ray.length)
        if first != INSIDE:
            entry = crossings[0]
        if last != INSIDE:
            leave = crossings[1]
    return CertainChord(True, entry, leave, first, last)
