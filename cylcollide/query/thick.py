"""Thick rays: limbs grown by their radius, for exact arithmetic."""

from __future__ import annotations

from collections.abc import Sequence
from math import inf

import numpy as np

from cylcollide._types import POLICY_CODES, Face, InsidePolicy, RayNumbers
from cylcollide.constants import LARGEST_SAFE
from cylcollide.exact import order
from cylcollide.exact.line import End, Stretch
from cylcollide.exact.numbers import QuadraticNumber
from cylcollide.exact.shapes import line_from
from cylcollide.exact.solid import Bound, Solid, slab
from cylcollide.kernels.aabb import padded_box
from cylcollide.kernels.at_surface import LEAVING, settled_span, sides_of_ray
from cylcollide.kernels.inside_policy import ray_hit_bounds
from cylcollide.kernels.interval import NOTHING, UNDECIDED_FACE, Span, nothing_known
from cylcollide.kernels.limb_table import LimbTable, plain_limb
from cylcollide.kernels.ray import Rays, ray_at
from cylcollide.query.loops.chords import write_span

SOONEST = 2.0**-1022
"""Fraction of the first contact of a ray that may start in a limb or just before it."""


class Bounded(Solid):
    """A tapered cylinder or an ellipsoid grown by the radius of one ray, as far as float64 bounds its contact.

    Its crossing is that of the larger bounds: it begins at the earliest possible contact. Where bounds do not decide
    whether the ray starts in it, or leaves it before its end, the crossing is one that counts under the policy for a
    start inside. A ray that misses the limb's grown box misses the limb, even if bounds leave this open, so that no
    answer depends on the boxes of a tree.
    """

    def __init__(self, rays: Rays, i: int, table: LimbTable, limb: int, inside: InsidePolicy) -> None:
        one, span, numbers = plain_limb(table, limb), nothing_known(0.0), np.empty(6)
        with np.errstate(all="ignore"):
            ray = ray_at(rays, i)
            if max(ray.extent, one.extent, ray.radius) <= LARGEST_SAFE:
                write_span(rays, i, table.kernel_rows, limb, numbers)
                begin, end, sooner, later, first, last = numbers.tolist()
                start, stop = sides_of_ray(rays, i, one)
                span = settled_span(ray, Span((begin, end), (sooner, later), first, last), start, stop)
                if LEAVING in (start, stop):
                    span = Span(NOTHING, NOTHING, UNDECIDED_FACE, UNDECIDED_FACE)
            hit = ray_hit_bounds(ray, span, POLICY_CODES[inside])
            self.box = padded_box(one)
        self.ray, self.span, self.inside, self.hit = ray, span, inside, hit
        self.is_certain = bool(hit.certain) and hit.face != UNDECIDED_FACE
        """Whether the ray certainly hits the limb, by which face."""

    def bounds(self, ray: RayNumbers) -> Sequence[Bound]:
        """The bounds of the box around the grown limb: every traversal finds the limb for a ray that hits this box."""
        low, high = self.box
        offset, step, begin, (*end, radius) = line_from(ray, low, *high, self.ray.radius)
        sizes = [last - first + 2 * radius for first, last in zip(begin, end, strict=True)]
        return [slab("box", offset[k] + radius, step[k], sizes[k], Face.SIDE, Face.SIDE) for k in range(3)]

    def crossing(self, ray: RayNumbers) -> list[Stretch]:
        """Where the line may be inside, clipped to the ray; an end of None is not on the ray."""
        (first, last), limit = self.span.outer, self.ray.limit
        if not (first <= last and last >= 0.0 and first <= limit and first < inf):
            return []
        if not self.is_certain and not any(order.is_on_ray(ray, stretch) for stretch in super().crossing(ray)):
            return []
        starts_inside = first <= 0.0 and (self.inside == "hit" or bool(self.hit.inside) or limit == 0.0)
        may_leave = self.inside == "exit" and starts_inside and bool(self.hit.possible) and self.ray.length > 0.0
        stays = not (last <= limit or may_leave)
        entry = 0.0 if starts_inside else max(self._fraction(first, ray), SOONEST)
        near = None if starts_inside else _end(entry, self.span.first_face)
        return [Stretch(near, None if stays else _end(max(self._fraction(last, ray), entry), self.span.last_face))]

    def earliest(self) -> QuadraticNumber:
        """A fraction before which the ray certainly does not hit the limb."""
        return QuadraticNumber.of_float(float(self.hit.lower * self.ray.per_length))

    def latest(self) -> QuadraticNumber:
        """A fraction at which the ray has certainly hit the limb, if it is certain."""
        return QuadraticNumber.of_float(float(self.hit.upper * self.ray.per_length))

    def _fraction(self, metres: float, ray: RayNumbers) -> float:
        """A fraction that is not beyond the ray's end, whatever rounding does."""
        return min(float(metres * self.ray.per_length), ray.limit)


def _end(fraction: float, face: float) -> End:
    return End(QuadraticNumber.of_float(fraction), Face.SIDE if face == UNDECIDED_FACE else Face(int(face)))


def is_open(
    numbers: RayNumbers, solids: list[tuple[int, Solid]], first: tuple[int, order.Chord] | None, inside: InsidePolicy
) -> bool:
    """Whether bounds do not decide that the ray hits this limb first, by this face."""
    if first is None or not any(isinstance(one, Bounded) for _, one in solids):
        return False
    (limb, chord), chosen = first, dict(solids)[first[0]]
    if isinstance(chosen, Bounded) and not chosen.is_certain:
        return True
    leaves = inside == "exit" and chord.started_inside
    if chord.started_inside and not leaves:
        return False
    own = chord.exit if leaves else chord.entry
    latest = chosen.latest() if isinstance(chosen, Bounded) else own
    others = {id(solid): solid for one, solid in solids if one != limb and solid is not chosen}  # equal limbs are tied
    for solid in others.values():
        if isinstance(solid, Bounded) or isinstance(chosen, Bounded):
            hit, _ = order.limb_hit(numbers, solid, inside)
            if hit is not None and latest is not None:
                earliest = solid.earliest() if isinstance(solid, Bounded) else hit[0]
                if earliest.compare(latest) <= 0:
                    return True
    return False
