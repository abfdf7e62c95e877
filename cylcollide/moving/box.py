"""A bullet that flies straight in a tick interval against a box between two poses, bounded from both sides.

In the frame of its bone, the box is at rest and the bullet flies along a curve: its position relative to the bone,
which changes linearly, turned by the inverse of the bone's rotation, which is about one axis. A part of the curve is
within `bend` times its duration squared of its chord. The box grown and shrunk by that, and by all rounding, thus gives
a `Bracket` of the times at which the bullet is inside. Parts that remain undecided are halved, from the first to the
last. `docs/numerics.md`, "Boxes between ticks".

`relative_flight` prepares one interval; `first_box_contact` and `end_of_box_contact` return `HitBounds` in u, 0 at its
start and 1 at its end: a contact that is possible and not certain is undecided.
"""

from math import inf, sqrt
from typing import NamedTuple

from cylcollide.bones.bone import Quaternion, between, length_of, normalised, rescaled
from cylcollide.constants import LARGEST_SAFE, SLOPE_FLOOR, SMALLEST_SAFE, UNIT_ROUNDOFF
from cylcollide.kernels.box import faces_through
from cylcollide.kernels.double_double import Vector
from cylcollide.kernels.inside_policy import INSIDE, HitBounds
from cylcollide.kernels.interval import UNDECIDED_FACE, Bracket, intersect_brackets
from cylcollide.kernels.line import along, slab_about, within
from cylcollide.kernels.ray import cross, dot, largest_component, subtract
from cylcollide.runtime.compile import compiled, inlined

RESOLUTION = 2.0**-10
"""Share of a tick down to which parts of an interval are halved by default."""

PASSAGE_ROUNDING = 256.0 * UNIT_ROUNDOFF
"""All rounding of a bullet's position in the frame of a box, relative to the largest coordinates; derived: 185 u."""

MARGIN = 1.0 + 2.0**-10
"""Covers the rounding of the bounds themselves."""

Axes = tuple[Vector, Vector, Vector]


class BoxPath(NamedTuple):
    """A box fastened to a bone, which moves from one recorded pose to the next."""

    here: Vector  # position of the bone at alpha 0
    there: Vector  # and at alpha 1
    turn_here: Quaternion  # its orientation, of any length but 0
    turn_there: Quaternion
    centre: Vector  # of the box, in the frame of the bone
    axes: Axes  # unit vectors, in the frame of the bone
    half: Vector  # half extents along them


class RelativeFlight(NamedTuple):
    """A bullet in an interval relative to a bone, with bounds on the errors of computed positions."""

    offset: Vector  # from the bone to the bullet at u = 0, in the world
    travel: Vector  # change of `offset` until u = 1
    turn: Quaternion  # the unit quaternion of alpha 0
    turn_there: Quaternion  # that of alpha 1, the short way
    alpha: float  # at u = 0
    alpha_rate: float  # change of `alpha` until u = 1
    centre: Vector
    axes: Axes
    half: Vector
    delta: float  # bound on all rounding, as a displacement
    bend: float  # a part of duration w, in u, is within bend w² of its chord
    first: float  # the u between which the bullet may be close enough
    last: float


class _Part(NamedTuple):
    """When the bullet is inside each slab during a part of an interval, in units of the part: from 0 to 1."""

    x: Bracket
    y: Bracket
    z: Bracket
    rates: Vector  # changes of its coordinates along the chord
    delta: float  # bound on the distance of the curve from the chord, rounding included


