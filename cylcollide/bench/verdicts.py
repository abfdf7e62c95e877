"""Resolution of every disagreement between an engine and this library in rational arithmetic."""

from typing import NamedTuple

import numpy as np

from cylcollide._types import NO_LIMB, Int32Array
from cylcollide.bench.workloads import Segments
from cylcollide.exact.line import RayNumbers
from cylcollide.exact.order import closest
from cylcollide.limbs.limbs import Limbs
from cylcollide.query.exact_fallback import exact_limb


class Wrong(NamedTuple):
    """Numbers of results proved wrong, theirs and ours: hit and miss confused, and the wrong one of two limbs."""

    verdicts: int = 0
    limbs: int = 0
    our_verdicts: int = 0
    our_limbs: int = 0


def resolve_disagreements(limbs: Limbs, segments: Segments, theirs: Int32Array, ours: Int32Array) -> Wrong:
    """Count wrong results among segments whose hit limbs differ; `theirs` and `ours` (n,), -1 for a miss.

    Only the limbs named by the two results are tested: the one hit first, by exact arithmetic, is right, ties by index.
    """
    counts = np.zeros(4, int)
    for row in np.flatnonzero(theirs != ours).tolist():
        named = {int(theirs[row]), int(ours[row])} - {NO_LIMB}
        ray = RayNumbers(tuple(segments.starts[row].tolist()), tuple(segments.ends[row].tolist()), True, 1.0)
        hit, _ = closest(ray, [(limb, exact_limb(limbs.table, limb)) for limb in sorted(named)], "hit")
        truth = NO_LIMB if hit is None else hit[0]
        for side, limb in enumerate((theirs[row], ours[row])):
            if limb != truth:
                counts[2 * side + (limb != NO_LIMB and truth != NO_LIMB)] += 1
    return Wrong(*counts.tolist())
