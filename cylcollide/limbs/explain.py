"""Why a segment hits or misses one limb: the bounds of the limb as intervals, and the one that decides."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field
from fractions import Fraction
from functools import partial
from itertools import product
from math import hypot, inf
from os import PathLike
from typing import TYPE_CHECKING, NamedTuple, cast

import numpy as np
from numpy.typing import ArrayLike

from cylcollide import validate
from cylcollide._types import ALL_LAYERS, POLICY_HIT, Face, RayNumbers, Shape
from cylcollide.exact.line import End, Stretch, Triple, last_of, segment_numbers
from cylcollide.exact.numbers import ZERO, Number, QuadraticNumber
from cylcollide.exact.order import Chord, limb_chords
from cylcollide.exact.solid import Bound as ExactBound
from cylcollide.exact.solid import Solid
from cylcollide.kernels.limb_table import LimbTable, plain_limb
from cylcollide.kernels.ray import Rays
from cylcollide.limbs import explain_drawing, tables
from cylcollide.limbs.figures import save_figure
from cylcollide.process.signatures import Shown
from cylcollide.query.clearance import clearance_of
from cylcollide.query.exact_fallback import exact_limb, own_pieces, resolve_hits
from cylcollide.query.hits import named_columns
from cylcollide.query.loops import single
from cylcollide.query.loops.columns import empty_hits
from cylcollide.query.loops.inputs import RayBatch

if TYPE_CHECKING:
    from matplotlib.figure import Figure

ONE = QuadraticNumber(1, 1)
SEGMENT = Stretch(End(ZERO, Face.INSIDE), End(ONE, Face.INSIDE))

Region = tuple[str, list[Stretch]]
"""A bound's name, and the stretches of the line within it; for a bore, those in the bore, outside of the limb."""

LEAST_GAP = Fraction(1, 1 << 1074)
"""Replaces a gap whose ends are too close for their approximations."""


class Bound(NamedTuple):
    """The interval of the infinite line through the segment within one bound, as fractions of the segment."""

    name: str
    begins: float  # -inf if unbounded
    ends: float  # inf if unbounded; less than `begins` if the line is never within the bound


class Passed(NamedTuple):
    """A stretch of the segment inside the limb: fractions and faces of its ends."""

    entry: float
    exit: float
    entry_face: Face  # INSIDE if the segment starts in the limb
    exit_face: Face  # INSIDE if it ends there


