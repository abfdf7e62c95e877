"""When is a ray inside a capped cylinder, or inside the wall of a tube?

Slab between the caps ∩ wall: no cap test of its own, no case for a start inside. Sources: the slab first and one dot
product after Greg James, "Fast Point-In-Cylinder Test", and his remark on tubes; the quadratic about the line's closest
approach follows the CC0 "Ray/cylinder intersections" derivation; a primitive answers with an interval as in Embree's
and Geometric Tools' cylinders.
"""

from math import inf

from cylcollide._types import Face
from cylcollide.compiling import merged
from cylcollide.kernels.interval import UNDECIDED, Bracket, Interval, Span, both, chosen, empty
from cylcollide.kernels.line import Frame, line_about, passage, slab, wall
from cylcollide.kernels.ray import Ray
from cylcollide.simd import Real, Truth, larger, select, smaller

SIDE, CAP1, CAP2, BORE = float(Face.SIDE), float(Face.CAP1), float(Face.CAP2), float(Face.BORE)


@merged
def ray_cylinder(ray: Ray, limb: Frame) -> Span:
    """When the ray's line is inside, bounded from both sides."""
    line = line_about(ray, limb)
    return capped(wall(passage(line), limb.radius, line.delta), slab(line, limb.half_length), line.rate > 0.0)


@merged
def capped(walls: Bracket, slabs: Bracket, along: Truth) -> Span:
    """The span between wall and caps. The later beginning and the earlier end name the faces."""
    inside = both(walls, slabs)
    first = face_between(walls.outer[0] > slabs.inner[0], walls.inner, (slabs.outer[0], slabs.inner[0]))
    last = face_between(walls.outer[1] < slabs.inner[1], walls.inner, (slabs.inner[1], slabs.outer[1]))
    cap = select(along, CAP1, CAP2)
    return Span(
        inside.outer,
        inside.inner,
        select(first == CAP1, cap, first),
        select(last == CAP1, CAP1 + CAP2 - cap, last),
    )


@merged
def face_between(side: Truth, shrunk_wall: Interval, plane: Interval) -> Real:
    """SIDE, CAP1 for either cap, or undecided.

    A side is certain if even the grown wall is crossed on the inner side of the shrunk slab; a cap if, at every time at
    which its plane may be crossed, the ray is inside the shrunk wall. At a rim neither holds.
    """
    cap = (shrunk_wall[0] <= plane[0]) & (plane[1] <= shrunk_wall[1])
    return select(side, SIDE, select(cap, CAP1, UNDECIDED))


@merged
def ray_tube(ray: Ray, limb: Frame, inner_radius: Real, piece: int) -> Span:
    """The stretch before the bore (piece 0) or behind it (piece 1). A ray that misses the bore has all in piece 0.

    If the bounds do not tell whether the bore is met, what comes behind it may be a stretch of its own or not.
    """
    line = line_about(ray, limb)
    way = passage(line)
    whole = capped(wall(way, limb.radius, line.delta), slab(line, limb.half_length), line.rate > 0.0)
    bore = wall(way, inner_radius, line.delta)
    if piece == 0:
        last = select(whole.outer[1] < bore.outer[0], whole.last_face, UNDECIDED)
        return Span(
            (whole.outer[0], smaller(whole.outer[1], bore.inner[0])),
            (whole.inner[0], smaller(whole.inner[1], bore.outer[0])),
            whole.first_face,
            select(bore.inner[0] < whole.inner[1], BORE, last),
        )
    first = select(whole.outer[0] > bore.outer[1], whole.first_face, UNDECIDED)
    outer = (larger(whole.outer[0], bore.inner[1]), whole.outer[1])
    inner = (larger(whole.inner[0], bore.outer[1]), whole.inner[1])
    return Span(
        chosen(empty(bore.outer), (inf, -inf), outer),
        chosen(empty(bore.inner), (inf, -inf), inner),
        select(bore.inner[1] > whole.inner[0], BORE, first),
        whole.last_face,
    )
