"""The rows of limbs, boxes and bones that two layouts of a world have in common."""

from dataclasses import dataclass

import numpy as np

from cylcollide._types import Column, Int64Array, Rows
from cylcollide.bones.rig_rows import Parts
from cylcollide.runtime.compile import compiled_loop


@dataclass(frozen=True, slots=True)
class Shared:
    """The rows that a layout shares with a later one of the same bare limbs."""

    runs: Rows[np.int64]
    """(runs, 9): begin and end of a run of rows here, and its begin there; then for boxes, and for bones."""
    number: Column[np.int32]
    """The later row of each row, -1 if it is gone."""
    new: list[int]
    """The indices of the owners that only the later layout has."""
    kept: int
    """The number of rows in both."""

    @property
    def changed_number(self) -> Column[np.int32] | None:
        """`number`; None if all rows keep their numbers."""
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
    """The rows shared by two layouts of the same bare limbs. Arguments as of `_fill_runs`; `rows`: count of first."""
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
    """Write `is_new`, the runs of owners that two layouts share, and `number`; return the number of runs.

    `mine` and `theirs` are their owners, ascending. `counts` is the number of rows, boxes and bones of each owner,
    `here` and `there` their first indices. On entry `is_new` is True everywhere, and the first run, that of the bare
    limbs, is already written.
    """
    found, after, last = 1, 0, -2  # `after`: next index in `theirs`; `last`: last index in `mine` that was found
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
