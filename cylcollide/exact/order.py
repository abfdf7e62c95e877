"""Which limb does a ray hit first? Exact order along the ray, ties by limb index."""

from collections.abc import Iterable
from functools import cmp_to_key

from cylcollide._types import InsidePolicy
from cylcollide.exact.cylinder import Chord, CylinderNumbers, RayNumbers, ray_cylinder
from cylcollide.exact.numbers import QuadraticNumber


def hit_time(chord: Chord, inside: InsidePolicy) -> QuadraticNumber | None:
    """The fraction at which this chord counts as a hit under the policy; None if it does not."""
    if not chord.started_inside or inside == "hit":
        return chord.entry
    if inside == "ignore":
        return None
    leaves = chord.exit_face != chord.entry_face  # INSIDE at both ends: it never gets out
    return chord.exit if leaves else None


def chords(ray: RayNumbers, limbs: Iterable[tuple[int, CylinderNumbers]]) -> list[tuple[int, Chord]]:
    """Every limb crossed with its chord, by entry, ties by limb index."""
    found = [(index, chord) for index, limb in limbs if (chord := ray_cylinder(ray, limb)) is not None]

    def by_entry(a: tuple[int, Chord], b: tuple[int, Chord]) -> int:
        return a[1].entry.compare(b[1].entry) or a[0] - b[0]

    return sorted(found, key=cmp_to_key(by_entry))


def closest(
    ray: RayNumbers, limbs: Iterable[tuple[int, CylinderNumbers]], inside: InsidePolicy
) -> tuple[tuple[int, Chord] | None, bool]:
    """The limb hit first with its chord, or None; and whether the ray starts in any of the limbs."""
    crossed = chords(ray, limbs)
    first: tuple[QuadraticNumber, int, Chord] | None = None
    for index, chord in crossed:
        time = hit_time(chord, inside)
        if time is not None and (first is None or (time.compare(first[0]) or index - first[1]) < 0):
            first = (time, index, chord)
    started_inside = any(chord.started_inside for _, chord in crossed)
    return (None if first is None else (first[1], first[2])), started_inside
