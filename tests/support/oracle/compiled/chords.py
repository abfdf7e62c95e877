"""Clip a ray by a limb's surfaces, by signs alone: a root is computed only after its existence is shown.

A condition on the point at `base` + s is a polynomial in s. Between the caps and within the ray, one quadratic q
defines the solid, and by convexity the set q <= 0 is one interval. So the signs of q at both ends of this part, of its
slope there and of its discriminant decide: (- ., . -) the chord begins, or ends, with the part; (+ +) it is within the
part if q falls at its begin, rises at its end, and has roots. Times are compared only where faces meet.
"""

from typing import NamedTuple

from numba import njit
from support.oracle.compiled.enclosures import (
    OPEN,
    Enclosure,
    add,
    divide,
    multiply,
    negative,
    sign,
    square_root,
    subtract,
)
from support.oracle.cylinder import INSIDE

MISS, HIT = 0, 1
"""Verdicts, besides OPEN."""

UNKNOWN = -1
"""The face of an exit that the bounds do not decide."""

NEAR = 1e-6
"""A ray counts as a graze if it is this close to a tangent, in squared radii."""

ZERO = (0.0, 0.0, 0.0)


class Chord(NamedTuple):
    """The first part of a ray inside a limb. Times count from the base. INSIDE: the ray starts or ends there."""

    verdict: int
    first: Enclosure
    first_face: int
    last: Enclosure  # undefined if the ray has no end and the face is INSIDE
    last_face: int  # or UNKNOWN
    graze: bool


class Extent(NamedTuple):
    """The ray itself: its start and end as times from the base."""

    start: Enclosure
    end: Enclosure  # undefined for an endless ray
    endless: bool


class Quadratic(NamedTuple):
    """c + 2 b s + a s²."""

    c: Enclosure
    b: Enclosure
    a: Enclosure


@njit
def nothing(verdict: int) -> Chord:
    """Return a miss, or an open verdict."""
    return Chord(verdict, ZERO, INSIDE, ZERO, UNKNOWN, False)


@njit
def whole(ray: Extent) -> Chord:
    """Return the whole ray as a chord."""
    return Chord(HIT, ray.start, INSIDE, ray.end, INSIDE, False)


@njit
def value(q: Quadratic, s: Enclosure) -> Enclosure:
    """Return q at s."""
    return add(multiply(add(multiply(q.a, s), add(q.b, q.b)), s), q.c)


@njit
def slope(q: Quadratic, s: Enclosure) -> Enclosure:
    """Return half the derivative of q at s."""
    return add(multiply(q.a, s), q.b)


@njit
def discriminant(q: Quadratic) -> Enclosure:
    """Return b² - a c."""
    return subtract(multiply(q.b, q.b), multiply(q.a, q.c))


@njit
def root(q: Quadratic, falling: bool) -> Enclosure:
    """Return the root at which q falls, or rises; the formula adds numbers of one sign only, without cancellation."""
    width = square_root(discriminant(q))
    if falling:
        if q.b[0] < 0.0:
            return divide(q.c, subtract(width, q.b))
        return divide(negative(add(q.b, width)), q.a)
    if q.b[0] > 0.0:
        return negative(divide(q.c, add(q.b, width)))
    return divide(subtract(width, q.b), q.a)


@njit
def between(
    ray: Extent, base: Enclosure, begin: Enclosure, finish: Enclosure, rate: Enclosure, top: Enclosure, faces: int
) -> Chord:
    """Return the part of the ray whose height is between 0 and `top`, inclusive.

    `base`, `begin`, `finish`: the height at the base, the start and the end; `rate`: its derivative. `faces` is the
    face at height 0, `faces` + 1 that at `top`.
    """
    rising, low, high = sign(rate), faces, faces + 1
    if rising == OPEN:
        return nothing(OPEN)
    if rising < 0:
        base, begin, finish, rate = subtract(top, base), subtract(top, begin), subtract(top, finish), negative(rate)
        low, high = high, low
    above, below = sign(begin), sign(subtract(top, begin))
    if below == -1 or (rising == 0 and above == -1):
        return nothing(MISS)
    if rising == 0:
        # a ray in a face's plane belongs to that face along its whole length: left to the rational oracle
        return whole(ray) if above == 1 and below == 1 else nothing(OPEN)
    ends_above = 1 if ray.endless else sign(finish)
    ends_below = -1 if ray.endless else sign(subtract(top, finish))
    if ends_above == -1:
        return nothing(MISS)
    if OPEN in (above, below, ends_above, ends_below):
        return nothing(OPEN)
    first, first_face, last, last_face = ray.start, INSIDE, ray.end, INSIDE
    if above < 0:
        first, first_face = negative(divide(base, rate)), low
    if ends_below <= 0:
        last, last_face = divide(subtract(top, base), rate), high
    return Chord(HIT, first, first_face, last, last_face, False)


