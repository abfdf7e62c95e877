"""A state in the making: columns for limbs whose ends are all new, and the loop that writes what follows from them.

To allocate columns and what the loop needs beside them takes longer than the loop. So a draft is kept, and written once
more when nothing reads the state that was made of it any longer.
"""

import numpy as np

from cylcollide._types import Column, NodeBoxes, Rows, Vectors
from cylcollide.bvh.layout import SPACE_NUMBERS, Space, Tree, fill_space, space_of
from cylcollide.bvh.refit import fit_bounds, tree_cost
from cylcollide.kernels.aabb import refill_row
from cylcollide.kernels.limb_table import LimbTable
from cylcollide.runtime.compile import compiled_loop
from cylcollide.world.layout import WorldLayout
from cylcollide.world.pose_columns import PoseColumns, PoseMemory


class Draft:
    """Columns of a state with this layout, none of them a character's, and a tree of so many nodes."""

    def __init__(self, layout: WorldLayout, nodes: int) -> None:
        self.layout, self.nodes = layout, nodes
        self._memory = PoseMemory(layout.rows, layout.boxes, layout.bones, nodes)
        self.columns = self._memory.columns
        """Ends `p1`, `p2` and `boxes` are to be written before `refit`."""
        self.low, self.high = np.empty((2, layout.rows, 3))
        """Corners of the boxes around limbs, (n, 3)."""
        self._table, self._space = self.columns.table(layout), np.empty(SPACE_NUMBERS)

    def suits(self, layout: WorldLayout, nodes: int) -> bool:
        """Whether it is one, and can be written: no state, no answer and no array that a user has kept reads it."""
        return self.layout is layout and self.nodes == nodes and self._memory.is_free

    def lend(self) -> PoseColumns:
        """The columns, for a state."""
        return self._memory.lend()

    def refit(self, tree: Tree) -> tuple[Tree, float]:
        """Write all that follows from the ends; the tree with its boxes fitted to n > 0 limbs, and its `tree_cost`."""
        bounds, space = self.columns.bounds, self._space
        cost = refit_limbs(self._table, tree.child, self.low, self.high, space, bounds)
        return Tree(bounds, tree.child, tree.items, tree.axis, tree.stack_size, space_of(space)), cost


@compiled_loop
def refit_limbs(
    table: LimbTable,
    child: Rows[np.int32],
    low: Vectors,
    high: Vectors,
    space: Column[np.float64],
    bounds: NodeBoxes,
) -> float:
    """Write all that follows from the ends of n > 0 limbs; the `tree_cost` of it.

    Parameters
    ----------
    table
        The limbs; `rows` and `solid` are written.
    child
        Of their tree, whose `bounds` (nodes, 6, 8) are written.
    low, high
        (n, 3): for the corners of the limbs' boxes.
    space
        (SPACE_NUMBERS,): for the numbers that `space_of` makes the tree's frame of.
    """
    for i in range(table.radius.size):
        refill_row(table, i, low, high, i)
    fill_space(low, high, space)
    a, b, c, scale = space[0], space[1], space[2], space[3]
    frame = Space((a, b, c), scale, (space[4], space[5], space[6]), (space[7], space[8], space[9]))
    fit_bounds(child, low, high, frame, bounds)
    return tree_cost(bounds, child, scale)
