"""Other engines behind one protocol, so that the cross-check and the benchmark cast the same rays in all of them.

An engine is a peer, never the reference. Each has its own module, the only one that imports its package, so that
``import cylcollide`` needs none of them. Engines are found by name: those of this package, and those that any installed
package declares as entry points of the group ``cylcollide.engines``; ``docs/adding_an_engine.md`` shows how.
"""

from cylcollide.engines.protocol import Capabilities, Engine, EngineHits, MeasuresDistances
from cylcollide.engines.registry import GROUP, available, create, names, variants
from cylcollide.process.signatures import shown_short

__all__ = [
    "GROUP", "Capabilities", "Engine", "EngineHits", "MeasuresDistances", "available", "create", "names", "variants",
]  # fmt: skip

for _thing in (Capabilities, Engine, EngineHits, MeasuresDistances, available, create, names, variants):
    shown_short(_thing)
