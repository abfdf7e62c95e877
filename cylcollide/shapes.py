"""Shapes from user arrays: the checks of each constructor, and the table that kernels read."""

from collections.abc import Sequence
from typing import NamedTuple, TypedDict

import numpy as np
from numpy.typing import ArrayLike

from cylcollide import door
from cylcollide._types import ALL_LAYERS, NO_CHARACTER, Float64Array, Int32Array, Int64Array, Shape, Uint32Array
from cylcollide.kernels.table import LimbTable, make_table

WITHOUT_AXIS = (Shape.CAPSULE, Shape.SPHERE, Shape.BOX)  # whose two ends may be one point


class Labels(TypedDict, total=False):
    """What every constructor takes by keyword."""

    character: ArrayLike
    mask: ArrayLike
    name: str | Sequence[str]
    hit_group: ArrayLike


class Solids(NamedTuple):
    """Checked limbs of one shape."""

    kind: Shape
    p1: Float64Array  # (n, 3)
    p2: Float64Array  # (n, 3)
    radius: Float64Array  # (n,)
    radius2: Float64Array  # (n,)
    boxes: Float64Array  # (n, 12) for boxes, else (0, 12)


NO_BOXES = np.empty((0, 12))


def axial(kind: Shape, p1: ArrayLike, p2: ArrayLike, radius: ArrayLike) -> Solids:
    """Shapes with two ends and one radius."""
    first, last = _ends(p1, p2, kind)
    radii = door.positive(door.per_row(radius, "radius", len(first)), "radius")
    return Solids(kind, first, last, radii, np.zeros(len(first)), NO_BOXES)


def tubes(p1: ArrayLike, p2: ArrayLike, radius: ArrayLike, inner_radius: ArrayLike) -> Solids:
    """Tubes: 0 < inner_radius < radius."""
    solid = axial(Shape.TUBE, p1, p2, radius)
    inner = door.positive(door.per_row(inner_radius, "inner_radius", len(solid.p1)), "inner_radius")
    row = door.first_bad_row(inner >= solid.radius)
    if row is not None:
        raise ValueError(
            f"inner_radius: expected less than radius, got {inner[row].tolist()} >= {solid.radius[row].tolist()} "
            f"in row {row}; a tube needs a wall"
        )
    return solid._replace(radius2=inner)


def cones(base: ArrayLike, apex: ArrayLike, radius: ArrayLike) -> Solids:
    """Tapered cylinders that end in a point."""
    first, last = _ends(base, apex, Shape.TAPERED, ("base", "apex"))
    radii = door.positive(door.per_row(radius, "radius", len(first)), "radius")
    return Solids(Shape.TAPERED, first, last, radii, np.zeros(len(first)), NO_BOXES)


def tapered(p1: ArrayLike, p2: ArrayLike, radius1: ArrayLike, radius2: ArrayLike) -> Solids:
    """Tapered cylinders: radii not negative, not both zero."""
    first, last = _ends(p1, p2, Shape.TAPERED)
    radii = [
        door.not_negative(door.per_row(values, name, len(first)), name)
        for values, name in ((radius1, "radius1"), (radius2, "radius2"))
    ]
    row = door.first_bad_row((radii[0] == 0.0) & (radii[1] == 0.0))
    if row is not None:
        raise ValueError(f"radius1: expected > 0 at one end at least, got 0 and 0 in row {row}; leave such limbs out")
    return Solids(Shape.TAPERED, first, last, radii[0], radii[1], NO_BOXES)


def spheres(center: ArrayLike, radius: ArrayLike) -> Solids:
    """Balls."""
    place = door.vectors(center, "center")
    radii = door.positive(door.per_row(radius, "radius", len(place)), "radius")
    return Solids(Shape.SPHERE, place, place, radii, np.zeros(len(place)), NO_BOXES)


def boxes(center: ArrayLike, orientation: ArrayLike, half_extents: ArrayLike) -> Solids:
    """Boxes; the axes are the columns of the rotation matrix of the normalised quaternion, in float64."""
    place = door.vectors(center, "center")
    turn = door.quaternions(orientation, "orientation", len(place))
    half = door.vectors(half_extents, "half_extents")
    if len(half) == 1:
        half = np.repeat(half, len(place), axis=0)
    half = door.positive(door.vectors(half, "half_extents", len(place)), "half_extents")
    rows = np.hstack([rotation_matrices(turn).transpose(0, 2, 1).reshape(-1, 9), half])
    return Solids(Shape.BOX, place, place, np.zeros(len(place)), np.zeros(len(place)), rows)


def rotation_matrices(quaternions: Float64Array) -> Float64Array:
    """Rotation matrices (n, 3, 3) of quaternions x, y, z, w (n, 4), normalised first."""
    _, exponent = np.frexp(np.abs(quaternions).max(axis=1, keepdims=True, initial=0.0))
    scaled = np.ldexp(quaternions, -exponent)  # exact, and no square vanishes or overflows
    x, y, z, w = (scaled / np.linalg.norm(scaled, axis=1, keepdims=True)).T
    return np.stack(
        [
            np.stack([1 - 2 * (y * y + z * z), 2 * (x * y - z * w), 2 * (x * z + y * w)], -1),
            np.stack([2 * (x * y + z * w), 1 - 2 * (x * x + z * z), 2 * (y * z - x * w)], -1),
            np.stack([2 * (x * z - y * w), 2 * (y * z + x * w), 1 - 2 * (x * x + y * y)], -1),
        ],
        -2,
    )


