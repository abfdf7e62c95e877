"""Limbs at one moment, with their tree."""

from collections.abc import Callable
from functools import cached_property

from cylcollide.bvh.build import build
from cylcollide.bvh.layout import Tree
from cylcollide.bvh.refit import refit, tree_cost
from cylcollide.constants import REBUILD_COST
from cylcollide.kernels.aabb import limb_boxes
from cylcollide.kernels.limb_table import LimbRows, LimbTable
from cylcollide.limbs.limbs import Limbs
from cylcollide.query.labels import RowLabels, bare_labels
from cylcollide.world.queries import Queries


class Snapshot(Queries):
    """Limbs at one moment, with their tree. Immutable; queries are safe from any thread."""

    _limbs: Limbs
    _built_cost: float
    tree: Tree
    """The tree over the limbs' boxes."""
    table: LimbTable
    """The columns of the limbs."""
    kernel_rows: LimbRows
    """The columns that compiled loops read."""

    def __init__(self, limbs: Limbs, tree: Tree, built_cost: float) -> None:
        vars(self).update(
            _limbs=limbs, _built_cost=built_cost, tree=tree, table=limbs.table, kernel_rows=limbs.table.kernel_rows
        )

    def __setattr__(self, name: str, value: object) -> None:
        """Snapshots never change: AttributeError."""
        raise AttributeError(f"{name}: snapshots are immutable; move the world and take another")

    def __delattr__(self, name: str) -> None:
        """Snapshots never change: AttributeError."""
        raise AttributeError(f"{name}: snapshots are immutable; move the world and take another")

    def __reduce__(self) -> tuple[Callable[[Limbs], "Snapshot"], tuple[Limbs]]:
        """A copy or pickle has the same limbs and a newly built tree; answers are the same with any tree."""
        return Snapshot.of, (self._limbs,)

    @classmethod
    def of(cls, limbs: Limbs) -> "Snapshot":
        """The limbs with a newly built tree."""
        tree = build(*limb_boxes(limbs.table))
        return cls(limbs, tree, tree_cost(tree.bounds, tree.child, tree.space.scale))

    def moved(self, limbs: Limbs) -> "Snapshot":
        """The same limbs with new ends: the same tree, its boxes refitted."""
        return Snapshot(limbs, refit(self.tree, *limb_boxes(limbs.table)), self._built_cost)

    @property
    def fits(self) -> bool:
        """Whether the boxes are still about as large as when the tree was built; if not, a rebuild pays."""
        cost, built = tree_cost(self.tree.bounds, self.tree.child, self.tree.space.scale), self._built_cost
        return cost <= REBUILD_COST * built and built <= REBUILD_COST * cost

    @cached_property
    def labels(self) -> RowLabels:
        """Names, hit groups and bones of the limbs."""
        return bare_labels(self._limbs.names, self._limbs.hit_group)

    @property
    def limbs(self) -> Limbs:
        """The limbs where they were."""
        return self._limbs

    def snapshot(self) -> "Snapshot":
        """Itself."""
        return self
