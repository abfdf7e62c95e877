"""Thick rays: limbs grown by their radius, for exact arithmetic."""

from __future__ import annotations

from collections.abc import Sequence
from math import inf

import numpy as np

from cylcollide._types import POLICY_HIT, Face, InsidePolicy, RayNumbers
from cylcollide.constants import LARGEST_SAFE
from cylcollide.exact import order
from cylcollide.exact.line import End, Stretch
from cylcollide.exact.numbers import QuadraticNumber
from cylcollide.exact.shapes import line_from
from cylcollide.exact.solid import Bound, Solid, slab
from cylcollide.kernels.aabb import padded_box
from cylcollide.kernels.inside_policy import ray_hit_bounds
from cylcollide.kernels.interval import UNDECIDED_FACE, Span, nothing_known
from cylcollide.kernels.limb_table import LimbTable, plain_limb
from cylcollide.kernels.ray import Rays, ray_at
from cylcollide.query.loops.chords import write_span


class Bounded(Solid):
    """A tapered cylinder or an ellipsoid grown by the radius of one ray, as far as float64 bounds its contact.

    Its crossing is that of the larger bounds: it begins at the earliest possible contact. A ray that misses the limb's
    grown box misses the limb, even if bounds leave this open, so that no answer depends on the boxes of a tree.
    """

    def __init__(self, rays: Rays, i: int, table: LimbTable, limb: int) -> None:
        one, span, numbers = plain_limb(table, limb), nothing_known(0.0), np.empty(6)
        with np.errstate(all="ignore"):
            ray = ray_at(rays, i)
            if max(ray.extent, one.extent, ray.radius) <= LARGEST_SAFE:
                write_span(rays, i, table.kernel_rows, limb, numbers)
                begin, end, sooner, later, first, last = numbers.tolist()
                span = Span((begin, end), (sooner, later), first, last)
            bounds = ray_hit_bounds(ray, span, POLICY_HIT)
            self.box = padded_box(one)
        self.ray, self.span = ray, span
        self.is_certain = bool(bounds.certain) and bounds.face != UNDECIDED_FACE
        self.latest = float(bounds.upper) * ray.per_length if bounds.upper < inf else inf
        """The fraction at which a contact is certain, or inf."""

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
        near = None if first <= 0.0 else self._end(first, self.span.first_face)
        return [Stretch(near, None if last > limit or last == inf else self._end(last, self.span.last_face))]

    def earliest_exit(self) -> QuadraticNumber:
        """A fraction before which the ray, which starts in the grown limb, certainly does not leave it."""
        entry, leave = self.span.inner
        return QuadraticNumber.of_float(leave * self.ray.per_length if entry <= 0.0 <= leave < inf else 0.0)

    def _end(self, metres: float, face: float) -> End:
        known = Face.SIDE if face == UNDECIDED_FACE else Face(int(face))
        return End(QuadraticNumber.of_float(float(metres * self.ray.per_length)), known)


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
    latest = chord.exit if leaves else chord.entry
    if isinstance(chosen, Bounded) and not leaves:
        latest = QuadraticNumber.of_float(chosen.latest)
    others = {id(solid): solid for one, solid in solids if one != limb and solid is not chosen}  # equal limbs are tied
    for solid in others.values():
        if isinstance(solid, Bounded) or isinstance(chosen, Bounded):
            hit, is_inside = order.limb_hit(numbers, solid, inside)
            if hit is not None and latest is not None:
                earliest = solid.earliest_exit() if is_inside and isinstance(solid, Bounded) else hit[0]
                if earliest.compare(latest) <= 0:
                    return True
    return False
