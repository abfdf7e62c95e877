"""Meshes, height fields, soft bodies: a box around each, and Bullet's own ray test for the rays that intersect it."""

from __future__ import annotations

from functools import cached_property
from operator import itemgetter
from typing import Final

import numpy as np

from cylcollide._types import Float64Array, Int64Array
from cylcollide.bullet.box_loops import entering_any, entering_rows
from cylcollide.bullet.client import BASE, BodyLink, Client
from cylcollide.bullet.filters import signed
from cylcollide.bullet.tuples import MISS, RayTestResult
from cylcollide.bvh.build import build
from cylcollide.bvh.layout import Tree
from cylcollide.bvh.traverse import STACK_ENTRY_SIZE
from cylcollide.limbs.limbs import Limbs

PADDING = 0.02
"""Least padding of the boxes that PyBullet reports: Bullet pads its own by this contact threshold, so that its rays may
hit within it. Wider boxes only increase the number of rays passed to Bullet."""

LENGTHENED = 1e-6
"""Fraction by which a piece of a ray is lengthened at both ends: Bullet's fraction and the exact one may differ by
rounding alone, and float64 cannot resolve so short a piece."""

FEW_PAIRS = 4096
"""Up to this many pairs of a ray and a box are tested one by one, which is faster than building a tree."""

LARGEST = 1e18  # PyBullet reports 1e30 for an unbounded side, beyond what kernels trust


FRACTION: Final = 2
POSITION: Final = 3
NORMAL: Final = 4


def wrapped_boxes(client: Client, body_links: list[BodyLink]) -> Float64Array:
    """The bounding boxes (k, 2, 3) of wrapped links; ValueError, naming body and link, if one is not finite.

    PyBullet's boxes of links are a step behind until forward kinematics is computed, which `getLinkState` does here.
    """
    if not body_links:
        return np.empty((0, 2, 3))
    for body_link in body_links:
        if body_link.link != BASE:
            client.getLinkState(*body_link, 0, 1)
    number, box_of = client.number, client.api.getAABB
    boxes = np.array([box_of(*link, number) for link in body_links], dtype=np.float64).reshape(-1, 2, 3)
    bad = np.flatnonzero(np.isnan(boxes).any(axis=(1, 2)))
    if len(bad):
        body_link = body_links[int(bad[0])]
        raise ValueError(
            f"{client.body_name(body_link.body)}, link {body_link.link}: expected a finite pose, got the bounding box "
            f"{boxes[bad[0]].tolist()}; give the body another by resetBasePositionAndOrientation, or remove it"
        )
    return boxes


class Wrapped:
    """The links that are left to Bullet's own ray test."""

    def __init__(
        self, client: Client, body_links: list[BodyLink], bounds: Float64Array, known: frozenset[BodyLink] | None = None
    ) -> None:
        self._client, self.body_links, self.bounds = client, body_links, bounds
        """The links, and their bounding boxes, (k, 2, 3)."""
        self._known = frozenset(body_links) if known is None else known

    def moved(self, bounds: Float64Array) -> Wrapped:
        """The same links with other bounding boxes (k, 2, 3)."""
        return Wrapped(self._client, self.body_links, bounds, self._known)

    @cached_property
    def _corners(self) -> Float64Array:
        """All low corners, and all high ones, padded, (2, k, 3)."""
        padded = self.bounds + PADDING * np.array([[-1.0], [1.0]])
        return np.clip(padded, -LARGEST, LARGEST).transpose(1, 0, 2).copy()

    @cached_property
    def _tree(self) -> Tree:
        return build(*self._corners)

    @cached_property
    def boxes(self) -> Limbs:
        """A box around each link; only rays that enter one are passed to Bullet."""
        low, high = self._corners
        return Limbs.boxes((low + high) / 2.0, [0.0, 0.0, 0.0, 1.0], (high - low) / 2.0)

    def _entering(self, starts: Float64Array, ends: Float64Array, until: Float64Array) -> Int64Array:
        """The rows of the segments that enter a box up to their fraction `until` (n,)."""
        rows = np.empty(len(starts), np.int64)
        if len(starts) * len(self.body_links) <= FEW_PAIRS:
            boxes = np.hstack(list(self._corners))
            return rows[: entering_any(boxes, starts, ends, until, rows)]
        memory = np.empty(STACK_ENTRY_SIZE * self._tree.stack_size)
        return rows[: entering_rows(self._tree, starts, ends, until, memory, rows)]

    def first_hits(
        self,
        starts: Float64Array,
        ends: Float64Array,
        mask: int,
        fraction: Float64Array,
        entering: Int64Array | None = None,
    ) -> dict[int, RayTestResult]:
        """The first hit of each segment with the links, by row, if it is before `fraction` (n,).

        One call of PyBullet for the rays that enter a box before their fraction (`entering`, if known). More calls only
        for rays on which PyBullet reports another shape earlier, which may hide a link behind it: a wrong hit, or a
        solid without a body number.
        """
        rows = self._entering(starts, ends, fraction) if entering is None else entering
        if not len(rows):
            return {}
        results = self._client.ray_hits(starts[rows], ends[rows], collisionFilterMask=signed(mask))
        known, limited = self._known, zip(rows.tolist(), fraction[rows].tolist(), results, strict=True)
        before = {row: result for row, limit, result in limited if result[FRACTION] < limit and result != MISS}
        found = {row: result for row, result in before.items() if result[:2] in known}
        if len(found) < len(before):
            hidden = [row for row in before if row not in found]
            early = [before[row][FRACTION] for row in hidden]
            begin, way = starts[hidden], ends[hidden] - starts[hidden]
            since, until = np.array(early) - LENGTHENED, np.minimum(fraction[hidden], 1.0) + LENGTHENED
            first, last = (begin + column[:, None] * way for column in (since, until))
            rows = self._entering(first, last, np.ones(len(first)))
            behind = self.all_hits(starts, ends, mask, [hidden[k] for k in rows.tolist()])
            found |= {row: hits[0] for row, hits in behind.items() if hits[0][FRACTION] < fraction[row]}
        return found

    def all_hits(
        self, starts: Float64Array, ends: Float64Array, mask: int, rows: list[int] | None = None
    ) -> dict[int, list[RayTestResult]]:
        """The hits of segments (n, 3), (n, 3) with the links, by row; sorted by fraction, one per link.

        `rows`: those of the segments that may hit, if known. Each call of PyBullet reports one hit per ray, by its
        number from 0; these hits are not sorted.
        """
        if rows is None:
            rows = self._entering(starts, ends, np.ones(len(starts))).tolist() if self.body_links else []
        found: dict[int, dict[tuple[int, int], RayTestResult]] = {}
        number = 0
        while rows:
            keywords = {"collisionFilterMask": signed(mask), "reportHitNumber": number}
            results = self._client.ray_hits(starts[rows], ends[rows], **keywords)
            for row, result in zip(rows, results, strict=True):
                body_link = result[:2]
                if body_link in self._known:
                    of_row = found.setdefault(row, {})
                    if body_link not in of_row or result[FRACTION] < of_row[body_link][FRACTION]:
                        of_row[body_link] = result
            rows = [row for row, result in zip(rows, results, strict=True) if result != MISS]
            number += 1
        by_fraction = itemgetter(FRACTION, 0, 1)
        return {row: sorted(of_row.values(), key=by_fraction) for row, of_row in found.items()}
