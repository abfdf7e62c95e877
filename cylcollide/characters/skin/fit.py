"""Limbs fitted to a skin: for each bone the smallest limb, among the allowed shapes, that covers its skin."""

from collections.abc import Iterable, Mapping
from dataclasses import replace
from functools import partial
from typing import Any

import numpy as np

from cylcollide import validate
from cylcollide._types import BoolArray, Float64Array, Int32Array, Shape
from cylcollide.characters import quaternions
from cylcollide.characters.rig_parts import MAKERS
from cylcollide.characters.sides import Plane
from cylcollide.characters.skeleton import from_bone, in_bone
from cylcollide.characters.skin import symmetry
from cylcollide.characters.skin.gauges import FAMILIES, Family, FittedLimb, Least
from cylcollide.characters.skin.samples import SkinPieces, centroids, divided, divided_among_large, sample
from cylcollide.characters.skin.search import fit_limb, quantile
from cylcollide.characters.skin.skin import Skin
from cylcollide.limbs.limbs import Limbs

SIZE_TOLERANCE = 1.007
"""A shape is preferred to a smaller one given later if its size, a length, is at most this factor larger."""

ROUNDING = 1.0 + 2.0**-36
"""Limbs are enlarged by this factor, so that rounding in a later query does not exclude points they just cover."""

COVERAGE_MARGIN = 0.002
"""Added to the requested coverage: two standard deviations of a share of the points at which coverage is measured."""

Part = tuple[Float64Array, Float64Array]
"""The skin of a bone: points (n, 3) in the frame of the bone, and areas of their pieces, (n,)."""


def fit(
    skin: Skin,
    shapes: Iterable[Shape],
    coverage: float,
    least_share: float,
    least: Least,
    groups: Mapping[str, int],
    bone_groups: Mapping[str, str],
) -> tuple[Limbs, Int32Array]:
    """Limbs in the frames of their bones, and the bone of each; see `Rig.from_skin`."""
    hit_groups = _group_numbers(skin, groups, bone_groups)
    families = _families(shapes)
    validate.one_of(least, "least", "volume", "surface")
    share = _between(coverage, "coverage", 1.0)
    pieces, kept = divided_among_large(centroids(skin), skin, _between(least_share, "least_share", 0.5))
    measured = divided(sample(skin), skin, kept)
    mirror, twins = symmetry.find(skin, pieces)
    solids: dict[int, FittedLimb] = {}
    for bone in np.flatnonzero(kept).tolist():
        if bone in solids:
            continue
        twin, plane = twins.get(bone), None
        searched, counted = (_parts(skin, every, bone, twin, mirror, kept) for every in (pieces, measured))
        along = _direction(skin, pieces, bone, *searched[0])
        if mirror is not None and twin == bone:  # the limb has the same plane of symmetry
            offset = mirror.offset - float(mirror.normal @ skin._rest.positions[bone])
            plane = Plane(mirror.normal @ skin._rest_turns[bone], offset)
        points, areas = (np.concatenate(column) for column in zip(*searched, strict=True))
        found = [fit_limb(points, areas, along, plane, family, share, least) for family in families]
        fits = [_covering(solid, counted or searched, share) for solid in found]
        enough = SIZE_TOLERANCE * min(solid.size(least) for solid in fits)
        solids[bone] = next(solid for solid in fits if solid.size(least) <= enough)
        if mirror is not None and twin is not None and twin != bone and kept[twin]:
            solids[twin] = _mirrored_solid(skin, solids[bone], bone, twin, mirror)
    bones = sorted(solids)
    names = [skin.bone_names[bone] for bone in bones]
    limbs = [_limb(solids[bone], name, hit_groups.get(name, 0)) for bone, name in zip(bones, names, strict=True)]
    return Limbs.concat(limbs), np.array(bones, dtype=np.int32)


def _families(shapes: Iterable[Shape]) -> list[Family]:
    several = isinstance(shapes, Iterable) and getattr(shapes, "ndim", 1) != 0
    given: list[Any] = list(shapes) if several else [shapes]
    wrong = [shape for shape in given if not isinstance(shape, int | np.integer) or shape not in FAMILIES]
    if wrong or not given:
        names = ", ".join(f"Shape.{shape.name}" for shape in FAMILIES)
        got = validate.shown(wrong[0]) if wrong else "none"
        raise ValueError(f"shapes: expected some of {names}, got {got}; name them")
    return [FAMILIES[Shape(shape)] for shape in dict.fromkeys(given)]


