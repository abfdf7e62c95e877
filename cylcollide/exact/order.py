"""The chords of a ray in closed solids, and which limb it hits first: exact order along the ray, ties by limb index."""

from collections.abc import Iterable
from dataclasses import dataclass
from functools import cmp_to_key
from itertools import accumulate, chain, pairwise, repeat
from math import inf

from cylcollide._types import Face, InsidePolicy, RayNumbers
from cylcollide.exact.line import Stretch
from cylcollide.exact.numbers import ZERO, Number, QuadraticNumber
from cylcollide.exact.solid import Solid


@dataclass(frozen=True, slots=True)
class Chord:
    """A stretch of a ray inside a limb, as fractions of the ray."""

    entry: Number
    exit: Number | None  # None: never, the ray has no end and stays inside
    entry_face: Face  # INSIDE if the ray starts in the limb
    exit_face: Face  # INSIDE if it ends there

    @property
    def started_inside(self) -> bool:
        """Whether the ray starts in the limb."""
        return self.entry_face == Face.INSIDE


def limb_chords(ray: RayNumbers, limb: Solid) -> list[Chord]:
    """The chords of the ray in one limb, in order: none for a miss, two through a tube's bore."""
    limit = _limit_of(ray)
    chords = (_clipped(stretch, limit) for stretch in limb.crossing(ray))
    return [chord for chord in chords if chord is not None]


def is_on_ray(ray: RayNumbers, stretch: Stretch) -> bool:
    """Whether a stretch has a point of the ray."""
    return _clipped(stretch, _limit_of(ray)) is not None


def is_behind(ray: RayNumbers, time: Number) -> bool:
    """Whether a fraction is beyond the end of a ray."""
    limit = _limit_of(ray)
    return limit is not None and time.compare(limit) > 0


def _limit_of(ray: RayNumbers) -> QuadraticNumber | None:
    """The last fraction of a ray, None if it has no end."""
    return None if ray.limit == inf else QuadraticNumber.of_float(ray.limit)


def _clipped(stretch: Stretch, limit: QuadraticNumber | None) -> Chord | None:
    """The part of a stretch from 0 to the limit, both included, None if empty; limit None: no limit."""
    near, far, _ = stretch
    entry: Number = ZERO
    entry_face = Face.INSIDE
    if near is not None and near.time.compare(ZERO) > 0:
        if limit is not None and near.time.compare(limit) > 0:
            return None
        entry, entry_face = near
    leaving: Number | None = limit
    exit_face = Face.INSIDE
    if far is not None:
        if entry is ZERO and far.time.compare(ZERO) < 0:
            return None
        if limit is None or far.time.compare(limit) <= 0:
            leaving, exit_face = far
    return Chord(entry, leaving, entry_face, exit_face)


def hit_time(chord: Chord, inside: InsidePolicy) -> Number | None:
    """The fraction at which this chord counts as a hit under the policy; None if it does not."""
    if not chord.started_inside or inside == "hit":
        return chord.entry
    return chord.exit if inside == "exit" and chord.exit_face != Face.INSIDE else None


def limb_hit(ray: RayNumbers, limb: Solid, inside: InsidePolicy) -> tuple[tuple[Number, Chord] | None, bool]:
    """Fraction and chord at which the ray hits one limb, or None; and whether it starts in the limb."""
    chords = limb_chords(ray, limb)
    if not chords:
        return None, False
    first = chords[0]
    time = hit_time(first, inside)
    return (None if time is None else (time, first)), first.started_inside


def sorted_chords(ray: RayNumbers, limbs: Iterable[tuple[int, Solid]]) -> list[tuple[int, Chord]]:
    """Pairs of limb index and chord, of every limb crossed, sorted by entry, ties by limb index.

    Limbs with the same solid have the same chords, computed once.
    """
    limbs = list(limbs)
    of_solid = {id(solid): limb_chords(ray, solid) for solid in {id(solid): solid for _, solid in limbs}.values()}
    chords = sorted(chain.from_iterable(of_solid.values()), key=cmp_to_key(compare_entries))
    later = (compare_entries(one, other) < 0 for one, other in pairwise(chords))
    rank = {id(chord): place for chord, place in zip(chords, accumulate(later, initial=0), strict=False)}
    pairs = [(index, chord) for index, solid in limbs for chord in of_solid[id(solid)]]
    return sorted(pairs, key=lambda pair: (rank[id(pair[1])], pair[0]))


def compare_entries(one: Chord, other: Chord) -> int:
    """Sign of the difference of two entries."""
    return _order(one.entry, other.entry)


def closest(
    ray: RayNumbers,
    limbs: Iterable[tuple[int, Solid]],
    inside: InsidePolicy,
    earliest: Iterable[float] = repeat(0.0),
) -> tuple[tuple[int, Chord] | None, bool]:
    """The limb hit first with its chord, or None; and whether the ray starts in any of the limbs.

    `earliest`: ascending fractions; before each, the ray is certainly in none of the limbs from there on. Limbs behind
    the first hit are skipped. Limbs with the same solid are tested once.
    """
    hits: dict[int, tuple[Solid, tuple[Number, Chord] | None, bool]] = {}  # by id, unique while the solid exists
    first: tuple[Number, int, Chord] | None = None
    started_inside = False
    for bound, (index, limb) in zip(earliest, limbs, strict=False):
        if first is not None and bound > 0.0 and first[0].compare(QuadraticNumber.of_float(bound)) < 0:
            break
        if id(limb) not in hits:
            hits[id(limb)] = limb, *limb_hit(ray, limb, inside)
        _, hit, inside_this = hits[id(limb)]
        started_inside |= inside_this
        if hit is not None and (first is None or (_order(hit[0], first[0]) or index - first[1]) < 0):
            first = (hit[0], index, hit[1])
    return (None if first is None else (first[1], first[2])), started_inside


def _order(one: Number, other: Number) -> int:
    """Sign of the difference of two numbers."""
    return 0 if one is other else one.compare(other)
