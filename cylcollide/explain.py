"""Why a segment hits or misses one limb: the bounds of the limb as intervals, and which of them decided."""

from dataclasses import dataclass, field
from fractions import Fraction
from itertools import product
from math import hypot, inf, nan
from os import PathLike
from typing import TYPE_CHECKING, NamedTuple

import numpy as np
from numpy.typing import ArrayLike

from cylcollide import casting, door, drawing, shapes
from cylcollide._types import ALL_LAYERS, LARGEST_SAFE, POLICY_HIT, Face, Shape
from cylcollide.casting import Query
from cylcollide.exact import order
from cylcollide.exact.ball import Capsule, Sphere
from cylcollide.exact.box import Box
from cylcollide.exact.cylinder import Cylinder, Tube
from cylcollide.exact.line import RayNumbers, Solid, Stretch, Triple, axis_frame, earlier, later, quadratic, slab
from cylcollide.exact.numbers import ZERO, QuadraticNumber
from cylcollide.exact.revolution import Ellipsoid, Tapered
from cylcollide.hits import empty_verdicts
from cylcollide.kernels.clearance import growth_to_touch
from cylcollide.kernels.ray import Rays
from cylcollide.kernels.table import Limb, LimbTable, limb_at
from cylcollide.settling import exact_limb

if TYPE_CHECKING:
    from matplotlib.figure import Figure

Bounds = list[tuple[str, list[Stretch]]]
ONE = QuadraticNumber(1, 1)
BORE = "bore"  # the one bound that a ray must be outside of


class Bound(NamedTuple):
    """When the segment's line, lengthened without end, is within one bound of a limb; fractions of the segment."""

    name: str
    begins: float  # -inf: has always been
    ends: float  # inf: for ever; begins > ends: never


class Passed(NamedTuple):
    """A stretch of the segment inside the limb, fractions and faces."""

    entry: float
    exit: float
    entry_face: Face  # INSIDE if the segment starts in the limb
    exit_face: Face  # INSIDE if it ends there


@dataclass(frozen=True)
class Explanation:
    """What happened between one segment and one limb. `print` it, or `plot` it."""

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
    """How far the verdict is from flipping, in the unit of the input: the gap of a miss, minus the depth of a hit.

    It is the growth (`Limbs.inflated`) at which the limb just touches the segment: a miss with clearance c hits it when
    inflated by more than c (if a tube's bore stays open), and a hit stays one while all faces move in by less than -c.
    Computed in float64 as the least growth that reaches a point of the segment (`kernels/clearance.py`), right to about
    `ROUNDING_BOUND` times the limb's largest coordinate; its sign is that of the exact verdict.
    NaN where sizes are beyond what float64 products hold (`LARGEST_SAFE`).
    """
    nearest: float
    """Fraction at which that touch happens."""
    rechecked: bool
    """Whether float64 bounds did not decide and exact arithmetic had to."""
    table: LimbTable = field(repr=False, compare=False)
    """The limb alone, as kernels read it."""

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
        word = "depth" if self.hit else "gap"
        how = "exact arithmetic decided" if self.rechecked else "float64 bounds decided"
        return "\n".join([*lines, f"  {word:<10} {abs(self.clearance):.6g}", f"  {how}"])

    def plot(self, path: str | PathLike[str] | None = None) -> "Figure":
        """Draw the cut through the limb in the plane of the segment, along the axis, and the bounds beneath it.

        Parameters
        ----------
        path
            File to write, its ending says of which kind; None writes nothing.

        Raises
        ------
        ImportError
            Without matplotlib: install `cylcollide[plot]`.
        """
        figure = drawing.draw(self)
        if path is not None:
            figure.savefig(path)
        return figure


def _span(begins: float, ends: float) -> str:
    return "never" if begins > ends else f"{begins:.6g} … {ends:.6g}"


