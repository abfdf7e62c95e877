"""Limbs grown by the radius of a thick ray: all points within R of the solid.

A ball or a capsule grows into one of radius r + R. Between the planes of its faces, the squared distance from a box is
a quadratic along the line. A grown cylinder or tube is a union of parts, each where some polynomials of the ray's
parameter t are at most 0. A cylinder has a body of radius r + R between the caps; about the plane of each cap a disc of
radius r, thick by R on both sides; and around each rim a ring, dist² = (ρ - r)² + h² <= R². With W = ρ² + h² + r² - R²
that is W <= 2 r ρ, hence W <= 0 or W² <= 4 r² ρ². In between, ρ² is a polynomial over a².
"""

from collections.abc import Sequence
from dataclasses import dataclass, replace
from fractions import Fraction
from itertools import pairwise
from math import inf
from typing import TypeAlias

from cylcollide._types import Face, RayNumbers
from cylcollide.exact.algebraic import Algebraic
from cylcollide.exact.ball_and_box import scaled_axes
from cylcollide.exact.contacts import Contact, common, contacts_where, united
from cylcollide.exact.line import End, Stretch, beyond, hull, within
from cylcollide.exact.line import common as common_stretches
from cylcollide.exact.moving import AxisProducts, affine_dot
from cylcollide.exact.numbers import ZERO, Number, QuadraticNumber, Vector, dot, sign, subtract
from cylcollide.exact.order import is_behind, is_on_ray
from cylcollide.exact.polynomials import Polynomial, combined, product
from cylcollide.exact.shapes import AxisFrame, Box, Capsule, Cylinder, Sphere, Tube, axis_frame, line_from
from cylcollide.exact.solid import Bound, Solid

Part: TypeAlias = tuple[Polynomial, ...]
"""Polynomials of t; the part is where all are at most 0."""

Line: TypeAlias = tuple[int, int, int]
"""A coordinate u + t rate along a line, and the half extent of a box: u, rate, half."""


def grown_by(solid: Solid, radius: float) -> Solid:
    """All points within `radius` of a sphere, capsule, cylinder, tube or box, whose axes count as orthonormal."""
    if isinstance(solid, Sphere | Capsule):
        return replace(solid, radius=Fraction(solid.radius) + Fraction(radius))
    if isinstance(solid, Box):
        return GrownBox(solid, radius)
    if isinstance(solid, Cylinder | Tube):
        return GrownCylinder(solid, radius)
    raise TypeError(f"{type(solid).__name__} has no exact growth: kernels/traits.py must call its shape bounded")


# Boxes --------------------------------------------------------------------------------------------------------------


@dataclass(frozen=True, slots=True)
class GrownBox(Solid):
    """All points within `radius` of a box."""

    box: Box
    radius: float

    def bounds(self, ray: RayNumbers) -> Sequence[Bound]:
        """Those of the box."""
        return self.box.bounds(ray)

    def crossing(self, ray: RayNumbers) -> list[Stretch]:
        """Where the ray's line is inside: united from the parts between the planes of faces."""
        lines, growth = self._lines(ray)
        planes = {Fraction(side * half - u, rate) for u, rate, half in lines if rate for side in (-1, 1)}
        found: list[Stretch] = []
        for begin, end in pairwise((None, *sorted(planes), None)):
            found += common_stretches(_near_box(lines, growth, begin, end), [Stretch(_at(begin), _at(end))])
        return [Stretch(_with_face(lines, one.near), _with_face(lines, one.far)) for one in hull(found)]

    def _lines(self, ray: RayNumbers) -> tuple[list[Line], int]:
        """The ray's line in coordinates of the box, and the radius; lengths in one unit."""
        offset, step, _, (*half, growth) = line_from(ray, self.box.center, *self.box.half_extents, self.radius)
        axes, unit = scaled_axes(self.box.axes)
        lines = [(dot(axis, offset), dot(axis, step), unit * h) for axis, h in zip(axes, half, strict=True)]
        return lines, unit * growth


def _near_box(lines: list[Line], growth: int, begin: Fraction | None, end: Fraction | None) -> list[Stretch]:
    """Where the squared distance from the face, edge or corner nearest between two times is at most growth²."""
    n, d = _between(begin, end).as_integer_ratio()
    a, b, c = 0, 0, -growth * growth
    for u, rate, half in lines:
        place = u * d + rate * n
        if abs(place) > half * d:
            beyond = u - sign(place) * half
            a, b, c = a + rate * rate, b + rate * beyond, c + beyond * beyond
    return within(a, b, c, Face.SIDE)


