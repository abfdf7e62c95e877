"""One record of all that tests know of a shape. `shapes.table` collects them; one file a shape."""

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import Any

from numpy.random import Generator
from support.cases.frames import Array, Posed
from support.cases.posed_shapes import Placed, from_the_middle
from support.cases.shape_rays_exact import Exact
from support.oracle.lines import Poly, Seen, Signs
from support.oracle.shapes.rows import Shapes
from support.oracle.spots import Spot

import cylcollide as cc

Pick = Callable[[list], Any]
"""Draws one of a list: from a random generator, or from hypothesis."""

Place = tuple[float, float, float]


@dataclass(frozen=True)
class ShapeRow:
    """What a shape is, where it is special, and what it answers in cases done by hand."""

    kind: int
    faces: frozenset[int]
    """Every face it has; the samples must meet all of them."""
    takes: tuple[str, ...]
    """The columns of `Shapes` that make it; the others are blank."""
    grows: tuple[str, ...]
    """The columns that make it larger."""

    # The library's, by its constructors
    make: Callable[[Shapes], cc.Limbs]
    makers: Mapping[str, Callable[[Array, Array, float, Generator], cc.Limbs]]
    """By name, one limb from two ends, a radius, and what else is to be drawn."""
    arguments: Mapping[str, Mapping[str, Array]]
    """Constructor to good arguments of four limbs."""

    # The oracle: the meaning of the shape as signs of polynomials, and a second opinion from distances
    polynomials: Callable[[Seen], Mapping[str, Poly]]
    where: Callable[[Signs], int]
    """-1, 0 or 1 where the signs say outside, surface or inside."""
    face: Callable[[Signs], int]
    """The face of a surface point from its signs."""
    holds: Callable[[Spot], bool]
    normal: Callable[[Spot, int], tuple[list[float], float]]
    """The outward unit normal of a face, good to a few roundings, and the largest curvature, per length."""

    # Places, in the frame of the limb
    placed: Callable[[Generator, Posed], Placed]
    """Limbs of all sizes and proportions."""
    surface: Callable[[Placed, Generator], tuple[Array, Array]]
    """Points of the surface, and the outward unit normals there."""
    feature: Callable[[Placed, Generator], tuple[Array, Array]]
    """Singular places, and a direction that is singular there."""
    exact: Callable[[Generator, int], Exact]
    """Limbs in whole numbers with whole places."""

    # Cases done by hand
    chords: Mapping[str, tuple[Shapes, Place, Place, list]]
    """Limb, start, end, and the chords with places in eighths of the segment."""
    hits: Mapping[str, tuple]
    """Limb, start, end; face, normal and distance of entry and exit."""
    explained: Mapping[str, tuple[Shapes, Place, Place, str, int, float]]
    """Limb, start, end, reason, face, clearance."""

    interior: Callable[[Callable, Placed, Generator], Array] = from_the_middle
    """Points in the solid, from the surface's points."""
    share: tuple[float, float] | None = None
    """Range of radius2 in radii, where it has one."""
    radii: Callable[[Pick, int], tuple[int, int]] = lambda pick, radius: (radius, 0)
    """Whole radii about the given one."""
    ends_may_meet: bool = False