def _between(value: float, name: str, high: float) -> float:
    number = float(validate.per_row(value, name, 1)[0])
    if not 0.0 <= number <= high or (number == 0.0 and name == "coverage"):
        raise ValueError(f"{name}: expected a share above 0 and at most {high:g}, got {value!r}; 0.95 covers 95 %")
    return number


def _group_numbers(skin: Skin, groups: Mapping[str, int], bone_groups: Mapping[str, str]) -> dict[str, int]:
    """The numbers of hit groups by bone name, checked."""
    if not isinstance(bone_groups, Mapping):
        raise ValueError(f"bone_groups: expected a mapping of bones to groups, got {type(bone_groups).__name__}")
    for bone, group in bone_groups.items():
        if bone not in skin.bone_names or group not in groups:
            raise ValueError(
                f"bone_groups: expected a bone out of {', '.join(skin.bone_names[:6])} ... and a group out of "
                f"{', '.join(groups) or 'none: give groups'}, got "
                f"{validate.shown(bone)}: {validate.shown(group)}; correct the name"
            )
    return {bone: int(groups[group]) for bone, group in bone_groups.items()}


def _parts(
    skin: Skin, pieces: SkinPieces, bone: int, twin: int | None, mirror: Plane | None, kept: BoolArray
) -> list[Part]:
    """The skin of a bone in its own frame, and the mirror image of its twin's skin, if it has a twin."""
    rows = pieces.of(bone)
    parts = [(in_bone(skin, bone, pieces.points[rows]), pieces.areas[rows])]
    if mirror is not None and twin is not None and kept[twin]:
        rows = pieces.of(twin)
        parts.append((in_bone(skin, bone, mirror.mirrored(pieces.points[rows])), pieces.areas[rows]))
    return [part for part in parts if len(part[1])]


def _direction(skin: Skin, pieces: SkinPieces, bone: int, points: Float64Array, areas: Float64Array) -> Float64Array:
    """The unit direction (3,) of a bone in its own frame: to its children, or to the middle of its skin."""
    children = np.flatnonzero((skin.parents == bone) & (np.bincount(pieces.bone, minlength=len(skin.parents)) > 0))
    ends = in_bone(skin, bone, skin._rest.positions[children])
    along = ends.mean(axis=0) if len(ends) else areas @ points / areas.sum()
    if np.linalg.norm(along) <= 1e-3 * np.ptp(points, axis=0).max():
        along = np.array([0.0, 0.0, 1.0])
    return np.asarray(along / np.linalg.norm(along))


def _mirrored_solid(skin: Skin, solid: FittedLimb, source: int, target: int, mirror: Plane) -> FittedLimb:
    """The mirror image of a limb of one bone in the frame of another."""
    centre = mirror.mirrored(from_bone(skin, source, solid.centre[None]))
    axes = (skin._rest_turns[source] @ solid.frame).T
    frame = (axes - 2.0 * np.outer(axes @ mirror.normal, mirror.normal)).T
    frame[:, 0] *= -1.0  # right-handed again; all shapes are symmetric under x -> -x in their frame
    return replace(solid, centre=in_bone(skin, target, centre)[0], frame=skin._rest_turns[target].T @ frame)


def _covering(solid: FittedLimb, parts: list[Part], coverage: float) -> FittedLimb:
    """The limb at the scale that covers the share of each part; the last point counted then lies inside."""
    share = min(coverage + COVERAGE_MARGIN, 1.0)
    scale = max(quantile(solid.gauge(points), areas, share) for points, areas in parts)
    return replace(solid, scale=scale * ROUNDING)


def _limb(solid: FittedLimb, name: str, hit_group: int) -> Limbs:
    """A fitted limb as `Limbs`, in the frame of its bone."""
    shape, s, p, centre = solid.family.shape, solid.scale, solid.proportions, solid.centre[None]
    make = partial(MAKERS[shape], name=name, hit_group=hit_group)
    if shape == Shape.SPHERE:
        return make(centre, s)
    if shape == Shape.BOX:
        return make(centre, quaternions.of_matrices(solid.frame[None]), s * np.array([[p[0], p[1], 1.0]]))
    axis = solid.frame[:, 2] * s
    radii = (s * (1.0 - p[1]), s * (1.0 + p[1])) if shape == Shape.TAPERED else (s,)
    return make(centre - p[0] * axis, centre + p[0] * axis, *radii)
