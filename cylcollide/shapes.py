"""One record per shape: its checks, growth, exact solid and volume; and checked limbs from user arrays."""

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from enum import Enum
from math import inf
from typing import NamedTuple, TypeAlias

import numpy as np
from numpy.typing import ArrayLike

from cylcollide import validate
from cylcollide._types import BoolArray, Float64Array, Shape
from cylcollide.constants import LARGEST_NUMBER, SMALLEST_SIZE
from cylcollide.exact.line import Triple
from cylcollide.exact.shapes import Box, Capsule, Cylinder, Ellipsoid, Sphere, Tapered, Tube
from cylcollide.exact.solid import LimbSolid


class Solids(NamedTuple):
    """Checked limbs of one shape."""

    kind: Shape
    p1: Float64Array  # (n, 3)
    p2: Float64Array  # (n, 3)
    radius: Float64Array  # (n,)
    radius2: Float64Array  # (n,)
    boxes: Float64Array  # (n, 12): three axes and half extents of a shape that has axes; else (0, 12)


NO_BOXES = np.empty((0, 12))


class Ends(Enum):
    """Which p1 and p2 a shape allows."""

    APART = "two points: the shape needs an axis"
    FREE = "two points or one"
    ONE = "one point, the centre"


ExactSolid: TypeAlias = Callable[[Triple, Triple, float, float, tuple[float, ...]], LimbSolid]
"""From p1, p2, radius, radius2 and its row of `Solids.boxes`, if it has axes, else (), to a solid."""

SizeCheck: TypeAlias = Callable[[Float64Array, str], Float64Array]


def _no_check(solids: Solids, names: tuple[str, ...]) -> None:
    """Any sizes that are valid one by one are valid together."""


def _no_limit(solids: Solids) -> Float64Array:
    return np.full(len(solids.radius), inf)


@dataclass(frozen=True)
class ShapeRecord:
    """The properties of a shape outside of its kernels."""

    ends: Ends
    grown: Callable[[Solids, Float64Array], Solids]
    """The limbs grown by lengths (n,) on every side."""
    exact_solid: ExactSolid
    """The solid in exact arithmetic, which is the specification."""
    volume: Callable[[Solids], Float64Array]
    """The volume of each, (n,)."""
    sizes: Mapping[str, SizeCheck]
    """The constructor's radii by name, and the check of each."""
    check_together: Callable[[Solids, tuple[str, ...]], None] = _no_check
    """Raises ValueError for sizes that are invalid together; also takes their names."""
    growth_limit: Callable[[Solids], Float64Array] = _no_limit
    """The growth (n,) at which the shape degenerates; a limb must grow by less."""


# From user arrays ---------------------------------------------------------------------------------------------------


def axial(kind: Shape, p1: ArrayLike, p2: ArrayLike, *radii: ArrayLike) -> Solids:
    """Limbs of a shape with ends p1, p2 (n, 3) and one or two radii, (n,) or one number each; checked."""
    record = SHAPE_RECORDS[kind]
    first, last = _ends(p1, p2, kind)
    sizes = [
        check(validate.per_row(values, name, len(first)), name)
        for values, (name, check) in zip(radii, record.sizes.items(), strict=True)
    ]
    solids = Solids(kind, first, last, sizes[0], sizes[1] if len(sizes) > 1 else np.zeros(len(first)), NO_BOXES)
    record.check_together(solids, tuple(record.sizes))
    return solids


def cones(base: ArrayLike, apex: ArrayLike, radius: ArrayLike) -> Solids:
    """Tapered cylinders that end in a point; base, apex (n, 3), radius (n,) or one number; checked."""
    first, last = _ends(base, apex, Shape.TAPERED, ("base", "apex"))
    radii = validate.sizes(validate.per_row(radius, "radius", len(first)), "radius")
    return Solids(Shape.TAPERED, first, last, radii, np.zeros(len(first)), NO_BOXES)


