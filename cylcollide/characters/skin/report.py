"""Measures of how well limbs of a rig fit a skin at rest: coverage, protrusion of the skin, and gaps inside limbs."""

from dataclasses import dataclass

import numpy as np

from cylcollide import validate
from cylcollide._types import Float64Array, Int64Array
from cylcollide.characters.rig_data import RigData
from cylcollide.characters.skeleton import in_bone
from cylcollide.characters.skin import symmetry
from cylcollide.characters.skin.samples import SkinPieces, centroids, divided, sample
from cylcollide.characters.skin.search import quantile
from cylcollide.characters.skin.skin import Skin
from cylcollide.limbs.limbs import Limbs
from cylcollide.limbs.tables import of_shape
from cylcollide.shapes import SHAPE_RECORDS


@dataclass(frozen=True)
class Fit:
    """How well the limbs of one bone, or of all, fit their skin. Lengths are in the unit of the skin.

    A piece of skin belongs to the bone with the largest weight, or to the nearest ancestor of that bone with a limb.
    Pieces are weighted by their area.
    """

    name: str
    area: float
    """The area of the skin."""
    own_coverage: float
    """Share of the skin inside the bone's own limbs."""
    coverage: float
    """Share of the skin inside any limb."""
    protrusion: float
    """Mean distance of the skin outside of all limbs from the nearest limb; 0 if no skin is outside."""
    protrusion_95: float
    """The distance that 5 % of this skin exceeds."""
    gap: float
    """Mean depth of the skin inside the bone's own limbs: the gap between skin and limb surface."""
    gap_95: float
    """The depth that 5 % of this skin exceeds."""
    limb_volume: float
    """The sum of the limbs' volumes; overlaps are counted repeatedly."""
    skin_volume: float
    """Volume enclosed by the skin; for a bone's part, closed by planes across the bone."""

    @property
    def volume_ratio(self) -> float:
        """Volume of the limbs divided by that of the skin."""
        return self.limb_volume / self.skin_volume if self.skin_volume > 0.0 else np.inf


@dataclass(frozen=True)
class SkinReport:
    """The fit of a rig to a skin; `print` shows a table."""

    bones: tuple[Fit, ...]
    """One entry per bone with limbs and skin, in the order of the rig."""
    whole: Fit
    without_limbs: tuple[str, ...]
    """Bones that carry skin and have no limb. The limbs of other bones should cover this skin."""
    mirrored: tuple[tuple[str, str], ...] = ()
    """Pairs of bones whose names, places and skins mirror each other: the fit gives them mirrored limbs. A bone on the
    plane of symmetry is paired with itself. Empty if the skin has no such plane."""

    def __str__(self) -> str:
        head = (
            f"{'bone':16} {'area':>8} {'own':>6} {'any':>6} {'out':>9} {'95 %':>9} {'gap':>9} {'95 %':>9} {'volume':>7}"
        )
        rows = [
            f"{fit.name[:16]:16} {fit.area:8.4g} {fit.own_coverage:6.1%} {fit.coverage:6.1%} {fit.protrusion:9.3g} "
            f"{fit.protrusion_95:9.3g} {fit.gap:9.3g} {fit.gap_95:9.3g} {fit.volume_ratio:7.2f}"
            for fit in (*self.bones, self.whole)
        ]
        twins = [" and ".join(dict.fromkeys(pair)) for pair in self.mirrored]
        alike = f"symmetric: {', '.join(twins) or 'none'}"
        return "\n".join([head, *rows, alike, f"without limbs: {', '.join(self.without_limbs) or 'none'}"])


