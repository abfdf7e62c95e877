"""The protocol of engines, and the description of their capabilities."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass
from typing import Literal, Protocol, Self, runtime_checkable

import numpy as np

from cylcollide._types import Float64Array, InsidePolicy, Int32Array, Shape
from cylcollide.limbs.limbs import Limbs
from cylcollide.process.signatures import Shown


@dataclass(frozen=True)
class EngineHits(metaclass=Shown):
    """The closest hit of n segments as the engine reports it; a miss has limb -1, and nan elsewhere."""

    limb: Int32Array  # row of the limbs given to `build`, (n,)
    fraction: Float64Array  # 0 at the start, 1 at the end of the segment, (n,)
    position: Float64Array  # metres, (n, 3)
    normal: Float64Array  # outward, unit length, (n, 3); nan where the engine reports none

    @classmethod
    def misses(cls, n: int) -> Self:
        """Return n misses, to be filled in."""
        return cls(np.full(n, -1, np.int32), np.full(n, np.nan), np.full((n, 3), np.nan), np.full((n, 3), np.nan))


@dataclass(frozen=True)
class Capabilities(metaclass=Shown):
    """The capabilities of an engine. The defaults mean no limits; an engine states only its limits."""

    shapes: frozenset[Shape]
    """Shapes it supports; `build` raises ValueError for any other."""
    inside: InsidePolicy
    """The treatment of a segment that starts in a limb, as the argument of `HitWorld.cast_segments`."""
    accuracy: float
    """Largest error of a position in metres: head-on rays, limbs of up to 0.5 m radius, within 10 m of the origin."""
    precision: Literal["float64", "float32"] = "float64"
    """Precision of the coordinates with which the engine computes."""
    sides: int | None = None
    """Number of sides of the polygon for a circle; None: round shapes are exact."""
    max_batch: int | None = None
    """Largest number of rays in one native call; longer batches are split. None: no limit."""
    position: bool = True
    """Whether the engine reports the position of a hit; if not, it is computed from the fraction."""
    normal: bool = True
    """Whether the engine reports a normal; if not, it is nan."""
    rays: bool = True
    """Whether the engine casts rays; if not, `cast_segments` raises ValueError."""
    moves: bool = True
    """Whether `set_endpoints` moves the solids in place; if not, all are rebuilt."""
    practical_limbs: int | None = None
    """Number of limbs above which a build or a batch of rays takes minutes; None: not below millions."""

    def cannot(self) -> list[str]:
        """Short phrases for what the engine cannot do; empty if it can do everything."""
        missing = [shape.name.lower().replace("tapered", "tapered cylinder") for shape in Shape if self.lacks([shape])]
        said = [f"no {', '.join(missing)}"] if missing else []
        said += [f"{self.sides}-sided polygons for circles"] if self.sides else []
        said += ["float32"] if self.precision == "float32" else []
        said += {
            "hit": [],
            "exit": ["a start inside is hit where it leaves"],
            "ignore": ["a start inside is not noticed"],
        }[self.inside]
        said += [f"{self.max_batch:,} rays a call"] if self.max_batch else []
        said += [] if self.rays else ["no rays"]
        said += [] if self.position else ["no position"]
        said += [] if self.normal else ["no normal"]
        said += [] if self.moves else ["moving means building anew"]
        said += [f"impractical above {self.practical_limbs:,} limbs"] if self.practical_limbs else []
        return said

    def lacks(self, shapes: Iterable[Shape]) -> list[Shape]:
        """Those of the shapes that the engine does not support."""
        return sorted(set(shapes) - self.shapes)


class _ShownProtocol(Shown, type(Protocol)):  # type: ignore[misc]
    """The metaclass of a protocol whose `help` shows only its own members."""


class Engine(Protocol, metaclass=_ShownProtocol):
    """An engine with its own solids for the limbs. Use it as a context manager: it owns resources."""

    name: str  # for tables
    versions: dict[str, str]  # of its packages
    capabilities: Capabilities

    def build(self, limbs: Limbs) -> None:
        """Replace all limbs by these.

        ValueError, with shape and row, for a shape that the engine does not support.
        """

    def set_endpoints(self, p1: Float64Array, p2: Float64Array) -> None:
        """Move every limb to the axis from ``p1`` to ``p2``, both (m, 3) in metres.

        ValueError for another number of rows.
        """

    def cast_segments(self, starts: Float64Array, ends: Float64Array) -> EngineHits:
        """The closest hit of each closed segment; ``starts``, ``ends`` (n, 3) in metres, n >= 0."""

    def close(self) -> None:
        """Release the engine's resources; closing twice is harmless."""

    def __enter__(self) -> Self:
        """Return the engine itself."""
        return self

    def __exit__(self, *exc_info: object) -> None:
        """Close the engine."""
        self.close()


@runtime_checkable
class MeasuresDistances(Protocol, metaclass=_ShownProtocol):
    """An optional capability of an engine: distances of points."""

    def signed_distances(self, points: Float64Array, limb: Int32Array) -> Float64Array:
        """Signed distance of each point (n, 3) from its limb (n,): metres, negative inside.

        NaN without an answer. No other limb may be nearer: an engine may measure to all of them.
        """
