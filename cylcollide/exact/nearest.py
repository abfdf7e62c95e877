"""The nearest place of a solid's surface to a point: squared distances compared exactly, then the last digits.

A place that may be the nearest is a foot. In the half plane of axis and point the squared distance of a foot is
(p + s √D) / q; that of an ellipsoid is a root of a polynomial (`exact/ellipse.py`).
"""

from collections.abc import Iterable
from decimal import Context, Decimal, localcontext

from cylcollide._types import Face, Side
from cylcollide.exact.ellipse import PRECISE
from cylcollide.exact.foot import Foot, floats_of, length_of
from cylcollide.exact.line import Triple
from cylcollide.exact.numbers import Number, QuadraticNumber
from cylcollide.exact.shapes import Ellipsoid
from cylcollide.exact.solid import LimbSolid

CLEAR, FINER = Decimal("1e-200"), Context(prec=3000, Emax=10**9, Emin=-(10**9))
"""A distance far above the errors of `PRECISE`; and the context for smaller ones, such as those of points 5e-324 off a
tangent of a wall: about the square of that."""


def nearest(solid: LimbSolid, point: Triple) -> tuple[float, Triple, Triple, Face]:
    """The place of the surface that is nearest to a point; among equals, of the lowest face, then at the end of p1.

    Returns its distance, negative inside, position and normal, each number the nearest float64; and the face.
    """
    side, foot = solid.side(point), nearest_foot(solid, point)
    with localcontext(PRECISE):
        way, normal = foot.way()
        distance = length_of(way)
        if side == Side.SURFACE:
            return 0.0, point, floats_of(normal), foot.face
    outward = -1 if side == Side.INSIDE else 1
    is_smooth = isinstance(solid, Ellipsoid)  # the vector is along the normal
    with localcontext(FINER if distance < CLEAR and not is_smooth else PRECISE):
        if distance < CLEAR and not is_smooth:
            way, _ = foot.way()
            distance = length_of(way)
        place = [Decimal(x) - w for x, w in zip(point, way, strict=True)]
        direction = normal if distance < CLEAR and is_smooth else [outward * w / distance for w in way]
        return float(outward * distance), floats_of(place), floats_of(direction), foot.face


def nearest_foot(solid: LimbSolid, point: Triple) -> Foot:
    """The foot of the nearest place; among equals, of the lowest face."""
    best, *others = solid.feet(point)
    if others:
        square = best.square()
        for foot in others:
            if (other := foot.square()).compare(square) < 0:
                best, square = foot, other
    return best


def is_within(solid: LimbSolid, point: Triple, radius: float) -> bool:
    """Whether a point is within a distance of a closed solid, or exactly at it; inf is allowed."""
    if radius == float("inf") or solid.side(point) != Side.OUTSIDE:
        return True
    if radius == 0.0:
        return False
    square = nearest_foot(solid, point).square()
    n, d = radius.as_integer_ratio()
    return square.compare(QuadraticNumber(n * n, d * d)) <= 0


def nearest_solid(point: Triple, solids: Iterable[tuple[int, LimbSolid]]) -> int:
    """The index of the solid of least signed distance from a point, the lowest of equals.

    Distances are compared only if the point is strictly inside both solids, or outside of both.
    """
    best: tuple[int, int, LimbSolid] | None = None
    least: Number | None = None  # of the best one, squared, computed on demand
    for index, solid in sorted(solids, key=lambda numbered: numbered[0]):
        outward = {Side.INSIDE: -1, Side.SURFACE: 0, Side.OUTSIDE: 1}[solid.side(point)]
        if best is None or outward < best[1]:
            best, least = (index, outward, solid), None
        elif outward == best[1] != 0:
            least, square = least or nearest_foot(best[2], point).square(), nearest_foot(solid, point).square()
            if outward * square.compare(least) < 0:
                best, least = (index, outward, solid), square
    return -1 if best is None else best[0]