def spheres(center: ArrayLike, radius: ArrayLike) -> Solids:
    """Balls; center (n, 3), radius (n,) or one number; checked."""
    place = validate.vectors(center, "center")
    radii = validate.sizes(validate.per_row(radius, "radius", len(place)), "radius")
    return Solids(Shape.SPHERE, place, place, radii, np.zeros(len(place)), NO_BOXES)


def boxes(center: ArrayLike, orientation: ArrayLike, half_extents: ArrayLike) -> Solids:
    """Boxes, checked; the axes are the columns of the rotation matrix of the normalised quaternion, in float64."""
    place = validate.vectors(center, "center")
    turn = quaternions(orientation, "orientation", len(place))
    half = validate.vectors(half_extents, "half_extents")
    if len(half) == 1:
        half = np.repeat(half, len(place), axis=0)
    half = validate.sizes(validate.vectors(half, "half_extents", len(place)), "half_extents")
    rows = np.hstack([rotation_matrices(turn).transpose(0, 2, 1).reshape(-1, 9), half])
    return Solids(Shape.BOX, place, place, np.zeros(len(place)), np.zeros(len(place)), rows)


def quaternions(values: ArrayLike, name: str, rows: int) -> Float64Array:
    """Quaternions x, y, z, w (rows, 4) other than zero, given as such or as one (4,) for all."""
    array = np.atleast_2d(validate.as_numbers(values, name, "(n, 4)", 4))
    if array.shape not in ((1, 4), (rows, 4)):
        raise ValueError(f"{name}: expected shape ({rows}, 4) or (4,), got {array.shape}; quaternions x, y, z, w")
    turns = validate.as_float64(array if len(array) == rows else np.repeat(array, rows, axis=0), name)
    check_quaternions(validate.in_range(turns, name), name)
    return turns


def check_quaternions(turns: Float64Array, name: str, where: Callable[[int], str] = "in row {}".format) -> None:
    """Raise ValueError if one of (n, 4) is zero; `where`: how the message names a row."""
    row = validate.first_bad_row(np.asarray((np.abs(turns) < SMALLEST_SIZE).all(axis=1)))
    if row is not None:
        raise ValueError(
            f"{name}: expected a quaternion other than zero, its largest component at least 2**-500 (about 3e-151), "
            f"got {turns[row].tolist()} {where(row)}; 0, 0, 0, 1 is no rotation"
        )


def rotation_matrices(quaternions: Float64Array) -> Float64Array:
    """Rotation matrices (n, 3, 3) of quaternions x, y, z, w (n, 4), normalised first."""
    x, y, z, w = (quaternions / np.linalg.norm(quaternions, axis=1, keepdims=True)).T
    turns = np.empty((len(quaternions), 3, 3))
    turns[:, 0, 0], turns[:, 0, 1], turns[:, 0, 2] = 1 - 2 * (y * y + z * z), 2 * (x * y - z * w), 2 * (x * z + y * w)
    turns[:, 1, 0], turns[:, 1, 1], turns[:, 1, 2] = 2 * (x * y + z * w), 1 - 2 * (x * x + z * z), 2 * (y * z - x * w)
    turns[:, 2, 0], turns[:, 2, 1], turns[:, 2, 2] = 2 * (x * z - y * w), 2 * (y * z + x * w), 1 - 2 * (x * x + y * y)
    return turns


def _ends(
    p1: ArrayLike, p2: ArrayLike, kind: Shape, names: tuple[str, str] = ("p1", "p2")
) -> tuple[Float64Array, Float64Array]:
    first = validate.vectors(p1, names[0])
    last = validate.vectors(p2, names[1], len(first))
    check_axes(first, last, np.full(len(first), SHAPE_RECORDS[kind].ends == Ends.APART), names)
    return first, last


def short(vectors: Float64Array) -> BoolArray:
    """Which vectors (n, 3) have no component as large as a size must be; by columns, as rows would be slow."""
    small: BoolArray = np.abs(vectors[:, 0]) < SMALLEST_SIZE
    for axis in (1, 2):
        small &= np.abs(vectors[:, axis]) < SMALLEST_SIZE
    return small


