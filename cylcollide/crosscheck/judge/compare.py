"""Two answers side by side: where they agree the errors, where they do not the kind, the clearance and the proof."""

import numpy as np

from cylcollide._types import BoolArray, Float64Array, Int32Array, Int64Array
from cylcollide.crosscheck.generate.bullets import GRAZE, Bullets
from cylcollide.crosscheck.judge.exact_truth import clearances, exact_first_limbs
from cylcollide.crosscheck.judge.result import KINDS, Agreed, Disagreements
from cylcollide.engines import EngineHits
from cylcollide.limbs.limbs import Limbs
from cylcollide.query.hits import RayHits

MISSED, PHANTOM, WRONG_LIMB = range(len(KINDS))


def compare(bullets: Bullets, ours: RayHits, theirs: EngineHits, limbs: Limbs) -> tuple[Agreed, Disagreements]:
    """Sort the answers for the bullets of one pose; ``ray`` and ``pose`` count from 0.

    Parameters
    ----------
    bullets, ours, theirs
        The bullets and both answers, row by row.
    limbs
        The limbs of the pose.
    """
    truth = EngineHits(ours.limb, np.where(ours.hit, ours.fraction, np.nan), ours.position, ours.normal)
    same = truth.limb == theirs.limb
    agreed = _agreed(np.flatnonzero(same & ours.hit), bullets, truth, theirs)
    return agreed, _disagreements(np.flatnonzero(~same), bullets, truth, theirs, limbs)


def _agreed(rows: Int64Array, bullets: Bullets, truth: EngineHits, theirs: EngineHits) -> Agreed:
    start, end = bullets.start[rows], bullets.end[rows]
    length = np.linalg.norm(end - start, axis=1)
    limb = truth.limb[rows]
    return Agreed(
        ray=rows.astype(np.int64),
        pose=np.zeros(len(rows), np.int32),
        family=bullets.family[rows],
        limb=limb,
        depth=_graze_depth(bullets, rows, limb == bullets.target[rows]),
        start=start,
        end=end,
        fraction_true=truth.fraction[rows],
        fraction_engine=theirs.fraction[rows],
        position_true=truth.position[rows],
        position_engine=theirs.position[rows],
        normal_true=truth.normal[rows],
        normal_engine=theirs.normal[rows],
        distance_error=(theirs.fraction[rows] - truth.fraction[rows]) * length,
        normal_error=_degrees_between(truth.normal[rows], theirs.normal[rows]),
    )


def _disagreements(
    rows: Int64Array, bullets: Bullets, truth: EngineHits, theirs: EngineHits, limbs: Limbs
) -> Disagreements:
    start, end = bullets.start[rows], bullets.end[rows]
    true_limb, engine_limb = truth.limb[rows], theirs.limb[rows]
    kind = np.select([engine_limb < 0, true_limb < 0], [MISSED, PHANTOM], WRONG_LIMB).astype(np.int32)
    about_target = (true_limb == bullets.target[rows]) | (engine_limb == bullets.target[rows])
    return Disagreements(
        ray=rows.astype(np.int64),
        pose=np.zeros(len(rows), np.int32),
        family=bullets.family[rows],
        kind=kind,
        depth=_graze_depth(bullets, rows, about_target),
        start=start,
        end=end,
        limb_true=true_limb,
        limb_engine=engine_limb,
        fraction_true=truth.fraction[rows],
        fraction_engine=theirs.fraction[rows],
        position_true=truth.position[rows],
        position_engine=theirs.position[rows],
        normal_true=truth.normal[rows],
        normal_engine=theirs.normal[rows],
        clearance=_clearance(start, end, kind, true_limb, engine_limb, truth.fraction[rows], limbs),
        proved=exact_first_limbs(start, end, limbs.p1, limbs.p2, limbs.radius) == true_limb,
    )


def _clearance(
    start: Float64Array,
    end: Float64Array,
    kind: Int32Array,
    true_limb: Int32Array,
    engine_limb: Int32Array,
    true_fraction: Float64Array,
    limbs: Limbs,
) -> Float64Array:
    clearance = np.empty(len(start))
    # Missed: how deep the line cuts the limb that the engine does not see.
    rows = np.flatnonzero(kind == MISSED)
    clearance[rows] = -_signed_clearances(start[rows], end[rows], limbs, true_limb[rows])
    # A limb that the engine reports and the line does not touch: the gap between them.
    rows = np.flatnonzero(kind != MISSED)
    reported = limbs[engine_limb[rows]].cast_segments(start[rows], end[rows])
    untouched = rows[~reported.hit]
    clearance[untouched] = _signed_clearances(start[untouched], end[untouched], limbs, engine_limb[untouched])
    # A limb that the line touches, but later: how much later, or how deep the line cuts the first one, if that is less.
    behind = rows[reported.hit]
    length = np.linalg.norm(end[behind] - start[behind], axis=1)
    later = (reported.fraction[reported.hit] - true_fraction[behind]) * length
    cut = -_signed_clearances(start[behind], end[behind], limbs, true_limb[behind])
    clearance[behind] = np.minimum(later, cut)
    return clearance


def _signed_clearances(start: Float64Array, end: Float64Array, limbs: Limbs, limb: Int32Array) -> Float64Array:
    return clearances(start, end, limbs.p1[limb], limbs.p2[limb], limbs.radius[limb])


def _graze_depth(bullets: Bullets, rows: Int64Array, about_target: BoolArray) -> Float64Array:
    # A depth speaks of the target's side alone: it says nothing where the answer is another limb.
    return np.where((bullets.family[rows] == GRAZE) & about_target, bullets.depth[rows], np.nan)


def _degrees_between(a: Float64Array, b: Float64Array) -> Float64Array:
    sine = np.linalg.norm(np.cross(a, b), axis=1)
    degrees: Float64Array = np.degrees(np.arctan2(sine, np.einsum("ni,ni->n", a, b)))
    return degrees
