"""A line in exact numbers: the stretches of it where a condition holds, and which face owns each of their ends."""

from collections.abc import Sequence
from functools import reduce
from typing import NamedTuple

from cylcollide._types import Face, Float64Array, RayNumbers
from cylcollide.exact.numbers import Number, QuadraticNumber

Triple = tuple[float, float, float]

OWNERS = (
    *(Face.CAP1, Face.CAP2, Face.BORE, Face.SIDE),
    *(Face.NEG_X, Face.POS_X, Face.NEG_Y, Face.POS_Y, Face.NEG_Z, Face.POS_Z, Face.INSIDE),
)
"""Where faces meet, the point belongs to the first of these: a rim to the cap, an edge of a box to the lowest code.

The ends of a segment, of the code INSIDE, come last.
"""


def segment_numbers(start: Sequence[float] | Float64Array, end: Sequence[float] | Float64Array) -> RayNumbers:
    """The numbers of a closed segment, (3,) each."""
    (x, y, z), (u, v, w) = map(float, start), map(float, end)
    return RayNumbers((x, y, z), (u, v, w), True, 1.0)


class End(NamedTuple):
    """An end of a stretch: the fraction at which the line crosses a surface, and the face."""

    time: Number
    face: Face


class Stretch(NamedTuple):
    """A closed stretch of a line; None is without bound on that side."""

    near: End | None
    far: End | None
    plane: Face | None = None  # the face in whose plane the whole line runs, if any


EVERYWHERE = Stretch(None, None)


# One condition along a line -----------------------------------------------------------------------------------------


def within(a: int, b: int, c: int, face: Face) -> list[Stretch]:
    """Where a t² + 2 b t + c <= 0: between its roots, outside them, on one side of one, everywhere or nowhere."""
    if a == 0 and b == 0:
        return [EVERYWHERE] if c <= 0 else []
    if a == 0:
        root = End(QuadraticNumber(-c, 2 * b), face)
        return [Stretch(None, root) if b > 0 else Stretch(root, None)]
    if a < 0:
        return beyond(-a, -b, -c, face)
    radicand = b * b - a * c
    if radicand < 0:
        return []
    lower, upper = QuadraticNumber(-b, a, -1, radicand), QuadraticNumber(-b, a, 1, radicand)
    return [Stretch(End(lower, face), End(upper, face))]


def beyond(a: int, b: int, c: int, face: Face) -> list[Stretch]:
    """Where a t² + 2 b t + c >= 0, for a >= 0, and b = 0 where a = 0. A touch from outside splits nothing."""
    if a == 0:
        return [EVERYWHERE] if c >= 0 else []
    radicand = b * b - a * c
    if radicand <= 0:
        return [EVERYWHERE]
    lower, upper = QuadraticNumber(-b, a, -1, radicand), QuadraticNumber(-b, a, 1, radicand)
    return [Stretch(None, End(lower, face)), Stretch(End(upper, face), None)]


# Several conditions -------------------------------------------------------------------------------------------------


def owner(a: Face, b: Face) -> Face:
    """The face that owns a point of both."""
    return a if a == b else min(a, b, key=OWNERS.index)


def last_of(a: End | None, b: End | None, sign: int = 1) -> End | None:
    """The later of two ends (the earlier, for sign -1), with the face that owns it; None stands for no end at all."""
    if a is None or b is None:
        return b if a is None else a
    order = sign * a.time.compare(b.time)
    if order == 0:
        return End(a.time, owner(a.face, b.face))
    return a if order > 0 else b


def common(first: list[Stretch], second: list[Stretch]) -> list[Stretch]:
    """The intersection of two lists of stretches, touching ends included."""
    return [shared for a in first for b in second if (shared := _shared(a, b)) is not None]


def _shared(a: Stretch, b: Stretch) -> Stretch | None:
    """The intersection of two stretches: a stretch, a point, which has one owner, or None."""
    near, far = last_of(a.near, b.near), last_of(a.far, b.far, -1)
    plane = a.plane if b.plane is None else b.plane if a.plane is None else owner(a.plane, b.plane)
    if near is None or far is None:
        return Stretch(near, far, plane)
    order = near.time.compare(far.time)
    if order == 0:
        near = far = End(near.time, owner(near.face, far.face))
    return Stretch(near, far, plane) if order <= 0 else None


def hull(stretches: list[Stretch]) -> list[Stretch]:
    """From the first beginning to the last end: the union of stretches, provided that it is convex."""
    return [reduce(_spanned, stretches)] if stretches else []


def _spanned(a: Stretch, b: Stretch) -> Stretch:
    near = None if a.near is None or b.near is None else last_of(a.near, b.near, -1)
    far = None if a.far is None or b.far is None else last_of(a.far, b.far)
    return Stretch(near, far)
