"""Limbs at one moment, with their tree."""

from collections.abc import Callable, Mapping
from functools import cached_property
from typing import Any

import numpy as np

from cylcollide._types import Float64Array
from cylcollide.bvh.build import build
from cylcollide.bvh.layout import Tree
from cylcollide.bvh.refit import Slots, slots, tree_cost
from cylcollide.constants import REBUILD_COST
from cylcollide.kernels.aabb import limb_boxes
from cylcollide.kernels.limb_table import LimbRows, LimbTable
from cylcollide.limbs.limbs import Limbs
from cylcollide.query.labels import RowLabels
from cylcollide.runtime.compile import pack
from cylcollide.runtime.memory import frozen
from cylcollide.world.draft import Draft
from cylcollide.world.layout import WorldLayout
from cylcollide.world.pose_columns import PoseColumns
from cylcollide.world.queries import Queries
from cylcollide.world.roster import Roster


class Snapshot(Queries):
    """Limbs at one moment, with their tree. Immutable; queries are safe from any thread."""

    tree: Tree
    """The tree over the limbs' boxes."""
    table: LimbTable
    """The columns of the limbs."""
    kernel_rows: LimbRows
    """The columns that compiled loops read."""
    packed: tuple[LimbRows, Tree]
    """`kernel_rows` and `tree`, as loops alone can read them: in half the time."""
    roster: Roster
    """The characters that live."""
    layout: WorldLayout
    """Which rows there are."""
    columns: PoseColumns
    """The columns that moves change, read-only."""
    built_cost: float
    """`tree_cost` when the tree was built."""
    state_row: None = None
    """Limbs are numbered as in the state."""

    def __init__(
        self, roster: Roster, layout: WorldLayout, columns: PoseColumns, tree: Tree, built_cost: float
    ) -> None:
        """`columns` are read-only; the bounds of the tree are theirs."""
        vars(self).update(
            roster=roster.frozen(), layout=layout, columns=columns, table=columns.table(layout),
            tree=tree._replace(bounds=columns.bounds), built_cost=built_cost,
            kernel_rows=LimbRows(columns.solid, layout.character, layout.mask, columns.rows, layout.shared_mask),
        )  # fmt: skip
        vars(self).update(packed=(pack(self.kernel_rows), pack(self.tree)))

    def __setattr__(self, name: str, value: object) -> None:
        """Snapshots never change: AttributeError."""
        raise AttributeError(f"{name}: snapshots are immutable; move the world and take another")

    def __delattr__(self, name: str) -> None:
        """Snapshots never change: AttributeError."""
        raise AttributeError(f"{name}: snapshots are immutable; move the world and take another")

    @classmethod
    def of(cls, limbs: Limbs) -> "Snapshot":
        """The limbs with a newly built tree, and no characters."""
        made = _restored(Roster.of(limbs), limbs, limbs, np.empty((0, 3)), np.empty((0, 4)))
        vars(made)["limbs"] = limbs
        return made

    def moved(self, draft: Draft) -> "Snapshot":
        """The same limbs, none of them a character's, with the ends and boxes of a draft, which are checked.

        The tree is the same, its boxes refitted; a new one, if they are not about as large as when it was built.
        """
        if self.layout.rows == 0:
            return self
        tree, cost = draft.refit(self.tree)
        if are_about_as_large(cost, self.built_cost):
            return Snapshot(self.roster, self.layout, draft.lend(), tree, self.built_cost)
        tree, cost = built_tree(draft.low, draft.high)
        return Snapshot(self.roster, self.layout, draft.lend()._replace(bounds=tree.bounds), tree, cost)

    def with_roster(self, roster: Roster) -> "Snapshot":
        """The same state with other characters that have no pose, or with others' counts of teleports."""
        return Snapshot(roster, self.layout, self.columns, self.tree, self.built_cost)

    def __reduce__(self) -> tuple[Callable[..., "Snapshot"], tuple[Any, ...]]:
        """A copy or pickle has the same limbs and characters, and a newly built tree; answers are the same."""
        return _restored, (self.roster, self.layout.bare, self.limbs, self.columns.positions, self.columns.orientations)

    @property
    def fits(self) -> bool:
        """Whether the boxes are still about as large as when the tree was built; if not, a rebuild pays."""
        return are_about_as_large(_cost_of(self.tree), self.built_cost)

    @cached_property
    def slots(self) -> Slots:
        """The slots of all items and nodes of the tree."""
        found = slots(self.tree)
        return Slots(frozen(found.items), frozen(found.nodes))

    @property
    def labels(self) -> RowLabels:
        """Names, hit groups and bones of the limbs."""
        return self.layout.labels(self.columns.positions, self.columns.orientations)

    @property
    def group_names(self) -> Mapping[str, int]:
        """Numbers of hit groups by the names that rigs so far have given them."""
        return self.roster.groups

    @cached_property
    def limbs(self) -> Limbs:
        """The limbs where they were."""
        return Limbs(self.table, self.layout.hit_group, tuple(self.layout.names.tolist()))

    def snapshot(self) -> "Snapshot":
        """Itself."""
        return self


def _restored(
    roster: Roster, bare: Limbs, limbs: Limbs, positions: Float64Array, orientations: Float64Array
) -> Snapshot:
    """A snapshot of all limbs, of which the first ones are bare and the others the roster's."""
    t, (tree, cost) = limbs.table, built_tree(*limb_boxes(limbs.table))
    columns = PoseColumns(t.rows, t.p1, t.p2, t.boxes, positions, orientations, t.solid, tree.bounds)
    return Snapshot(roster, roster.layout(bare), columns.frozen(), tree, cost)


def built_tree(low: Float64Array, high: Float64Array) -> tuple[Tree, float]:
    """A new tree over boxes with these corners, (n, 3) each, and its `tree_cost`."""
    tree = build(low, high)
    return tree, _cost_of(tree)


def _cost_of(tree: Tree) -> float:
    return tree_cost(tree.bounds, tree.child, tree.space.scale)


def are_about_as_large(cost: float, built: float) -> bool:
    """Whether boxes of this `tree_cost` are about as large as those that the tree was built of."""
    return cost <= REBUILD_COST * built and built <= REBUILD_COST * cost