@njit
def within(q: Quadratic, part: Chord, endless: bool, face: int, scale: float) -> Chord:
    """Return the sub-interval of `part` where q <= 0, q being convex; `scale` is the size of the squares in q."""
    if part.verdict != HIT:
        return part
    endless = endless and part.last_face == INSIDE
    at_first = sign(value(q, part.first))
    at_last = 1 if endless else sign(value(q, part.last))
    if at_first == OPEN:
        return nothing(OPEN)
    if at_first <= 0:
        last, last_face = part.last, part.last_face
        if at_last == OPEN or (at_first == 0 and at_last == 1) or (at_last == 0 and last_face == INSIDE):
            last_face = UNKNOWN
        elif at_last == 1:
            last, last_face = root(q, False), face
        return Chord(HIT, part.first, part.first_face, last, last_face, False)
    if at_last == OPEN or at_last == 0:
        return nothing(OPEN)
    if at_last < 0:
        return Chord(HIT, root(q, True), face, part.last, part.last_face, False)
    falls, rises = sign(slope(q, part.first)), 1 if endless else sign(slope(q, part.last))
    if falls in (0, 1) or rises in (0, -1):
        return nothing(MISS)
    d = discriminant(q)
    graze, crosses = abs(d[0]) <= NEAR * abs(q.a[0]) * scale, sign(d)
    if crosses == -1:
        return Chord(MISS, ZERO, INSIDE, ZERO, UNKNOWN, graze)
    if crosses != 1 or falls == OPEN or rises == OPEN:
        return Chord(OPEN, ZERO, INSIDE, ZERO, UNKNOWN, graze)
    return Chord(HIT, root(q, True), face, root(q, False), face, graze)


@njit
def outside(q: Quadratic, chord: Chord, wall: int, bore: int) -> Chord:
    """Return the first part of a chord where q >= 0; q is negative in the open bore."""
    if chord.verdict != HIT:
        return chord
    at_first = 1 if chord.first_face == wall else sign(value(q, chord.first))
    if at_first == OPEN:
        return nothing(OPEN)
    if chord.last_face == UNKNOWN:
        return nothing(OPEN) if at_first < 0 else chord
    at_last = 1 if chord.last_face == wall else sign(value(q, chord.last))
    if at_first < 0:
        if at_last == -1:
            return nothing(MISS)
        if at_last != 1:
            return nothing(OPEN)
        return Chord(HIT, root(q, False), bore, chord.last, chord.last_face, chord.graze)
    unknown = Chord(HIT, chord.first, chord.first_face, chord.last, UNKNOWN, chord.graze)
    if at_first == 0 or at_last == OPEN or at_last == 0:
        return unknown
    if at_last == 1:
        falls, rises = sign(slope(q, chord.first)), sign(slope(q, chord.last))
        if falls in (0, 1) or rises in (0, -1):
            return chord
        crosses = sign(discriminant(q))
        if crosses == -1:
            return chord
        if crosses != 1 or falls == OPEN or rises == OPEN:
            return unknown
    return Chord(HIT, chord.first, chord.first_face, root(q, True), bore, chord.graze)


@njit
def union(one: Chord, two: Chord) -> Chord:
    """Return the chord of the union of two convex parts, if it is convex; open if both are entered at the same time."""
    graze = one.graze or two.graze
    if one.verdict == MISS or two.verdict == MISS:
        only = two if one.verdict == MISS else one
        return Chord(only.verdict, only.first, only.first_face, only.last, only.last_face, graze)
    inside = (one.verdict == HIT and one.first_face == INSIDE) or (two.verdict == HIT and two.first_face == INSIDE)
    if OPEN in (one.verdict, two.verdict):
        return Chord(HIT if inside else OPEN, ZERO, INSIDE, ZERO, UNKNOWN, graze)
    order = -1
    if not inside:
        order = sign(subtract(one.first, two.first))
        if order in (0, OPEN):
            return nothing(OPEN)
    first, face = (one.first, one.first_face) if order < 0 else (two.first, two.first_face)
    if inside:
        face = INSIDE
    last, last_face = two.last, two.last_face
    if one.last_face == UNKNOWN or two.last_face == UNKNOWN:
        last_face = UNKNOWN
    elif one.last_face == INSIDE or two.last_face == INSIDE:
        last_face = INSIDE
    else:
        later = sign(subtract(one.last, two.last))
        if later in (0, OPEN):
            last_face = UNKNOWN
        elif later > 0:
            last, last_face = one.last, one.last_face
    return Chord(HIT, first, face, last, last_face, graze)


@njit
def intersection(one: Chord, two: Chord) -> Chord:
    """Return the intersection of two parts of one ray; open if two faces are crossed at the same time."""
    if one.verdict == MISS or two.verdict == MISS:
        return nothing(MISS)
    if one.verdict == OPEN or two.verdict == OPEN:
        return nothing(OPEN)
    later = 1 if two.first_face == INSIDE else -1 if one.first_face == INSIDE else sign(subtract(one.first, two.first))
    sooner = -1 if two.last_face == INSIDE else 1 if one.last_face == INSIDE else sign(subtract(one.last, two.last))
    if later in (0, OPEN) or sooner in (0, OPEN):
        return nothing(OPEN)
    first, first_face = (one.first, one.first_face) if later > 0 else (two.first, two.first_face)
    last, last_face = (one.last, one.last_face) if sooner < 0 else (two.last, two.last_face)
    if first_face != INSIDE and last_face != INSIDE:
        order = sign(subtract(last, first))
        if order == -1:
            return nothing(MISS)
        if order != 1:
            return nothing(OPEN)
    return Chord(HIT, first, first_face, last, last_face, False)
