"""The rows of limbs, boxes and bones that two layouts of a world have in common."""

from typing import NamedTuple, TypeAlias

import numpy as np

from cylcollide._types import Column, Int64Array, Rows
from cylcollide.bones.rig_rows import Parts
from cylcollide.runtime.compile import compiled_loop

Runs: TypeAlias = list[tuple[slice, slice]]
"""Slices of a column of one layout, and those of another one with the same numbers."""


class Shared(NamedTuple):
    """What a layout has in common with a later one with the same bare limbs."""

    rows: Runs
    boxes: Runs
    bones: Runs
    new: list[int]
    """The owners that only the later one has, by their places there."""
    kept: int
    """How many rows are in both."""
    numbers_stay: bool
    """Whether each of these has the same number in both."""


def shared_rows(
    mine: Int64Array, theirs: Int64Array, bare_counts: tuple[int, int, int], counts: Parts, here: Parts, there: Parts
) -> Shared:
    """What two layouts with the same bare limbs have in common; arguments as of `_fill_runs`."""
    runs, is_new = np.empty((len(mine), 9), np.int64), np.ones(len(theirs), np.bool_)
    count = _fill_runs(mine, theirs, counts, here, there, is_new, runs)
    rows, boxes, bones = ([(slice(0, bare), slice(0, bare))] for bare in bare_counts)
    for run in runs[:count].reshape(-1, 3, 3).tolist():
        for part, (begin, end, first) in zip((rows, boxes, bones), run, strict=True):
            part.append((slice(begin, end), slice(first, first + end - begin)))
    kept = sum(before.stop - before.start for before, _ in rows)
    stays = all(before == after for before, after in rows)
    return Shared(rows, boxes, bones, is_new.nonzero()[0].tolist(), kept, stays)


@compiled_loop
def _fill_runs(
    mine: Column[np.int64],
    theirs: Column[np.int64],
    counts: Parts,
    here: Parts,
    there: Parts,
    is_new: Column[np.bool_],
    runs: Rows[np.int64],
) -> int:
    """Write the runs of owners that two layouts have, for `shared_rows`; how many there are.

    Parameters
    ----------
    mine, theirs
        Their owners, ascending.
    counts, here, there
        Rows, boxes and bones: how many each owner has, and where they begin.
    is_new
        True for each owner of the other layout at first; False afterwards for those that are in both.
    runs
        (owners, 9): where each run of rows begins and ends here, and begins there; then of boxes, and of bones.
    """
    found, after, last = 0, 0, -2  # the owner in theirs that comes next, and that of mine which was found last
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
    return found