@dataclass(frozen=True)
class Explanation(metaclass=Shown):
    """The verdict of one segment and one limb, and the bound that decides; `print` or `plot` it."""

    limb: int
    """Index of the limb."""
    shape: Shape
    start: Triple
    end: Triple
    bounds: tuple[Bound, ...]
    """The limb's bounds: "slab" (between the caps), "wall", "bore" (excluded from the limb), "ball at p1", "slab x" ...
    A cone's wall may appear twice, once for each nappe. Each number is exact but for one rounding."""
    passed: tuple[Passed, ...]
    """The stretches inside the limb: none for a miss, two through a tube's bore. Verdict and faces are exact."""
    reason: str
    """The bound that decides, in words."""
    clearance: float
    """The growth that flips the verdict, in the unit of the input: at least 0 for a miss, minus the depth of a hit.

    At this growth (`Limbs.inflated`) the limb just touches the segment. A missed limb with clearance c is hit when
    inflated by more than c (if a tube's bore stays open). A hit stays a hit while all faces move in by less than -c.
    Computed in float64, as the least growth that reaches a point of the segment (`kernels/clearance.py`), with an error
    of about `ROUNDING_BOUND` times the limb's size and distance. Its sign never contradicts the exact verdict; a graze
    may have 0 on either side.
    """
    nearest: float
    """Fraction of the segment at which the grown limb touches it."""
    rechecked: bool
    """Whether exact arithmetic decides, because bounds do not."""
    _table: LimbTable = field(repr=False, compare=False)
    """The table of this one limb."""

    @property
    def hit(self) -> bool:
        """The verdict."""
        return bool(self.passed)

    @property
    def face(self) -> Face:
        """The face that is hit; INSIDE if the segment starts in the limb, NONE on a miss."""
        return self.passed[0].entry_face if self.passed else Face.NONE

    @property
    def exit_face(self) -> Face:
        """The face at which the segment leaves; INSIDE if it ends in the limb, NONE on a miss."""
        return self.passed[0].exit_face if self.passed else Face.NONE

    def __str__(self) -> str:
        lines = [f"limb {self.limb}, {self.shape.name.lower()}: {'hit' if self.hit else 'miss'}, {self.reason}"]
        for entry, leave, first, last in self.passed:
            lines.append(f"  {'inside':<10} {_span(entry, leave)}  {first.name} -> {last.name}")
        lines += [f"  {bound.name:<10} {_span(bound.begins, bound.ends)}" for bound in self.bounds]
        word = "depth" if self.hit else "clearance"
        how = "exact arithmetic decided" if self.rechecked else "floating-point bounds decided"
        lines += [f"  {word:<10} {abs(self.clearance):.6g}", f"  {how}"]
        return "\n".join(lines + ([] if self.hit else [f"  {line}" for line in remarks_on_end(self.end)]))

    def plot(self, path: str | PathLike[str] | None = None) -> Figure:
        """Draw the cut through the limb in the plane of segment and axis, and the bounds as bars.

        Parameters
        ----------
        path
            File to write, its format given by its suffix; None writes nothing.

        Raises
        ------
        ImportError
            Without matplotlib: install the extra `plot`.
        """
        word, verdict = ("depth", "hit") if self.hit else ("clearance", "miss")
        figure = explain_drawing.draw(
            plain_limb(self._table, 0),
            np.array([self.start, self.end]),
            self.nearest,
            [(p.entry, p.exit, p.entry_face.name) for p in self.passed],
            self.bounds,
            f"{self.shape.name.lower()}: {verdict}, {self.reason}\n{word} {abs(self.clearance):.3g}",
        )
        if path is not None:
            save_figure(figure, path)
        return figure


def remarks_on_end(end: Sequence[float]) -> list[str]:
    """A warning line, if the end of a segment that misses looks like a direction."""
    is_unit = abs(hypot(*end) - 1.0) < 1e-6
    return ["the end has length 1: if it is a direction, use cast_rays, or start + distance * end"] * is_unit


def _span(begins: float, ends: float) -> str:
    return "never" if begins > ends else f"{begins:.6g} to {ends:.6g}"


def explain_segment(table: LimbTable, start: ArrayLike, end: ArrayLike, limb: int | None) -> Explanation:
    """The explanation of one segment, start and end (3,), and the limb of index `limb`; None: the only one."""
    n = len(table.radius)
    if limb is None and n != 1:
        raise ValueError(f"limb: expected the index of one of {n} limbs, got None; pass its index")
    chosen = validate.index(0 if limb is None else limb, "limb", n)
    first, last = validate.vectors(start, "start", 1), validate.vectors(end, "end", 1)
    alone = tables.chosen_rows(table, np.array([chosen]))
    rays = Rays(first, last, True, validate.NO_LIMIT, validate.NO_RADIUS)
    ray = segment_numbers(first[0], last[0])
    solid = exact_limb(alone, 0)
    regions = [(bound.name, bound.stretches if bound.hole is None else bound.hole) for bound in solid.bounds(ray)]
    chords = limb_chords(ray, solid)
    clearance, nearest = clearance_of(ray, alone, 0)
    return Explanation(
        chosen,
        Shape(int(alone.kind[0])),
        ray.origin,
        ray.second,
        tuple(bound for name, stretches in regions for bound in _as_floats(name, stretches)),
        tuple(Passed(_float(c.entry), _float(c.exit or ONE), Face(c.entry_face), Face(c.exit_face)) for c in chords),
        _why_hit(solid, ray, chords[0]) if chords else _why_missed(solid, ray),
        min(clearance, 0.0) if chords else max(clearance, 0.0),
        nearest,
        _rechecked(rays, alone),
        alone,
    )


def _float(number: Number) -> float:
    return number.double_double()[0]


