"""The feet of solids of revolution, in the half plane of axis and point."""

from dataclasses import dataclass
from decimal import Decimal
from fractions import Fraction
from typing import TypeAlias

from cylcollide._types import Face
from cylcollide.exact.ellipse import Ellipse
from cylcollide.exact.foot import ONE, ZERO, Digits, Foot, sum_of, unit_of
from cylcollide.exact.line import Triple
from cylcollide.exact.numbers import (
    QuadraticNumber,
    Vector,
    cross,
    dot,
    scaled_integers,
    sign,
    sign_of_root_sum,
    subtract,
)

Way: TypeAlias = tuple[Decimal, Decimal]
"""Components of a vector along the axis and away from it."""


@dataclass(frozen=True, slots=True)
class AboutAxis:
    """A point about an axis p1 → p2, in integers: lengths times `scale`."""

    x: Vector  # from p1 to the point
    axis: Vector
    top: int  # axis · axis
    height: int  # x · axis
    spread: int  # |x × axis|²
    radii: tuple[int, int, int]  # at p1, at p2, of the bore
    scale: int

    @classmethod
    def of(cls, point: Triple, p1: Triple, p2: Triple, *radii: float | Fraction) -> "AboutAxis":
        """The point about the axis."""
        numbers = scaled_integers((*point, *p1, *p2, *radii, 1.0))
        x, y, z, px, py, pz, qx, qy, qz, r1, r2, bore, scale = numbers
        v, axis = subtract((x, y, z), (px, py, pz)), subtract((qx, qy, qz), (px, py, pz))
        across = cross(v, axis)
        return cls(v, axis, dot(axis, axis), dot(v, axis), dot(across, across), (r1, r2, bore), scale)

    def feet(self) -> list[Foot]:
        """The feet of a cylinder, a tube or a tapered cylinder: on the wall, both caps and the bore.

        At the ends of the wall, the foot is a cap's.
        """
        r1, r2, bore = self.radii
        found = [self._foot_at(0, r1, bore, Face.CAP1), self._foot_at(self.top, r2, bore, Face.CAP2)]
        taper, wide = r2 - r1, self.top * self.spread
        slant = self.top + taper * taper
        on_wall = self.top * (self.height - taper * r1)
        if sign_of_root_sum(on_wall, taper, wide) > 0 > sign_of_root_sum(on_wall - self.top * slant, taper, wide):
            found.insert(0, self._foot_on_wall(r1, taper, Face.SIDE))
        if bore and 0 < self.height < self.top:
            found.append(self._foot_on_wall(bore, 0, Face.BORE))
        return found

    def foot_of_capsule(self) -> Foot:
        """The foot of a capsule."""
        r = self.radii[0]
        if 0 < self.height < self.top:
            return self._foot_on_wall(r, 0, Face.SIDE)
        end, face = (0, Face.CAP1) if self.height <= 0 else (self.top, Face.CAP2)
        rest = (self.height - end) ** 2 + self.spread  # squared distance from the end, times top

        def way() -> tuple[Digits, Digits]:
            along, across = self._plane(end)
            distance = (along * along + across * across).sqrt()
            unit = (along / distance, across / distance) if rest else (ZERO, ONE)
            off = distance - self._length(r)
            return self._in_world((off * unit[0], off * unit[1])), self._in_world(unit)

        return Foot(lambda: self._square(rest + r * r * self.top, self.top, -r, rest * self.top), face, way)

    def foot_of_ellipsoid(self) -> Foot:
        """The foot of an ellipsoid. Squared lengths of its `Ellipse` are those of the input times 4 top scale²."""
        r, middle = self.radii[0], 2 * self.height - self.top
        ellipse = Ellipse(self.top * self.top, 4 * r * r * self.top, middle * middle, 4 * self.spread)
        unit = 4 * self.top * self.scale**2

        def way() -> tuple[Digits, Digits]:
            a, b, x, y = (Decimal(n) for n in ellipse)
            per_unit = 1 / Decimal(unit).sqrt()
            at_x, at_y = x.sqrt().copy_sign(middle), y.sqrt()
            if ellipse.medial is None:
                s = ellipse.shift()
                foot_x, foot_y = a * at_x / (s + a - min(a, b)), b * at_y / (s + b - min(a, b)) if y else ZERO
            elif a > b:
                foot_x = a * at_x / (a - b)
                foot_y = (b * max(1 - foot_x * foot_x / a, ZERO)).sqrt()  # 0 at the edge, before rounding
            else:
                foot_y = b * at_y / (b - a) if b > a else ZERO
                foot_x = -(a * max(1 - foot_y * foot_y / b, ZERO)).sqrt()
            outward = foot_x / a, foot_y / b
            steep = (outward[0] ** 2 + outward[1] ** 2).sqrt()
            off = (at_x - foot_x) * per_unit, (at_y - foot_y) * per_unit
            return self._in_world(off), self._in_world((outward[0] / steep, outward[1] / steep))

        return Foot(lambda: ellipse.squared_distance(unit), Face.SIDE, way)

    def _foot_at(self, end: int, radius: int, bore: int, face: Face) -> Foot:
        """The foot on a cap, its rims included; `end` is its height."""
        over, wide = self.height - end, self.top * self.spread
        reach = self.spread, radius * radius * self.top, bore * bore * self.top
        rim = radius if reach[0] > reach[1] else bore if reach[0] < reach[2] else None
        if rim is None:
            square = over * over, self.top, 0, 0
        else:
            square = over * over + self.spread + rim * rim * self.top, self.top, -rim, wide

        def way() -> tuple[Digits, Digits]:
            along, across = self._plane(end)
            off = along, ZERO if rim is None else across - self._length(rim)
            return self._in_world(off), self._in_world((-ONE if end == 0 else ONE, ZERO))

        return Foot(lambda: self._square(*square), face, way)

    def _foot_on_wall(self, radius: int, taper: int, face: Face) -> Foot:
        """The foot on the wall's line in the half plane, which is at `radius` at p1 and rises by `taper` to p2."""
        top, wide = self.top, self.top * self.spread
        slant, reach = top + taper * taper, radius * top + taper * self.height

        def way() -> tuple[Digits, Digits]:
            root = Decimal(slant).sqrt()
            unit = -Decimal(taper) / root, Decimal(top).sqrt() / root
            off = (Decimal(wide).sqrt() - Decimal(reach)) / (Decimal(top).sqrt() * root * self.scale)
            outward = -1 if face == Face.BORE else 1
            return self._in_world((off * unit[0], off * unit[1])), self._in_world(
                (outward * unit[0], outward * unit[1])
            )

        return Foot(lambda: self._square(wide + reach * reach, top * slant, -reach, wide), face, way)

    def _square(self, rational: int, denominator: int, factor: int, radicand: int) -> QuadraticNumber:
        """The number (rational + 2 factor √radicand) / denominator, a square, in the unit of the input."""
        return QuadraticNumber(rational, denominator * self.scale**2, sign(factor), 4 * factor * factor * radicand)

    def _length(self, number: int) -> Decimal:
        return Decimal(number) / self.scale

    def _plane(self, end: int) -> Way:
        """Height over an end and distance from the axis, in the unit of the input."""
        root = Decimal(self.top).sqrt() * self.scale
        return Decimal(self.height - end) / root, Decimal(self.spread).sqrt() / root

    def _in_world(self, way: Way) -> Digits:
        """A vector of the half plane; for a point on the axis, in the first of +x, +y, +z not parallel to it."""
        outward: Vector = (0, 0, 0)
        bases: list[Vector] = [self.x, (1, 0, 0), (0, 1, 0), (0, 0, 1)]
        for v in bases:
            x, y, z = (self.top * c - dot(v, self.axis) * a for c, a in zip(v, self.axis, strict=True))
            outward = x, y, z
            if any(outward):
                break
        return sum_of((way[0], unit_of(self.axis)), (way[1], unit_of(outward)))
