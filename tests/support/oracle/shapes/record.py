"""The record of a shape's test data. `shapes.table` collects the records, one file per shape."""

from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from fractions import Fraction
from typing import Any, Literal, NamedTuple

from numpy.random import Generator
from support.cases.frames import Array, Posed
from support.cases.posed_shapes import Placed, from_the_middle
from support.cases.shape_rays_exact import Exact
from support.oracle.lines import Poly, Seen, Signs
from support.oracle.shapes.rows import Shapes, Shots
from support.oracle.spots import Spot

import cylcollide as cc

Pick = Callable[[list], Any]
"""Draws one element of a list, by a random generator or by hypothesis."""

Place = tuple[float, float, float]


class Profile(NamedTuple):
    """Half of a convex section through an axis, as a chain of corners with the solid on the right."""

    corners: list[tuple[Any, Any]]
    """Coordinate along the axis from p1, and distance from it; the chain starts and ends on the axis, or is closed."""
    ball: Any = 0
    """Radius of a ball that is swept along the chain."""


class Tangent(NamedTuple):
    """A line that touches a surface at a point; tests shift it outwards and inwards by ulps."""

    limb: Shapes
    point: Place
    outward: Place
    """A vector away from the solid, perpendicular to the line, of any length."""
    along: Place
    touches: Literal["a point", "an edge", "a line", "a bore"] = "a point"
    """What the line shares with the surface; the rest of a bore's tangent is in the solid."""


@dataclass(frozen=True)
class ShapeRow:
    """Definition of a shape, its singular places, and known results of hand-made cases."""

    kind: int
    faces: frozenset[int]
    """All its faces; the samples must hit each of them."""
    takes: tuple[str, ...]
    """The columns of `Shapes` that it uses; the others are blank."""
    grows: tuple[str, ...]
    """The columns whose growth makes it larger."""

    # The library's limbs, by its constructors
    make: Callable[[Shapes], cc.Limbs]
    makers: Mapping[str, Callable[[Array, Array, float, Generator], cc.Limbs]]
    """By name: one limb from two ends, a radius, and a generator for the rest."""
    everyday: Shapes
    """One limb about `common.CENTER`, along `common.AXIS` if it has an axis, and within 0.5 m of that axis."""
    volume: float
    """Of the everyday limb, in m³."""
    arguments: Mapping[str, Mapping[str, Array]]
    """By constructor: valid arguments for four limbs."""

    # The oracle: the definition of the shape by signs of polynomials, and a second one by distances
    polynomials: Callable[[Seen], Mapping[str, Poly]]
    where: Callable[[Signs], int]
    """-1, 0 or 1 for outside, surface or inside, from the signs."""
    face: Callable[[Signs], int]
    """The face of a surface point from its signs."""
    holds: Callable[[Spot], bool]
    profile: Callable[[Any, Any, Any], Profile] | None
    """The section between axis and wall, from length and radii of one type; None if it has no axis or no polygon."""
    grown: Callable[[Fraction, Fraction, Fraction, Fraction], tuple[Fraction, Fraction, Fraction]]
    """From length, radii and growth: the outward shift of each end, and both radii."""
    normal: Callable[[Spot, int], tuple[list[float], float]]
    """The outward unit normal of a face, to a few roundings, and the largest curvature, 1/length."""

    # Places, in the frame of the limb
    placed: Callable[[Generator, Posed], Placed]
    """Limbs of all sizes and proportions."""
    surface: Callable[[Placed, Generator], tuple[Array, Array]]
    """Points of the surface, and the outward unit normals there."""
    feature: Callable[[Placed, Generator], tuple[Array, Array]]
    """Singular points, and a direction that is singular there."""
    exact: Callable[[Generator, int], Exact]
    """Limbs with integer coordinates and integer points."""

    # Hand-made cases
    chords: Mapping[str, tuple[Shapes, Place, Place, list]]
    """Limb, start, end, and chords with entry and exit in eighths of the segment."""
    hits: Mapping[str, tuple]
    """Limb, start, end; face, normal and distance of entry and exit."""
    explained: Mapping[str, tuple[Shapes, Place, Place, str, int, float]]
    """Limb, start, end, reason, face, clearance."""
    tangents: Mapping[str, Tangent]
    """Tangents on each face, and at each kind of edge and tip."""

    interior: Callable[[Callable, Placed, Generator], Array] = from_the_middle
    """Points in the solid, from points of the surface."""
    share: tuple[float, float] | None = None
    """Range of radius2 / radius, if it has a radius2."""
    radii: Callable[[Pick, int], tuple[int, int]] = lambda pick, radius: (radius, 0)
    """Integer radii near the given one."""
    may_have_no_length: bool = False
    is_bounded: bool = False
    """Whether the library only bounds its contacts with balls."""
    families: Mapping[str, Callable[[Generator, int], Shots]] = field(default_factory=dict)
    """Families of exact poses that only this shape has."""
