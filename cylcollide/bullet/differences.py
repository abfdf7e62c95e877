"""The cause of a difference between PyBullet and its mirror, in one word; `docs/bullet.md` defines the words.

It follows from the exact limbs, from limbs grown by 1.05 mm (Bullet stops within 1 mm), and from limbs shrunk by half
of their margin (which rounds edges).
"""

from collections.abc import Iterator, Sequence

import numpy as np

from cylcollide._types import Float64Array, InsidePolicy, Shape
from cylcollide.bullet.client import MARGIN, BodyLink, Client
from cylcollide.bullet.mirrored_limbs import MirroredLimbs
from cylcollide.bullet.passthrough import FRACTION
from cylcollide.bullet.tuples import MISS, RayTestResult
from cylcollide.characters.quaternions import of_matrices
from cylcollide.limbs.limbs import Limbs
from cylcollide.world.snapshot import Snapshot

CAUSES = ("within 1 mm", "edge", "order", "inside", "end", "open")
NO_NUMBER = "no number"
"""The cause of hits of solids without a body number, which no mirror has."""
TOLERANCE = "tolerance"
"""The cause of hits of a mirror's limbs and planes that only their growth by its tolerance makes the first."""

SHELL, NEAR, END = 1.05e-3, 2e-3, 1e-5
"""Growth of limbs, largest distance of two hits on a ray that PyBullet may confuse, and largest overshoot of its steps
beyond a surface; in metres."""

ON_PLANE = 1e-9  # metres: rounding

ROUNDED, OWN_MARGIN, OWN_SHARE = 0.5, 0.04, 0.1
"""The share of a margin that corners lose (1 - 1 / sqrt 3, rounded up), Bullet's own margin, and its limit as a share
of the smallest half extent."""


def is_unnumbered(answer: RayTestResult) -> bool:
    """Whether an answer is the hit of a solid without a body number."""
    return answer[0] < 0 and answer != MISS


def differ(ours: RayTestResult, theirs: RayTestResult) -> bool:
    """Whether body or link differ."""
    return ours[:2] != theirs[:2] or is_unnumbered(theirs)


def causes_of(
    mirror: MirroredLimbs,
    starts: Float64Array,
    ends: Float64Array,
    ours: Sequence[RayTestResult],
    theirs: Sequence[RayTestResult],
) -> list[str]:
    """The cause of each difference: segments (n, 3), (n, 3) with the mirror's answers and PyBullet's."""
    limbs = true_limbs(mirror)
    exact, grown = (_crossed(mirror, one, starts, ends) for one in (limbs, limbs.inflated(SHELL)))
    small, links = exact, mirror.limb_places
    if len(limbs):  # without the most that a margin removes from edges of boxes and cylinders
        margin = max(margin_of(mirror._client, limbs, i, body_link) for i, body_link in enumerate(links))
        small = _crossed(mirror, _shrunk(limbs, ROUNDED * margin), starts, ends)
    inside = _crossed(mirror, limbs.inflated(max(SHELL, mirror.tolerance)), starts, starts, "hit")
    for body_link, (height,) in heights(mirror, starts):
        for i in np.flatnonzero(np.abs(height) <= mirror.tolerance + ON_PLANE).tolist():
            inside[i][body_link] = 0.0
    body_links, true = set(map(tuple, links)), _with_planes(mirror, exact, starts, ends) if mirror.tolerance else []
    lengths = np.linalg.norm(ends - starts, axis=1).tolist()

    def cause(i: int, a: RayTestResult, b: RayTestResult) -> str:
        if is_unnumbered(b):
            return NO_NUMBER
        if inside[i].keys() & {a[:2], b[:2]}:
            return "inside"
        if b[:2] in body_links and b[:2] not in exact[i]:
            return "within 1 mm" if b[:2] in grown[i] else "open"
        if true and a[0] >= 0 and true[i].get(a[:2], np.inf) > (true[i].get(b[:2], b[FRACTION]) if b != MISS else 1.0):
            return TOLERANCE
        if a[0] >= 0 and (1.0 - a[FRACTION]) * lengths[i] <= END:
            return "end"
        if a[:2] in body_links and small[i].get(a[:2], np.inf) > a[FRACTION] + NEAR / lengths[i]:
            return "edge"
        near = abs(a[FRACTION] - b[FRACTION]) * lengths[i] < NEAR
        early = grown[i].get(b[:2], np.inf) <= b[FRACTION] < exact[i].get(b[:2], 0.0)
        return "order" if a[0] >= 0 and b[0] >= 0 and (near or early) else "open"

    return [cause(i, a, b) for i, (a, b) in enumerate(zip(ours, theirs, strict=True))]