def skin_report(rig: RigData, skin: Skin | None = None) -> SkinReport:
    """Compare the limbs of a rig with a skin of the same bones, at rest; by default with the skin they were fitted to.

    ValueError if there is no such skin, the bones of rig and skin differ, or the rig has no limbs.
    """
    if not isinstance(rig, RigData):
        raise ValueError(f"rig: expected a Rig, got {validate.shown(rig)}; make it with Rig(...) or Rig.from_skin(...)")
    if skin is None and isinstance(rig.skin, Skin):
        skin = rig.skin
    if not isinstance(skin, Skin):
        got = "none, and the rig was fitted to none" if skin is None else type(skin).__name__
        raise ValueError(f"skin: expected a Skin, got {got}; make it with Skin(...) or Skin.from_gltf(path)")
    if rig.bone_names != skin.bone_names:
        raise ValueError(
            f"rig: expected the {len(skin.bone_names)} bones of the skin in their order, got {len(rig.bone_names)}, "
            f"the first {rig.bone_names[0]!r}; fit a rig to this skin, or reorder its bones"
        )
    if not len(rig.limbs):
        raise ValueError("rig: expected one or more limbs, got none; there is nothing to compare")
    every = sample(skin)
    has_limb = np.isin(np.arange(len(skin.bone_names)), rig.limb_bone)
    pieces = divided(every, skin, has_limb)
    of_bone = [in_bone(rig, bone, pieces.points) for bone in rig.limb_bone.tolist()]
    distances = np.stack([rig.limbs[i].closest_points(points).distance for i, points in enumerate(of_bone)])
    own = np.where(rig.limb_bone[:, None] == pieces.bone, distances, np.inf).min(axis=0)
    nearest, volume = distances.min(axis=0), volumes(rig.limbs)

    def fit(name: str, rows: Int64Array, limb_volume: float, skin_volume: float) -> Fit:
        areas, inside = pieces.areas[rows], own[rows] <= 0.0
        outside = nearest[rows] > 0.0
        protrusions, depths, total = nearest[rows][outside], -own[rows][inside], areas.sum()
        return Fit(
            name,
            float(total),
            float(areas[inside].sum() / total),
            float(areas[~outside].sum() / total),
            *_mean_and_95(protrusions, areas[outside]),
            *_mean_and_95(depths, areas[inside]),
            limb_volume,
            skin_volume,
        )

    middle = pieces.areas @ pieces.points / pieces.areas.sum()  # from the centroid, holes distort the volume least
    enclosed = float(pieces.areas @ ((pieces.points - middle) * pieces.normals).sum(axis=1)) / 3.0
    out = np.sign(enclosed)  # -1 if the triangles face in
    bones = [bone for bone in np.flatnonzero(has_limb).tolist() if len(pieces.of(bone))]
    fits = tuple(
        fit(
            skin.bone_names[bone],
            pieces.of(bone),
            float(volume[rig.limb_bone == bone].sum()),
            out * _part_volume(skin, pieces, bone),
        )
        for bone in bones
    )
    whole = fit("all", np.arange(len(nearest)), float(volume.sum()), abs(enclosed))
    carries = np.bincount(every.bone, minlength=len(has_limb)) > 0
    bare = tuple(name for name, bad in zip(skin.bone_names, carries & ~has_limb, strict=True) if bad)
    _, found = symmetry.find(skin, divided(centroids(skin), skin, has_limb))
    twins = sorted({(min(pair), max(pair)) for pair in found.items()})
    mirrored = tuple((skin.bone_names[a], skin.bone_names[b]) for a, b in twins if has_limb[a] and has_limb[b])
    return SkinReport(fits, whole, bare, mirrored)


def _mean_and_95(values: Float64Array, areas: Float64Array) -> tuple[float, float]:
    """Mean and 95 % quantile by area; 0 if the area is 0."""
    total = areas.sum()
    return (float(areas @ values / total), quantile(values, areas, 0.95)) if total > 0.0 else (0.0, 0.0)


def _part_volume(skin: Skin, pieces: SkinPieces, bone: int) -> float:
    """The volume enclosed by the skin of a bone, if its openings are planes across the bone's direction.

    It is the flux through the skin of half the vector from the axis: its divergence is 1, and its flux through planes
    across the axis is 0.
    """
    rows = pieces.of(bone)
    areas, points = pieces.areas[rows], pieces.points[rows]
    middle = areas @ points / areas.sum()
    children = np.unique(pieces.bone[np.isin(pieces.bone, np.flatnonzero(skin.parents == bone))])
    ends = skin._rest.positions[children].mean(axis=0) if len(children) else middle
    along = ends - skin._rest.positions[bone]
    length = np.linalg.norm(along)
    axis = along / length if length > 0.0 else np.array([0.0, 0.0, 1.0])
    from_axis = points - middle
    from_axis = from_axis - np.outer(from_axis @ axis, axis)
    return float(areas @ (from_axis * pieces.normals[rows]).sum(axis=1)) / 2.0


def volumes(limbs: Limbs) -> Float64Array:
    """The volume of each limb, (m,)."""
    found = np.empty(len(limbs))
    for shape, record in SHAPE_RECORDS.items():
        rows, _, solids = of_shape(limbs._table, shape)
        found[rows] = record.volume(solids)
    return found
