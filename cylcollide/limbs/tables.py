"""Tables of limbs of mixed shapes: constructed, concatenated, selected, moved and grown."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, TypedDict

import numpy as np
from numpy.typing import ArrayLike, NDArray

from cylcollide import validate
from cylcollide._types import (
    ALL_LAYERS,
    NO_CHARACTER,
    Float64Array,
    Int8Array,
    Int32Array,
    Int64Array,
    Shape,
    Uint32Array,
)
from cylcollide.kernels.limb_table import LimbRows, LimbTable, make_table
from cylcollide.query.farthest import rows_of
from cylcollide.runtime.distinct import distinct_rows
from cylcollide.shapes import SHAPE_RECORDS, Ends, Solids, check_axes, check_centres, first_beyond_range


class Labels(TypedDict, total=False):
    """The labels that every constructor takes, unchecked: one for all limbs, or one per limb."""

    character: ArrayLike
    mask: ArrayLike
    name: str | Sequence[str]
    hit_group: ArrayLike


def solid_table(solids: Solids, character: Int32Array, mask: Uint32Array) -> LimbTable:
    """The table of limbs of one shape, with character and mask (n,)."""
    n = len(solids.p1)
    box = np.arange(n, dtype=np.int32) if len(solids.boxes) else np.full(n, -1, np.int32)
    kind = np.full(n, int(solids.kind), np.int8)
    return make_table(
        kind, solids.p1, solids.p2, solids.radius, solids.radius2, box, solids.boxes.copy(), character, mask
    )


def label_columns(
    labels: Labels, n: int, prefix: str = ""
) -> tuple[Int32Array, Uint32Array, Int32Array, tuple[str, ...]]:
    """Checked columns of n limbs: character, mask, hit group (n,) each, and n names; messages use `prefix`."""
    return (
        validate.integers(labels["character"], f"{prefix}character", n, NO_CHARACTER, 2**31 - 1).astype(np.int32),
        validate.integers(labels["mask"], f"{prefix}mask", n, 0, ALL_LAYERS).astype(np.uint32),
        validate.integers(labels["hit_group"], f"{prefix}hit_group", n, -(2**31), 2**31 - 1).astype(np.int32),
        _names(labels["name"], n),
    )


def _names(name: object, n: int) -> tuple[str, ...]:
    """Checked names of n limbs, given as n names or one for all."""
    if isinstance(name, str):
        return (str(name),) * n
    several = isinstance(name, Sequence) or getattr(name, "ndim", 0) == 1
    given = list(name) if several else []  # type: ignore[call-overload]
    if len(given) != n or not all(isinstance(one, str) for one in given) or not several:
        got = f"{len(given)} entries" if several else type(name).__name__
        raise ValueError(f"name: expected one string or {n} of them, got {got}")
    return tuple(map(str, given))


GIVEN = ("kind", "p1", "p2", "radius", "radius2", "box", "boxes", "character", "mask")
"""The columns that determine all others; files hold these."""


def given_columns(table: LimbTable) -> dict[str, NDArray[Any]]:
    """The columns of a table that determine it."""
    return {name: column for name, column in table._asdict().items() if name in GIVEN}


def joined_tables(tables: Sequence[LimbTable]) -> LimbTable:
    """All limbs of the tables, one table after another."""
    columns = [np.concatenate([table[k] for table in tables]) for k in range(len(LimbTable._fields))]
    boxes_before = np.cumsum([0] + [len(table.boxes) for table in tables])
    of_table = np.repeat(boxes_before[:-1], [len(table.box) for table in tables])
    joined = LimbTable._make(columns)
    return joined._replace(box=np.where(joined.box >= 0, joined.box + of_table, -1).astype(np.int32))


def chosen_rows(table: LimbTable, rows: Int64Array) -> LimbTable:
    """The limbs of the given rows."""
    chosen = rows_of(table, rows)
    is_box = chosen.box >= 0
    box = np.where(is_box, np.cumsum(is_box) - 1, -1).astype(np.int32)
    return chosen._replace(box=box, boxes=table.boxes[chosen.box[is_box]])


def box_columns(table: LimbTable) -> Float64Array:
    """Axes and half extents of every limb, zero for shapes without axes; (n, 12)."""
    columns = np.zeros((len(table.box), 12))
    columns[table.box >= 0] = table.boxes[table.box[table.box >= 0]]
    return columns


def moved_table(table: LimbTable, p1: ArrayLike, p2: ArrayLike, limbs: Int64Array | None) -> LimbTable:
    """The limbs with new, checked ends of all limbs (n, 3), or of those of the given indices (m, 3)."""
    first, last = checked_ends(table.kind, p1, p2, limbs)
    if limbs is not None:
        all_first, all_last = table.p1.copy(), table.p2.copy()
        all_first[limbs], all_last[limbs] = first, last
        first, last = all_first, all_last
    t = table
    return make_table(t.kind, first, last, t.radius, t.radius2, t.box, t.boxes, t.character, t.mask)


def checked_ends(
    kind: Int8Array, p1: ArrayLike, p2: ArrayLike, limbs: Int64Array | None, names: tuple[str, str] = ("p1", "p2")
) -> tuple[Float64Array, Float64Array]:
    """Checked ends, (n, 3) each, of limbs of these kinds (n,), or, (m, 3), of those of the given indices."""
    kind = kind if limbs is None else kind[limbs]
    first = validate.vectors(p1, names[0], len(kind))
    last = validate.vectors(p2, names[1], len(first))
    check_centres(first, last, HAS_CENTRE[kind], names[1])
    check_axes(first, last, HAS_AXIS[kind], names)
    return first, last


HAS_AXIS, HAS_CENTRE = (
    np.array([SHAPE_RECORDS[kind].ends == ends for kind in range(len(SHAPE_RECORDS))])
    for ends in (Ends.APART, Ends.ONE)
)
"""For each shape code: whether its ends must differ, and whether they must coincide."""


def of_shape(table: LimbTable, shape: int) -> tuple[Int64Array, Int32Array, Solids]:
    """The rows of the limbs of a shape, the rows of their boxes, and the limbs."""
    t, rows = table, np.flatnonzero(table.kind == int(shape))
    box = t.box[rows[t.box[rows] >= 0]]
    return rows, box, Solids(Shape(shape), t.p1[rows], t.p2[rows], t.radius[rows], t.radius2[rows], t.boxes[box])


def inflated_table(table: LimbTable, by: ArrayLike) -> LimbTable:
    """The limbs grown by a length >= 0 on every side, (n,) or one for all; see `ShapeRecord.grown`."""
    more = validate.sizes_or_zero(validate.per_row(by, "by", len(table.radius)), "by")
    first, last, radius, radius2, boxes = (
        column.copy() for column in (table.p1, table.p2, table.radius, table.radius2, table.boxes)
    )
    for kind, record in SHAPE_RECORDS.items():
        rows, box, solids = of_shape(table, kind)
        bad = validate.first_bad_row(more[rows] >= record.growth_limit(solids))
        if bad is not None:
            raise ValueError(
                f"by: expected less than the {Shape(kind).name.lower()}'s inner radius, "
                f"got {more[rows[bad]].tolist()} in row {rows[bad]}"
            )
        with np.errstate(over="ignore", invalid="ignore"):
            grown = record.grown(solids, more[rows])
        bad = first_beyond_range(grown)
        if bad is not None:
            raise ValueError(
                f"by: expected a growth that leaves all numbers within 2**500 and radii above 2**-500, "
                f"got {more[rows[bad]].tolist()} in row {rows[bad]}"
            )
        first[rows], last[rows], radius[rows], radius2[rows] = grown.p1, grown.p2, grown.radius, grown.radius2
        boxes[box] = grown.boxes
    t = table
    return make_table(t.kind, first, last, radius, radius2, t.box, boxes, t.character, t.mask)


def named_rows(names: tuple[str, ...], rows: Any) -> Any:
    """The rows of the limbs of a name; anything but a str is returned unchanged."""
    if not isinstance(rows, str):
        return rows
    if rows not in names:
        raise KeyError(f"limbs: no limb is named {rows!r}; the names are {sorted(set(names))}")
    return [row for row, name in enumerate(names) if name == rows]


def without_duplicates(rows: LimbRows) -> LimbRows:
    """The rows; one equal to an earlier row gets mask 0: a ray hits both at the same point, and the first row wins."""
    bits = rows.rows.view(np.int64)
    keys = np.sort(bits @ np.random.default_rng(1).integers(-(2**62), 2**62, bits.shape[1]))  # modulo 2**64
    if (keys[1:] != keys[:-1]).all():
        return rows
    columns = np.column_stack([bits, rows.kernel_shape, rows.character, rows.mask])
    first, mask = distinct_rows(columns)[0], np.zeros_like(rows.mask)
    mask[first] = rows.mask[first]
    return rows._replace(mask=mask, shared_mask=0)
