"""Explanation of why a segment hits or misses one limb: the limb's bounds as intervals, and which of them decided."""

from dataclasses import dataclass, field
from math import inf
from os import PathLike
from typing import TYPE_CHECKING, NamedTuple

import numpy as np
from numpy.typing import ArrayLike

from cylcollide import validate
from cylcollide._types import ALL_LAYERS, POLICY_HIT, Face, Shape
from cylcollide.exact.line import RayNumbers, Stretch, Triple
from cylcollide.exact.numbers import QuadraticNumber
from cylcollide.exact.order import limb_chords
from cylcollide.kernels.clearance import growth_to_touch
from cylcollide.kernels.limb_table import LimbTable, plain_limb
from cylcollide.kernels.ray import Rays
from cylcollide.limbs import explain_drawing, explain_words, tables
from cylcollide.limbs.segment_frame import segment_about_limb
from cylcollide.query.exact_fallback import exact_limb
from cylcollide.query.loops import single
from cylcollide.query.loops.columns import empty_hits
from cylcollide.query.loops.inputs import RayBatch

if TYPE_CHECKING:
    from matplotlib.figure import Figure

ONE = QuadraticNumber(1, 1)


class Bound(NamedTuple):
    """When the segment's line, extended to infinity, is within one bound of a limb; fractions of the segment."""

    name: str
    begins: float  # -inf if it has no begin
    ends: float  # inf if it has no end; less than `begins` if never within


class Passed(NamedTuple):
    """A stretch of the segment inside the limb, fractions and faces."""

    entry: float
    exit: float
    entry_face: Face  # INSIDE if the segment starts in the limb
    exit_face: Face  # INSIDE if it ends there


@dataclass(frozen=True)
class Explanation:
    """The verdict of one segment and one limb, and what decided it. `print` it, or `plot` it."""

    limb: int
    """Index of the limb."""
    shape: Shape
    start: Triple
    end: Triple
    bounds: tuple[Bound, ...]
    """The limb's bounds: "slab" (between the caps), "wall", "bore" (to be outside of), "ball at p1", "slab x" ...
    A cone's wall may come twice, once for each nappe. From the exact layer, each number rounded once."""
    passed: tuple[Passed, ...]
    """The stretches inside: none for a miss, two through a tube's bore; exact verdict and faces."""
    reason: str
    """Which bound decided, in words."""
    clearance: float
    """How far the verdict is from flipping, in the unit of the input: positive for a miss, minus the depth of a hit.

    It is the growth (`Limbs.inflated`) at which the limb just touches the segment: a miss with clearance c hits it when
    inflated by more than c (if a tube's bore stays open), and a hit stays one while all faces move in by less than -c.
    Computed in float64 as the least growth that reaches a point of the segment (`kernels/clearance.py`), right to about
    `ROUNDING_BOUND` times the limb's size and its distance; its sign is that of the exact verdict.
    """
    nearest: float
    """Fraction at which that touch happens."""
    rechecked: bool
    """Whether float64 bounds did not decide and exact arithmetic had to."""
    table: LimbTable = field(repr=False, compare=False)
    """The table of the limb alone."""

    @property
    def hit(self) -> bool:
        """The verdict."""
        return bool(self.passed)

    @property
    def face(self) -> Face:
        """The face that is hit, INSIDE if the segment starts in the limb, NONE on a miss."""
        return self.passed[0].entry_face if self.passed else Face.NONE

    @property
    def exit_face(self) -> Face:
        """The face through which the hit limb is left first, INSIDE if the segment ends there, NONE on a miss."""
        return self.passed[0].exit_face if self.passed else Face.NONE

    def __str__(self) -> str:
        lines = [f"limb {self.limb}, {self.shape.name.lower()}: {'hit' if self.hit else 'miss'}, {self.reason}"]
        for entry, leave, first, last in self.passed:
            lines.append(f"  {'inside':<10} {_span(entry, leave)}  {first.name} → {last.name}")
        lines += [f"  {bound.name:<10} {_span(bound.begins, bound.ends)}" for bound in self.bounds]
        word = "depth" if self.hit else "clearance"
        how = "exact arithmetic decided" if self.rechecked else "float64 bounds decided"
        return "\n".join([*lines, f"  {word:<10} {abs(self.clearance):.6g}", f"  {how}"])

    def plot(self, path: str | PathLike[str] | None = None) -> "Figure":
        """Draw the cut through the limb in the plane of segment and axis, and the bounds as bars beneath it.

        Parameters
        ----------
        path
            File to write, its format given by its suffix; None writes nothing.

        Raises
        ------
        ImportError
            Without matplotlib: install `cylcollide[plot]`.
        """
        word, verdict = ("depth", "hit") if self.hit else ("clearance", "miss")
        figure = explain_drawing.draw(
            explain_drawing.Subject(
                self.shape,
                plain_limb(self.table, 0),
                np.array([self.start, self.end]),
                self.nearest,
                [(p.entry, p.exit, p.entry_face.name) for p in self.passed],
                self.bounds,
                f"{self.shape.name.lower()}: {verdict}, {self.reason}\n{word} {abs(self.clearance):.3g}",
            )
        )
        if path is not None:
            figure.savefig(path)
        return figure


