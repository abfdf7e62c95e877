"""The places of eight limbs that are nearest to eight points, in SIMD lanes, bit-equal to `nearest_place`.

The code has no branches, so fewer places are certain; `nearest_place` computes the others.
"""

from cylcollide._types import Face
from cylcollide.constants import LARGEST_SAFE
from cylcollide.kernels.double_double import (
    Vector,
    dd_add,
    dd_divide,
    dd_dot,
    dd_multiply,
    dd_square_root,
    dd_subtract,
    high_words,
    vector_difference,
)
from cylcollide.kernels.limb_table import Limb
from cylcollide.kernels.nearest_place import CLEAR_OF_AXIS, SIGN_ERROR, along_axis, combined, multiple, position_from
from cylcollide.kernels.ray import largest_component
from cylcollide.kernels.thick_surface import select_pair
from cylcollide.runtime.compile import inlined
from cylcollide.runtime.simd import Real, Truth, absolute, broadcast_like, larger, logical_not, select, smaller

SIDE, CAP1, CAP2 = float(Face.SIDE), float(Face.CAP1), float(Face.CAP2)

CLEARLY_NEARER = 2.0**50
"""In units of the error bound: least float64 margin by which a side of a cylinder is certainly the nearest."""


@inlined
def places_on_cylinders(point: Vector, limb: Limb) -> tuple[Truth, Real, Vector, Vector, Real]:
    """Which places are certain, and their distances, positions, normals and faces."""
    x, axis = vector_difference(point, limb.p1), vector_difference(limb.p2, limb.p1)
    zero = broadcast_like(0.0, limb.radius)
    product, height, length, radial, error = along_axis(x, axis, limb)
    over, from_axis, none = dd_subtract(height, length), dd_square_root(dd_dot(radial, radial)), (zero, zero)
    off_wall, below = dd_subtract(from_axis, (limb.radius, zero)), (-height[0], -height[1])
    before, behind, is_out = product[0] < 0.0, over[0] > 0.0, off_wall[0] > 0.0
    product_error = SIGN_ERROR * largest_component(high_words(x)) * largest_component(high_words(axis))
    certain = (absolute(product[0]) > product_error) & (absolute(over[0]) > error)
    certain = certain & (limb.extent <= LARGEST_SAFE) & (largest_component(point) <= LARGEST_SAFE)
    # beyond a cap: distance from the cap or its rim
    along, across = select_pair(before, height, over), select_pair(is_out, off_wall, none)
    away = dd_square_root(dd_add(dd_multiply(along, along), dd_multiply(across, across)))
    # else: distance from the wall, or inside, from the nearest of three sides
    less, more = smaller(below[0], over[0]), larger(below[0], over[0])
    nearest, second = larger(more, off_wall[0]), larger(less, smaller(more, off_wall[0]))
    in_slab, is_first = logical_not(before | behind), below[0] > over[0]
    from_cap = in_slab & (more > off_wall[0])
    off_side = select_pair(from_cap, select_pair(is_first, below, over), off_wall)
    is_clear = is_out | ((nearest - second > CLEARLY_NEARER * error) & (nearest < -error))
    certain = certain & ((in_slab & is_clear) | logical_not(in_slab))
    one = select(from_cap, select(is_first, -1.0, 1.0), 0.0)
    distance = select_pair(in_slab, off_side, away)
    along = select_pair(in_slab, (one, zero), dd_divide(along, away))
    across = select_pair(in_slab, (1.0 - absolute(one), zero), dd_divide(across, away))
    certain = certain & (absolute(distance[0]) > error)
    is_across = across[0] > 0.0
    certain = certain & (logical_not(is_across) | (from_axis[0] > CLEAR_OF_AXIS * error))
    per_radial = select_pair(is_across, dd_divide(across, from_axis), none)
    normal = combined(multiple(dd_divide(along, length), axis), per_radial, radial)
    face = select(logical_not(in_slab) | from_cap, select(is_first, CAP1, CAP2), SIDE)
    return certain, distance[0], position_from(point, distance, normal), high_words(normal), face
