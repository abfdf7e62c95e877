"""Limbs fitted to a skin: for each bone, of the allowed shapes, the limb of least size that covers its skin."""

from collections.abc import Iterable, Mapping
from types import MappingProxyType
from typing import NamedTuple

import numpy as np

from cylcollide import shapes as limb_shapes
from cylcollide import validate
from cylcollide._types import Float64Array, Int32Array, Shape
from cylcollide.characters import quaternions
from cylcollide.characters.sides import Plane
from cylcollide.characters.skin import symmetry
from cylcollide.characters.skin.gauges import FAMILIES, Family, Least, Solid
from cylcollide.characters.skin.samples import Parts, Samples, large_parts, parts_of, sample
from cylcollide.characters.skin.search import Part, fit_limb, quantile
from cylcollide.characters.skin.skin import Skin
from cylcollide.limbs.limbs import Limbs

AXIAL = (Shape.CYLINDER, Shape.TAPERED, Shape.CAPSULE)
"""The shapes that are tried unless others are asked for."""

HARDLY_LARGER = 1.007
"""A shape that is named before another is taken if its size, a length, is at most so many times the other's."""

ROUNDING = 1.0 + 2.0**-36
"""Limbs are larger by this factor, so that no rounding between here and a query leaves out what they just cover."""


class Fitted(NamedTuple):
    """Limbs in the frames of their bones, the bone of each, and the bones that were left out for want of skin."""

    limbs: Limbs
    limb_bone: Int32Array
    left_out: tuple[str, ...]


def fit(
    skin: Skin,
    shapes: Iterable[Shape] = AXIAL,
    coverage: float = 0.95,
    least_share: float = 0.005,
    least: Least = "volume",
    hit_groups: Mapping[str, int] = MappingProxyType({}),
) -> Fitted:
    """Fit limbs; see `Rig.from_skin`. `hit_groups`: numbers of hit groups by bone."""
    families = _families(shapes)
    validate.one_of(least, "least", "volume", "surface")
    share = _between(coverage, "coverage", 1.0)
    samples = sample(skin)
    kept = large_parts(samples, skin, _between(least_share, "least_share", 0.5))
    pieces = parts_of(samples, skin, kept)
    mirror = symmetry.find(skin, samples, pieces)
    solids: dict[int, Solid] = {}
    for bone in np.flatnonzero(kept).tolist():
        if bone in solids:
            continue
        parts = [_part(skin, samples, pieces, bone, mirror.plane if bone in mirror.middle else None)]
        twin = mirror.pairs.get(bone)
        if twin is not None and mirror.plane is not None and kept[twin]:
            parts.append(_mirrored(skin, _part(skin, samples, pieces, twin), twin, bone, mirror.plane))
        elif bone in mirror.middle and mirror.plane is not None:
            parts.append(_mirrored(skin, parts[0], bone, bone, mirror.plane))
        whole = parts[0]._replace(
            points=np.vstack([part.points for part in parts]), areas=np.concatenate([part.areas for part in parts])
        )
        found = [_covering(fit_limb(whole, family, share, least), parts, share) for family in families]
        solids[bone] = _smallest(found, least)
        if twin is not None and len(parts) == 2 and mirror.plane is not None:
            solids[twin] = _mirrored_solid(skin, solids[bone], bone, twin, mirror.plane)
    bones = sorted(solids)
    limbs = [
        _limb(solids[bone], name=skin.bone_names[bone], hit_group=hit_groups.get(skin.bone_names[bone], 0))
        for bone in bones
    ]
    left_out = tuple(name for name, keeps in zip(skin.bone_names, kept.tolist(), strict=True) if not keeps)
    return Fitted(Limbs.concat(limbs), np.array(bones, dtype=np.int32), left_out)


def _smallest(solids: list[Solid], least: Least) -> Solid:
    """The limb of least size, or the first of those that are hardly larger."""
    sizes = [solid.size(least) for solid in solids]
    return next(solid for solid, size in zip(solids, sizes, strict=True) if size <= HARDLY_LARGER * min(sizes))


def _families(shapes: Iterable[Shape]) -> list[Family]:
    given: dict[Shape, Family] = {}
    got = "none"
    for shape in shapes if isinstance(shapes, Iterable) else [shapes]:
        if not isinstance(shape, int | np.integer) or shape not in FAMILIES:
            given, got = {}, repr(shape)[:80]
            break
        given[Shape(shape)] = FAMILIES[Shape(shape)]
    if not given:
        names = ", ".join(f"Shape.{shape.name}" for shape in FAMILIES)
        raise ValueError(f"shapes: expected some of {names}, got {got}; name them")
    return [*given.values()]


