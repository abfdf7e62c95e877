"""Rays along level faces: box faces, or caps of a cylinder or tube, exactly perpendicular to x, y or z.

A limb has the same cross-section at any height between such faces. A ray at constant height, which float64 compares
with the faces without error, can therefore be moved to the middle between them, where bounds decide. A thick ray whose
ball just touches a face touches the limb where the line of its centre would hit the cross-section.
"""

from typing import TypeAlias

from cylcollide._types import Face, Shape
from cylcollide.kernels.box import NEG_X
from cylcollide.kernels.double_double import DoubleDouble, DoubleDoubleVector, Vector, two_sum
from cylcollide.kernels.limb_table import Limb, box_axes
from cylcollide.kernels.ray import Ray
from cylcollide.runtime.compile import compiled, inlined

BOX, CYLINDER, TUBE = int(Shape.BOX), int(Shape.CYLINDER), int(Shape.TUBE)
CAP1, CAP2, BORE = float(Face.CAP1), float(Face.CAP2), float(Face.BORE)
INSIDE, NONE = float(Face.INSIDE), float(Face.NONE)

Heights: TypeAlias = tuple[DoubleDouble, DoubleDouble, float, float, float]
"""Two level faces: heights of the low and the high one, sums of two numbers; their codes; the height midway."""


@compiled
def level_ray(ray: Ray, displacement: DoubleDoubleVector, limb: Limb) -> tuple[Ray, bool, float]:
    """The ray, moved to the middle between level faces, whether it is beyond one, and the face in whose plane it is.

    The ray becomes thin if its ball just touches a face. The face is NONE or the lowest of several, as it owns edges.
    """
    origin, radius, plane = ray.origin, ray.radius, NONE
    for k in range(3):
        if displacement[k][0] == 0.0 and has_level_faces(limb, k):
            low, high, low_face, high_face, middle = level_heights(limb, k)
            under, over = beyond(-origin[k], low, ray.radius), beyond(origin[k], (-high[0], -high[1]), ray.radius)
            if under > 0.0 or over > 0.0:
                return ray, True, NONE
            if radius > 0.0 and (under == 0.0 or over == 0.0):
                origin, radius = moved_to(origin, k, middle), 0.0
                plane = min(plane, low_face if under == 0.0 else high_face)
    for k in range(3):
        if displacement[k][0] == 0.0 and has_level_faces(limb, k):
            low, high, low_face, high_face, middle = level_heights(limb, k)
            under, over = beyond(-origin[k], low, 0.0), beyond(origin[k], (-high[0], -high[1]), 0.0)  # moved: inside
            if under <= 0.0 and over <= 0.0:
                plane = min(plane, low_face if under == 0.0 else high_face if over == 0.0 else NONE)
                origin = moved_to(origin, k, middle)
            elif radius == 0.0:
                return ray, True, NONE
    return Ray(origin, ray.direction, ray.length, ray.per_length, ray.limit, ray.extent, radius), False, plane


@inlined
def owner(face: float, plane: float) -> float:
    """The face that owns the end of a chord in a plane: caps own their rims, the lowest face an edge of a box."""
    if face == INSIDE or plane == NONE:
        return face
    return min(face, plane) if plane > BORE else plane


@inlined
def has_level_faces(limb: Limb, k: int) -> bool:
    """Whether a limb has faces exactly perpendicular to coordinate axis k."""
    i, j = (k + 1) % 3, (k + 2) % 3
    if limb.kind == BOX:
        return level_axis(limb, k) >= 0
    is_along = limb.p1[i] == limb.p2[i] and limb.p1[j] == limb.p2[j]
    return bool(is_along and limb.kind in (CYLINDER, TUBE))


@inlined
def level_axis(limb: Limb, k: int) -> int:
    """Index of the axis of a box that is exactly parallel to coordinate axis k; -1 for none."""
    axes, found = box_axes(limb)[0], -1
    for axis in range(3):
        if abs(axes[axis][k]) == 1.0 and abs(axes[axis][(k + 1) % 3]) + abs(axes[axis][(k + 2) % 3]) == 0.0:
            found = axis
    return found


@compiled
def level_heights(limb: Limb, k: int) -> Heights:
    """The level faces of a limb perpendicular to coordinate axis k."""
    if limb.kind == BOX:
        (axes, half), axis = box_axes(limb), level_axis(limb, k)
        centre, first = limb.centre[k], NEG_X + 2.0 * axis
        is_along = axes[axis][k] > 0.0
        low_face, high_face = (first, first + 1.0) if is_along else (first + 1.0, first)
        return (centre, -half[axis]), (centre, half[axis]), low_face, high_face, centre
    p1, p2 = limb.p1[k], limb.p2[k]
    middle = 0.5 * p1 + 0.5 * p2
    if p1 <= p2:
        return (p1, 0.0), (p2, 0.0), CAP1, CAP2, middle
    return (p2, 0.0), (p1, 0.0), CAP2, CAP1, middle


@compiled
def beyond(height: float, face: DoubleDouble, radius: float) -> float:
    """A number with the sign of height + face - radius, where face is a sum of two numbers.

    The sum is an expansion, its parts ascending (J. R. Shewchuk, "Adaptive precision floating-point arithmetic", 1997).
    """
    c, a = two_sum(face[0], face[1])
    b, a = two_sum(height, a)
    c, b = two_sum(b, c)
    d, a = two_sum(-radius, a)
    d, b = two_sum(d, b)
    d, c = two_sum(d, c)
    return d if d != 0.0 else c if c != 0.0 else b if b != 0.0 else a


@inlined
def moved_to(origin: Vector, k: int, height: float) -> Vector:
    """The point with its coordinate k replaced by a height."""
    x, y, z = origin
    return height if k == 0 else x, height if k == 1 else y, height if k == 2 else z
