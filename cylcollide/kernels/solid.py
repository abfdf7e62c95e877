"""Which kernel answers for which shape: the one place that a new shape is entered at.

A limb is one convex piece, but for a tube, which is two: before and behind its bore. Eight limbs at once are of one
shape.
"""

from cylcollide._types import LARGEST_SAFE, Shape
from cylcollide.compiling import compiled, merged
from cylcollide.kernels.box import ray_box
from cylcollide.kernels.capsule import ray_capsule, ray_sphere
from cylcollide.kernels.cylinder import ray_cylinder, ray_tube
from cylcollide.kernels.interval import Span, unless
from cylcollide.kernels.line import rounding_bound
from cylcollide.kernels.ray import Ray
from cylcollide.kernels.revolution import ray_ellipsoid, ray_tapered
from cylcollide.kernels.table import Limb, box_frame

CYLINDER, TUBE, TAPERED = int(Shape.CYLINDER), int(Shape.TUBE), int(Shape.TAPERED)
ELLIPSOID, CAPSULE, SPHERE = int(Shape.ELLIPSOID), int(Shape.CAPSULE), int(Shape.SPHERE)


@merged
def pieces(kind: int) -> int:
    """How many stretches of a line a limb can have."""
    return 2 if kind == TUBE else 1


@merged
def ray_limb(ray: Ray, limb: Limb, piece: int) -> Span:
    """When the ray's line is inside the limb, bounded from both sides; unknown where float64 is not to be trusted."""
    span = ray_shape(ray, limb, piece)
    return unless(rounding_bound(ray, limb.frame.extent) > LARGEST_SAFE, span)


@merged
def ray_shape(ray: Ray, limb: Limb, piece: int) -> Span:
    """`ray_limb` where float64 is trusted."""
    if limb.kind == CYLINDER:
        return ray_cylinder(ray, limb.frame)
    return ray_other(ray, limb, piece)


@compiled
def ray_other(ray: Ray, limb: Limb, piece: int) -> Span:
    """`ray_shape` for the shapes beside the cylinder: a call, so that they are not compiled into every loop."""
    frame = limb.frame
    if limb.kind == CAPSULE:
        return ray_capsule(ray, frame, limb.p1, limb.p2)
    if limb.kind == SPHERE:
        return ray_sphere(ray, frame)
    if limb.kind == TAPERED:
        return ray_tapered(ray, frame, limb.radius, limb.radius2)
    if limb.kind == ELLIPSOID:
        return ray_ellipsoid(ray, frame)
    if limb.kind == TUBE:
        return ray_tube(ray, frame, limb.radius2, piece)
    return ray_box(ray, box_frame(limb))