def check_axes(p1: Float64Array, p2: Float64Array, needed: BoolArray, names: tuple[str, str] = ("p1", "p2")) -> None:
    """Raise ValueError where p1 and p2 are too close in a row that needs an axis, or too close and yet not equal."""
    rows = np.flatnonzero(np.abs(p2[:, 0] - p1[:, 0]) < SMALLEST_SIZE)  # few rows need the other two coordinates
    axis = p2[rows] - p1[rows]
    bad = rows[short(axis) & (needed[rows] | (axis != 0.0).any(axis=1))]
    if len(bad):
        row = int(bad[0])
        raise ValueError(
            f"{names[1]}: expected an end other than {names[0]}, at least 2**-500 (about 3e-151) away along a "
            f"coordinate, got {p1[row].tolist()} and {p2[row].tolist()} in row {row}; a limb without length has no axis"
        )


def check_centres(p1: Float64Array, p2: Float64Array, needed: BoolArray, name: str = "p2") -> None:
    """Raise ValueError where p1 and p2 differ in a row that has a centre only."""
    rows = np.flatnonzero(needed)
    differ = rows[(p1[rows] != p2[rows]).any(axis=1)]
    row = int(differ[0]) if len(differ) else None
    if row is not None:
        raise ValueError(
            f"{name}: expected p1 = p2, the centre of a sphere or box, got {p1[row].tolist()} and {p2[row].tolist()} "
            f"in row {row}"
        )


def _leaves_a_wall(tubes: Solids, names: tuple[str, ...]) -> None:
    row = validate.first_bad_row(tubes.radius2 >= tubes.radius)
    if row is not None:
        raise ValueError(
            f"{names[1]}: expected less than {names[0]}, got {tubes.radius2[row].tolist()} >= "
            f"{tubes.radius[row].tolist()} in row {row}; a tube needs a wall"
        )


def _is_thick_somewhere(tapers: Solids, names: tuple[str, ...]) -> None:
    row = validate.first_bad_row((tapers.radius == 0.0) & (tapers.radius2 == 0.0))
    if row is not None:
        raise ValueError(
            f"{names[0]}: expected > 0 at one end at least, got 0 and 0 in row {row}; leave such limbs out"
        )


# Growth -------------------------------------------------------------------------------------------------------------


def _lengthened(solids: Solids, more: Float64Array) -> Solids:
    """Both ends moved out along the axis, the wall outwards."""
    axis = solids.p2 - solids.p1
    step = axis / np.linalg.norm(axis, axis=1)[:, None] * more[:, None]
    return solids._replace(p1=solids.p1 - step, p2=solids.p2 + step, radius=solids.radius + more)


def _thickened(tubes: Solids, more: Float64Array) -> Solids:
    """As a cylinder, with the bore narrowed."""
    return _lengthened(tubes, more)._replace(radius2=tubes.radius2 - more)


def _grown_tapered(tapers: Solids, more: Float64Array) -> Solids:
    """Both ends moved out along the axis, the wall at right angles to itself."""
    slope = (tapers.radius2 - tapers.radius) / np.linalg.norm(tapers.p2 - tapers.p1, axis=1)
    # √(1 + slope²) ± slope: one is the reciprocal of the other, so that the smaller keeps its digits
    larger = np.hypot(1.0, slope) + np.abs(slope)
    at_p1, at_p2 = np.where(slope < 0.0, larger, 1.0 / larger), np.where(slope < 0.0, 1.0 / larger, larger)
    return _lengthened(tapers, more)._replace(
        radius=tapers.radius + more * at_p1, radius2=tapers.radius2 + more * at_p2
    )


def _grown_sphere(balls: Solids, more: Float64Array) -> Solids:
    """All points within `more` of the limb."""
    return balls._replace(radius=balls.radius + more)


