"""When is a ray inside a box? Three slabs, each named by two faces. Not a solid of revolution."""

from typing import NamedTuple

from cylcollide._types import Face
from cylcollide.kernels.double_double import Vector
from cylcollide.kernels.interval import UNDECIDED, Span, both
from cylcollide.kernels.line import closest_approach, rounding_bound, slab_about
from cylcollide.kernels.ray import Ray, dot
from cylcollide.simd import compiled

NEG_X = int(Face.NEG_X)


class BoxFrame(NamedTuple):
    """A box prepared for the kernels."""

    centre: Vector
    axes: tuple[Vector, Vector, Vector]
    half: Vector
    extent: float


@compiled
def ray_box(ray: Ray, box: BoxFrame) -> Span:
    """When the ray's line is inside. A face is certain if its slab is entered after the shrunk ones of both others."""
    delta = rounding_bound(ray, box.extent)
    shift, x = closest_approach(ray, box.centre)
    rates = (dot(ray.direction, box.axes[0]), dot(ray.direction, box.axes[1]), dot(ray.direction, box.axes[2]))
    slabs = (
        slab_about(dot(x, box.axes[0]), rates[0], box.half[0], shift, delta),
        slab_about(dot(x, box.axes[1]), rates[1], box.half[1], shift, delta),
        slab_about(dot(x, box.axes[2]), rates[2], box.half[2], shift, delta),
    )
    inside = both(both(slabs[0], slabs[1]), slabs[2])
    first = last = UNDECIDED
    for k in range(3):
        one, others = slabs[k], both(slabs[(k + 1) % 3], slabs[(k + 2) % 3])
        low, high = NEG_X + 2 * k, NEG_X + 2 * k + 1
        if one.outer[0] > others.inner[0]:
            first = low if rates[k] > 0.0 else high
        if one.outer[1] < others.inner[1]:
            last = high if rates[k] > 0.0 else low
    return Span(inside.outer, inside.inner, first, last)


@compiled
def box_excess(box: BoxFrame, point: Vector) -> float:
    """How far the point is outside of the slab it is most outside of; negative inside."""
    x = (point[0] - box.centre[0], point[1] - box.centre[1], point[2] - box.centre[2])
    return max(
        abs(dot(x, box.axes[0])) - box.half[0],
        abs(dot(x, box.axes[1])) - box.half[1],
        abs(dot(x, box.axes[2])) - box.half[2],
    )