def true_limbs(mirror: MirroredLimbs) -> Limbs:
    """The limbs as the client has them, without a tolerance."""
    limbs = mirror._state.world.limbs
    return _shrunk(limbs, mirror.tolerance) if mirror.tolerance and len(limbs) else limbs


def _crossed(
    mirror: MirroredLimbs, limbs: Limbs, starts: Float64Array, ends: Float64Array, inside: InsidePolicy = "ignore"
) -> list[dict[tuple[int, int], float]]:
    """The links of all limbs that each ray crosses, with the fraction of the first crossing."""
    chords, body_links = Snapshot._of(limbs).chords_segments(starts, ends, inside=inside), mirror.limb_places
    found: list[dict[tuple[int, int], float]] = [{} for _ in starts]
    columns = chords.ray.tolist(), chords.limb.tolist(), chords.entry_fraction.tolist()
    for ray, limb, entry in zip(*columns, strict=True):
        found[ray].setdefault(body_links[limb], entry)
    return found


def heights(mirror: MirroredLimbs, *points: Float64Array) -> Iterator[tuple[BodyLink, list[Float64Array]]]:
    """The link of each plane, and the heights of points (..., 3) above it."""
    state = mirror._state
    links = state.links[len(state.limb_rank) :]
    for sheet, unit, body_link in zip(state.sheets, state.sheet_table.unit, links, strict=True):
        yield body_link, [(x - sheet.point) @ unit for x in points]


def _with_planes(
    mirror: MirroredLimbs, crossed: list[dict[tuple[int, int], float]], starts: Float64Array, ends: Float64Array
) -> list[dict[tuple[int, int], float]]:
    """The links of the limbs that each ray crosses, and those of planes, without a tolerance."""
    found = [row.copy() for row in crossed]
    for body_link, (first, last) in heights(mirror, starts, ends):
        for i in np.flatnonzero((first > 0.0) != (last > 0.0)).tolist():
            found[i][body_link] = min(found[i].get(body_link, np.inf), float(first[i] / (first[i] - last[i])))
    return found


def margin_of(client: Client, limbs: Limbs, limb: int, body_link: BodyLink) -> float:
    """The collision margin of a limb, 0 for one without edges."""
    if limbs.kind[limb] not in (Shape.BOX, Shape.CYLINDER):
        return 0.0
    half_length = 0.5 * float(np.linalg.norm(limbs.p2[limb] - limbs.p1[limb]))
    is_box = limbs.kind[limb] == Shape.BOX
    smallest = float(limbs.half_extents[limb].min()) if is_box else min(float(limbs.radius[limb]), half_length)
    return float(client.getDynamicsInfo(*body_link)[MARGIN]) or min(OWN_MARGIN, OWN_SHARE * smallest)


def box_turns(limbs: Limbs) -> Float64Array:
    """The orientations of boxes as quaternions (n, 4); arbitrary for other shapes."""
    return of_matrices(limbs.box_axes.transpose(0, 2, 1))


def _shrunk(limbs: Limbs, by: float) -> Limbs:
    """The limbs with every face moved in, in the same layers."""
    parts = []
    for i, kind in enumerate(limbs.kind.tolist()):
        p1, p2, radius = limbs.p1[[i]], limbs.p2[[i]], max(float(limbs.radius[i]) - by, 1e-9)
        mask = limbs.mask[[i]]
        if kind == Shape.BOX:
            half = np.maximum(limbs.half_extents[[i]] - by, 1e-9)
            parts.append(Limbs.boxes(p1, box_turns(limbs)[[i]], half, mask=mask))
        elif kind == Shape.SPHERE:
            parts.append(Limbs.spheres(p1, radius, mask=mask))
        elif kind == Shape.CAPSULE:
            parts.append(Limbs.capsules(p1, p2, radius, mask=mask))
        else:
            step = min(by / float(np.linalg.norm(p2 - p1)), 0.49) * (p2 - p1)
            parts.append(Limbs.cylinders(p1 + step, p2 - step, radius, mask=mask))
    return Limbs.concat(parts)
