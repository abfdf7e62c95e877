"""Limbs grown by the radius of a thick ray: all points within R of the solid, as polynomials along the line.

A grown solid is a union of parts, each where some polynomials of the ray's parameter t are at most 0. A cylinder has a
body of radius r + R between the caps; about the plane of each cap a disc of radius r, thick by R on both sides; and
around each rim a ring, dist² = (ρ - r)² + h² <= R². With W = ρ² + h² + r² - R² that is W <= 2 r ρ, hence W <= 0 or
W² <= 4 r² ρ². In between, ρ² is a polynomial over a².
"""

from collections.abc import Sequence
from dataclasses import dataclass, replace
from fractions import Fraction
from itertools import pairwise
from typing import TypeAlias

from cylcollide._types import Face, RayNumbers, Shape
from cylcollide.exact.algebraic import Algebraic
from cylcollide.exact.contacts import Contact, common, contacts_where, united
from cylcollide.exact.line import End, Stretch
from cylcollide.exact.moving import AxisProducts, ball_bounds
from cylcollide.exact.numbers import Vector, dot, subtract
from cylcollide.exact.polynomials import Polynomial, combined, product, sign_at, trimmed
from cylcollide.exact.shapes import Box, Capsule, Cylinder, Sphere, Tube, line_from, scaled_axes
from cylcollide.exact.solid import Bound, Solid

Part: TypeAlias = tuple[Polynomial, ...]
"""Polynomials of t that are all at most 0 in it."""


def affine_square(offset: Vector, step: Vector) -> Polynomial:
    """The polynomial |offset + t step|²."""
    return trimmed((dot(offset, offset), 2 * dot(offset, step), dot(step, step)))


def within(p: Polynomial, radius: int, scale: int = 1) -> Polynomial:
    """The bound p² <= scale radius²."""
    return combined(product(p, p), (scale * radius * radius,), -1)


@dataclass(frozen=True, slots=True)
class Grown(Solid):
    """All points within `radius` of a sphere, capsule, cylinder, tube or box, whose axes count as orthonormal."""

    has_algebraic_times = True

    solid: Solid
    radius: float

    def bounds(self, ray: RayNumbers) -> Sequence[Bound]:
        """Those of the solid that grows."""
        return self.solid.bounds(ray)

    def crossing(self, ray: RayNumbers) -> list[Stretch]:
        """Where the ray's line is inside, in order; times are algebraic numbers."""
        frame: GrownFrame | BoxFrame
        frame = box_frame(ray, self.solid, self.radius) if isinstance(self.solid, Box) else axis_frame(ray, self)
        return [
            Stretch(End(one.entry, frame.face(one.entry)), End(one.exit, frame.face(one.exit)))
            for one in united(frame.contacts())
        ]


@dataclass(frozen=True, slots=True)
class GrownFrame:
    """The ray's line about the axis of a limb, and the radius that it grows by; all lengths in one unit."""

    shape: Shape
    m: AxisProducts
    growth: int
    reach: Fraction  # no t beyond it, before or after 0, is inside

    def contacts(self) -> list[Contact]:
        """Where the line is inside each part."""
        found: list[Contact] = []
        for part in self.parts():
            inside = [Contact(Algebraic.rational(-self.reach), Algebraic.rational(self.reach))]
            for bound in part:
                inside = inside and common(inside, contacts_where(bound, -self.reach, self.reach))
            found += inside
        return found

    def parts(self) -> list[Part]:
        """The parts of the grown solid."""
        m, grown = self.m, self.m.radius + self.growth
        ball = replace(m, radius=grown)
        if self.shape in (Shape.SPHERE, Shape.CAPSULE):
            found = [(bound,) for bound in ball_bounds(self.shape, ball)]
            return [*found, (m.below, m.above, m.wall(grown))] if self.shape == Shape.CAPSULE else list(found)
        body: Part = (m.below, m.above, m.wall(grown))
        disc: Part = (m.wall(m.radius),)
        rims = [m.radius]
        if self.shape == Shape.TUBE:
            if m.radius2 > self.growth:
                body += (combined((), m.wall(m.radius2 - self.growth), -1),)
            disc += (combined((), m.wall(m.radius2), -1),)
            rims.append(m.radius2)
        found_parts = [body]
        from_p2 = combined(combined(m.yy, m.ya, -2), m.aa)
        for height, square in ((m.ya, m.yy), (m.above, from_p2)):
            found_parts.append((within(height, self.growth, m.aa[0]), *disc))
            for rim in rims:
                w = combined(square, (rim * rim - self.growth**2,))
                ring = combined(product(m.aa, product(w, w)), m.across, -4 * rim * rim)
                found_parts += [(w,), (ring,)]
        return found_parts

    def face(self, t: Algebraic) -> Face:
        """The face with the nearest place: beyond the caps' planes and in them the cap, rims included."""
        if self.shape == Shape.SPHERE:
            return Face.SIDE
        if t.sign_of(self.m.below) >= 0:
            return Face.CAP1
        if t.sign_of(self.m.above) >= 0:
            return Face.CAP2
        return Face.BORE if self.shape == Shape.TUBE and t.sign_of(self.m.wall(self.m.radius2)) < 0 else Face.SIDE


