"""NVIDIA Warp on the CPU: its tree of boxes, and our own cylinder test in float32 (`_warp_kernel.py`)."""

from typing import Any

import numpy as np

from cylcollide._types import Float64Array, Shape
from cylcollide.engines._adapter import Adapter, installed, peer
from cylcollide.engines.protocol import Capabilities, EngineHits
from cylcollide.limbs.limbs import Limbs

wp: Any = peer("warp")
wp.config.log_level = wp.LOG_ERROR  # no banner, no compilation messages
kernel: Any = peer("cylcollide.engines._warp_kernel")

BOX_PAD = 1e-5
"""Relative padding of a limb's box: a hundred times the rounding of float32, so that no box test loses a hit."""


class WarpEngine(Adapter):
    """`warp.Bvh` over the cylinders' boxes. Compiles its kernel on first use, which takes seconds."""

    name = "Warp"
    capabilities = Capabilities(
        shapes=frozenset({Shape.CYLINDER}), inside="hit", accuracy=1e-4, precision="float32", position=False
    )
    versions = installed("warp-lang")
    _columns: tuple[Any, ...] = ()

    def _build(self, limbs: Limbs) -> None:
        columns = [_vectors(limbs.p1), _vectors(limbs.p2), wp.array(limbs.radius.astype(np.float32), device="cpu")]
        boxes = [_vectors(corner) for corner in _boxes(limbs)]
        self._columns = (*columns, *boxes)
        self._world = wp.Bvh(*boxes)

    def _move(self, limbs: Limbs) -> None:
        moved = (limbs.p1, limbs.p2, limbs.radius, *_boxes(limbs))
        for column, values in zip(self._columns, moved, strict=True):
            column.assign(values.astype(np.float32))
        self._world.refit()

    def _cast(self, starts: Float64Array, ends: Float64Array, hits: EngineHits) -> None:
        n = len(starts)
        limb, fraction = wp.empty(n, dtype=wp.int32, device="cpu"), wp.empty(n, dtype=wp.float32, device="cpu")
        normal = wp.empty(n, dtype=wp.vec3, device="cpu")
        rays = [_vectors(starts), _vectors(ends - starts)]
        inputs = [self._world.id, *self._columns[:3], *rays, limb, fraction, normal]
        wp.launch(kernel.closest, dim=n, inputs=inputs, device="cpu")
        hits.limb[:], hits.fraction[:], hits.normal[:] = limb.numpy(), fraction.numpy(), normal.numpy()


def _vectors(rows: Float64Array) -> Any:
    return wp.array(np.ascontiguousarray(rows, np.float32), dtype=wp.vec3, device="cpu")


def _boxes(limbs: Limbs) -> tuple[Float64Array, Float64Array]:
    """Corners (n, 3) of the boxes of cylinders: along each axis a cap extends by radius * sin(angle to that axis)."""
    axis = limbs.p2 - limbs.p1
    share = axis / np.linalg.norm(axis, axis=1)[:, None]
    reach = limbs.radius[:, None] * np.sqrt(np.maximum(1 - share * share, 0))
    low, high = np.minimum(limbs.p1, limbs.p2) - reach, np.maximum(limbs.p1, limbs.p2) + reach
    pad = BOX_PAD * np.maximum(np.abs(low), np.abs(high))
    return low - pad, high + pad