def explain_segment(table: LimbTable, start: ArrayLike, end: ArrayLike, limb: int | None) -> Explanation:
    """Explain one segment, start and end (3,), and one limb, which may be left out if there is only one."""
    n = len(table.radius)
    if limb is None and n != 1:
        raise ValueError(f"limb: expected the index of one of {n} limbs, got None; name the limb to explain")
    chosen = int(door.indices(0 if limb is None else limb, "limb", n)[0])
    first, last = door.vectors(start, "start", 1), door.vectors(end, "end", 1)
    alone = shapes.chosen_rows(table, np.array([chosen]))
    rays = Rays(first, last, True, np.ones(1))
    ray = RayNumbers(tuple(first[0].tolist()), tuple(last[0].tolist()), True, 1.0)
    solid = exact_limb(alone, 0)
    bounds, chords = _bounds(solid, ray), order.limb_chords(ray, solid)
    clearance, nearest = _clearance(ray, limb_at(alone.rows, alone.solid, 0))
    return Explanation(
        chosen,
        Shape(int(alone.kind[0])),
        ray.origin,
        ray.second,
        tuple(bound for name, stretches in bounds for bound in _as_floats(name, stretches)),
        tuple(Passed(_float(c.entry), _float(c.exit or ONE), Face(c.entry_face), Face(c.exit_face)) for c in chords),
        _why_hit(solid, bounds, chords[0]) if chords else _why_missed(solid, ray, bounds),
        min(clearance, 0.0) if chords else max(clearance, 0.0),
        nearest,
        _rechecked(rays, alone),
        alone,
    )


def _float(number: QuadraticNumber) -> float:
    return number.double_double()[0]


def _as_floats(name: str, stretches: list[Stretch]) -> list[Bound]:
    """A bound for each stretch, one that is never met for none."""
    ends = [(-inf if near is None else _float(near), inf if far is None else _float(far)) for near, far in stretches]
    return [Bound(name, *pair) for pair in ends or [(inf, -inf)]]


def _rechecked(rays: Rays, alone: LimbTable) -> bool:
    """Whether the fast path leaves this segment to exact arithmetic."""
    query = Query(rays, door.masks(ALL_LAYERS, 1), door.ignored_characters(None, 1), POLICY_HIT)
    verdicts = empty_verdicts(1)
    casting.cast_rows(query, alone, verdicts)
    return bool(verdicts.unsure[0])


# The bounds of each shape -------------------------------------------------------------------------------------------


def _bounds(solid: Solid, ray: RayNumbers) -> Bounds:
    """What a solid is the intersection of (a capsule: slab ∩ wall, and both balls), each as stretches of the line."""
    match solid:
        case Cylinder(p1, p2, radius):
            return [_slab(ray, p1, p2), ("wall", _wall(ray, p1, p2, radius, radius))]
        case Tube(p1, p2, radius, inner):
            return [*_bounds(Cylinder(p1, p2, radius), ray), (BORE, _wall(ray, p1, p2, inner, inner))]
        case Tapered(p1, p2, radius1, radius2):
            return [_slab(ray, p1, p2), ("wall", _wall(ray, p1, p2, radius1, radius2))]
        case Capsule(p1, p2, radius):
            balls: Bounds = [
                (name, Sphere(p, radius).crossing(ray).stretches)
                for name, p in (("ball at p1", p1), ("ball at p2", p2))
            ]
            return [*_bounds(Cylinder(p1, p2, radius), ray), *balls]
        case Box(center, axes, half_extents):
            # a box whose three axes are the same is one slab
            return [
                (f"slab {name}", Box(center, (a, a, a), (h, h, h)).crossing(ray).stretches)
                for name, a, h in zip("xyz", axes, half_extents, strict=True)
            ]
        case Ellipsoid() | Sphere():
            return [("wall", solid.crossing(ray).stretches)]
    raise AssertionError(f"no bounds for {type(solid).__name__}")


def _slab(ray: RayNumbers, p1: Triple, p2: Triple) -> tuple[str, list[Stretch]]:
    frame = axis_frame(ray, p1, p2)
    return "slab", slab(frame.height, frame.rate, frame.top)


def _wall(ray: RayNumbers, p1: Triple, p2: Triple, radius1: float, radius2: float) -> list[Stretch]:
    """Where a² |(x - p1) × a|² <= (radius times a²)², both nappes of a cone."""
    frame = axis_frame(ray, p1, p2, radius1, radius2)
    (a, b, c), top, (first, last) = frame.distance_terms(), frame.top, frame.radii
    start, change = first * top + (last - first) * frame.height, (last - first) * frame.rate
    return quadratic(top * a - change * change, top * b - start * change, top * c - start * start)


