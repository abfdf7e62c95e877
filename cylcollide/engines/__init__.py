"""Other engines behind one protocol, so that the cross-check asks all of them the same question.

An engine is a peer, never the truth. Each one lives in a module of its own and imports its package only there, so that
``import cylcollide`` needs none of them.
"""

from dataclasses import dataclass
from typing import Protocol, Self

from cylcollide._types import Float64Array, Int32Array
from cylcollide.limbs import Limbs


@dataclass(frozen=True)
class EngineHits:
    """The closest hit of every segment as the engine tells it; a miss has limb -1 and nan in every other field."""

    limb: Int32Array  # row of the limbs the engine was built from, (n,)
    fraction: Float64Array  # 0 at the start, 1 at the end of the segment, (n,)
    position: Float64Array  # metres, (n, 3)
    normal: Float64Array  # outward, unit length, (n, 3)


class Engine(Protocol):
    """A physics engine that holds the limbs as its own cylinders. Use it as a context manager: it owns resources."""

    name: str
    versions: dict[str, str]

    def build(self, limbs: Limbs) -> None:
        """Hold these limbs, and no others, as solids of this engine."""

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
