"""Signed distances of points measured by engines: wrong signs, errors, time, and the causes of PyBullet's errors.

The truth is `Limbs.closest_points`; `Limbs.classify_points` proves its signs, in integers where necessary.
"""

import time
from collections.abc import Callable, Iterator, Sequence
from typing import TypeVar, cast

import numpy as np

from cylcollide._types import BoolArray, Float64Array, Int64Array, Shape, Side
from cylcollide.crosscheck.compare.disagreements import median_99_max
from cylcollide.crosscheck.generate.points import SHAPES, draw_points, rounded
from cylcollide.crosscheck.records import JsonObject, one_line, plain
from cylcollide.engines import create, names, variants
from cylcollide.engines.bullet import BulletEngine
from cylcollide.engines.protocol import Engine, MeasuresDistances
from cylcollide.limbs.limbs import Limbs

POINTS = 1500
"""Points per shape."""
EXACT = 1e-9
"""Metres: smaller errors are rounding."""
MARGIN, GJK, EPA = "the margin rounds edges", "GJK stops early", "EPA stops early"
MM, MICROSECONDS = 1e3, 1e6

T = TypeVar("T")


class ShapeDistances:
    """Points about limbs of one shape, and their true distances."""

    def __init__(self, shape: Shape, n: int, seed: int) -> None:
        self.shape, (self.limbs, self.points, self.limb) = shape, draw_points(shape, n, seed)
        self.of_each = self.limbs[self.limb]
        self.truth, self.own_seconds = _timed(lambda: self.of_each.closest_points(self.points).distance)
        side = {int(Side.INSIDE): -1, int(Side.SURFACE): 0, int(Side.OUTSIDE): 1}
        exact = [side[one] for one in self.of_each.classify_points(self.points).tolist()]
        self.unproved = int(np.count_nonzero(np.sign(self.truth) != exact))
        """Number of wrong signs of this library."""

    def row(self, engine: MeasuresDistances) -> tuple[JsonObject, Float64Array]:
        """The errors of an engine that was built with the limbs, and its answers."""
        measured, seconds = _timed(lambda: engine.signed_distances(self.points, self.limb))
        off, answered, outside = np.abs(measured - self.truth), np.isfinite(measured), self.truth > 0.0
        return {
            "shape": self.shape.name.lower(),
            "points": len(measured),
            "lost": int(np.count_nonzero(~answered)),
            "wrong_sign": int(np.count_nonzero(answered & (np.sign(measured) * np.sign(self.truth) < 0.0))),
            "outside_mm": [MM * one for one in median_99_max(off[outside])],
            "inside_mm": [MM * one for one in median_99_max(off[~outside])],
            "microseconds": MICROSECONDS * seconds / len(measured),
            "slower": seconds / self.own_seconds,
        }, measured

    def causes(self, engine: BulletEngine, measured: Float64Array) -> Iterator[JsonObject]:
        """The causes of PyBullet's errors: its margin if the solid with rounded edges explains them, else GJK or EPA.

        A margin is proved if, with half of it, the error is that of edges rounded by half.
        """
        off, margin = np.abs(measured - self.truth), engine.margins()[self.limb]
        wrong, has_edges = off > EXACT, self.shape in (Shape.CYLINDER, Shape.BOX)
        by_margin = wrong & _explains(self.of_each, self.points, margin, measured, off) if has_edges else wrong & False
        is_beyond_core = self.truth > -margin
        for cause, rows in (
            (MARGIN, by_margin),
            (GJK, wrong & ~by_margin & is_beyond_core),
            (EPA, wrong & ~by_margin & ~is_beyond_core),
        ):
            if rows.any():
                proved = self._halved(np.flatnonzero(rows).astype(np.int64), off, margin) if cause == MARGIN else None
                name, count = self.shape.name.lower(), int(np.count_nonzero(rows))
                worst = {"largest_mm": MM * off[rows].max(), "margin_mm": MM * margin.max()}
                yield {"shape": name, "cause": cause, "count": count, **worst, "proved": proved}

    def _halved(self, rows: Int64Array, off: Float64Array, margin: Float64Array) -> int:
        """Number of these errors that decrease as half the margin predicts."""
        with BulletEngine(margin=0.5 * float(margin[0])) as engine:
            engine.build(self.limbs)
            points, of_each = self.points[rows], self.of_each[rows]
            measured, half = engine.signed_distances(points, self.limb[rows]), engine.margins()[self.limb[rows]]
        smaller = np.abs(measured - self.truth[rows]) < 0.75 * off[rows]
        return int(np.count_nonzero(smaller & _explains(of_each, points, half, measured, off[rows])))


def _explains(
    limbs: Limbs, points: Float64Array, margin: Float64Array, measured: Float64Array, off: Float64Array
) -> BoolArray:
    """Whether limbs with rounded edges explain most of each error."""
    return np.asarray(np.abs(measured - rounded(limbs, points, margin)) < 0.5 * off)


def distances(engines: Sequence[str], n: int = POINTS, seed: int = 0) -> JsonObject:
    """Measure n points of each shape in engines that have distances; "all": all other engines that are installed.

    Of an engine with several variants the first is used. `errors`: why an engine did not finish; `unproved`: number of
    wrong signs of this library.
    """
    wanted = dict.fromkeys(each for name in engines for each in (names()[1:] if name == "all" else (name,)))
    shapes = [ShapeDistances(shape, n, seed) for shape in SHAPES]
    rows, causes, errors = list[JsonObject](), list[JsonObject](), dict[str, str]()
    for name in wanted:
        try:
            with create(name, **next(iter(variants(name).values()))) as engine:
                found, why = _measured(engine, shapes)
        except ImportError:
            continue
        except Exception as error:  # any error of an engine: the others are measured nevertheless
            errors[name] = one_line(error, named=True)
            continue
        rows += found
        causes += why
    unproved = sum(one.unproved for one in shapes)
    return {"rows": plain(rows), "causes": plain(causes), "errors": errors, "unproved": unproved}


def _measured(engine: Engine, shapes: Sequence[ShapeDistances]) -> tuple[list[JsonObject], list[JsonObject]]:
    """Rows and causes of one engine, empty if it does not measure distances."""
    rows, causes, measure = list[JsonObject](), list[JsonObject](), cast(object, engine)
    if not isinstance(measure, MeasuresDistances):
        return rows, causes
    for one in shapes:
        if not engine.capabilities.lacks([one.shape]):
            engine.build(one.limbs)
            row, measured = one.row(measure)
            rows.append({"engine": engine.name, **row})
            if isinstance(engine, BulletEngine):
                causes += one.causes(engine, measured)
    return rows, causes


def _timed(work: Callable[[], T]) -> tuple[T, float]:
    began = time.process_time()
    return work(), time.process_time() - began