# Which bound decided ------------------------------------------------------------------------------------------------


def _why_hit(solid: Solid, bounds: Bounds, chord: order.Chord) -> str:
    if chord.started_inside:
        return "it starts inside"
    if isinstance(solid, Capsule):
        ball = {Face.CAP1: "the ball at p1", Face.CAP2: "the ball at p2"}.get(chord.entry_face)
        return f"it reaches {ball} first" if ball else "it reaches the wall before either ball"
    if chord.entry_face == Face.BORE:
        return "the bore ends last"
    names = [name for name, stretches in bounds for s in stretches if name != BORE and s.near == chord.entry]
    if len(bounds) == 1:
        return "it reaches the wall"
    return f"{_listed(names)} {'begins' if len(names) == 1 else 'begin'} last"


def _why_missed(solid: Solid, ray: RayNumbers, bounds: Bounds) -> str:
    required = [(name, stretches) for name, stretches in bounds if name != BORE]
    if isinstance(solid, Capsule):
        hull = solid.crossing(ray).stretches
        if hull:
            return _apart([("capsule", hull)])
        body = [(name, stretches) for name, stretches in required if not name.startswith("ball")]
        return f"{_apart(body)}, and it misses both balls"
    return _apart(required) or "it stays in the bore"


def _apart(required: Bounds) -> str:
    """Why a segment is never within all of the bounds at once; empty if it is."""
    never = [name for name, stretches in required if not stretches]
    if never:
        return f"its line stays outside {_listed(never)}"
    for bounds in (required, [*required, ("segment", [Stretch(ZERO, ONE)])]):
        names = [name for name, _ in bounds]
        gaps = [_gap(names, choice) for choice in product(*(stretches for _, stretches in bounds))]
        gap, first, last = min(gaps)
        if gap > 0.0:
            break
    else:
        return ""
    if first == "segment":
        return f"it ends before it reaches the {last}"
    if last == "segment":
        return f"it starts after its line has left the {first}"
    return f"it leaves the {first} before it reaches the {last}"


def _gap(names: list[str], choice: tuple[Stretch, ...]) -> tuple[float, str, str]:
    """How much later the last of the stretches begins than the first ends, 0.0 if not, and the names of the two."""
    near, far = None, None
    for stretch in choice:
        near, far = later(near, stretch.near), earlier(far, stretch.far)
    if near is None or far is None or near <= far:
        return 0.0, "", ""
    first = next(name for name, stretch in zip(names, choice, strict=True) if stretch.far == far)
    last = next(name for name, stretch in zip(names, choice, strict=True) if stretch.near == near)
    return max(_float(near) - _float(far), 5e-324), first, last


def _listed(names: list[str]) -> str:
    """The a, the b and the c."""
    each = [f"the {name}" for name in dict.fromkeys(names)]
    return " and ".join([", ".join(each[:-1]), each[-1]] if len(each) > 1 else each)


# How far from flipping ----------------------------------------------------------------------------------------------


def _clearance(ray: RayNumbers, limb: Limb) -> tuple[float, float]:
    """Growth at which the limb touches the segment, and the fraction; (nan, nan) beyond what the kernels trust."""
    if not max(map(abs, (*ray.origin, *ray.second, limb.frame.extent))) <= LARGEST_SAFE:
        return nan, nan
    # seen from the point closest to the limb's centre, so that a start far away costs no digits
    origin = [Fraction(x) for x in ray.origin]
    step = [Fraction(x) - o for x, o in zip(ray.second, origin, strict=True)]
    square = sum(d * d for d in step)
    to_centre = sum((Fraction(c) - o) * d for c, o, d in zip(limb.frame.centre, origin, step, strict=True))
    closest = float(min(max(to_centre / square, Fraction(0)), Fraction(1))) if square else 0.0
    x, y, z = (float(o + Fraction(closest) * d) for o, d in zip(origin, step, strict=True))
    length = hypot(*map(float, step))
    u, v, w = (float(d) / length if length else 0.0 for d in step)
    growth, s = growth_to_touch((x, y, z), (u, v, w), -closest * length, (1.0 - closest) * length, limb)
    return growth, min(max(closest + s / length, 0.0), 1.0) if length else 0.0
