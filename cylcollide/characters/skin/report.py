"""How well the limbs of a rig fit a skin at rest: what they cover, what sticks out, and what they hold besides."""

from typing import NamedTuple

import numpy as np

from cylcollide import shapes
from cylcollide._types import Float64Array, Int64Array
from cylcollide.characters.rig_data import RigData
from cylcollide.characters.skin.distance import signed_distances, volumes
from cylcollide.characters.skin.samples import Pieces, divided, sample
from cylcollide.characters.skin.search import quantile
from cylcollide.characters.skin.skin import Skin


class Fit(NamedTuple):
    """How one bone's limbs, or all, fit the skin that belongs to them. Lengths are in the unit of the skin.

    A piece of skin belongs to the bone that carries most of it, or to that one's nearest ancestor with a limb; pieces
    count by their area times that bone's weight.
    """

    name: str
    area: float
    """Of the skin."""
    own_coverage: float
    """Share of the skin in the bone's own limbs."""
    coverage: float
    """Share of the skin in any limb."""
    protrusion: float
    """How far skin sticks out of all limbs, mean over what does; 0 if nothing does."""
    protrusion_95: float
    """The same, exceeded by 5 % of it."""
    gap: float
    """How deep skin lies in the bone's own limbs, mean over what lies in them: the space between skin and limb."""
    gap_95: float
    """The same, exceeded by 5 % of it."""
    limb_volume: float
    """Of the limbs, what is in two of them twice."""
    skin_volume: float
    """Enclosed by the skin; of a bone's part, closed by planes across the bone."""

    @property
    def volume_ratio(self) -> float:
        """Volume of the limbs over that of the skin."""
        return self.limb_volume / self.skin_volume if self.skin_volume > 0.0 else np.inf


class SkinReport(NamedTuple):
    """The fit of a rig to a skin; `print` shows a table."""

    bones: tuple[Fit, ...]
    """One a bone with limbs and skin, in the order of the rig."""
    whole: Fit
    without_limbs: tuple[str, ...]
    """Bones that carry skin and have no limb; others' limbs are to cover it."""

    def __str__(self) -> str:
        head = (
            f"{'bone':16} {'area':>8} {'own':>6} {'any':>6} {'out':>9} {'95 %':>9} {'gap':>9} {'95 %':>9} {'volume':>7}"
        )
        rows = [
            f"{fit.name[:16]:16} {fit.area:8.4g} {fit.own_coverage:6.1%} {fit.coverage:6.1%} {fit.protrusion:9.3g} "
            f"{fit.protrusion_95:9.3g} {fit.gap:9.3g} {fit.gap_95:9.3g} {fit.volume_ratio:7.2f}"
            for fit in (*self.bones, self.whole)
        ]
        return "\n".join([head, *rows, f"without limbs: {', '.join(self.without_limbs) or 'none'}"])


def skin_report(rig: RigData, skin: Skin) -> SkinReport:
    """Compare the limbs of a rig with a skin of the same bones, at rest.

    Raises
    ------
    ValueError
        If rig and skin have other bones, or the rig has no limbs.
    """
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
    distances = _distances(rig, pieces.points)
    own = np.where(rig.limb_bone[:, None] == pieces.bone, distances, np.inf).min(axis=0)
    nearest, volume = distances.min(axis=0), volumes(rig.limbs)

    def fit(name: str, rows: Int64Array, limb_volume: float, skin_volume: float) -> Fit:
        areas, inside = pieces.carried[rows], own[rows] <= 0.0
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

    bones = [bone for bone in np.flatnonzero(has_limb).tolist() if len(pieces.of(bone))]
    fits = tuple(
        fit(
            skin.bone_names[bone],
            pieces.of(bone),
            float(volume[rig.limb_bone == bone].sum()),
            _part_volume(skin, pieces, bone),
        )
        for bone in bones
    )
    enclosed = float(pieces.areas @ (pieces.points * pieces.normals).sum(axis=1)) / 3.0
    whole = fit("all", np.arange(len(nearest)), float(volume.sum()), enclosed)
    carries = np.bincount(every.bone, minlength=len(has_limb)) > 0
    bare = tuple(name for name, bad in zip(skin.bone_names, carries & ~has_limb, strict=True) if bad)
    return SkinReport(fits, whole, bare)


def _mean_and_95(values: Float64Array, areas: Float64Array) -> tuple[float, float]:
    """Mean and quantile by area, 0 of nothing."""
    total = areas.sum()
    return (float(areas @ values / total), quantile(values, areas, 0.95)) if total > 0.0 else (0.0, 0.0)


def _distances(rig: RigData, points: Float64Array) -> Float64Array:
    """Signed distances of points (s, 3) to each limb at rest, (m, s)."""
    rest = rig.rest_frames()
    turns = shapes.rotation_matrices(rest.orientations)
    return np.stack(
        [
            signed_distances(rig.limbs, limb, (points - rest.positions[bone]) @ turns[bone])
            for limb, bone in enumerate(rig.limb_bone.tolist())
        ]
    )


def _part_volume(skin: Skin, pieces: Pieces, bone: int) -> float:
    """What the skin of a bone encloses, if it is open across the bone's direction only.

    That is the flux through the skin of half the vector from the axis: its divergence is 1, and its flux through planes
    across the axis is 0.
    """
    rows = pieces.of(bone)
    areas, points = pieces.areas[rows], pieces.points[rows]
    middle = areas @ points / areas.sum()
    children = np.unique(pieces.bone[np.isin(pieces.bone, np.flatnonzero(skin.parents == bone))])
    ends = skin.rest.positions[children].mean(axis=0) if len(children) else middle
    along = ends - skin.rest.positions[bone]
    length = np.linalg.norm(along)
    axis = along / length if length > 0.0 else np.array([0.0, 0.0, 1.0])
    from_axis = points - middle
    from_axis = from_axis - np.outer(from_axis @ axis, axis)
    return float(areas @ (from_axis * pieces.normals[rows]).sum(axis=1)) / 2.0