def _between(value: float, name: str, high: float) -> float:
    number = float(validate.per_row(value, name, 1)[0])
    if not 0.0 <= number <= high or (number == 0.0 and name == "coverage"):
        raise ValueError(f"{name}: expected a share above 0 and at most {high:g}, got {value!r}; 0.95 covers 95 %")
    return number


def group_numbers(skin: Skin, groups: Mapping[str, int], bone_groups: Mapping[str, str]) -> dict[str, int]:
    """The numbers of the groups of bones, by bone."""
    if not isinstance(bone_groups, Mapping):
        raise ValueError(f"bone_groups: expected a mapping of bones to groups, got {type(bone_groups).__name__}")
    for bone, group in bone_groups.items():
        if bone not in skin.bone_names or group not in groups:
            raise ValueError(
                f"bone_groups: expected a bone out of {', '.join(skin.bone_names[:6])} ... and a group out of "
                f"{', '.join(groups) or 'none: give groups'}, got {bone!r}: {group!r}; correct the name"
            )
    return {bone: int(groups[group]) for bone, group in bone_groups.items()}


def _part(skin: Skin, samples: Samples, parts: Parts, bone: int, plane: Plane | None = None) -> Part:
    """The skin of a bone in its own frame."""
    rows = parts.of(bone)
    areas = parts.areas[rows]
    position, turn = _frame(skin, bone)
    points = (samples.points[rows] - position) @ turn
    children = np.flatnonzero((skin.parents == bone) & (np.bincount(parts.bone, minlength=len(skin.parents)) > 0))
    middle = areas @ points / areas.sum()
    ends = (skin.rest.positions[children] - position) @ turn
    along = ends.mean(axis=0) if len(ends) else middle
    if np.linalg.norm(along) <= 1e-3 * np.ptp(points, axis=0).max():
        along = np.array([0.0, 0.0, 1.0])
    local = None if plane is None else (plane.normal @ turn, plane.offset - float(plane.normal @ position))
    return Part(points, areas, along / np.linalg.norm(along), local)


def _frame(skin: Skin, bone: int) -> tuple[Float64Array, Float64Array]:
    """Position (3,) and rotation matrix (3, 3) of a bone at rest."""
    return skin.rest.positions[bone], limb_shapes.rotation_matrices(skin.rest.orientations[[bone]])[0]


def _mirrored(skin: Skin, part: Part, source: int, target: int, plane: Plane) -> Part:
    """The mirror image of the skin of one bone in the frame of another."""
    position, turn = _frame(skin, source)
    image = plane.mirrored(part.points @ turn.T + position)
    position, turn = _frame(skin, target)
    return part._replace(points=(image - position) @ turn)


def _mirrored_solid(skin: Skin, solid: Solid, source: int, target: int, plane: Plane) -> Solid:
    """The mirror image of a limb of one bone in the frame of another."""
    position, turn = _frame(skin, source)
    centre = plane.mirrored((turn @ solid.centre + position)[None])[0]
    axes = (turn @ solid.frame).T
    frame = (axes - 2.0 * np.outer(axes @ plane.normal, plane.normal)).T
    frame[:, 0] *= -1.0  # right-handed again; all shapes are symmetric about this plane of their own
    position, turn = _frame(skin, target)
    return solid._replace(centre=(centre - position) @ turn, frame=turn.T @ frame)


def _covering(solid: Solid, parts: list[Part], coverage: float) -> Solid:
    """The same limb at the scale that covers each of some parts, whose last piece then lies just inside."""
    scale = max(quantile(solid.gauge(part.points), part.areas, coverage) for part in parts)
    return solid._replace(scale=scale * ROUNDING)


def _limb(solid: Solid, name: str, hit_group: int) -> Limbs:
    """A fitted limb among its one bone's limbs."""
    shape, s, p, c = solid.family.shape, solid.scale, solid.proportions, solid.centre[None]
    axis = solid.frame[:, 2] * s
    if shape == Shape.SPHERE:
        return Limbs.spheres(c, s, name=name, hit_group=hit_group)
    if shape == Shape.BOX:
        half = s * np.array([[p[0], p[1], 1.0]])
        return Limbs.boxes(c, quaternions.of_matrices(solid.frame[None]), half, name=name, hit_group=hit_group)
    p1, p2 = c - p[0] * axis, c + p[0] * axis
    match shape:
        case Shape.CYLINDER:
            return Limbs.cylinders(p1, p2, s, name=name, hit_group=hit_group)
        case Shape.TAPERED:
            radii = s * (1.0 - p[1]), s * (1.0 + p[1])
            return Limbs.tapered_cylinders(p1, p2, *radii, name=name, hit_group=hit_group)
        case Shape.CAPSULE:
            return Limbs.capsules(p1, p2, s, name=name, hit_group=hit_group)
        case _:
            return Limbs.ellipsoids(p1, p2, s, name=name, hit_group=hit_group)
