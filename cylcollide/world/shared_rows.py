"""The rows of limbs, boxes and bones that two layouts of a world have in common."""

from dataclasses import dataclass

import numpy as np

from cylcollide._types import Column, Int64Array, Rows
from cylcollide.bones.rig_rows import Parts
from cylcollide.runtime.compile import compiled_loop


@dataclass(frozen=True, slots=True)
class Shared:
    """What a layout has in common with a later one with the same bare limbs."""

    runs: Rows[np.int64]
    """(runs, 9): where a run of rows begins and ends here, and begins there; then of boxes, and of bones."""
    number: Column[np.int32]
    """Of each row the one there, -1 if it is gone."""
    new: list[int]
    """The owners that only the later one has, by their places there."""
    kept: int
    """How many rows are in both."""

    @property
    def changed_number(self) -> Column[np.int32] | None:
        """`number`; None if all rows have the same one there."""
        stay = self.kept == len(self.number) and all(begin == to for begin, _, to, *_ in self.runs.tolist())
        return None if stay else self.number


def shared_rows(
    mine: Int64Array,
    theirs: Int64Array,
    rows: int,
    bare_counts: tuple[int, int, int],
    counts: Parts,
    here: Parts,
    there: Parts,
) -> Shared:
    """What two layouts with the same bare limbs have in common; arguments as of `_fill_runs`; `rows`: of mine."""
    runs, is_new = np.empty((1 + len(mine), 9), np.int64), np.ones(len(theirs), np.bool_)
    limbs, boxes, bones = bare_counts
    runs[0] = (0, limbs, 0, 0, boxes, 0, 0, bones, 0)
    number = np.empty(rows, np.int32)
    runs = runs[: _fill_runs(mine, theirs, counts, here, there, is_new, runs, number)]
    return Shared(runs, number, is_new.nonzero()[0].tolist(), sum(end - begin for begin, end in runs[:, :2].tolist()))


@compiled_loop
def _fill_runs(
    mine: Column[np.int64],
    theirs: Column[np.int64],
    counts: Parts,
    here: Parts,
    there: Parts,
    is_new: Column[np.bool_],
    runs: Rows[np.int64],
    number: Column[np.int32],
) -> int:
    """Write the runs of owners that two layouts share, and all else of `shared_rows`; returns the number of runs.

    `mine` and `theirs` are their owners, ascending. Of rows, boxes and bones, `counts` says how many each owner has,
    and `here` and `there` where they begin. `is_new` is True for each owner of the other layout at first. The first of
    the runs is there, that of the bare limbs.
    """
    found, after, last = 1, 0, -2  # the owner in theirs that comes next, and that of mine which was found last
    for owner in range(mine.size):
        while after < theirs.size and theirs[after] < mine[owner]:
            after, last = after + 1, -2
        if after == theirs.size or theirs[after] != mine[owner]:
            continue
        is_new[after] = False
        if last != owner - 1:
            runs[found, 0], runs[found, 2] = here.rows[owner], there.rows[after]
            runs[found, 3], runs[found, 5] = here.boxes[owner], there.boxes[after]
            runs[found, 6], runs[found, 8] = here.bones[owner], there.bones[after]
            found += 1
        runs[found - 1, 1] = here.rows[owner] + counts.rows[owner]
        runs[found - 1, 4] = here.boxes[owner] + counts.boxes[owner]
        runs[found - 1, 7] = here.bones[owner] + counts.bones[owner]
        after, last = after + 1, owner
    for i in range(number.size):
        number[i] = -1
    for k in range(found):
        for i in range(runs[k, 0], runs[k, 1]):
            number[i] = i - runs[k, 0] + runs[k, 2]
    return found
