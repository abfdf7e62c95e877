"""A ray as the kernels see it: unit direction, lengths in metres, and how far its numbers can be trusted."""

from math import copysign, inf, sqrt
from typing import NamedTuple

from cylcollide._types import LARGEST_SAFE, RECIPROCAL_FLOOR, SMALLEST_SAFE, Float64Array, Int64Array, Uint32Array
from cylcollide.kernels.double_double import DoubleDoubleVector, Vector, vector_difference
from cylcollide.simd import compiled, merged


class Rays(NamedTuple):
    """The rays of a query, checked: `second` is the end of a segment or the direction of a ray."""

    origin: Float64Array  # (n, 3)
    second: Float64Array  # (n, 3)
    is_segment: bool
    limit: Float64Array  # largest fraction, (n,), or (1,) for all


class Ray(NamedTuple):
    """One ray. A point of it is origin + s direction with s in metres, s = fraction * length."""

    origin: Vector
    direction: Vector  # unit length up to rounding; zero for a segment of zero length
    reciprocal: Vector  # 1 / direction, finite
    length: float  # metres of one unit of fraction
    limit: float  # metres
    extent: float  # largest |coordinate| of the origin; inf if the ray is beyond what the kernels trust


@merged
def as_vector(rows: Float64Array, i: int) -> Vector:
    """Row i of an (n, 3) array."""
    return rows[i, 0], rows[i, 1], rows[i, 2]


@merged
def largest_component(v: Vector) -> float:
    """The maximum norm of a vector."""
    return max(abs(v[0]), abs(v[1]), abs(v[2]))


@merged
def dot(a: Vector, b: Vector) -> float:
    """Scalar product."""
    return a[0] * b[0] + a[1] * b[1] + a[2] * b[2]


@compiled
def reciprocal(component: float) -> float:
    """1 / component, finite: a component that vanishes counts as a very small one of its sign."""
    return 1.0 / copysign(max(abs(component), RECIPROCAL_FLOOR), component)


@compiled
def make_ray(origin: Vector, displacement: Vector, limit: float) -> Ray:
    """Prepare a ray for boxes and limbs; `limit` is the largest fraction.

    A ray whose numbers are too large or too small for float64 products has an infinite extent: every limb is unsure.
    """
    extent = largest_component(origin)
    size = largest_component(displacement)
    if size == 0.0:
        infinite = 1.0 / RECIPROCAL_FLOOR
        return Ray(origin, displacement, (infinite, infinite, infinite), 0.0, 0.0, extent)
    if not (SMALLEST_SAFE <= size <= LARGEST_SAFE and extent <= LARGEST_SAFE):
        return Ray(origin, displacement, displacement, 1.0, inf, inf)
    length = sqrt(dot(displacement, displacement))
    direction = (displacement[0] / length, displacement[1] / length, displacement[2] / length)
    inverse = (reciprocal(direction[0]), reciprocal(direction[1]), reciprocal(direction[2]))
    return Ray(origin, direction, inverse, length, limit * length, extent)


@compiled
def exact_displacement(origin: Vector, second: Vector, is_segment: bool) -> DoubleDoubleVector:
    """The direction as it is meant: end - start without rounding, or the direction given."""
    if is_segment:
        return vector_difference(second, origin)
    return (second[0], 0.0), (second[1], 0.0), (second[2], 0.0)


@merged
def shared(values: Float64Array | Uint32Array | Int64Array, i: int) -> int:
    """Where entry i of a per-ray array is, if one entry may stand for all."""
    return i if values.size > 1 else 0


@compiled
def ray_at(rays: Rays, i: int) -> Ray:
    """Row i, prepared."""
    origin, second = as_vector(rays.origin, i), as_vector(rays.second, i)
    if rays.is_segment:
        second = (second[0] - origin[0], second[1] - origin[1], second[2] - origin[2])
    return make_ray(origin, second, rays.limit[shared(rays.limit, i)])
