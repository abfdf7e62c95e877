"""The ticks that are kept, as queries and loops read them. A ring never changes: recording makes another one."""

from functools import cached_property

import numpy as np

from cylcollide._types import Float64Array, Int64Array
from cylcollide.bvh.layout import Tree
from cylcollide.history.ticks import Tick
from cylcollide.recorded.limbs import COLUMNS, Recorded


class Ring:
    """Consecutive ticks, one or more."""

    def __init__(self, ticks: tuple[Tick, ...]) -> None:
        self.ticks = ticks
        self.first, self.last = ticks[0].number, ticks[-1].number

    def __reduce__(self) -> tuple[type["Ring"], tuple[tuple[Tick, ...]]]:
        """A copy or pickle has the same ticks, and finds out anew where their arrays are."""
        return Ring, (self.ticks,)

    def with_tick(self, tick: Tick, most: int, teleport_distance: float) -> "Ring":
        """With another tick, of the last ones so many."""
        before = self.ticks[-1].followed_by(tick, teleport_distance)
        return Ring((*self.ticks[:-1], before, tick)[-most:])

    @cached_property
    def times(self) -> Float64Array:
        """When each tick was, (ticks,)."""
        return np.array([tick.time for tick in self.ticks])

    @cached_property
    def recorded(self) -> Recorded:
        """The ticks for loops."""
        address: Int64Array = np.concatenate([tick.addresses_with_tree for tick in self.ticks]).reshape(-1, COLUMNS)
        space: Float64Array = np.concatenate([tick.space for tick in self.ticks]).reshape(len(self.ticks), -1)
        return Recorded(address, space, self.by_ends)

    @property
    def by_ends(self) -> bool:
        """Whether ends are interpolated, not bones."""
        return self.ticks[0].by_ends

    @cached_property
    def deepest_tree(self) -> Tree:
        """The tree that buffers for all must be deep enough for."""
        return max((tick.tree for tick in self.ticks), key=lambda tree: tree.stack_size)
