"""The chords of a ray in closed solids, and which limb it hits first: exact order along the ray, ties by limb index."""

from collections.abc import Iterable
from dataclasses import dataclass
from functools import cmp_to_key
from itertools import accumulate, chain, pairwise
from math import inf

from cylcollide._types import Face, InsidePolicy, RayNumbers
from cylcollide.exact.algebraic import Algebraic
from cylcollide.exact.line import Number, Stretch
from cylcollide.exact.numbers import QuadraticNumber
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
    number = Algebraic.rational if limb.has_algebraic_times else QuadraticNumber.of_float
    start, limit = number(0.0), None if ray.limit == inf else number(ray.limit)
    chords = (_clipped(stretch, start, limit) for stretch in limb.crossing(ray))
    return [chord for chord in chords if chord is not None]


def is_on_ray(ray: RayNumbers, stretch: Stretch) -> bool:
    """Whether a stretch between quadratic numbers has a point of the ray."""
    number = QuadraticNumber.of_float
    return _clipped(stretch, number(0.0), None if ray.limit == inf else number(ray.limit)) is not None


def _clipped(stretch: Stretch, start: Number, limit: Number | None) -> Chord | None:
    """The part of a stretch from the start to the limit, both included, None if empty; limit None: no limit."""
    near, far, _ = stretch
    entry, entry_face = start, Face.INSIDE
    if near is not None and near.time.compare(start) > 0:
        if limit is not None and near.time.compare(limit) > 0:
            return None
        entry, entry_face = near
    leaving, exit_face = limit, Face.INSIDE
    if far is not None:
        if entry is start and far.time.compare(start) < 0:
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
    return int(one.entry.compare(other.entry))


def closest(
    ray: RayNumbers, limbs: Iterable[tuple[int, Solid]], inside: InsidePolicy
) -> tuple[tuple[int, Chord] | None, bool]:
    """The limb hit first with its chord, or None; and whether the ray starts in any of the limbs.

    Of limbs with the same solid, the one of lowest index is tested.
    """
    lowest: dict[int, tuple[int, Solid]] = {}
    for index, limb in limbs:
        if id(limb) not in lowest or index < lowest[id(limb)][0]:
            lowest[id(limb)] = index, limb
    first: tuple[Number, int, Chord] | None = None
    started_inside = False
    for index, limb in lowest.values():
        hit, inside_this = limb_hit(ray, limb, inside)
        started_inside |= inside_this
        if hit is not None and (first is None or (hit[0].compare(first[0]) or index - first[1]) < 0):
            first = (hit[0], index, hit[1])
    return (None if first is None else (first[1], first[2])), started_inside
