"""Bones that mirror each other in name, place and skin."""

import numpy as np

from cylcollide.characters.sides import Plane, named_pairs, plane_between
from cylcollide.characters.skin.samples import SkinPieces
from cylcollide.characters.skin.skin import Skin

BONES_APART = 0.01
"""Largest distance of a bone from the mirror image of its twin, in units of the skin's extent."""

SKIN_APART, SKIN_DIFFERS = 0.15, 0.15
"""Largest distance between the centroid of a bone's skin and the mirror image of its twin's, relative to the extent of
this skin; and largest relative difference of their areas."""


def find(skin: Skin, pieces: SkinPieces) -> tuple[Plane | None, dict[int, int]]:
    """The plane of symmetry of a skin at rest, None without one, and the bones that mirror each other.

    The mapping is from the first bone of a pair to the other, and from a bone on the plane to itself. Bones with
    mirrored names, but other places or skin, are no pair.
    """
    named, positions, twins = named_pairs(skin.bone_names), skin._rest.positions, dict[int, int]()
    if not named:
        return None, twins
    one, other = (positions[list(rows)] for rows in (named.keys(), named.values()))
    extent = float(np.ptp(skin.vertices, axis=0).max())
    plane = plane_between(one, other, BONES_APART * extent)
    if plane is None:
        return None, twins
    for a, b in named.items():
        apart = float(np.linalg.norm(positions[a] - plane.mirrored(positions[[b]])[0]))
        if apart <= BONES_APART * extent and _same_skin(pieces, a, b, plane):
            twins[a] = b
    if not twins:
        return None, twins
    for bone in sorted(set(range(len(positions))) - {*named.keys(), *named.values()}):
        apart = abs(float(positions[bone] @ plane.normal) - plane.offset)
        if apart <= BONES_APART * extent and _same_skin(pieces, bone, bone, plane):
            twins[bone] = bone
    return plane, twins


def _same_skin(pieces: SkinPieces, a: int, b: int, plane: Plane) -> bool:
    """Whether the skin of one bone is about the mirror image of another's; True if both have no skin."""
    rows = [pieces.of(bone) for bone in (a, b)]
    if not len(rows[0]) or not len(rows[1]):
        return len(rows[0]) == len(rows[1])
    shares = [pieces.areas[row] / pieces.areas[row].sum() for row in rows]
    one, other = (share @ pieces.points[row] for share, row in zip(shares, rows, strict=True))
    extent = np.sqrt(shares[0] @ ((pieces.points[rows[0]] - one) ** 2).sum(axis=1))
    areas = sorted(float(pieces.areas[row].sum()) for row in rows)
    near = np.linalg.norm(one - plane.mirrored(other[None])[0]) <= SKIN_APART * extent
    return bool(near and areas[1] <= (1.0 + SKIN_DIFFERS) * areas[0])