def _between(begin: Fraction | None, end: Fraction | None) -> Fraction:
    if begin is None:
        return Fraction(0) if end is None else end - 1
    return begin + 1 if end is None else (begin + end) / 2


def _at(time: Fraction | None) -> End | None:
    """An end of a stretch at a rational time, None without one."""
    return None if time is None else End(QuadraticNumber(*time.as_integer_ratio()), Face.SIDE)


def _with_face(lines: list[Line], end: End | None) -> End | None:
    """The end with the face of its nearest place: the lowest of the faces that it is beyond or in the plane of."""
    if end is None:
        return None
    for k, (u, rate, half) in enumerate(lines):
        if _sign_at(end.time, u + half, rate) <= 0:
            return End(end.time, Face(Face.NEG_X + 2 * k))
        if _sign_at(end.time, u - half, rate) >= 0:
            break
    return End(end.time, Face(Face.POS_X + 2 * k))


def _sign_at(time: Number, u: int, rate: int) -> int:
    """The sign of u + rate time."""
    return sign(rate) * time.compare(QuadraticNumber(-u, rate)) if rate else sign(u)


# Cylinders and tubes ------------------------------------------------------------------------------------------------


@dataclass(frozen=True, slots=True)
class GrownCylinder(Solid):
    """All points within `radius` of a cylinder or a tube."""

    solid: Cylinder | Tube
    radius: float

    def bounds(self, ray: RayNumbers) -> Sequence[Bound]:
        """Those of the solid that grows."""
        return self.solid.bounds(ray)

    def crossing(self, ray: RayNumbers) -> list[Stretch]:
        """Where the ray is inside, in order; ends that are not on the ray may be left out."""
        if (between := self._between_faces(ray)) is not None:
            return between
        frame = _grown_frame(ray, self)
        return [
            Stretch(
                End(one.entry, frame.face(one.entry)) if one.entry > 0 else None,
                None if is_behind(ray, one.exit) else End(one.exit, frame.face(one.exit)),
            )
            for one in united(frame.contacts())
        ]

    def _between_faces(self, ray: RayNumbers) -> list[Stretch] | None:
        """The stretches, if a wall or a cap, not a rim, is nearest around their ends; None if that is undecided.

        There the body and the discs make up the grown cylinder, which is convex, less the bore.
        """
        inner_radius = self.solid.inner_radius if isinstance(self.solid, Tube) else 0.0
        frame = axis_frame(ray, self.solid.p1, self.solid.p2, self.solid.radius, inner_radius, self.radius)
        (r, bore, growth), height, rate, top = frame.radii, frame.height, frame.rate, frame.top
        slab, inner = frame.slab().stretches, within(*frame.quadric(r * r * top), Face.SIDE)
        wall = within(*frame.quadric((r + growth) ** 2 * top), Face.SIDE)
        about_caps = [
            within(rate * rate, rate * over, over * over - growth * growth * top, Face.SIDE)
            for over in (height, height - top)
        ]
        around = common_stretches(wall, hull([*slab, *about_caps[0], *about_caps[1]]))
        if not any(is_on_ray(ray, one) for one in around):
            return []
        parts = common_stretches(slab, wall)
        for near_cap in about_caps:
            parts += common_stretches(near_cap, inner)
        if not parts:
            return None
        near, far, _ = hull(parts)[0]
        if near is not None and near.time.compare(ZERO) >= 0:
            near = _with_smooth_face(frame, inner, near)
        if far is not None and not is_behind(ray, far.time):
            far = _with_smooth_face(frame, inner, far)
        is_open = any(end is not None and end.face == Face.NONE for end in (near, far))
        if is_open:
            return None
        return _beside_bore(frame, Stretch(near, far), bore, growth) if bore else [Stretch(near, far)]


def _beside_bore(frame: AxisFrame, filled: Stretch, bore: int, growth: int) -> list[Stretch] | None:
    """A stretch in the grown cylinder, less its part in the bore; None if a rim of the bore may be nearest.

    A point outside the bore is equally far from the cylinder and the tube. In the bore, between the caps, the bore's
    wall is nearest.
    """
    hollow = within(*frame.quadric(bore * bore * frame.top), Face.BORE)
    if not common_stretches([filled], hollow):
        return [filled]
    near, far, _ = hollow[0]
    if near is None or far is None or not all(_is_between_caps(frame, end.time) for end in (near, far)):
        return None
    if bore <= growth:
        return [filled]
    left = common_stretches([filled], beyond(*frame.quadric((bore - growth) ** 2 * frame.top), Face.BORE))
    return [Stretch(_with_cap(frame, one.near), _with_cap(frame, one.far)) for one in left if one.near and one.far]


