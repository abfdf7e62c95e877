"""Whole states of a world and the ticks of its history as values, and the objects made of these values."""

from collections.abc import Callable
from typing import Any, TypeAlias

import numpy as np

from cylcollide._types import Float64Array
from cylcollide.characters.rig import Rig
from cylcollide.history.pose_history import PoseHistory
from cylcollide.history.rewound import all_limbs
from cylcollide.history.ticks import Ring, Tick
from cylcollide.kernels.limb_table import LimbTable, make_table
from cylcollide.limbs.limbs import Limbs
from cylcollide.world.hit_world import HitWorld
from cylcollide.world.roster import Roster
from cylcollide.world.snapshot import Snapshot, snapshot_of
from cylcollide.world.statics import Statics

Values = dict[str, Any]
DigestOf = Callable[[Rig | Limbs], str]

Receiver: TypeAlias = HitWorld | Snapshot | PoseHistory
"""The object on which a judged call is made."""

COLUMNS = ("ids", "rig", "layers", "place", "teleports")
"""The columns of a `Roster`."""


def values_of_state(state: Snapshot, digest: DigestOf) -> Values:
    """All parts of a state except its tree, which does not affect answers."""
    return _values(state._roster, state._layout.bare, state._table, *state._columns[4:6], digest)


def _values(
    roster: Roster, bare: Limbs, table: LimbTable, positions: Float64Array, orientations: Float64Array, digest: DigestOf
) -> Values:
    n = len(bare)
    ends = table.p1[:n], table.p2[:n]
    stayed = all(
        np.array_equal(a.view(np.int64), b.view(np.int64)) for a, b in zip(ends, bare._table[1:3], strict=True)
    )
    return {
        "rigs": [digest(rig) for rig in roster.rigs],
        **{name: getattr(roster, name) for name in COLUMNS},
        "groups": dict(roster.groups), "first_id": roster.first_id, "next_id": roster.next_id,
        "statics": {**roster.statics._asdict(), "limbs": digest(roster.statics.limbs)},
        "bare": digest(bare), "bare_ends": None if stayed else list(ends),
        "ends": [table.p1[n:], table.p2[n:]], "boxes": table.boxes[len(bare._table.boxes) :],
        "positions": positions, "orientations": orientations,
    }  # fmt: skip


def values_of_ticks(ring: Ring | None, digest: DigestOf) -> list[Values]:
    """The ticks of a history, each as a state with its number and time."""
    if ring is None:
        return []
    return [_values_of_tick(ring, row, tick, digest) for row, tick in enumerate(ring.ticks)]


def _values_of_tick(ring: Ring, row: int, tick: Tick, digest: DigestOf) -> Values:
    bare = tick.structure.models.bare
    positions, orientations = tick.bones[:-1, :3], tick.bones[:-1, 3:7]
    if tick.by_ends:  # only the first bone of each character is kept, for the detection of jumps
        layout = tick.roster.layout(bare)
        before = layout.first_static[2]
        positions = np.concatenate([np.zeros((before, 3)), positions])
        orientations = np.concatenate([np.tile([0.0, 0.0, 0.0, 1.0], (before, 1)), orientations])
        positions[layout.first.bones[: len(layout.ids)]] = tick.roots
    table = all_limbs(ring, row, 0.0)._table
    state = _values(tick.roster, bare, table, positions, orientations, digest)
    return {"number": tick.number, "time": tick.time, **state}


def state_of(values: Values, objects: Any) -> Snapshot:
    """The state with these values; `objects`: rigs and limbs by their digests."""
    bare, rigs = objects[values["bare"]], tuple(objects[digest] for digest in values["rigs"])
    columns, given = {name: values[name].copy() for name in COLUMNS}, values["statics"]
    statics = Statics(**{**given, "limbs": objects[given["limbs"]]})
    ids = {"first_id": values["first_id"], "next_id": values["next_id"]}
    roster = Roster(rigs=rigs, groups=values["groups"], statics=statics, **ids, **columns)
    layout = roster.layout(bare)
    first = bare._table[1:3] if values["bare_ends"] is None else values["bare_ends"]
    p1, p2 = (np.concatenate(pair) for pair in zip(first, values["ends"], strict=True))
    boxes = np.concatenate([bare._table.boxes, values["boxes"]])
    bones = values["positions"].copy(), values["orientations"].copy()
    kind, radius, radius2 = layout.shapes
    table = make_table(kind, p1, p2, radius, radius2, layout.box, boxes, layout.character, layout.mask)
    return snapshot_of(roster, bare, Limbs(table, layout.hit_group, tuple(layout.names.tolist())), *bones)


def fill_history(history: PoseHistory, ticks: list[Values], objects: Any) -> None:
    """Fill an empty history with these ticks."""
    for values in ticks:
        history._keep(state_of(values, objects), values["number"], values["time"])