def _as_floats(name: str, stretches: list[Stretch]) -> list[Bound]:
    """A `Bound` for each stretch; without stretches, one empty `Bound`."""
    ends = [
        (-inf if s.near is None else _float(s.near.time), inf if s.far is None else _float(s.far.time))
        for s in stretches
    ]
    return [Bound(name, *pair) for pair in ends or [(inf, -inf)]]


def _rechecked(rays: Rays, alone: LimbTable) -> bool:
    """Whether float64 bounds leave this segment to exact arithmetic."""
    batch = RayBatch(rays, validate.masks(ALL_LAYERS, 1), validate.ignored_characters(None, 1), POLICY_HIT)
    hits = empty_hits(1)
    single.cast_rows(batch, alone.kernel_rows, hits)
    return bool(resolve_hits(named_columns(batch, hits), alone, "hit", partial(own_pieces, alone)).undecided[0])


# Words --------------------------------------------------------------------------------------------------------------


def _why_hit(solid: Solid, ray: RayNumbers, chord: Chord) -> str:
    """The bound at which the first stretch in the limb begins, in words."""
    if chord.started_inside:
        return "it starts inside"
    body, *balls = solid.parts(ray)
    if balls:
        ball = {Face.CAP1: "the ball at p1", Face.CAP2: "the ball at p2"}.get(chord.entry_face)
        return f"it reaches {ball} first" if ball else "it reaches the wall before either ball"
    if chord.entry_face == Face.BORE:
        return "the bore ends last"
    if len(body) == 1:
        return f"it reaches the {body[0].name}"
    names = [name for name, stretches in _required(body) for s in stretches if _is_at(s.near, chord.entry)]
    return f"{_listed(names)} {'begins' if len(names) == 1 else 'begin'} last"


def _why_missed(solid: Solid, ray: RayNumbers) -> str:
    """The bound that the segment never enters, leaves too early, or reaches too late, in words."""
    body, *balls = solid.parts(ray)
    if not balls:
        return _apart(_required(body)) or "it stays in the bore"
    crossing = solid.crossing(ray)
    return _apart([("capsule", crossing)]) if crossing else f"{_apart(_required(body))}, and it misses both balls"


def _required(bounds: Sequence[ExactBound]) -> list[Region]:
    """The regions that must contain the line: all bounds but bores."""
    return [(bound.name, bound.stretches) for bound in bounds if bound.hole is None]


def _apart(required: list[Region]) -> str:
    """Why the segment is never within all of the regions at once; empty if it is."""
    never = [name for name, stretches in required if not stretches]
    if never:
        return f"its line stays outside {_listed(never)}"
    for regions in (required, [*required, ("segment", [SEGMENT])]):
        names = [name for name, _ in regions]
        gaps = [_gap(names, choice) for choice in product(*(stretches for _, stretches in regions))]
        gap, first, last = min(gaps)
        if gap > 0:
            break
    else:
        return ""
    if first == "segment":
        return f"it ends before it reaches the {last}"
    if last == "segment":
        return f"it starts after its line has left the {first}"
    return f"it leaves the {first} before it reaches the {last}"


def _gap(names: list[str], choice: tuple[Stretch, ...]) -> tuple[Fraction, str, str]:
    """The gap, as a fraction, from the first end of a stretch to the last begin, 0 if none; and the names of both."""
    near, far = None, None
    for stretch in choice:
        near, far = last_of(near, stretch.near), last_of(far, stretch.far, -1)
    if near is None or far is None or near.time.compare(far.time) <= 0:
        return Fraction(0), "", ""
    first = next(name for name, s in zip(names, choice, strict=True) if _is_at(s.far, far.time))
    last = next(name for name, s in zip(names, choice, strict=True) if _is_at(s.near, near.time))
    later, earlier = (cast(QuadraticNumber, end.time).approximate() for end in (near, far))
    gap = Fraction(*later) - Fraction(*earlier)
    return max(gap, LEAST_GAP), first, last


def _is_at(end: End | None, time: Number) -> bool:
    return end is not None and end.time.compare(time) == 0


def _listed(names: list[str]) -> str:
    """The names as a list in words: the a, the b and the c."""
    each = [f"the {name}" for name in dict.fromkeys(names)]
    return " and ".join([", ".join(each[:-1]), each[-1]] if len(each) > 1 else each)
