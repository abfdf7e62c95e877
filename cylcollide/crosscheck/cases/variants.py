"""A case with one thing changed, cast in an engine and in this library."""

from dataclasses import dataclass, field, replace
from typing import Any, Self

import numpy as np

from cylcollide._types import Float64Array
from cylcollide.crosscheck.cases.case import Case
from cylcollide.crosscheck.causes.calibration import calibrations
from cylcollide.crosscheck.causes.compare_scene import compare
from cylcollide.crosscheck.compare.disagreements import VERDICTS, Cause, Kind
from cylcollide.crosscheck.engine import EngineOf
from cylcollide.crosscheck.generate.shots import ShotScene, joined, shots


@dataclass(frozen=True)
class CaseVariant(ShotScene):
    """The world and the segment of a case with one thing changed."""

    size: float = 1.0
    """Factor by which the world was scaled."""

    @classmethod
    def of(cls, case: Case) -> Self:
        """The unchanged case."""
        segment = shots(np.array([case.start]), np.array([case.end]))
        return cls(np.array(case.p1), np.array(case.p2), np.array(case.radius), segment, case.setup)

    @property
    def start(self) -> Float64Array:
        """Start of the segment, (3,)."""
        return np.asarray(self.shots.start[0])

    @property
    def end(self) -> Float64Array:
        """End of the segment, (3,)."""
        return np.asarray(self.shots.end[0])

    @property
    def direction(self) -> Float64Array:
        """Unit direction of the segment; zero for one of no length."""
        step = self.end - self.start
        length = float(np.linalg.norm(step))
        return step / length if length else step

    def with_segment(self, start: Float64Array, end: Float64Array) -> Self:
        """The segment with these ends, (3,)."""
        return replace(self, shots=shots(start[None], end[None]))

    def scaled(self, factor: float) -> Self:
        """The whole world and the segment scaled by ``factor``; margins stay."""
        scaled = {name: getattr(self, name) * factor for name in ("p1", "p2", "radius", "size")}
        segment = self.with_segment(self.start * factor, self.end * factor)
        return replace(segment, **scaled).built(moved=self.setup.moved * factor)

    def built(self, **changes: Any) -> Self:
        """The limbs in a setup with some fields changed."""
        return replace(self, setup=replace(self.setup, **changes))

    def begun(self, earlier: float) -> Self:
        """The segment with its start moved back by ``earlier`` metres on its line; forward if negative."""
        return self.with_segment(self.start - earlier * self.direction, self.end)

    def ended(self, later: float) -> Self:
        """The segment with its end moved on by ``later`` metres on its line."""
        return self.with_segment(self.start, self.end + later * self.direction)

    def nudged(self, ulps: int) -> Self:
        """The start moved by ``ulps`` units in the last place, up in every coordinate, down if negative."""
        start = self.start
        for _ in range(abs(ulps)):
            start = np.nextafter(start, np.sign(ulps) * np.inf)
        return self.with_segment(start, self.end)

    def from_rim(self, limb: int, fraction: float) -> float:
        """Distance of a point of the segment on a limb's surface from the limb's rim, along its face."""
        point, axis = self.start + fraction * (self.end - self.start), self.p2[limb] - self.p1[limb]
        length = float(np.linalg.norm(axis))
        offset = point - 0.5 * (self.p1[limb] + self.p2[limb])
        height = float(offset @ axis) / length
        distance = float(np.linalg.norm(offset - height * axis / length))
        return float(max(abs(0.5 * length - abs(height)), abs(self.radius[limb] - distance)))


@dataclass(frozen=True)
class Outcome:
    """The limbs that both sides report, and every disagreement with its cause and amount (metres, radians)."""

    limb_true: int
    limb_engine: int
    causes: dict[Kind, Cause] = field(default_factory=dict)
    amounts: dict[Kind, float] = field(default_factory=dict)

    @property
    def verdicts_agree(self) -> bool:
        """Whether both report the same limb, or none."""
        return not any(kind in self.causes for kind in VERDICTS)

    def error(self, kind: Kind) -> float:
        """Metres by which the hit is early or late, or radians by which its normal is off; 0 if it is not."""
        amount = self.amounts.get(kind, 0.0)
        return max(-amount, 0.0) if kind == Kind.EARLY else max(amount, 0.0) if kind == Kind.LATE else amount


def cast_both(engine_of: EngineOf, world: CaseVariant, *variants: CaseVariant) -> list[Outcome]:
    """Cast variants that differ from ``world`` only in their segments on both sides; without variants: ``world``."""
    scene = replace(world, shots=joined([variant.shots for variant in variants or (world,)]))
    both, found = compare(scene, engine_of, calibrations(engine_of, world, world.size))
    outcomes = [Outcome(int(a), int(b)) for a, b in zip(both.ours.limb, both.theirs.limb, strict=True)]
    for row, kind, cause, amount in zip(found.row, found.kind, found.cause, found.amount, strict=True):
        outcomes[row].causes[Kind(kind)], outcomes[row].amounts[Kind(kind)] = Cause(cause), float(amount)
    return outcomes


def scene_of(case: Case) -> tuple[ShotScene, int]:
    """The segments that are cast in one call, and the row of the case."""
    call = (*case.before, (case.start, case.end), *case.after)
    row = len(case.before)
    lost = case.kind_code == Kind.LOST and len(call) == 1
    if lost:
        call, row = call * int(case.bound or 1), min(case.row, int(case.bound or 1) - 1)
    start, end = (np.array(points) for points in zip(*call, strict=True))
    was = (np.array(case.was[0]), np.array(case.was[1])) if case.was else None
    # If a call has one ray too many, PyBullet answers most rays of a list, and none of an array.
    as_lists = case.measured != 0.0
    return replace(CaseVariant.of(case), shots=shots(start, end), whole_batch=lost, as_lists=as_lists, was=was), row
