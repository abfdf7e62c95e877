"""The base class of engines without round shapes: limbs are triangle meshes."""

from abc import abstractmethod
from typing import Any, ClassVar

import numpy as np

from cylcollide._types import Int32Array, Shape
from cylcollide.engines._adapter import Adapter
from cylcollide.engines.protocol import Capabilities
from cylcollide.limbs.limbs import Limbs
from cylcollide.limbs.meshes import Vertices, tessellate


class MeshEngine(Adapter):
    """An engine with all limbs in one mesh; a ray that starts inside hits the far wall.

    `sides`: sides of the polygon for a circle, at least 3. With 32 the wall errs by at most 0.24 % of the radius.
    """

    variants: ClassVar[dict[str, dict[str, Any]]] = {"32-gon": {}, "256-gon": {"sides": 256}}

    def __init__(self, sides: int = 32) -> None:
        if sides < 3:
            raise ValueError(f"sides: expected at least 3, got {sides}; a polygon needs three")
        self.capabilities = Capabilities(
            shapes=frozenset(Shape),
            inside="exit",
            # 1.5 sagittas, (pi / sides)² / 2 of 0.5 m each: half across an axis, one along arcs
            accuracy=4.0 / sides**2,
            precision="float32",
            sides=sides,
            position=False,
            moves=False,
        )
        self._sides = sides
        self._limb_of_triangle: Int32Array = np.empty(0, np.int32)

    @abstractmethod
    def _build_mesh(self, vertices: Vertices, triangles: Int32Array) -> None:
        """Replace the engine's scene by a mesh: vertices (v, 3), triangles (t, 3)."""

    def _build(self, limbs: Limbs) -> None:
        vertices, triangles, self._limb_of_triangle = tessellate(limbs._table, self._sides)
        self._build_mesh(vertices, triangles)
