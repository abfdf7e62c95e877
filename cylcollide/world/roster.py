"""The characters of a world by ascending id, posed or not; and its statics."""

from collections.abc import Mapping
from dataclasses import dataclass, replace
from itertools import compress
from typing import NoReturn

import numpy as np
from numpy.typing import ArrayLike, NDArray

from cylcollide import validate
from cylcollide._types import ALL_LAYERS, BoolArray, Flags, Int32Array, Int64Array
from cylcollide.characters.rig import Rig
from cylcollide.limbs.limbs import Limbs
from cylcollide.runtime.memory import Scalar, frozen
from cylcollide.world.layout import RIG_LAYERS, WorldLayout
from cylcollide.world.statics import Statics, no_statics

LARGEST_ID = 2**31 - 1

IDS = np.dtype(np.int32), np.dtype(np.int64)
"""The dtypes of ids whose only check is that the characters exist; this saves 15 µs."""

UNPOSED = -1
"""`place` of a character without a pose."""


@dataclass(frozen=True, slots=True)
class Roster:
    """The characters and the statics of a world. Immutable."""

    rigs: tuple[Rig, ...]
    ids: Int32Array  # (characters,), ascending
    rig: Int32Array  # (characters,): row of `rigs`
    layers: Int64Array  # (characters,): 32 bits, or RIG_LAYERS
    place: Int64Array  # (characters,): index among the posed ones, -1 without a pose
    teleports: Int64Array  # (characters,): the number of teleports so far
    groups: Mapping[str, int]  # numbers of hit groups by name, from all rigs so far
    first_id: int
    next_id: int
    statics: Statics

    @classmethod
    def of(cls, bare: Limbs) -> "Roster":
        """A roster without characters and statics; ids begin above the labels of the bare limbs."""
        none, nothing = np.empty(0, np.int32), np.empty(0, np.int64)
        first = int(bare.character.max(initial=-1)) + 1
        return cls((), none, none, nothing, nothing, nothing, {}, first, first, no_statics())

    def spawned(self, rig: Rig, count: int) -> "Roster":
        """The roster with `count` more characters of this rig; their ids are the last ones."""
        if not isinstance(rig, Rig):
            raise ValueError(f"rig: expected a Rig, got {type(rig).__name__}; make one with Rig.humanoid()")
        groups = self._joined_groups(rig)
        # Row numbers of limbs are int32, too.
        most = min(LARGEST_ID - self.next_id + 1, LARGEST_ID // max(len(rig.limbs), 1))
        count = validate.index(count, "count", most + 1)
        known = [row for row, one in enumerate(self.rigs) if one is rig]
        rigs = self.rigs if known else (*self.rigs, rig)
        row, ids = known[0] if known else len(self.rigs), _extended(self.ids, count, 0)
        ids[len(self.ids) :] = np.arange(self.next_id, self.next_id + count)
        return replace(
            self,
            rigs=rigs,
            ids=ids,
            rig=_extended(self.rig, count, row),
            layers=_extended(self.layers, count, RIG_LAYERS),
            place=_extended(self.place, count, UNPOSED),
            teleports=_extended(self.teleports, count, 0),
            groups=groups,
            next_id=self.next_id + count,
        )

    def _joined_groups(self, rig: Rig) -> Mapping[str, int]:
        """The groups with those of the rig; ValueError if an earlier rig gave a name another number."""
        for name, number in rig.groups.items():
            if self.groups.get(name, number) != number:
                raise ValueError(
                    f"groups: {name!r} is {number} in this rig and {self.groups[name]} in another one of the world; "
                    f"give each name one number"
                )
        return {**self.groups, **rig.groups}

    def without(self, index: Int64Array) -> "Roster":
        """The roster without these characters, and without the rigs that only they used."""
        kept = np.ones(len(self.ids), np.bool_)
        kept[index] = False
        rigs, rig = self.rigs, self.rig[kept]
        used = np.bincount(rig, minlength=len(rigs)) > 0 if len(rigs) > 1 or not len(rig) else None
        if used is not None and not used.all():
            rigs, rig = tuple(compress(rigs, used)), (np.cumsum(used, dtype=np.int32) - np.int32(1))[rig]
        return replace(
            self, rigs=rigs, ids=self.ids[kept], rig=rig,
            layers=self.layers[kept], place=_places(self.place[kept] >= 0), teleports=self.teleports[kept],
        )  # fmt: skip

    def with_layers(self, index: Int64Array, mask: ArrayLike) -> "Roster":
        """The roster with new layers of these characters, one number for all or one each; checked."""
        column = self.layers.copy()
        column[index] = validate.integers(mask, "mask", len(index), 0, ALL_LAYERS)
        return replace(self, layers=column)

    def with_poses(self, index: Int64Array, teleport: BoolArray | bool) -> "Roster":
        """The roster in which these characters are posed; `teleport`: which of them jumped."""
        posed, teleports = self.place >= 0, self.teleports
        posed[index] = True
        if teleport is not False:
            teleports = teleports.copy()
            teleports[index] += teleport
        return replace(self, place=_places(posed), teleports=teleports)

    def frozen(self) -> "Roster":
        """The roster, after making its arrays read-only."""
        for column in (self.ids, self.rig, self.layers, self.place, self.teleports):
            frozen(column)
        return self

    def index_of(self, ids: ArrayLike) -> Int64Array:
        """The rows of these characters, one or (k,); ValueError for an id that is unknown, despawned or named twice."""
        plain = type(ids) in (np.ndarray, np.int32, np.int64) and ids.dtype in IDS and ids.ndim < 2  # type: ignore
        given = np.atleast_1d(ids) if plain else validate.list_of_integers(ids, "ids", LARGEST_ID)
        index: Int64Array = self.ids.searchsorted(given)
        known = self.ids.take(index, mode="clip") == given if len(self.ids) else np.zeros(len(given), np.bool_)
        if not known.all():
            validate.list_of_integers(ids, "ids", LARGEST_ID)
            row = int(known.argmin())
            self._raise_unknown(int(given[row]), row)
        if len(given) > 1 and (given[1:] <= given[:-1]).any():
            order = np.argsort(given, kind="stable")
            again = order[1:][given[order[1:]] == given[order[:-1]]]
            if len(again):
                row = int(again.min())
                raise ValueError(
                    f"ids: expected each character once, got {given[row]} again in row {row}; leave out such rows"
                )
        return index

    def _raise_unknown(self, character: int, row: int) -> NoReturn:
        what = "despawned" if self.first_id <= character < self.next_id else "unknown"
        known = f"{len(self.ids)} characters live" + (f", {self.ids[0]} to {self.ids[-1]}" if len(self.ids) else "")
        raise ValueError(f"ids: expected characters of this world ({known}), got {character} in row {row}: {what}")

    def layout(self, bare: Limbs) -> WorldLayout:
        """The rows of the bare limbs, the posed characters and the statics."""
        ids, rig, layers, posed = self.ids, self.rig, self.layers, self.place >= 0
        if not posed.all():
            ids, rig, layers = ids[posed], rig[posed], layers[posed]
        return WorldLayout(bare, self.rigs, frozen(ids), frozen(rig), frozen(layers), self.statics)


def _extended(column: NDArray[Scalar], count: int, entry: int) -> NDArray[Scalar]:
    """A column with `count` more entries, all equal to `entry`."""
    longer = np.empty(len(column) + count, column.dtype)
    longer[: len(column)], longer[len(column) :] = column, entry
    return longer


def _places(posed: BoolArray) -> Int64Array:
    """The index of each posed character among the posed ones, -1 for others."""
    return np.arange(len(posed)) if posed.all() else np.where(posed, np.cumsum(posed) - 1, UNPOSED)


def as_jumps(teleport: Flags, count: int) -> BoolArray | bool:
    """Which of `count` characters are teleported, given as one bool for all or one each, checked; False: none."""
    if isinstance(teleport, bool):
        return teleport
    array = np.array(teleport, object) if isinstance(teleport, list | tuple) else np.asarray(teleport)
    bools = all(isinstance(one, bool | np.bool_) for one in array.flat)
    if not bools or array.shape not in (*validate.ONE, (count,)):
        raise ValueError(f"teleport: expected True or False, one or ({count},), got {validate.shown(teleport)}")
    return np.broadcast_to(array.astype(np.bool_), (count,)) if array.any() else False