@compiled
def relative_flight(start: Vector, end: Vector, alpha: float, last_alpha: float, path: BoxPath) -> RelativeFlight:
    """A bullet that flies from start to end while the box moves from `alpha` to `last_alpha`, both from 0 to 1.

    Start and end may have errors of 2 u of the largest coordinate, both alphas of 2 u.
    """
    p, q = normalised(rescaled(path.turn_here)), normalised(rescaled(path.turn_there))
    if (p[0] * q[0] + p[1] * q[1]) + (p[2] * q[2] + p[3] * q[3]) < 0.0:
        q = (-q[0], -q[1], -q[2], -q[3])
    rate, a, b = last_alpha - alpha, path.here, path.there
    offset = (
        start[0] - between(a[0], b[0], alpha),
        start[1] - between(a[1], b[1], alpha),
        start[2] - between(a[2], b[2], alpha),
    )
    travel = (
        (end[0] - start[0]) - rate * (b[0] - a[0]),
        (end[1] - start[1]) - rate * (b[1] - a[1]),
        (end[2] - start[2]) - rate * (b[2] - a[2]),
    )
    reach = MARGIN * (sqrt(dot(path.centre, path.centre)) + sqrt(dot(path.half, path.half)))
    extent = reach + max(largest_component(start), largest_component(end), largest_component(a))
    extent += largest_component(b)
    delta = PASSAGE_ROUNDING * extent if reach >= SMALLEST_SAFE and extent <= LARGEST_SAFE else inf
    # near the bone
    squared, least = dot(travel, travel), SLOPE_FLOOR * SLOPE_FLOOR
    per_squared = 1.0 / max(squared, least)
    middle = 0.0 if squared < least else -dot(offset, travel) * per_squared
    nearest = along(offset, travel, middle)
    near = within(middle, dot(nearest, nearest), per_squared, reach, delta).outer
    first, last = (max(0.0, near[0]), min(1.0, near[1])) if delta < inf else (0.0, 1.0)
    # angular speed of the bone, in radians per tick, and its change
    apart = length_of((p[0] - q[0], p[1] - q[1], p[2] - q[2], p[3] - q[3]))
    tangent = apart / length_of((p[0] + q[0], p[1] + q[1], p[2] + q[2], p[3] + q[3]))
    speed, change = 4.0 * tangent, 16.0 * tangent * tangent * (1.0 + tangent)
    bend = MARGIN * (rate * (change * rate * (reach + delta) + 2.0 * speed * sqrt(squared))) / 8.0
    box = path.centre, path.axes, path.half
    return RelativeFlight(offset, travel, p, q, alpha, rate, *box, delta, bend, first, last)


@inlined
def place_in_box(flight: RelativeFlight, u: float) -> Vector:
    """The bullet's coordinates along the axes of the box, from its centre."""
    alpha = flight.alpha + u * flight.alpha_rate
    p, q, rest, r = flight.turn, flight.turn_there, 1.0 - alpha, along(flight.offset, flight.travel, u)
    v = (rest * p[0] + alpha * q[0], rest * p[1] + alpha * q[1], rest * p[2] + alpha * q[2])
    w = rest * p[3] + alpha * q[3]
    # the inverse rotation: r + 2 (v × (v × r) - w v × r) / |v, w|²
    moved, double = cross(v, r), 2.0 / (dot(v, v) + w * w)
    twice, c = cross(v, moved), flight.centre
    x = (
        (r[0] + double * (twice[0] - w * moved[0])) - c[0],
        (r[1] + double * (twice[1] - w * moved[1])) - c[1],
        (r[2] + double * (twice[2] - w * moved[2])) - c[2],
    )
    return dot(flight.axes[0], x), dot(flight.axes[1], x), dot(flight.axes[2], x)


@inlined
def _part(flight: RelativeFlight, a: float, b: float) -> _Part:
    """The part of an interval between two times."""
    begin, end, half = place_in_box(flight, a), place_in_box(flight, b), flight.half
    rates = subtract(end, begin)
    delta = flight.delta + flight.bend * ((b - a) * (b - a))
    return _Part(
        slab_about(begin[0], rates[0], half[0], 0.0, delta),
        slab_about(begin[1], rates[1], half[1], 0.0, delta),
        slab_about(begin[2], rates[2], half[2], 0.0, delta),
        rates,
        delta,
    )


@inlined
def _entry(part: _Part) -> tuple[float, float]:
    """The first times in a part at which the bullet is possibly, and certainly, in the box; inf if never."""
    inside = intersect_brackets(intersect_brackets(part.x, part.y), part.z)
    outer, inner = inside.outer, inside.inner
    possible = outer[0] <= outer[1] and outer[1] >= 0.0 and outer[0] <= 1.0
    certain = inner[0] <= inner[1] and inner[1] >= 0.0 and inner[0] <= 1.0
    return max(0.0, outer[0]) if possible else inf, max(0.0, inner[0]) if certain else inf


@inlined
def _exit(part: _Part) -> tuple[float, float]:
    """The first times in a part at which the bullet, in the box when it begins, is possibly, and certainly, outside.

    It cannot leave through a face from which it moves away throughout the part.
    """
    steady = 4.0 * part.delta
    begin = part.x.inner[0] if abs(part.rates[0]) <= steady else -inf
    begin = max(begin, part.y.inner[0] if abs(part.rates[1]) <= steady else -inf)
    begin = max(begin, part.z.inner[0] if abs(part.rates[2]) <= steady else -inf)
    inside = intersect_brackets(intersect_brackets(part.x, part.y), part.z)
    outer, stays_until = inside.outer, inside.inner[1]
    possible = 0.0 if begin > 0.0 or stays_until < 0.0 else (stays_until if stays_until < 1.0 else inf)
    if outer[0] > outer[1] or outer[0] > 0.0 or outer[1] < 0.0:
        return 0.0, 0.0
    return possible, outer[1] if outer[1] < 1.0 else inf


