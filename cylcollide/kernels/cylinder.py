"""When is a ray inside a capped cylinder, or inside the wall of a tube?

Slab between the caps ∩ wall: no cap test of its own, no case for a start inside. Sources: the slab first and one dot
product after Greg James, "Fast Point-In-Cylinder Test", and his remark on tubes; the quadratic about the line's closest
approach follows the CC0 "Ray/cylinder intersections" derivation; a primitive answers with an interval as in Embree's
and Geometric Tools' cylinders.
"""

from math import inf

from cylcollide._types import Face
from cylcollide.kernels.interval import UNDECIDED, Bracket, Span, both, empty
from cylcollide.kernels.line import Frame, line_about, passage, slab, wall
from cylcollide.kernels.ray import Ray
from cylcollide.simd import compiled, merged

SIDE, CAP1, CAP2, BORE = int(Face.SIDE), int(Face.CAP1), int(Face.CAP2), int(Face.BORE)


@merged
def ray_cylinder(ray: Ray, limb: Frame) -> Span:
    """When the ray's line is inside, bounded from both sides."""
    line = line_about(ray, limb)
    return capped(wall(passage(line), limb.radius, line.delta), slab(line, limb.half_length), line.rate > 0.0)


@merged
def capped(walls: Bracket, slabs: Bracket, along: bool) -> Span:
    """The span between wall and caps. The later beginning and the earlier end name the faces.

    A side is certain if even the grown wall is entered after the shrunk slab; a cap if, at every time at which its
    plane may be crossed, the ray is inside the shrunk wall. At a rim neither holds.
    """
    first = last = UNDECIDED
    if walls.outer[0] > slabs.inner[0]:
        first = SIDE
    elif walls.inner[0] <= slabs.outer[0] and slabs.inner[0] <= walls.inner[1]:
        first = CAP1 if along else CAP2
    if walls.outer[1] < slabs.inner[1]:
        last = SIDE
    elif walls.inner[0] <= slabs.inner[1] and slabs.outer[1] <= walls.inner[1]:
        last = CAP2 if along else CAP1
    inside = both(walls, slabs)
    return Span(inside.outer, inside.inner, first, last)


@compiled
def ray_tube(ray: Ray, limb: Frame, inner_radius: float, piece: int) -> Span:
    """The stretch before the bore (piece 0) or behind it (piece 1). A ray that misses the bore has all in piece 0."""
    line = line_about(ray, limb)
    way = passage(line)
    whole = capped(wall(way, limb.radius, line.delta), slab(line, limb.half_length), line.rate > 0.0)
    bore = wall(way, inner_radius, line.delta)
    if empty(bore.outer):
        return whole if piece == 0 else Span((inf, -inf), (inf, -inf), UNDECIDED, UNDECIDED)
    if empty(bore.inner):
        # the ray may or may not touch the bore: one chord or two
        outer = whole.outer
        return Span(outer, (inf, -inf), UNDECIDED, UNDECIDED) if piece == 0 else unknown_in(outer)
    if piece == 0:
        last = whole.last_face if whole.outer[1] < bore.outer[0] else UNDECIDED
        if bore.inner[0] < whole.inner[1]:
            last = BORE
        return Span(
            (whole.outer[0], min(whole.outer[1], bore.inner[0])),
            (whole.inner[0], min(whole.inner[1], bore.outer[0])),
            whole.first_face,
            last,
        )
    first = whole.first_face if whole.outer[0] > bore.outer[1] else UNDECIDED
    if bore.inner[1] > whole.inner[0]:
        first = BORE
    return Span(
        (max(whole.outer[0], bore.inner[1]), whole.outer[1]),
        (max(whole.inner[0], bore.outer[1]), whole.inner[1]),
        first,
        whole.last_face,
    )


@compiled
def unknown_in(outer: tuple[float, float]) -> Span:
    """Possibly inside during `outer`, certainly never."""
    return Span(outer, (inf, -inf), UNDECIDED, UNDECIDED)