def axis_frame(ray: RayNumbers, grown: Grown) -> GrownFrame:
    """The frame of a limb with an axis, or of a sphere."""
    solid, inner = grown.solid, 0.0
    if isinstance(solid, Sphere):
        shape, p1, p2, radius = Shape.SPHERE, solid.center, solid.center, solid.radius
    else:
        assert isinstance(solid, Capsule | Cylinder | Tube)
        shape, p1, p2, radius = Shape.CYLINDER, solid.p1, solid.p2, solid.radius
        if isinstance(solid, Capsule):
            shape = Shape.CAPSULE
        elif isinstance(solid, Tube):
            shape, inner = Shape.TUBE, solid.inner_radius
    offset, step, first, (x, y, z, r, bore, growth) = line_from(ray, p1, *p2, radius, inner, grown.radius)
    axis = subtract((x, y, z), first)
    along = trimmed((dot(offset, axis), dot(step, axis)))
    products = AxisProducts(affine_square(offset, step), along, trimmed((dot(axis, axis),)), r, bore)
    return GrownFrame(shape, products, growth, reach_of(offset, step, sum(map(abs, axis)) + r + growth))


def reach_of(offset: Vector, step: Vector, size: int) -> Fraction:
    """A t beyond which offset + t step is longer than `size`, either way."""
    fastest = max(map(abs, step))
    return Fraction(sum(map(abs, offset)) + size, fastest) + 1 if fastest else Fraction(2)  # beyond a segment's end


@dataclass(frozen=True, slots=True)
class BoxFrame:
    """The ray's line in coordinates of a box: polynomials, half extents and growth in one unit."""

    coordinates: tuple[Polynomial, Polynomial, Polynomial]
    half: tuple[int, int, int]
    growth: int
    reach: Fraction

    def contacts(self) -> list[Contact]:
        """Where the line is inside, between the times at which it crosses a plane of a face.

        There the nearest place is in one face, edge or corner: the squared distance is that beyond the planes.
        """
        lines = list(zip(self.coordinates, self.half, strict=True))
        crossed = {Fraction(s * h - u[0], u[1]) for u, h in lines if len(u) > 1 for s in (-1, 1)}
        times = [-self.reach, *sorted(t for t in crossed if abs(t) < self.reach), self.reach]
        found: list[Contact] = []
        for begin, end in pairwise(times):
            middle, over = (begin + end) / 2, combined((), (self.growth**2,), -1)
            for u, h in lines:
                side = sign_at(u, *middle.as_integer_ratio())
                beyond = combined(u, (side * h,), -1)
                if side * sign_at(beyond, *middle.as_integer_ratio()) > 0:
                    over = combined(over, product(beyond, beyond))
            found += contacts_where(over, begin, end)
        return found

    def face(self, t: Algebraic) -> Face:
        """The face with the nearest place: the lowest one of those that the point is beyond or in the plane of."""
        for k, (u, h) in enumerate(zip(self.coordinates, self.half, strict=True)):
            if t.sign_of(combined(u, (h,))) <= 0:
                return Face(Face.NEG_X + 2 * k)
            if t.sign_of(combined(u, (h,), -1)) >= 0:
                break
        return Face(Face.POS_X + 2 * k)


def box_frame(ray: RayNumbers, box: Box, growth: float) -> BoxFrame:
    """The frame of a box."""
    offset, step, _, (a, b, c, r) = line_from(ray, box.center, *box.half_extents, growth)
    axes, unit = scaled_axes(box.axes)
    x, y, z = (trimmed((dot(axis, offset), dot(axis, step))) for axis in axes)
    reach = reach_of(offset, step, 2 * (a + b + c + r))
    return BoxFrame((x, y, z), (unit * a, unit * b, unit * c), unit * r, reach)
