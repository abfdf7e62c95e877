"""What an engine must do, and how it says what it cannot do."""

from collections.abc import Iterable
from dataclasses import dataclass, replace
from typing import Literal, Protocol, Self

import numpy as np

from cylcollide._types import Float64Array, InsidePolicy, Int32Array, Shape
from cylcollide.limbs.limbs import Limbs


@dataclass(frozen=True)
class EngineHits:
    """The closest hit of every segment as the engine tells it; a miss has limb -1 and nan in every other field."""

    limb: Int32Array  # row of the limbs the engine was built from, (n,)
    fraction: Float64Array  # 0 at the start, 1 at the end of the segment, (n,)
    position: Float64Array  # metres, (n, 3)
    normal: Float64Array  # outward, unit length, (n, 3); nan where the engine tells none


@dataclass(frozen=True)
class Capabilities:
    """What an engine can do. The defaults are the best there is; an engine states where it falls short."""

    shapes: frozenset[Shape]
    """Shapes it holds; `build` refuses any other."""
    inside: InsidePolicy
    """What a segment that starts in a limb does, in the words of `HitWorld.cast_segments`."""
    accuracy: float
    """Metres by which a place may err in a head-on shot at a limb of up to 0.5 m radius, within 10 m of the origin."""
    precision: Literal["float64", "float32"] = "float64"
    """Of the coordinates that the engine computes with."""
    sides: int | None = None
    """Of the polygon that stands for a circle; None: round shapes are round."""
    max_batch: int | None = None
    """Rays that one native call takes; longer batches are split. None: no limit."""
    position: bool = True
    """Whether the engine tells the place of a hit; if not, it is computed from the fraction."""
    normal: bool = True
    """Whether the engine tells a normal; if not, it is nan."""
    moves: bool = True
    """Whether `set_endpoints` moves the solids in place; if not, they are all built anew."""
    practical_limbs: int | None = None
    """With more limbs than these a build takes minutes, or a batch of rays does; None: millions are fine."""

    def cannot(self) -> list[str]:
        """Say in short phrases what the engine cannot do; empty for one that can do everything."""
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
        said += [] if self.position else ["no position"]
        said += [] if self.normal else ["no normal"]
        said += [] if self.moves else ["moving means building anew"]
        said += [f"impractical above {self.practical_limbs:,} limbs"] if self.practical_limbs else []
        return said

    def lacks(self, shapes: Iterable[Shape]) -> list[Shape]:
        """Which of the shapes the engine does not hold."""
        return sorted(set(shapes) - self.shapes)

    def replaced(self, **changes: object) -> "Capabilities":
        """The same but for some fields."""
        return replace(self, **changes)  # type: ignore[arg-type]  # fields by name, checked by the dataclass


class Engine(Protocol):
    """An engine that holds the limbs as solids of its own. Use it as a context manager: it owns resources."""

    name: str
    versions: dict[str, str]
    capabilities: Capabilities

    def build(self, limbs: Limbs) -> None:
        """Hold these limbs, and no others; ValueError if there is one whose shape the engine does not have."""

    def set_endpoints(self, p1: Float64Array, p2: Float64Array) -> None:
        """Move every limb so that its axis runs from ``p1`` to ``p2``, both (m, 3) in metres."""

    def cast_segments(self, starts: Float64Array, ends: Float64Array) -> EngineHits:
        """Answer the closest hit of each segment, ``starts`` and ``ends`` (n, 3) in metres."""

    def close(self) -> None:
        """Release what the engine holds; closing twice is harmless."""

    def __enter__(self) -> Self:
        """Return the engine itself."""

    def __exit__(self, *exc_info: object) -> None:
        """Close the engine."""


def refuse_unknown_shapes(name: str, capabilities: Capabilities, limbs: Limbs) -> None:
    """Raise ValueError, naming the first limb that the engine cannot hold, if there is one."""
    known = np.isin(limbs.kind, [int(shape) for shape in capabilities.shapes])
    if not known.all():
        row = int((~known).argmax())
        held = ", ".join(shape.name.lower() for shape in sorted(capabilities.shapes))
        raise ValueError(
            f"limbs: {name} holds {held}, got a {Shape(int(limbs.kind[row])).name.lower()} in row {row}; "
            "leave such limbs out or ask another engine"
        )
