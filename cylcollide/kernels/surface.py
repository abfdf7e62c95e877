"""Where is a point of a ray, and which way does a limb's surface look there?"""

from math import sqrt

from cylcollide._types import Face
from cylcollide.compiling import compiled
from cylcollide.kernels.double_double import DoubleDouble, DoubleDoubleVector, Vector, dd_add, dd_multiply, heads
from cylcollide.kernels.ray import dot, largest_component
from cylcollide.kernels.solid import face_normal, main_axis
from cylcollide.kernels.table import Limb

INSIDE = float(Face.INSIDE)


@compiled
def point_at(origin: Vector, displacement: DoubleDoubleVector, fraction: DoubleDouble) -> DoubleDoubleVector:
    """Origin + fraction displacement."""
    return (
        dd_add((origin[0], 0.0), dd_multiply(fraction, displacement[0])),
        dd_add((origin[1], 0.0), dd_multiply(fraction, displacement[1])),
        dd_add((origin[2], 0.0), dd_multiply(fraction, displacement[2])),
    )


@compiled
def unit(v: Vector) -> Vector:
    """V / |v|, for any v but zero; scaled first, so that nothing overflows."""
    size = largest_component(v)
    if size == 0.0:
        return v
    x, y, z = v[0] / size, v[1] / size, v[2] / size
    length = sqrt(dot((x, y, z), (x, y, z)))
    return x / length + 0.0, y / length + 0.0, z / length + 0.0  # no negative zeros


@compiled
def outward_normal(point: DoubleDoubleVector, limb: Limb, face: float) -> Vector:
    """Unit outward normal of a face at a point of it; zero where there is no face."""
    if face == INSIDE:
        return 0.0, 0.0, 0.0
    outward = face_normal(point, limb, face)
    if largest_component(outward) == 0.0:
        return beside(heads(main_axis(limb)))  # on the axis: the limb is too thin for the digits of the point
    return unit(outward)


@compiled
def beside(axis: Vector) -> Vector:
    """A unit vector at right angles to an axis, or any if that is zero."""
    x, y, z = unit(axis)
    if abs(x) <= min(abs(y), abs(z)):
        return unit((1.0 - x * x, -x * y, -x * z))
    if abs(y) <= abs(z):
        return unit((-y * x, 1.0 - y * y, -y * z))
    return unit((-z * x, -z * y, 1.0 - z * z))