def _widened(boxes: Solids, more: Float64Array) -> Solids:
    """Every face moved out."""
    grown = boxes.boxes.copy()
    grown[:, 9:] += more[:, None]
    return boxes._replace(boxes=grown)


def first_beyond_range(solids: Solids) -> int | None:
    """The first limb with a number that is too large, or a radius that is neither zero nor a valid size."""
    radii = np.column_stack([solids.radius, solids.radius2])
    numbers = np.hstack([solids.p1, solids.p2, radii, *([solids.boxes] if len(solids.boxes) else [])])
    small = (np.abs(radii) < SMALLEST_SIZE) & (radii != 0.0)
    return validate.first_bad_row(~(np.abs(numbers) <= LARGEST_NUMBER).all(axis=1) | small.any(axis=1))


# The table ----------------------------------------------------------------------------------------------------------

ONE_RADIUS: Mapping[str, SizeCheck] = {"radius": validate.sizes}


def _length(solids: Solids) -> Float64Array:
    return np.asarray(np.linalg.norm(solids.p2 - solids.p1, axis=1))


def _cylinder_volume(solids: Solids) -> Float64Array:
    return np.pi * solids.radius**2 * _length(solids)


def _sphere_volume(solids: Solids) -> Float64Array:
    return 4.0 / 3.0 * np.pi * solids.radius**3


def _capsule(p1: Triple, p2: Triple, radius: float, *_: object) -> LimbSolid:
    return Capsule(p1, p2, radius) if p1 != p2 else Sphere(p1, radius)


def _box(center: Triple, _p2: Triple, _radius: float, _radius2: float, box: tuple[float, ...]) -> LimbSolid:
    a, b, c, d, e, f, g, h, i, x, y, z = box
    return Box(center, ((a, b, c), (d, e, f), (g, h, i)), (x, y, z))


SHAPE_RECORDS: Mapping[int, ShapeRecord] = {
    Shape.CYLINDER: ShapeRecord(
        Ends.APART, _lengthened, lambda p1, p2, r, *_: Cylinder(p1, p2, r), _cylinder_volume, ONE_RADIUS
    ),
    Shape.TUBE: ShapeRecord(
        Ends.APART,
        _thickened,
        lambda p1, p2, radius, inner, _: Tube(p1, p2, radius, inner),
        lambda s: np.pi * (s.radius**2 - s.radius2**2) * _length(s),
        {"radius": validate.sizes, "inner_radius": validate.sizes},
        _leaves_a_wall,
        lambda tubes: tubes.radius2,
    ),
    Shape.TAPERED: ShapeRecord(
        Ends.APART,
        _grown_tapered,
        lambda p1, p2, radius1, radius2, _: Tapered(p1, p2, radius1, radius2),
        lambda s: np.pi / 3.0 * (s.radius**2 + s.radius * s.radius2 + s.radius2**2) * _length(s),
        {"radius1": validate.sizes_or_zero, "radius2": validate.sizes_or_zero},
        _is_thick_somewhere,
    ),
    Shape.ELLIPSOID: ShapeRecord(
        Ends.APART,
        _lengthened,
        lambda p1, p2, r, *_: Ellipsoid(p1, p2, r),
        lambda s: 2.0 / 3.0 * np.pi * s.radius**2 * _length(s),
        ONE_RADIUS,
    ),
    Shape.CAPSULE: ShapeRecord(
        Ends.FREE, _grown_sphere, _capsule, lambda s: _cylinder_volume(s) + _sphere_volume(s), ONE_RADIUS
    ),
    Shape.SPHERE: ShapeRecord(
        Ends.ONE, _grown_sphere, lambda center, _, r, *__: Sphere(center, r), _sphere_volume, ONE_RADIUS
    ),
    Shape.BOX: ShapeRecord(  # its sizes are half extents, checked by `boxes`
        Ends.ONE, _widened, _box, lambda s: 8.0 * s.boxes[:, 9:].prod(axis=1), {}
    ),
}
"""Every shape, by its code."""
