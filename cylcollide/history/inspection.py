"""What is asked of a history beside queries: why something missed, and pictures."""

from copy import copy
from os import PathLike
from typing import TYPE_CHECKING, Unpack

from numpy.typing import ArrayLike

from cylcollide.characters.policy_checks import Group
from cylcollide.history import drawing, misses
from cylcollide.history.miss_explanation import MissExplanation
from cylcollide.history.misses import MissOptions
from cylcollide.history.queries import PastQueries

if TYPE_CHECKING:
    from matplotlib.figure import Figure


class Inspection(PastQueries):
    """Explanations of misses, and pictures of limbs then and now."""

    def explain_miss(
        self,
        start: ArrayLike,
        end: ArrayLike,
        time: float,
        hit_group: Group | None = None,
        resolution: float | None = None,
        **options: Unpack[MissOptions],
    ) -> MissExplanation:
        """Why one segment missed at a time: the nearest limb, by how much, and when the same segment would have hit.

        Parameters
        ----------
        start, end
            Ends of the closed segment, (3,).
        time
            When; it must be kept.
        hit_group
            Limbs of this group alone, by name or number, whatever is before them on the way; None: all.
        resolution
            The longest step in which the kept time is searched for hits; None: a quarter of each tick. Beginnings and
            ends of what is found are exact.
        options
            `mask`, `ignore_character`, `protected_since` and `threads`, as of queries.

        Raises
        ------
        ValueError
            As of queries; on a group that no rig of the world names, and a resolution that is not positive or needs
            more than a million steps.
        """
        groups = self._world.snapshot().group_names
        # Its copy keeps the ticks that there are now, while this one goes on.
        return misses.explain_miss(copy(self), start, end, time, hit_group, resolution, groups, options)

    def plot(self, time: float, path: str | PathLike[str] | None = None) -> "Figure":
        """A figure of the limbs at a time beside the live ones, from three sides; written to a file if a path is given.

        Raises
        ------
        ImportError
            Without matplotlib: install `cylcollide[plot]`.
        """
        present = self._world.snapshot()
        title = f"Filled: limbs at time {time:.9g}; dashed: now"
        return drawing.draw_rewound(self.limbs_at(time), present.limbs, present.group_names, title, path)
