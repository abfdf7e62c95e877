"""Rays that geometry cannot explain are asked again: alone, with fresh boxes, with their limb alone in the world."""

from collections.abc import Callable
from dataclasses import replace

import numpy as np

from cylcollide._types import BoolArray, Int64Array
from cylcollide.crosscheck.causes.classify import Compared, Findings
from cylcollide.crosscheck.causes.kinds_and_causes import Cause, Kind
from cylcollide.crosscheck.engine.setup import Asked, EngineOf
from cylcollide.limbs.limbs import Limbs

DOUBTFUL = (
    Cause.UNEXPLAINED,
    Cause.NO_CORE_DISTANCE,
    Cause.NOISY_NORMAL,
    Cause.BIG_SHAPE,
    Cause.SEGMENT_END,
)
"""A hit lost for one of these stays lost when asked for alone; one lost for another reason comes back."""


def ask_again(findings: Findings, compared: Compared, engine: Asked, engine_of: EngineOf) -> Findings:
    """Return the findings with the causes that asking again tells: API limit or broad phase."""
    true = compared.ours.limb[findings.row]
    rows = np.flatnonzero(np.isin(findings.kind, (Kind.MISSED, Kind.WRONG_LIMB)) & np.isin(findings.cause, DOUBTFUL))
    if not len(rows):
        return findings
    cause, bound = findings.cause.copy(), findings.bound.copy()

    def settle(how: Callable[[Int64Array], BoolArray], answer: Cause) -> None:
        nonlocal rows
        back = how(rows)
        cause[rows[back]] = answer
        # Seen when asked again: there is no bound to keep.
        bound[rows[back]] = np.nan
        rows = rows[~back]

    start, end = compared.scene.shots.start[findings.row], compared.scene.shots.end[findings.row]

    def alone(some: Int64Array) -> BoolArray:
        said = [engine.cast_segments(start[[row]], end[[row]]).limb[0] for row in some]
        return np.asarray(np.array(said, dtype=np.int32) == true[some])

    def refreshed(some: Int64Array) -> BoolArray:
        refresh = getattr(engine, "refresh_boxes", None)
        if refresh is None:
            return np.zeros(len(some), dtype=np.bool_)
        refresh()
        return alone(some)

    def lonely(some: Int64Array) -> BoolArray:
        back = np.zeros(len(some), dtype=np.bool_)
        scene = compared.scene
        if len(scene.radius) == 1:
            return back
        for limb in np.unique(true[some]):
            mine = np.flatnonzero(true[some] == limb)
            with engine_of(scene.setup) as other:
                other.build(Limbs.cylinders(scene.p1[[limb]], scene.p2[[limb]], scene.radius[[limb]]))
                back[mine] = other.cast_segments(start[some[mine]], end[some[mine]]).limb == 0
        return back

    settle(alone, Cause.API_LIMIT)
    settle(refreshed, Cause.BROAD_PHASE)
    settle(lonely, Cause.BROAD_PHASE)
    return replace(findings, cause=cause, bound=bound)
