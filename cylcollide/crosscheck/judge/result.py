"""What one cross-check found: the arrays that the report, the files and the table are made from.

All lengths are metres, all angles degrees, all rows of one class run in parallel. A distance error is signed along
the ray: negative is early (the engine reports the hit before the true surface), positive is late.
"""

from dataclasses import dataclass

from cylcollide._types import BoolArray, Float64Array, Int32Array, Int64Array

KINDS = ("missed", "phantom", "wrong limb")
"""How the engine is wrong, by kind code: no hit where there is one, a hit where there is none, another limb."""


@dataclass(frozen=True)
class Poses:
    """Every pose that was shot at: ``p`` poses of one character with ``m`` limbs."""

    motion: tuple[str, ...]  # name of the motion, length p
    time: Float64Array  # seconds into the motion, (p,)
    p1: Float64Array  # limb ends, (p, m, 3)
    p2: Float64Array
    radius: Float64Array  # (m,)
    limb_names: tuple[str, ...]  # length m


@dataclass(frozen=True)
class Agreed:
    """Every bullet that both sides say hits the same limb: the engine's error in distance and normal, length n."""

    ray: Int64Array  # number of the bullet in the sweep
    pose: Int32Array  # row of Poses
    family: Int32Array  # code into BULLET_FAMILIES
    limb: Int32Array
    depth: Float64Array  # how far inside the limb the line passes, as a share of its radius; nan where not a graze
    start: Float64Array  # (n, 3)
    end: Float64Array
    fraction_true: Float64Array
    fraction_engine: Float64Array
    position_true: Float64Array  # (n, 3)
    position_engine: Float64Array
    normal_true: Float64Array
    normal_engine: Float64Array
    distance_error: Float64Array  # signed, metres
    normal_error: Float64Array  # degrees


@dataclass(frozen=True)
class Disagreements:
    """Every bullet whose verdict or limb differs, length k. A side that says miss has limb -1 and nan fields."""

    ray: Int64Array
    pose: Int32Array
    family: Int32Array
    kind: Int32Array  # code into KINDS
    depth: Float64Array  # signed share of the radius: > 0 the line cuts the limb, < 0 it passes outside; nan: no graze
    start: Float64Array  # (k, 3)
    end: Float64Array
    limb_true: Int32Array
    limb_engine: Int32Array
    fraction_true: Float64Array
    fraction_engine: Float64Array
    position_true: Float64Array
    position_engine: Float64Array
    normal_true: Float64Array
    normal_engine: Float64Array
    clearance: Float64Array
    """Metres by which the verdict is decided: gap to the limb (phantom), depth of cut (missed).

    For a wrong limb: the gap to the engine's limb or, if the line meets that too, the lesser of how far behind it lies
    and how deep the true one is cut.
    """
    proved: BoolArray  # the verdict on this side was confirmed in rational arithmetic


@dataclass(frozen=True)
class FamilyRow:
    """One row of the table: counts and errors of one family, or of all (``family == "all"``)."""

    family: str
    rays: int
    hits: int  # true hits
    missed: int
    phantom: int
    wrong_limb: int
    proved: int  # disagreements settled by rational arithmetic
    early_mm: tuple[float, float, float]  # median, 99th percentile, maximum, over agreed hits reported early
    late_mm: tuple[float, float, float]  # the same over agreed hits reported late
    normal_deg: tuple[float, float, float]  # median, 99th percentile, maximum over agreed hits


@dataclass(frozen=True)
class CrosscheckResult:
    """The whole cross-check. ``rows[-1]`` is the total; ``versions`` names what ran."""

    engine: str
    seed: int
    rays: int
    seconds: float
    rechecked: int  # bullets that needed exact arithmetic in this library's own answer
    versions: dict[str, str]
    rows: tuple[FamilyRow, ...]
    poses: Poses
    agreed: Agreed
    disagreements: Disagreements
