"""The constructors of `Limbs`, one per shape."""

from __future__ import annotations

from abc import abstractmethod
from typing import Self, Unpack

from numpy.typing import ArrayLike

from cylcollide import shapes
from cylcollide._types import Shape
from cylcollide.limbs.tables import Labels
from cylcollide.process.signatures import Shown, with_options
from cylcollide.shapes import Solids


class Constructors(metaclass=Shown):
    """Constructors of limbs of one shape; all take labels by keyword."""

    @classmethod
    @abstractmethod
    def _of(cls, solids: Solids, labels: Labels) -> Self:
        """Limbs with these solids and labels."""

    @classmethod
    @with_options
    def cylinders(cls, p1: ArrayLike, p2: ArrayLike, radius: ArrayLike, **labels: Unpack[Labels]) -> Self:
        """Capped cylinders; p1, p2 (n, 3) the centres of the caps, radius (n,) or one number."""
        return cls._of(shapes.axial(Shape.CYLINDER, p1, p2, radius), labels)

    @classmethod
    @with_options
    def tubes(
        cls, p1: ArrayLike, p2: ArrayLike, radius: ArrayLike, inner_radius: ArrayLike, **labels: Unpack[Labels]
    ) -> Self:
        """Cylinders minus the open infinite cylinder of `inner_radius` < `radius`; (n,) or one each."""
        return cls._of(shapes.axial(Shape.TUBE, p1, p2, radius, inner_radius), labels)

    @classmethod
    @with_options
    def tapered_cylinders(
        cls, p1: ArrayLike, p2: ArrayLike, radius1: ArrayLike, radius2: ArrayLike, **labels: Unpack[Labels]
    ) -> Self:
        """Cylinders of radius1 at p1 and radius2 at p2, one of which may be 0; each (n,) or one."""
        return cls._of(shapes.axial(Shape.TAPERED, p1, p2, radius1, radius2), labels)

    @classmethod
    @with_options
    def cones(cls, base: ArrayLike, apex: ArrayLike, radius: ArrayLike, **labels: Unpack[Labels]) -> Self:
        """Tapered cylinders that end in a point; base, apex (n, 3), radius (n,) or one number."""
        return cls._of(shapes.cones(base, apex, radius), labels)

    @classmethod
    @with_options
    def ellipsoids(cls, p1: ArrayLike, p2: ArrayLike, radius: ArrayLike, **labels: Unpack[Labels]) -> Self:
        """Ellipsoids of revolution with poles p1, p2 (n, 3) and equatorial radius (n,) or one number."""
        return cls._of(shapes.axial(Shape.ELLIPSOID, p1, p2, radius), labels)

    @classmethod
    @with_options
    def capsules(cls, p1: ArrayLike, p2: ArrayLike, radius: ArrayLike, **labels: Unpack[Labels]) -> Self:
        """All points within radius of the segment p1 to p2 (n, 3); with p1 = p2 a sphere."""
        return cls._of(shapes.axial(Shape.CAPSULE, p1, p2, radius), labels)

    @classmethod
    @with_options
    def spheres(cls, center: ArrayLike, radius: ArrayLike, **labels: Unpack[Labels]) -> Self:
        """Balls; center (n, 3), radius (n,) or one number."""
        return cls._of(shapes.spheres(center, radius), labels)

    @classmethod
    @with_options
    def boxes(
        cls, center: ArrayLike, orientation: ArrayLike, half_extents: ArrayLike, **labels: Unpack[Labels]
    ) -> Self:
        """Boxes; center, half_extents (n, 3), orientation (n, 4): x, y, z, w of any length but 0.

        One quaternion (4,) or one triple of half extents (3,) stands for all. The axes are the
        columns of the float64 rotation matrix.
        """
        return cls._of(shapes.boxes(center, orientation, half_extents), labels)
