"""When is a ray inside a box? Three slabs, each named by two faces. Not a solid of revolution."""

from typing import NamedTuple

from cylcollide._types import Face
from cylcollide.compiling import merged
from cylcollide.kernels.double_double import Vector
from cylcollide.kernels.interval import UNDECIDED, Bracket, Span, both
from cylcollide.kernels.line import closest_approach, rounding_bound, slab_about
from cylcollide.kernels.ray import Ray, dot
from cylcollide.simd import Real, larger, magnitude, select

NEG_X, NEG_Y, NEG_Z = float(Face.NEG_X), float(Face.NEG_Y), float(Face.NEG_Z)


class BoxFrame(NamedTuple):
    """A box prepared for the kernels."""

    centre: Vector
    axes: tuple[Vector, Vector, Vector]
    half: Vector
    extent: Real


@merged
def ray_box(ray: Ray, box: BoxFrame) -> Span:
    """When the ray's line is inside. A face is certain if its slab is entered after the shrunk ones of both others."""
    delta = rounding_bound(ray, box.extent)
    shift, point = closest_approach(ray, box.centre)
    d, axes, half = ray.direction, box.axes, box.half
    rate_x, rate_y, rate_z = dot(d, axes[0]), dot(d, axes[1]), dot(d, axes[2])
    x = slab_about(dot(point, axes[0]), rate_x, half[0], shift, delta)
    y = slab_about(dot(point, axes[1]), rate_y, half[1], shift, delta)
    z = slab_about(dot(point, axes[2]), rate_z, half[2], shift, delta)
    inside = both(both(x, y), z)
    faces_x = faces_of(x, both(y, z), rate_x, NEG_X)
    faces_y = faces_of(y, both(z, x), rate_y, NEG_Y)
    faces_z = faces_of(z, both(x, y), rate_z, NEG_Z)
    # at most one slab is certain to be entered last
    first = larger(larger(faces_x[0], faces_y[0]), faces_z[0])
    last = larger(larger(faces_x[1], faces_y[1]), faces_z[1])
    return Span(inside.outer, inside.inner, first, last)


@merged
def faces_of(one: Bracket, others: Bracket, rate: Real, low: Real) -> tuple[Real, Real]:
    """The faces of a slab that the ray certainly enters and leaves the box by; `low` is the code of its lower face."""
    enters, leaves = one.outer[0] > others.inner[0], one.outer[1] < others.inner[1]
    first, last = select(rate > 0.0, low, low + 1.0), select(rate > 0.0, low + 1.0, low)
    return select(enters, first, UNDECIDED), select(leaves, last, UNDECIDED)


@merged
def box_excess(box: BoxFrame, point: Vector) -> Real:
    """How far the point is outside of the slab it is most outside of; negative inside."""
    x = (point[0] - box.centre[0], point[1] - box.centre[1], point[2] - box.centre[2])
    beyond_x = magnitude(dot(x, box.axes[0])) - box.half[0]
    beyond_y = magnitude(dot(x, box.axes[1])) - box.half[1]
    beyond_z = magnitude(dot(x, box.axes[2])) - box.half[2]
    return larger(larger(beyond_x, beyond_y), beyond_z)
