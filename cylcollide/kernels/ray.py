"""Rays prepared for the kernels: unit direction, lengths in metres, and the size that rounding errors scale with."""

from math import inf, sqrt
from typing import NamedTuple

import numpy as np

from cylcollide._types import Column, Float64Array, Int64Array, Uint32Array, Vectors
from cylcollide.constants import LARGEST_SAFE, LARGEST_WAY, SMALLEST_SAFE, SMALLEST_WAY, UNTRUSTED
from cylcollide.kernels.double_double import DoubleDoubleVector, Vector, vector_difference
from cylcollide.runtime.compile import compiled, inlined
from cylcollide.runtime.simd import Real, Truth, absolute, fused_multiply_add, larger, select, square_root


class Rays(NamedTuple):
    """The rays of a query, checked: `second` is the end of a segment or the direction of a ray."""

    origin: Vectors
    second: Vectors
    is_segment: bool
    distance: Column[np.float64]  # largest distance of a ray in metres; (n,), or (1,) for all
    radius: Column[np.float64]  # of a thick ray, metres; (n,), or (1,) for all; (0,) where rays are lines


class Ray(NamedTuple):
    """One ray, or eight. A point of it is origin + s direction with s in metres, s = fraction * length."""

    origin: Vector
    direction: Vector  # unit length up to rounding; zero for a segment of zero length
    length: Real  # metres of one unit of fraction
    per_length: Real  # its reciprocal
    limit: Real  # metres
    extent: Real  # largest |coordinate| of the origin; `UNTRUSTED` if kernels do not trust the ray, inf if trees do not
    radius: Real  # of a thick ray, metres; 0 for a line. Kernels of lines do not read it


@inlined
def as_vector(rows: Float64Array, i: int) -> Vector:
    """Row i of an (n, 3) array."""
    return rows[i, 0], rows[i, 1], rows[i, 2]


@inlined
def largest_component(v: Vector) -> Real:
    """The maximum norm of a vector."""
    return larger(larger(absolute(v[0]), absolute(v[1])), absolute(v[2]))


@inlined
def subtract(a: Vector, b: Vector) -> Vector:
    """A - b."""
    return a[0] - b[0], a[1] - b[1], a[2] - b[2]


@inlined
def dot(a: Vector, b: Vector) -> Real:
    """Scalar product."""
    return fused_multiply_add(a[2], b[2], fused_multiply_add(a[1], b[1], a[0] * b[0]))


@inlined
def cross(a: Vector, b: Vector) -> Vector:
    """Vector product."""
    return a[1] * b[2] - a[2] * b[1], a[2] * b[0] - a[0] * b[2], a[0] * b[1] - a[1] * b[0]


@inlined
def make_ray(origin: Vector, displacement: Vector, is_segment: bool, distance: Real, radius: Real) -> Ray:
    """Prepare a ray, whose limit is the length of a segment's displacement, or `distance` metres.

    If the kernels' products of its numbers may overflow or underflow, all limbs whose boxes it hits are undecided; if
    squares may, all limbs.
    """
    extent = largest_component(origin)
    size = largest_component(displacement)
    still = size == 0.0
    trusted = still | ((size >= SMALLEST_SAFE) & (size <= LARGEST_SAFE) & (extent <= LARGEST_SAFE))
    placed = trusted | ((size >= SMALLEST_WAY) & (size <= LARGEST_WAY) & (extent <= LARGEST_SAFE))
    length = square_root(dot(displacement, displacement))
    per_length = 1.0 / select(still, 1.0, length)
    direction = (displacement[0] * per_length, displacement[1] * per_length, displacement[2] * per_length)
    reach = length if is_segment else distance
    extent = select(trusted, extent, select(placed, UNTRUSTED, inf))
    return Ray(origin, direction, length, per_length, select(placed, reach, inf), extent, radius)


@inlined
def is_trusted(ray: Ray) -> Truth:
    """Whether the kernels' products of the ray's numbers neither overflow nor underflow."""
    return ray.extent <= LARGEST_SAFE


@compiled
def exact_displacement(rays: Rays, i: int) -> DoubleDoubleVector:
    """The displacement that the input of ray i defines: end - start without rounding, or the direction given."""
    origin, second = as_vector(rays.origin, i), as_vector(rays.second, i)
    if rays.is_segment:
        return vector_difference(second, origin)
    return (second[0], 0.0), (second[1], 0.0), (second[2], 0.0)


@inlined
def broadcast_index(values: Float64Array | Uint32Array | Int64Array, i: int) -> int:
    """Index of ray i's entry in an array with one entry per ray, or one for all."""
    return i if values.size > 1 else 0


@inlined
def radius_of(rays: Rays, i: int) -> float:
    """Radius of ray i, 0 for a line."""
    return rays.radius[broadcast_index(rays.radius, i)] if rays.radius.size > 0 else 0.0


@inlined
def limit_of(rays: Rays, i: int) -> float:
    """Largest fraction of ray i, at which chords are clipped: the distance over the direction's length."""
    if rays.is_segment:
        return 1.0
    x, y, z = as_vector(rays.second, i)
    return float(rays.distance[broadcast_index(rays.distance, i)] / sqrt(x * x + y * y + z * z))


@inlined
def ray_at(rays: Rays, i: int) -> Ray:
    """Ray i, prepared."""
    origin, second = as_vector(rays.origin, i), as_vector(rays.second, i)
    if rays.is_segment:
        second = subtract(second, origin)
    distance = rays.distance[broadcast_index(rays.distance, i)]
    return make_ray(origin, second, rays.is_segment, distance, radius_of(rays, i))
