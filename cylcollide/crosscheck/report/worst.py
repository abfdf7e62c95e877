"""The worst rays of a cross-check: one ranking through every kind of wrong answer.

Each kind has its own measure of how wrong, in metres: a phantom its gap to the limb, a missed hit its depth of cut, a
wrong limb the distance between the two points, an early or late hit its distance error. A gap of one millimetre and
a distance error of one millimetre cannot be weighed against each other, so the kinds take turns: the worst of each,
then the second worst of each, in the order of ``WORST_KINDS``, until there are enough.
"""

from dataclasses import dataclass
from itertools import zip_longest

import numpy as np

from cylcollide._types import Float64Array
from cylcollide.crosscheck.cases.case import UNNAMED, Case, plain, vector
from cylcollide.crosscheck.engine.setup import DEFAULT, as_record
from cylcollide.crosscheck.generate.bullets import BULLET_FAMILIES
from cylcollide.crosscheck.judge.result import KINDS, Agreed, CrosscheckResult, Disagreements

WORST_KINDS = ("phantom", "missed", "wrong limb", "early", "late")
"""Every way to be wrong, in the order in which the kinds take their turns."""

Vector = tuple[float, float, float]


@dataclass(frozen=True)
class WorstRay:
    """One bullet and both answers; a side that says miss has limb -1 and nan fields. Lengths in metres."""

    rank: int  # 1 is the worst
    ray: int  # number of the bullet in the sweep
    kind: str  # one of WORST_KINDS
    family: str
    pose: int  # row of Poses
    motion: str
    time: float  # seconds into the motion
    severity: float  # how wrong, metres; its meaning depends on the kind
    start: Vector
    end: Vector
    limb_true: int
    limb_engine: int
    fraction_true: float
    fraction_engine: float
    position_true: Vector
    position_engine: Vector
    normal_true: Vector
    normal_engine: Vector

    @property
    def limbs(self) -> tuple[int, ...]:
        """The limbs that matter: the true one first, then the engine's, each once."""
        return tuple(dict.fromkeys(limb for limb in (self.limb_true, self.limb_engine) if limb >= 0))

    @property
    def script(self) -> str:
        """Where its reproduction stands in the report's folder."""
        return f"repro/{self.rank:02d}.py"


def worst_rays(result: CrosscheckResult, count: int = 10) -> list[WorstRay]:
    """Rank the worst rays of every kind, taking turns.

    Parameters
    ----------
    result
        What the cross-check found.
    count
        How many to return at most.

    Returns
    -------
    list of WorstRay
        Fewer than ``count`` only if fewer bullets are wrong at all. Equal measures go by the bullet's number, so the
        ranking depends on the result alone; an unknown (nan) measure comes last in its kind.
    """
    wrong, agreed = result.disagreements, result.agreed
    apart = np.linalg.norm(wrong.position_true - wrong.position_engine, axis=1)
    early, late = np.maximum(-agreed.distance_error, 0.0), np.maximum(agreed.distance_error, 0.0)
    queues = {
        "phantom": _worst_first(wrong, np.flatnonzero(wrong.kind == KINDS.index("phantom")), wrong.clearance, count),
        "missed": _worst_first(wrong, np.flatnonzero(wrong.kind == KINDS.index("missed")), wrong.clearance, count),
        "wrong limb": _worst_first(wrong, np.flatnonzero(wrong.kind == KINDS.index("wrong limb")), apart, count),
        "early": _worst_first(agreed, np.flatnonzero(early > 0.0), early, count),
        "late": _worst_first(agreed, np.flatnonzero(late > 0.0), late, count),
    }
    turns = zip_longest(*([(kind, *entry) for entry in queues[kind]] for kind in WORST_KINDS))
    chosen = [entry for turn in turns for entry in turn if entry is not None][:count]
    return [_worst_ray(result, rank, kind, row, how_bad) for rank, (kind, row, how_bad) in enumerate(chosen, 1)]


def worst_case(result: CrosscheckResult, worst: WorstRay) -> Case:
    """One of the worst rays with the limbs of its pose, as a case without a cause: ``scene`` is the pose."""
    poses, pose = result.poses, worst.pose
    return Case(
        family=worst.family,
        seed=result.seed,
        chunk=0,
        scene=pose,
        row=worst.ray,
        kind=worst.kind,
        cause=UNNAMED,
        setup=as_record(DEFAULT),
        p1=tuple(_vector(row) for row in poses.p1[pose]),
        p2=tuple(_vector(row) for row in poses.p2[pose]),
        radius=tuple(poses.radius.tolist()),
        start=worst.start,
        end=worst.end,
        limb_true=worst.limb_true,
        limb_engine=worst.limb_engine,
        fraction_true=plain(worst.fraction_true),
        fraction_engine=plain(worst.fraction_engine),
        normal_true=vector(worst.normal_true),
        normal_engine=vector(worst.normal_engine),
        amount=plain(-worst.severity if worst.kind == "early" else worst.severity),
        measured=None,
        bound=None,
        names=poses.limb_names,
    )


def _worst_first(
    table: Agreed | Disagreements, rows: "np.ndarray[tuple[int], np.dtype[np.intp]]", measure: Float64Array, count: int
) -> list[tuple[int, float]]:
    """Rows of one kind with their measure, largest first, nan last, ties by the number of the bullet."""
    order = np.lexsort((table.ray[rows], np.nan_to_num(-measure[rows], nan=np.inf)))
    return [(int(row), float(measure[row])) for row in rows[order[:count]]]


def _worst_ray(result: CrosscheckResult, rank: int, kind: str, row: int, severity: float) -> WorstRay:
    """Copy one row of either table out, as plain Python numbers."""
    table: Agreed | Disagreements = result.disagreements if kind in KINDS else result.agreed
    limb_true, limb_engine = (
        (int(table.limb_true[row]), int(table.limb_engine[row]))
        if isinstance(table, Disagreements)
        else (int(table.limb[row]), int(table.limb[row]))
    )
    pose = int(table.pose[row])
    return WorstRay(
        rank=rank,
        ray=int(table.ray[row]),
        kind=kind,
        family=BULLET_FAMILIES[int(table.family[row])],
        pose=pose,
        motion=result.poses.motion[pose],
        time=float(result.poses.time[pose]),
        severity=severity,
        start=_vector(table.start[row]),
        end=_vector(table.end[row]),
        limb_true=limb_true,
        limb_engine=limb_engine,
        fraction_true=float(table.fraction_true[row]),
        fraction_engine=float(table.fraction_engine[row]),
        position_true=_vector(table.position_true[row]),
        position_engine=_vector(table.position_engine[row]),
        normal_true=_vector(table.normal_true[row]),
        normal_engine=_vector(table.normal_engine[row]),
    )


def _vector(row: Float64Array) -> Vector:
    """Three plain Python floats."""
    x, y, z = row.tolist()
    return x, y, z