def solid_table(solids: Solids, character: Int32Array, mask: Uint32Array) -> LimbTable:
    """The table of limbs of one shape."""
    n = len(solids.p1)
    box = np.arange(n, dtype=np.int32) if solids.kind == Shape.BOX else np.full(n, -1, np.int32)
    kind = np.full(n, solids.kind, np.int8)
    return make_table(
        kind, solids.p1, solids.p2, solids.radius, solids.radius2, box, solids.boxes.copy(), character, mask
    )


def label_columns(labels: Labels, n: int) -> tuple[Int32Array, Uint32Array, Int32Array, tuple[str, ...]]:
    """Character, mask, hit group and names of n limbs."""
    unknown = set(labels) - set(Labels.__annotations__)
    if unknown:
        raise TypeError(f"unexpected keyword {sorted(unknown)[0]!r}; limbs take {', '.join(Labels.__annotations__)}")
    name = labels.get("name", "")
    if not isinstance(name, str) and len(name) != n:
        raise ValueError(f"name: expected one string or {n} of them, got {len(name)}")
    return (
        door.integers(labels.get("character", NO_CHARACTER), "character", n, NO_CHARACTER, 2**31 - 1).astype(np.int32),
        door.integers(labels.get("mask", ALL_LAYERS), "mask", n, 0, ALL_LAYERS).astype(np.uint32),
        door.integers(labels.get("hit_group", 0), "hit_group", n, -(2**31), 2**31 - 1).astype(np.int32),
        (name,) * n if isinstance(name, str) else tuple(str(one) for one in name),
    )


def joined_tables(tables: Sequence[LimbTable]) -> LimbTable:
    """All limbs of the tables, one table after another."""
    columns = [np.concatenate([table[k] for table in tables]) for k in range(len(LimbTable._fields))]
    boxes_before = np.cumsum([0] + [len(table.boxes) for table in tables])
    of_table = np.repeat(boxes_before[:-1], [len(table.box) for table in tables])
    joined = LimbTable._make(columns)
    return _with_boxes(joined, np.where(joined.box >= 0, joined.box + of_table, -1), joined.boxes)


def chosen_rows(table: LimbTable, rows: Int64Array) -> LimbTable:
    """The limbs of the given rows."""
    columns = (column if name == "boxes" else column[rows] for name, column in table._asdict().items())
    chosen = LimbTable._make(columns)
    is_box = chosen.box >= 0
    return _with_boxes(chosen, np.where(is_box, np.cumsum(is_box) - 1, -1), table.boxes[chosen.box[is_box]])


def _with_boxes(table: LimbTable, box: Int64Array, boxes: Float64Array) -> LimbTable:
    """The table with its boxes numbered anew."""
    return table._replace(box=box.astype(np.int32), boxes=boxes)


def box_columns(table: LimbTable) -> Float64Array:
    """Axes and half extents of every limb, zero where it is no box; (n, 12)."""
    columns = np.zeros((len(table.box), 12))
    columns[table.box >= 0] = table.boxes[table.box[table.box >= 0]]
    return columns


def moved_table(table: LimbTable, p1: ArrayLike, p2: ArrayLike, limbs: Int64Array | None) -> LimbTable:
    """The same limbs with new ends, checked."""
    n = len(table.radius)
    first = door.vectors(p1, "p1", n if limbs is None else len(limbs))
    last = door.vectors(p2, "p2", len(first))
    kind = table.kind if limbs is None else table.kind[limbs]
    door.axes(first, last, ~np.isin(kind, WITHOUT_AXIS))
    door.centres(first, last, np.isin(kind, (Shape.SPHERE, Shape.BOX)))
    if limbs is not None:
        all_first, all_last = table.p1.copy(), table.p2.copy()
        all_first[limbs], all_last[limbs] = first, last
        first, last = all_first, all_last
    t = table
    return make_table(t.kind, first, last, t.radius, t.radius2, t.box, t.boxes, t.character, t.mask)


def inflated_table(table: LimbTable, by: ArrayLike) -> LimbTable:
    """The same limbs, grown by a length on every side."""
    n = len(table.radius)
    more = door.not_negative(door.per_row(by, "by", n), "by")
    kind, axis = table.kind, table.p2 - table.p1
    length = np.linalg.norm(axis, axis=1)
    capped = np.isin(kind, (Shape.CYLINDER, Shape.TUBE, Shape.TAPERED, Shape.ELLIPSOID))
    step = np.where(capped, more / np.where(capped, length, 1.0), 0.0)[:, None] * axis
    slope = np.where(kind == Shape.TAPERED, (table.radius2 - table.radius) / np.where(capped, length, 1.0), 0.0)
    wall, tilt = more * np.hypot(1.0, slope), slope * more
    radius = np.where(kind == Shape.BOX, 0.0, table.radius + np.where(kind == Shape.TAPERED, wall - tilt, more))
    radius2 = np.where(kind == Shape.TAPERED, table.radius2 + wall + tilt, table.radius2)
    radius2 = np.where(kind == Shape.TUBE, table.radius2 - more, radius2)
    row = door.first_bad_row((kind == Shape.TUBE) & (radius2 <= 0.0))
    if row is not None:
        raise ValueError(f"by: expected less than the tube's inner radius, got {more[row].tolist()} in row {row}")
    grown = table.boxes.copy()
    grown[table.box[table.box >= 0], 9:] += more[table.box >= 0, None]
    return make_table(
        kind, table.p1 - step, table.p2 + step, radius, radius2, table.box, grown, table.character, table.mask
    )


def _ends(
    p1: ArrayLike, p2: ArrayLike, kind: Shape, names: tuple[str, str] = ("p1", "p2")
) -> tuple[Float64Array, Float64Array]:
    first = door.vectors(p1, names[0])
    last = door.vectors(p2, names[1], len(first))
    if kind not in WITHOUT_AXIS:
        door.axes(first, last, np.ones(len(first), bool), names)
    return first, last
