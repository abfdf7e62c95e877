"""Which kernel answers for which shape: the one place that a new shape is entered at.

A limb is one convex piece, but for a tube, which is two: before and behind its bore.
"""

from cylcollide._types import Shape
from cylcollide.kernels.box import ray_box
from cylcollide.kernels.capsule import ray_capsule, ray_sphere
from cylcollide.kernels.cylinder import ray_cylinder, ray_tube
from cylcollide.kernels.interval import Span
from cylcollide.kernels.ray import Ray, as_vector
from cylcollide.kernels.revolution import ray_ellipsoid, ray_tapered
from cylcollide.kernels.table import LimbTable, box_at, frame_at
from cylcollide.simd import compiled

CYLINDER, TUBE, TAPERED = int(Shape.CYLINDER), int(Shape.TUBE), int(Shape.TAPERED)
ELLIPSOID, CAPSULE, SPHERE = int(Shape.ELLIPSOID), int(Shape.CAPSULE), int(Shape.SPHERE)


@compiled
def pieces(table: LimbTable, limb: int) -> int:
    """How many stretches of a line a limb can have."""
    return 2 if table.kind[limb] == TUBE else 1


@compiled
def ray_limb(ray: Ray, table: LimbTable, limb: int, piece: int) -> Span:
    """When the ray's line is inside the limb, bounded from both sides."""
    kind = table.kind[limb]
    if kind == CYLINDER:
        return ray_cylinder(ray, frame_at(table, limb))
    return ray_other(ray, table, limb, piece, kind)


@compiled
def ray_other(ray: Ray, table: LimbTable, limb: int, piece: int, kind: int) -> Span:
    """`ray_limb` for the shapes beside the cylinder."""
    if kind == CAPSULE and table.prepared[limb, 6] > 0.0:
        return ray_capsule(ray, frame_at(table, limb), as_vector(table.p1, limb), as_vector(table.p2, limb))
    if kind in (CAPSULE, SPHERE):
        return ray_sphere(ray, frame_at(table, limb))
    if kind == TAPERED:
        return ray_tapered(ray, frame_at(table, limb), table.radius[limb], table.radius2[limb])
    if kind == ELLIPSOID:
        return ray_ellipsoid(ray, frame_at(table, limb))
    if kind == TUBE:
        return ray_tube(ray, frame_at(table, limb), table.radius2[limb], piece)
    return ray_box(ray, box_at(table, limb))
