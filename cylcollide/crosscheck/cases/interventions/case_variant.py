"""One segment and one world, and what can be changed about them. Nothing here asks an engine."""

from dataclasses import dataclass, replace
from typing import Self

import numpy as np

from cylcollide._types import Float64Array
from cylcollide.crosscheck.cases.case import Case
from cylcollide.crosscheck.engine.setup import Setup
from cylcollide.crosscheck.generate.shots import Intent, ShotScene, shots
from cylcollide.engines._bullet_bodies import Construction


@dataclass(frozen=True)
class CaseVariant:
    """Limbs with p1, p2 (m, 3) and radius (m,), how they are built, one segment (3,); metres."""

    p1: Float64Array
    p2: Float64Array
    radius: Float64Array
    start: Float64Array
    end: Float64Array
    setup: Setup
    size: float = 1.0
    """By how much the world was scaled."""

    @classmethod
    def of(cls, case: Case) -> Self:
        """The segment of a case."""
        return cls(
            p1=np.array(case.p1),
            p2=np.array(case.p2),
            radius=np.array(case.radius),
            start=np.array(case.start),
            end=np.array(case.end),
            setup=case.built,
        )

    @property
    def scene(self) -> ShotScene:
        """A world with this one segment."""
        segment = shots(self.start[None], self.end[None], Intent.EITHER)
        return ShotScene(self.p1, self.p2, self.radius, segment, self.setup)

    @property
    def direction(self) -> Float64Array:
        """Unit direction of the segment; zero for one of no length."""
        step = self.end - self.start
        length = float(np.linalg.norm(step))
        return step / length if length else step

    def scaled(self, factor: float) -> Self:
        """The whole world and the segment, ``factor`` times as large; margins stay."""
        setup = replace(self.setup, moved=self.setup.moved * factor)
        scaled = {name: getattr(self, name) * factor for name in ("p1", "p2", "radius", "start", "end")}
        return replace(self, **scaled, setup=setup, size=self.size * factor)

    def with_margin(self, margin: float) -> Self:
        """The limbs with another collision margin, boxes refreshed."""
        return replace(self, setup=replace(self.setup, margin=margin, stale=False))

    def spun(self, angle: float) -> Self:
        """The limbs turned about their own axes, radians: the same solids."""
        return replace(self, setup=replace(self.setup, spin=self.setup.spin + angle))

    def built_as(self, construction: Construction) -> Self:
        """The limbs made in another way, with the margin that it gives."""
        return replace(self, setup=Setup(construction=construction))

    def refreshed(self) -> Self:
        """The limbs with fresh boxes."""
        return replace(self, setup=replace(self.setup, stale=False, fresh=True))

    def begun(self, earlier: float) -> Self:
        """The segment begun so many metres earlier on its line; later if negative."""
        return replace(self, start=self.start - earlier * self.direction)

    def ended(self, later: float) -> Self:
        """The segment ended so many metres later on its line."""
        return replace(self, end=self.end + later * self.direction)

    def nudged(self, ulps: int) -> Self:
        """The start moved by so many units in the last place, up in every coordinate, down if negative."""
        start = self.start.copy()
        for _ in range(abs(ulps)):
            start = np.nextafter(start, np.sign(ulps) * np.inf)
        return replace(self, start=start)

    def shifted(self, by: Float64Array) -> Self:
        """The segment moved sideways by (3,) metres."""
        return replace(self, start=self.start + by, end=self.end + by)

    def towards(self, end: Float64Array) -> Self:
        """The segment with another end, (3,)."""
        return replace(self, end=end)