@compiled
def _scan(flight: RelativeFlight, begin: float, resolution: float, leaving: bool) -> tuple[float, float, bool]:
    """Bounds of the first moment from `begin` on at which the bullet is in the box; if `leaving`, outside of it.

    Returns the earliest moment, inf if there is certainly none; the latest, inf if it is not certain; and whether both
    lie in one part.
    """
    span, place, size, earliest = flight.last - begin, 0.0, 1.0, inf
    while place < 1.0:
        a, b = begin + span * place, begin + span * (place + size)
        part = _part(flight, a, b)
        possible, certain = _exit(part) if leaving else _entry(part)
        if possible < inf:
            width = span * size
            coarse = width * flight.alpha_rate > resolution and flight.bend * (width * width) > flight.delta
            if coarse and not (certain - possible) * width * flight.alpha_rate <= resolution:
                size *= 0.5
                continue
            here = a + possible * (b - a)
            if certain < inf:
                return min(earliest, here), a + certain * (b - a), earliest == inf
            earliest = min(earliest, here)
        place += size
        while size < 1.0 and place % (2.0 * size) == 0.0:
            size *= 2.0
    return earliest, inf, False


@compiled
def _narrowed(flight: RelativeFlight, begin: float, found: tuple[float, float, bool], leaving: bool) -> HitBounds:
    """Narrower bounds of a certain moment, and its face, from parts just around it."""
    earliest, latest, of_one_part = found
    face = UNDECIDED_FACE
    for _ in range(2 if of_one_part else 0):
        more = latest - earliest
        a, b = max(begin, earliest - more), min(flight.last, latest + more)
        part = _part(flight, a, b)
        possible, certain = _exit(part) if leaving else _entry(part)
        if certain < inf:
            first, last = faces_through(part.x, part.y, part.z, part.rates)
            face = UNDECIDED_FACE if leaving and possible <= 0.0 else last if leaving else first
            earliest = min(latest, max(earliest, a + possible * (b - a)))
            latest = max(earliest, min(latest, a + certain * (b - a)))
    return HitBounds(True, True, earliest, latest, False, face)


@compiled
def first_box_contact(flight: RelativeFlight, resolution: float) -> HitBounds:
    """Bounds of the first u at which the bullet is in the box; `inside`: it certainly is at u = 0.

    Parts of an interval are halved while they are longer than `resolution`, in ticks, and do not decide whether there
    is a contact, or its time to within `resolution`.
    """
    if not flight.delta < inf:
        return HitBounds(True, False, 0.0, inf, False, UNDECIDED_FACE)
    outside = inf
    if flight.first == 0.0:
        y, half = place_in_box(flight, 0.0), flight.half
        outside = max(abs(y[0]) - half[0], abs(y[1]) - half[1], abs(y[2]) - half[2])
    if outside <= -flight.delta:
        return HitBounds(True, True, 0.0, 0.0, True, INSIDE)
    found = _scan(flight, flight.first, resolution, False)
    if found[1] == inf:
        return HitBounds(found[0] < inf, False, found[0], inf, False, UNDECIDED_FACE)
    bounds = _narrowed(flight, flight.first, found, False)
    face = bounds.face if outside > flight.delta else UNDECIDED_FACE
    return HitBounds(True, True, bounds.lower, bounds.upper, False, face)


@compiled
def end_of_box_contact(flight: RelativeFlight, begin: float, resolution: float) -> HitBounds:
    """Bounds of the u at which the bullet, certainly in the box at `begin`, first leaves it; not possible: it stays.

    `begin` is `upper` of a `first_box_contact` that is certain.
    """
    found = _scan(flight, begin, resolution, True)
    if found[1] < inf:
        return _narrowed(flight, begin, found, True)
    if flight.last < 1.0:
        return HitBounds(True, True, min(found[0], flight.last), flight.last, False, UNDECIDED_FACE)
    return HitBounds(found[0] < inf, False, found[0], inf, False, UNDECIDED_FACE)
