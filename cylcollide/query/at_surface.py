"""Decides rays that float64 bounds leave undecided by the sides of limbs on which they start and end."""

from typing import NamedTuple

import numpy as np

from cylcollide._types import BoolArray, Float64Array, Int64Array
from cylcollide.kernels.limb_table import LimbTable
from cylcollide.kernels.ray import Rays
from cylcollide.kernels.traits import BOUNDED
from cylcollide.query.loops.columns import ChordColumns, CompressedRows, HitColumns
from cylcollide.query.loops.inputs import RayBatch
from cylcollide.query.loops.settle import settle_rows


class Settled(NamedTuple):
    """What the sides of starts and ends decide of the given rays; pieces are those on their lists."""

    lists: CompressedRows
    missed: BoolArray  # per piece: its limb is certainly missed
    earliest: Float64Array  # per piece: a fraction before which the ray is not in its limb
    undecided: int  # how many rays exact arithmetic decides

    def by_entry(self, k: int, rays: Rays, table: LimbTable) -> tuple[list[int], list[float]]:
        """The limbs that the k-th ray may hit, sorted by the earliest fraction of each, and these fractions."""
        own = slice(self.lists[0][k], self.lists[0][k + 1])
        kept = ~self.missed[own]
        limbs, earliest = self.lists[1][own][kept] >> 1, self.earliest[own][kept]
        if len(rays.radius) and np.isin(table.kind[limbs], BOUNDED).any():
            earliest = np.zeros(len(limbs))  # where bounds replace an exact contact, a later limb may be first
        order = sorted(set(zip(earliest.tolist(), limbs.tolist(), strict=True)))
        return [limb for _, limb in order], [entry for entry, _ in order]


def settle(
    batch: RayBatch, table: LimbTable, rows: Int64Array, lists: CompressedRows, hits: HitColumns, chords: ChordColumns
) -> Settled:
    """`settle_rows` of the given rows."""
    missed, earliest = np.empty(len(lists[1]), bool), np.empty(len(lists[1]))
    undecided = settle_rows(batch, table.kernel_rows, rows, *lists, missed, earliest, hits, chords)
    return Settled(lists, missed, earliest, undecided)


def own_pieces(table: LimbTable, rows: Int64Array) -> CompressedRows:
    """One piece per row: of the limb in that row, or of the only limb."""
    own = rows if len(table.kind) > 1 else np.zeros_like(rows)
    return np.arange(len(rows) + 1), (2 * own).astype(np.int32)
