"""Why PyBullet answers a ray otherwise than its mirror, in a word; `docs/bullet.md` has the same words.

The exact limbs decide, with the same limbs grown by 1.05 mm (Bullet stops within 1 mm) and shrunk by half of their
margin (which rounds edges):

within 1 mm: PyBullet hits a shape that the ray misses by less than a millimetre.
edge: PyBullet misses a shape at an edge that its margin rounds off, or that the ray only grazes.
order: both shapes are hit, and PyBullet's too early, by the millimetre; or they are less than 2 mm apart on the ray.
inside: the ray starts within 1 mm of a shape, or in it.
open: none of these.
"""

from collections.abc import Sequence

import numpy as np

from cylcollide._types import Float64Array, Shape
from cylcollide.bullet.mirror import Mirror
from cylcollide.bullet.passthrough import FRACTION, RayTestResult
from cylcollide.characters.quaternions import of_matrices
from cylcollide.limbs.limbs import Limbs
from cylcollide.world.snapshot import Snapshot

CAUSES = ("within 1 mm", "edge", "order", "inside", "open")
SHELL, NEAR = 1.05e-3, 2e-3
"""How far a limb is grown, and how near two places on a ray are that PyBullet may confuse, in metres."""

ROUNDED, OWN_MARGIN, OWN_SHARE, MARGIN = 0.5, 0.04, 0.1, 11
"""A margin takes 1 - 1 / sqrt 3 of itself off a corner. Bullet's own margin is so much, at most this share of the
smallest half extent. Last, the place of the margin in `getDynamicsInfo`, 0 for a compound."""


def causes_of(
    mirror: Mirror,
    starts: Float64Array,
    ends: Float64Array,
    ours: Sequence[RayTestResult],
    theirs: Sequence[RayTestResult],
) -> list[str]:
    """The cause of each difference: segments (n, 3), (n, 3) with the mirror's answers and PyBullet's."""
    limbs = mirror.limbs
    grown_limbs = limbs.inflated(SHELL)
    exact, grown = (_crossed(mirror, one, starts, ends) for one in (limbs, grown_limbs))
    small = _crossed(mirror, _shrunk(limbs, _rounding(mirror)), starts, ends) if len(limbs) else exact
    inside = Snapshot.of(grown_limbs).cast_segments(starts, ends).started_inside
    places = {tuple(place) for place in mirror.limb_places}
    lengths = np.linalg.norm(ends - starts, axis=1).tolist()

    def cause(i: int, a: RayTestResult, b: RayTestResult) -> str:
        if inside[i]:
            return "inside"
        if b[:2] in places and b[:2] not in exact[i]:
            return "within 1 mm" if b[:2] in grown[i] else "open"
        if a[:2] in places and small[i].get(a[:2], np.inf) > a[FRACTION] + NEAR / lengths[i]:
            return "edge"
        near = abs(a[FRACTION] - b[FRACTION]) * lengths[i] < NEAR
        early = grown[i].get(b[:2], np.inf) <= b[FRACTION] < exact[i].get(b[:2], 0.0)
        return "order" if a[0] >= 0 and b[0] >= 0 and (near or early) else "open"

    return [cause(i, a, b) for i, (a, b) in enumerate(zip(ours, theirs, strict=True))]


def _crossed(
    mirror: Mirror, limbs: Limbs, starts: Float64Array, ends: Float64Array
) -> list[dict[tuple[int, int], float]]:
    """The places of all limbs that each ray crosses, with the fraction of the first crossing."""
    chords, places = Snapshot.of(limbs).chords_segments(starts, ends), mirror.limb_places
    found: list[dict[tuple[int, int], float]] = [{} for _ in starts]
    columns = chords.ray.tolist(), chords.limb.tolist(), chords.entry_fraction.tolist()
    for ray, limb, entry in zip(*columns, strict=True):
        found[ray].setdefault(places[limb], entry)
    return found


def _rounding(mirror: Mirror) -> float:
    """What a margin takes off the edges of boxes and cylinders at most."""
    limbs, margins = mirror.limbs, [0.0]
    for i, place in enumerate(mirror.limb_places):
        if limbs.kind[i] in (Shape.BOX, Shape.CYLINDER):
            half_length = 0.5 * float(np.linalg.norm(limbs.p2[i] - limbs.p1[i]))
            is_box = limbs.kind[i] == Shape.BOX
            smallest = float(limbs.half_extents[i].min()) if is_box else min(float(limbs.radius[i]), half_length)
            margins.append(mirror.client.getDynamicsInfo(*place)[MARGIN] or min(OWN_MARGIN, OWN_SHARE * smallest))
    return ROUNDED * max(margins)


def _shrunk(limbs: Limbs, by: float) -> Limbs:
    """The limbs with every face moved in."""
    parts = []
    for i, kind in enumerate(limbs.kind.tolist()):
        p1, p2, radius = limbs.p1[[i]], limbs.p2[[i]], max(float(limbs.radius[i]) - by, 1e-9)
        if kind == Shape.BOX:
            half = np.maximum(limbs.half_extents[[i]] - by, 1e-9)
            parts.append(Limbs.boxes(p1, of_matrices(limbs.box_axes[[i]].transpose(0, 2, 1)), half))
        elif kind == Shape.SPHERE:
            parts.append(Limbs.spheres(p1, radius))
        elif kind == Shape.CAPSULE:
            parts.append(Limbs.capsules(p1, p2, radius))
        else:
            step = min(by / float(np.linalg.norm(p2 - p1)), 0.49) * (p2 - p1)
            parts.append(Limbs.cylinders(p1 + step, p2 - step, radius))
    return Limbs.concat(parts)
