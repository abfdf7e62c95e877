"""Box: {x : |axis_i · (x - center)| <= half_i for i = 0, 1, 2}, the axes as the float64 numbers they are."""

from collections.abc import Sequence
from dataclasses import dataclass

from cylcollide._types import Face
from cylcollide.exact.frame import line_from
from cylcollide.exact.line import RayNumbers, Triple
from cylcollide.exact.numbers import dot, scaled_integers
from cylcollide.exact.solid import Bound, Slab, Solid


@dataclass(frozen=True, slots=True)
class Box(Solid):
    """Closed box with three axes."""

    center: Triple
    axes: tuple[Triple, Triple, Triple]
    half_extents: Triple

    def bounds(self, ray: RayNumbers) -> Sequence[Bound]:
        """Three slabs: axis·(x - center) + half runs from 0 to 2 half, all times the common scale of the axes."""
        offset, step, _, (a, b, c) = line_from(ray, self.center, *self.half_extents)
        xx, xy, xz, yx, yy, yz, zx, zy, zz, unit = scaled_integers((*self.axes[0], *self.axes[1], *self.axes[2], 1.0))
        x, y, z = (xx, xy, xz), (yx, yy, yz), (zx, zy, zz)
        a, b, c = unit * a, unit * b, unit * c
        return (
            Slab("slab x", dot(x, offset) + a, dot(x, step), 2 * a, Face.NEG_X, Face.POS_X),
            Slab("slab y", dot(y, offset) + b, dot(y, step), 2 * b, Face.NEG_Y, Face.POS_Y),
            Slab("slab z", dot(z, offset) + c, dot(z, step), 2 * c, Face.NEG_Z, Face.POS_Z),
        )