def _span(begins: float, ends: float) -> str:
    return "never" if begins > ends else f"{begins:.6g} … {ends:.6g}"


def explain_segment(table: LimbTable, start: ArrayLike, end: ArrayLike, limb: int | None) -> Explanation:
    """The explanation of one segment, start and end (3,), and one limb, None if there is only one."""
    n = len(table.radius)
    if limb is None and n != 1:
        raise ValueError(f"limb: expected the index of one of {n} limbs, got None; name the limb to explain")
    chosen = validate.index(0 if limb is None else limb, "limb", n)
    first, last = validate.vectors(start, "start", 1), validate.vectors(end, "end", 1)
    alone = tables.chosen_rows(table, np.array([chosen]))
    rays = Rays(first, last, True, validate.NO_LIMIT)
    ray = RayNumbers(tuple(first[0].tolist()), tuple(last[0].tolist()), True, 1.0)
    solid = exact_limb(alone, 0)
    regions = [explain_words.region(bound) for bound in solid.bounds(ray)]
    chords = limb_chords(ray, solid)
    clearance, nearest = _clearance(ray, alone)
    return Explanation(
        chosen,
        Shape(int(alone.kind[0])),
        ray.origin,
        ray.second,
        tuple(bound for name, stretches in regions for bound in _as_floats(name, stretches)),
        tuple(Passed(_float(c.entry), _float(c.exit or ONE), Face(c.entry_face), Face(c.exit_face)) for c in chords),
        explain_words.why_hit(solid, ray, chords[0]) if chords else explain_words.why_missed(solid, ray),
        min(clearance, 0.0) if chords else max(clearance, 0.0),
        nearest,
        _rechecked(rays, alone),
        alone,
    )


def _float(number: QuadraticNumber) -> float:
    return number.double_double()[0]


def _as_floats(name: str, stretches: list[Stretch]) -> list[Bound]:
    """A `Bound` for each stretch; for no stretches one that is never satisfied."""
    ends = [
        (-inf if s.near is None else _float(s.near.time), inf if s.far is None else _float(s.far.time))
        for s in stretches
    ]
    return [Bound(name, *pair) for pair in ends or [(inf, -inf)]]


def _rechecked(rays: Rays, alone: LimbTable) -> bool:
    """Whether the kernels leave this segment undecided, to exact arithmetic."""
    batch = RayBatch(rays, validate.masks(ALL_LAYERS, 1), validate.ignored_characters(None, 1), POLICY_HIT)
    hits = empty_hits(1)
    single.cast_rows(batch, alone.kernel_rows, hits)
    return bool(hits.undecided[0])


def _clearance(ray: RayNumbers, alone: LimbTable) -> tuple[float, float]:
    """Growth at which the only limb of a table touches the segment, and the fraction."""
    about = segment_about_limb(ray, alone)
    growth, s = growth_to_touch(about.place, about.direction, -about.before, about.behind, about.limb)
    return growth / about.unit, about.fraction(s)
