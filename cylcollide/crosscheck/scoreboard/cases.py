"""What an engine gets wrong, as cases that it can be asked again: the worst of every family and kind."""

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any

import numpy as np

from cylcollide._types import Float64Array, Int32Array, Int64Array
from cylcollide.crosscheck.cases.case import BULLET, UNNAMED, Case, plain, vector
from cylcollide.crosscheck.causes.kinds_and_causes import Kind
from cylcollide.crosscheck.engine.setup import Setup, as_record
from cylcollide.crosscheck.judge.exact_truth import clearances
from cylcollide.engines import EngineHits
from cylcollide.limbs.limbs import Limbs
from cylcollide.query.hits import RayHits


@dataclass(frozen=True)
class Place:
    """Where a scene stands in its sweep."""

    family: str
    seed: int
    scene: int


@dataclass(frozen=True)
class Told:
    """Segments (n, 3) at limbs, what is true about them, and what an engine says."""

    place: Place
    limbs: Limbs
    start: Float64Array
    end: Float64Array
    true: RayHits
    engine: EngineHits


@dataclass
class Shelf:
    """Keeps cases of one engine, which is made with these options."""

    engine: str = BULLET
    options: Mapping[str, Any] = field(default_factory=dict)
    _worst: dict[tuple[str, Kind], Case] = field(default_factory=dict)

    @property
    def cases(self) -> tuple[Case, ...]:
        """The worst of every family and kind, in the order in which they were met."""
        return tuple(self._worst.values())

    def keep(self, kind: Kind, rows: Int64Array, told: Told) -> None:
        """Look at the rows that are wrong in one way, and keep the worst if there was none as bad in the family."""
        if not len(rows):
            return
        amounts = _amounts(kind, rows, told)
        worst = int(np.argmax(amounts))
        known = self._worst.get((told.place.family, kind))
        if known is None or amounts[worst] > (known.amount or 0.0):
            self._worst[told.place.family, kind] = self._case(kind, int(rows[worst]), float(amounts[worst]), told)

    def _case(self, kind: Kind, row: int, amount: float, told: Told) -> Case:
        # PyBullet's options are settings, which every other case of it has in its setup.
        setup, options = (Setup(**self.options), {}) if self.engine == BULLET else (Setup(), dict(self.options))
        limbs = told.limbs
        return Case(
            family=told.place.family,
            seed=told.place.seed,
            chunk=0,
            scene=told.place.scene,
            row=row,
            kind=kind.label,
            cause=UNNAMED,
            setup=as_record(setup),
            p1=tuple(_three(point) for point in limbs.p1),
            p2=tuple(_three(point) for point in limbs.p2),
            radius=tuple(limbs.radius.tolist()),
            start=_three(told.start[row]),
            end=_three(told.end[row]),
            limb_true=int(told.true.limb[row]),
            limb_engine=int(told.engine.limb[row]),
            fraction_true=plain(told.true.fraction[row]),
            fraction_engine=plain(told.engine.fraction[row]),
            normal_true=vector(told.true.normal[row]),
            normal_engine=vector(told.engine.normal[row]),
            amount=amount,
            measured=None,
            bound=None,
            engine=self.engine,
            options=options,
        )


def _amounts(kind: Kind, rows: Int64Array, told: Told) -> Float64Array:
    """Metres: how deep the limb missed is cut, how far the phantom's is passed, how far apart two hits are."""
    start, end = told.start[rows], told.end[rows]
    if kind == Kind.WRONG_LIMB:
        apart: Float64Array = np.abs(told.engine.fraction[rows] - told.true.fraction[rows])
        metres: Float64Array = apart * np.linalg.norm(end - start, axis=1)
        return metres
    about: Int32Array = (told.true if kind == Kind.MISSED else told.engine).limb[rows]
    limbs = told.limbs
    return np.abs(clearances(start, end, limbs.p1[about], limbs.p2[about], limbs.radius[about]))


def _three(row: Float64Array) -> tuple[float, float, float]:
    x, y, z = row.tolist()
    return x, y, z