def _is_between_caps(frame: AxisFrame, time: Number) -> bool:
    """Whether a point of the line is between the caps' planes or in one of them."""
    return _sign_at(time, frame.height, frame.rate) >= 0 >= _sign_at(time, frame.height - frame.top, frame.rate)


def _with_cap(frame: AxisFrame, end: End) -> End:
    """The end of a stretch between the caps; in a cap's plane its face is that cap, which owns its rims."""
    if _sign_at(end.time, frame.height, frame.rate) <= 0:
        return End(end.time, Face.CAP1)
    is_in_second = _sign_at(end.time, frame.height - frame.top, frame.rate) >= 0
    return End(end.time, Face.CAP2) if is_in_second else end


def _with_smooth_face(frame: AxisFrame, inner: list[Stretch], end: End) -> End:
    """The end with the wall or cap that is nearest around its time, NONE if a rim may be nearest."""
    above, beyond = (_sign_at(end.time, height, frame.rate) for height in (frame.height, frame.height - frame.top))
    is_by_wall = above > 0 > beyond or (frame.rate == 0 and above >= 0 >= beyond)
    is_by_cap = above * beyond != 0 and any(_is_amid(stretch, end.time) for stretch in inner)
    face = Face.CAP1 if above <= 0 else Face.CAP2 if beyond >= 0 else Face.SIDE
    return End(end.time, face if is_by_wall or is_by_cap else Face.NONE)


def _is_amid(stretch: Stretch, time: Number) -> bool:
    """Whether a time is strictly inside a stretch."""
    near, far, _ = stretch
    return (near is None or near.time.compare(time) < 0) and (far is None or time.compare(far.time) < 0)


@dataclass(frozen=True, slots=True)
class GrownFrame:
    """The ray's line about the axis of a limb, and the radius that it grows by; all lengths in one unit."""

    m: AxisProducts
    growth: int
    end: Fraction  # beyond the ray, or beyond all t inside

    def contacts(self) -> list[Contact]:
        """Where the line is inside each part, from 0 on."""
        found: list[Contact] = []
        for part in self._parts():
            inside = [Contact(Algebraic.rational(0), Algebraic.rational(self.end))]
            for bound in part:
                inside = inside and common(inside, contacts_where(bound, Fraction(0), self.end))
            found += inside
        return found

    def _parts(self) -> list[Part]:
        """The parts of the grown solid."""
        m = self.m
        body: Part = (m.below, m.above, m.wall(m.radius + self.growth))
        disc: Part = (m.wall(m.radius),)
        rims = [m.radius]
        if m.radius2:
            if m.radius2 > self.growth:
                body += (combined((), m.wall(m.radius2 - self.growth), -1),)
            disc += (combined((), m.wall(m.radius2), -1),)
            rims.append(m.radius2)
        found = [body]
        for height, square in ((m.ya, m.yy), (m.above, m.from_p2)):
            slab = combined(product(height, height), (m.aa[0] * self.growth**2,), -1)
            found.append((slab, *disc))
            for rim in rims:
                w = combined(square, (rim * rim - self.growth**2,))
                ring = combined(product(m.aa, product(w, w)), m.across, -4 * rim * rim)
                found += [(w,), (ring,)]
        return found

    def face(self, t: Algebraic) -> Face:
        """The face with the nearest place: beyond or in the plane of a cap, that cap, rims included."""
        if t.sign_of(self.m.below) >= 0:
            return Face.CAP1
        if t.sign_of(self.m.above) >= 0:
            return Face.CAP2
        return Face.BORE if self.m.radius2 and t.sign_of(self.m.wall(self.m.radius2)) < 0 else Face.SIDE


def _grown_frame(ray: RayNumbers, grown: GrownCylinder) -> GrownFrame:
    solid = grown.solid
    inner = solid.inner_radius if isinstance(solid, Tube) else 0.0
    offset, step, first, (x, y, z, r, bore, growth) = line_from(
        ray, solid.p1, *solid.p2, solid.radius, inner, grown.radius
    )
    a = subtract((x, y, z), first)
    line, axis = (offset, step), (a, (0, 0, 0))
    products = AxisProducts(affine_dot(line, line), affine_dot(line, axis), affine_dot(axis, axis), r, bore)
    end = _reach(offset, step, sum(map(abs, a)) + r + growth)
    return GrownFrame(products, growth, end if ray.limit == inf else min(end, Fraction(ray.limit) + 1))


def _reach(offset: Vector, step: Vector, size: int) -> Fraction:
    """A t > 0 beyond which offset + t step is longer than `size`."""
    fastest = max(map(abs, step))
    return Fraction(sum(map(abs, offset)) + size, fastest) + 1 if fastest else Fraction(2)  # beyond a segment's end
