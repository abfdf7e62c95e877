"""The statics of a world: solids that belong to no character, each in its own frame."""

from functools import cache
from typing import NamedTuple, NoReturn

import numpy as np
from numpy.typing import ArrayLike

from cylcollide import validate
from cylcollide._types import NO_CHARACTER, Int32Array, Int64Array
from cylcollide.bones.rig_rows import RigRows
from cylcollide.limbs.limbs import Limbs
from cylcollide.limbs.tables import Labels, label_columns
from cylcollide.runtime.memory import frozen


class Statics(NamedTuple):
    """Solids by ascending handle. Each has one bone, which carries its limbs. Immutable."""

    handles: Int32Array  # (statics,)
    limbs: Limbs  # one static after another, as they were given: in the frames of their bones
    sizes: Int64Array  # (statics, 3): the number of limbs, boxes and bones of each
    next_handle: int

    def with_one(self, own: Limbs) -> "Statics":
        """The statics with one more at the end."""
        return Statics(
            frozen(np.append(self.handles, self.next_handle).astype(np.int32)),
            Limbs.concat([self.limbs, own]) if len(self.handles) else own,
            frozen(np.concatenate([self.sizes, [[len(own), len(own._table.boxes), 1]]])),
            self.next_handle + 1,
        )

    def without(self, place: int) -> "Statics":
        """The statics without the one at this index."""
        begin, end = np.cumsum([0, *self.sizes[:, 0]])[place : place + 2]
        kept = np.delete(np.arange(len(self.limbs)), np.arange(begin, end))
        handles, sizes = frozen(np.delete(self.handles, place)), frozen(np.delete(self.sizes, place, axis=0))
        return Statics(handles, self.limbs[kept], sizes, self.next_handle)

    def place_of(self, handle: object) -> int:
        """The index of a static; ValueError for an unknown or removed handle."""
        known = validate.is_integer(handle) and 0 <= (number := int(handle)) < self.next_handle
        place = int(np.searchsorted(self.handles, number)) if known else 0
        if not known or place == len(self.handles) or self.handles[place] != number:
            self._raise_unknown(handle, known)
        return place

    def _raise_unknown(self, handle: object, was_known: bool) -> NoReturn:
        count, what = len(self.handles), "removed" if was_known else "unknown"
        known = f"{count} of them" + (f", {self.handles[0]} to {self.handles[-1]}" if count else "")
        raise ValueError(
            f"handle: expected a static of this world ({known}), got {validate.shown(handle)}: {what}; pass a "
            "handle that add_static returned"
        )

    def rows_of(self, place: int) -> RigRows:
        """The limbs of the static at this index, in the frame of its bone."""
        limb, box, _ = self.sizes[:place].sum(axis=0).tolist()
        (limbs, boxes, _), t = self.sizes[place].tolist(), self.limbs._table
        of_limb = t.box[limb : limb + limbs]
        own_box = np.where(of_limb >= 0, of_limb - np.int32(box), of_limb)
        ends = t.p1[limb : limb + limbs], t.p2[limb : limb + limbs]
        return RigRows(np.zeros(limbs, np.int32), *ends, own_box, t.boxes[box : box + boxes])


def labelled(limbs: Limbs, mask: ArrayLike | None, hit_group: ArrayLike | None) -> Limbs:
    """The limbs of a new static, with another mask and hit group if given; ValueError for bad ones."""
    if not isinstance(limbs, Limbs):
        raise ValueError(f"limbs: expected Limbs, got {type(limbs).__name__}; make them with Limbs.boxes(...)")
    row = validate.first_bad_row(limbs.character != NO_CHARACTER)
    if row is not None:
        raise ValueError(
            f"limbs: expected character -1, since a static has no character, got {limbs.character[row]} in row {row}; "
            "leave character= out, or spawn a rig"
        )
    layer, group = limbs.mask if mask is None else mask, limbs.hit_group if hit_group is None else hit_group
    labels = Labels(character=NO_CHARACTER, mask=layer, name="", hit_group=group)
    _, layers, groups, _ = label_columns(labels, len(limbs))
    return Limbs(limbs._table._replace(mask=layers), groups, limbs.names)


@cache
def no_statics() -> Statics:
    """The empty statics of a new world."""
    nothing = np.empty(0, np.int32), Limbs.spheres(np.empty((0, 3)), np.empty(0)), np.empty((0, 3), np.int64)
    return Statics(frozen(nothing[0]), nothing[1], frozen(nothing[2]), 0)
