"""Models: what the limbs of recorded states are, wherever they were; and which model each row of a state is."""

from collections.abc import Sequence
from typing import Any

import numpy as np
from numpy.typing import NDArray

from cylcollide._types import Float64Array, Int32Array, Int64Array, Shape
from cylcollide.characters.rig import Rig
from cylcollide.limbs.limbs import Limbs
from cylcollide.limbs.tables import HAS_AXIS
from cylcollide.query.labels import NO_BONE
from cylcollide.recorded.limbs import (
    BONE,
    BOX_ROW,
    CHARACTER_SIZE,
    CODES_SIZE,
    FIRST_BONE,
    FIRST_BOX,
    FIRST_ROW,
    ID,
    KIND,
    LABEL,
    LAYERS,
    MASK,
    NEEDS_AXIS,
    NEXT_BONE,
    NEXT_ROW,
    NUMBERS_SIZE,
    ORDINARY,
    OWN_LAYERS,
    ROW_COUNT,
    SOLID,
)
from cylcollide.runtime.memory import frozen
from cylcollide.world.state_rows import StateRows

NOBODY, STAYS = -1, -1


class Models:
    """The bare limbs and those of all rigs of a state, one behind the other; shared by the ticks that have the same."""

    def __init__(self, bare: Limbs, rigs: tuple[Rig, ...]) -> None:
        self.bare, self.rigs = bare, rigs
        parts: Sequence[Limbs] = [bare, *(rig.limbs for rig in rigs)]
        tables = [part.table for part in parts]
        first = np.cumsum([0, *map(len, parts)])
        begins, count = first[:-1], int(first[-1])
        self.first: Int64Array = begins[1:]
        """Of each rig, its first model."""
        self.numbers = np.empty((count, NUMBERS_SIZE))
        self.codes = np.zeros((count, CODES_SIZE), np.int64)
        for table, begin in zip(tables, begins.tolist(), strict=True):
            rows = slice(begin, begin + len(table.kind))
            self.numbers[rows] = np.column_stack([table.p1, table.p2, table.radius, table.radius2])
            self.codes[rows, KIND], self.codes[rows, SOLID] = table.kind, table.solid
            self.codes[rows, BOX_ROW], self.codes[rows, MASK] = table.box, table.mask
        self.codes[:, NEEDS_AXIS] = HAS_AXIS[self.codes[:, KIND]]
        self.codes[:, LABEL] = NOBODY
        self.codes[: len(bare), LABEL] = bare.character
        self.codes[:, BONE] = np.concatenate([np.full(len(bare), NO_BONE), *(rig.limb_bone for rig in rigs)])
        before = np.repeat(np.cumsum([0, *(len(table.boxes) for table in tables)])[:-1], list(map(len, parts)))
        self.codes[:, BOX_ROW] += np.where(self.codes[:, BOX_ROW] >= 0, before, 0)
        self.boxes: Float64Array = np.concatenate([table.boxes for table in tables])
        self.first_box: Int64Array = np.cumsum([0, *(len(table.boxes) for table in tables)])[1:-1]
        """Of each rig, its first row of `boxes`."""
        self.names: NDArray[Any] = frozen(np.array([name for part in parts for name in part.names], object))
        self.hit_group: Int32Array = frozen(np.concatenate([part.hit_group for part in parts]))
        length = np.linalg.norm(self.numbers[:, 3:6] - self.numbers[:, :3], axis=1)
        self.rim: Float64Array = self.numbers[:, 6:].max(axis=1, initial=0.0)
        """By how much a box around each may change as it turns about its ends: not at all, if balls are about these."""
        is_box = self.codes[:, BOX_ROW] >= 0
        self.rim[is_box] = np.linalg.norm(self.boxes[self.codes[is_box, BOX_ROW], 9:], axis=1)
        self.rim[np.isin(self.codes[:, KIND], (Shape.CAPSULE, Shape.SPHERE))] = 0.0
        ends = np.linalg.norm(self.numbers[:, :6].reshape(-1, 2, 3), axis=2)
        self.span: Float64Array = ends.max(axis=1, initial=0.0)
        """How far its axis goes from the origin of its bone."""
        self.most_growth = float((self.span + self.rim)[len(bare) :].max(initial=self.rim.max(initial=0.0)))
        """By how much the box around any may grow at most between two ticks, roundings aside."""
        length[length == 0.0] = np.inf
        self.shortest: Float64Array = np.array([length[k : k + len(rig.limbs)].min(initial=np.inf) for k, rig in zip(
            self.first.tolist(), rigs, strict=True)])  # fmt: skip
        """Of each rig, its shortest axis."""

    def are_of(self, bare: Limbs, rigs: tuple[Rig, ...]) -> bool:
        """Whether these are the models of these bare limbs and rigs."""
        return self.bare is bare and len(self.rigs) == len(rigs) and all(map(_same, self.rigs, rigs))


def _same(one: object, other: object) -> bool:
    return one is other


class Structure:
    """Which rows a state has, and its characters; shared by the ticks between which nobody came, went or was hidden."""

    def __init__(self, rows: StateRows, models: Models) -> None:
        self.models, self.ids, self.rig = models, rows.ids, rows.rig
        self.bare, self.rows, self.bones, self.boxes = len(rows.bare), rows.rows, rows.bones, rows.boxes
        self.row = np.empty((rows.rows, 2), np.int32)
        """Model and character of each row."""
        self.row[:, 0] = rows.stacked_row
        self.row[: self.bare, 1] = NOBODY
        self.row[self.bare :, 1] = np.repeat(np.arange(len(rows.ids)), rows.counts.rows)
        layers = np.repeat(rows.layers, rows.counts.rows)
        of_rig = models.codes[self.row[:, 0], MASK]
        of_rig[self.bare :] = np.where(layers == OWN_LAYERS, of_rig[self.bare :], layers)
        self.shared_layers = int(np.bitwise_and.reduce(of_rig))
        """The layers that all limbs are in."""
        self.characters = characters = np.zeros((len(rows.ids), CHARACTER_SIZE), np.int64)
        """As in `recorded.limbs.TickRows`, before it is known what follows."""
        characters[:, ID], characters[:, LAYERS] = rows.ids, rows.layers
        characters[:, FIRST_ROW], characters[:, ROW_COUNT] = rows.first_row, rows.counts.rows
        characters[:, FIRST_BONE], characters[:, FIRST_BOX] = (
            rows.first_bone,
            rows.first_box - models.first_box[rows.rig],
        )
        characters[:, NEXT_ROW] = characters[:, NEXT_BONE] = STAYS
        self.settled: Int64Array = characters.copy()
        """The same of ordinary characters that all go on to a state of the same structure."""
        self.settled[:, NEXT_ROW], self.settled[:, NEXT_BONE] = rows.first_row, rows.first_bone
        self.settled[:, ORDINARY] = 1

    def place_of(self, ids: Int32Array) -> Int64Array:
        """The place of each of these characters among the posed ones, -1 for one that is not."""
        if not len(self.ids):
            return np.full(len(ids), NOBODY, np.int64)
        place = np.minimum(np.searchsorted(self.ids, ids), len(self.ids) - 1)
        return np.where(self.ids[place] == ids, place, NOBODY)
