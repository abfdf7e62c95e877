"""One record of all that tests know of a shape. `shapes.table` collects them; one file a shape."""

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
"""Draws one of a list: from a random generator, or from hypothesis."""

Place = tuple[float, float, float]


class Profile(NamedTuple):
    """Half a section through an axis, convex, as a chain of corners with the solid on its right hand."""

    corners: list[tuple[Any, Any]]
    """Along the axis from p1, and off it; the chain begins and ends on the axis, or at one corner."""
    ball: Any = 0
    """Radius of a ball about every place of the chain."""


class Tangent(NamedTuple):
    """A line at a place of a surface, which tests move outwards and inwards by ulps."""

    limb: Shapes
    point: Place
    outward: Place
    """Away from the solid, at right angles to the line, of any length."""
    along: Place
    touches: Literal["a point", "an edge", "a line", "a bore"] = "a point"
    """What the line has in common with the surface; of a bore's tangent all the rest is in the solid."""


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
    everyday: Shapes
    """One limb about `common.CENTER`, along `common.AXIS` if it has one, and no wider than 0.5 m."""
    volume: float
    """Of the everyday limb, in m³."""
    arguments: Mapping[str, Mapping[str, Array]]
    """Constructor to good arguments of four limbs."""

    # The oracle: the meaning of the shape as signs of polynomials, and a second opinion from distances
    polynomials: Callable[[Seen], Mapping[str, Poly]]
    where: Callable[[Signs], int]
    """-1, 0 or 1 where the signs say outside, surface or inside."""
    face: Callable[[Signs], int]
    """The face of a surface point from its signs."""
    holds: Callable[[Spot], bool]
    profile: Callable[[Any, Any, Any], Profile] | None
    """The section between axis and wall, from length and radii of one type; None without straight edges or an axis."""
    grown: Callable[[Fraction, Fraction, Fraction, Fraction], tuple[Fraction, Fraction, Fraction]]
    """From length, radii and growth: how far each end moves out, and both radii."""
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
    tangents: Mapping[str, Tangent]
    """On each face, and at each kind of edge and tip."""

    interior: Callable[[Callable, Placed, Generator], Array] = from_the_middle
    """Points in the solid, from the surface's points."""
    share: tuple[float, float] | None = None
    """Range of radius2 in radii, where it has one."""
    radii: Callable[[Pick, int], tuple[int, int]] = lambda pick, radius: (radius, 0)
    """Whole radii about the given one."""
    ends_may_meet: bool = False
    is_bounded: bool = False
    """Whether its contacts with balls are known within bounds only."""
    families: Mapping[str, Callable[[Generator, int], Shots]] = field(default_factory=dict)
    """Rows of exact poses that no other shape has."""
