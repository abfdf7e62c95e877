"""A scene put to an engine and explained; rays that geometry cannot explain are cast again.

They are cast alone, with fresh boxes, and with their limb alone in the world.
"""

from collections.abc import Callable, Sequence
from dataclasses import replace

import numpy as np

from cylcollide._types import BoolArray, Int64Array
from cylcollide.crosscheck.causes.calibration import Calibration
from cylcollide.crosscheck.causes.cause import Cause
from cylcollide.crosscheck.causes.classify import Classified
from cylcollide.crosscheck.engine.setup import EngineOf
from cylcollide.crosscheck.generate.shots import ShotScene
from cylcollide.crosscheck.judge.comparison import Comparison, Truth, engine_answers
from cylcollide.crosscheck.judge.disagreements import Disagreements, Kind
from cylcollide.engines import Engine
from cylcollide.limbs.limbs import Limbs

DOUBTFUL = (
    Cause.UNEXPLAINED,
    Cause.NO_CORE_DISTANCE,
    Cause.NOISY_NORMAL,
    Cause.BIG_SHAPE,
    Cause.SEGMENT_END,
)
"""A hit lost for one of these stays lost when its ray is cast alone; one lost for another reason comes back."""


def compare(
    scene: ShotScene, engine_of: EngineOf, calibrations: Sequence[Calibration] | None
) -> tuple[Comparison, Disagreements]:
    """Cast the segments of a scene on both sides; with calibrations of its limbs every disagreement gets its cause."""
    truth = Truth(scene)
    with engine_of(scene.setup) as engine:
        answers = engine_answers(engine, truth)
        if calibrations is None:
            compared = Comparison(truth, *answers)
            return compared, compared.disagreements()
        classified = Classified(truth, *answers, calibrations)
        return classified, cast_again(classified.disagreements(), classified, engine, engine_of)


def cast_again(found: Disagreements, compared: Comparison, engine: Engine, engine_of: EngineOf) -> Disagreements:
    """Return the disagreements with the causes that casting again shows: API limit or broad phase."""
    true = compared.ours.limb[found.row]
    rows = np.flatnonzero(np.isin(found.kind, (Kind.MISSED, Kind.WRONG_LIMB)) & np.isin(found.cause, DOUBTFUL))
    if not len(rows):
        return found
    cause, bound = found.cause.copy(), found.bound.copy()

    def settle(how: Callable[[Int64Array], BoolArray], answer: Cause) -> None:
        nonlocal rows
        back = how(rows)
        cause[rows[back]] = answer
        # Seen when cast again: there is no bound to keep.
        bound[rows[back]] = np.nan
        rows = rows[~back]

    truth, scene = compared.truth, compared.truth.scene
    start, end = truth.start[found.row], truth.end[found.row]

    def alone(some: Int64Array) -> BoolArray:
        limbs = [engine.cast_segments(start[[row]], end[[row]]).limb[0] for row in some]
        return np.asarray(np.array(limbs, dtype=np.int32) == true[some])

    def refreshed(some: Int64Array) -> BoolArray:
        refresh = getattr(engine, "refresh_boxes", None)
        if refresh is None:
            return np.zeros(len(some), dtype=np.bool_)
        refresh()
        return alone(some)

    def lonely(some: Int64Array) -> BoolArray:
        back = np.zeros(len(some), dtype=np.bool_)
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
    return replace(found, cause=cause, bound=bound)
