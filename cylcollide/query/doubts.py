"""Segments against limbs whose places are uncertain: from arguments to results.

A limb may be hit if a thick segment touches it. It is certainly hit if some point of the segment is deep inside it.
"""

from __future__ import annotations

from typing import ClassVar, Unpack

import numpy as np
from numpy.typing import ArrayLike

from cylcollide._types import BoolArray, Doubt, Float64Array, Int8Array, Int32Array, Int64Array
from cylcollide.kernels.ray import Rays
from cylcollide.query.chords import Chords, chords
from cylcollide.query.loops.approach import find_deep
from cylcollide.query.loops.columns import offsets_of
from cylcollide.query.nearest import LimbLists
from cylcollide.query.overlaps import limbs_of_chords
from cylcollide.query.request import Filters, LabelledLimbs, RayRequest, State, radii_of, segment_request
from cylcollide.runtime.memory import frozen

EXCLUDED, DEPENDS, CERTAIN = int(Doubt.EXCLUDED), int(Doubt.DEPENDS), int(Doubt.CERTAIN)


def doubt_request(starts: ArrayLike, ends: ArrayLike, radius: ArrayLike, **options: Unpack[Filters]) -> RayRequest:
    """A request about closed segments; `radius`, one or (n,), is how far limbs may be from their places."""
    return segment_request(starts, ends, radius=radius, **options)


class Doubts(LimbLists):
    """Whether segments hit limbs whose places are uncertain, and which, in compressed rows; read-only.

    CERTAIN and EXCLUDED are proved; DEPENDS means that neither is, even if one may be true. The
    limbs of segment i that are not excluded are rows `offsets[i]:offsets[i + 1]` of all columns but
    `verdict`, ascending. `len` counts them.
    """

    _what = "segments"
    _of_queries = ("verdict",)
    fields: ClassVar[tuple[str, ...]] = (*LimbLists.fields, "limb_verdict")

    def _summary(self) -> str:
        words = ", ".join(f"{np.count_nonzero(self.verdict == one)} {one.name.lower()}" for one in Doubt)
        return f"Doubts({self._count} segments: {words})"

    @property
    def verdict(self) -> Int8Array:
        """`Doubt` of each segment: does it hit any limb; int8 (segments,)."""
        return frozen(self._per_query[0])

    @property
    def limb_verdict(self) -> Int8Array:
        """`Doubt` of each limb, CERTAIN or DEPENDS; int8, one per limb."""
        return frozen(self._per_limb[0])


def doubt(state: State, request: RayRequest) -> Doubts:
    """Which limbs each segment may hit, if each limb is anywhere within the radius of its place."""
    radius = radii_of(request)
    return doubts_of(chords(state, request), radius, np.full(len(radius), EXCLUDED, np.int8))


def doubts_of(thick: Chords, radius: Float64Array, least: Int8Array) -> Doubts:
    """Doubts from the chords of thick segments, their radii (n,), and the least verdict of each."""
    (query, row, _), limbs = limbs_of_chords(thick), thick._limbs
    return doubts_with(limbs, query, row, are_certain(thick._batch.rays, limbs, query, row, radius[query]), least)


def are_certain(
    rays: Rays, limbs: LabelledLimbs, query: Int64Array, row: Int32Array, radius: Float64Array
) -> BoolArray:
    """Whether each of k segments hits its limb wherever the limb is within a radius of its place, (k,)."""
    loose = np.flatnonzero(radius > 0.0)
    certain: BoolArray = radius == 0.0
    deep = np.zeros(len(loose), np.bool_)
    pairs = radius[loose], query[loose], row[loose]
    find_deep(rays.origin, rays.second, *pairs, limbs._kernel_rows, deep)
    certain[loose] = deep
    return certain


def doubts_with(
    limbs: LabelledLimbs, query: Int64Array, row: Int32Array, certain: BoolArray, least: Int8Array
) -> Doubts:
    """Doubts from k pairs of a segment and a limb, and the least verdict of each segment, (n,)."""
    of_limb, verdict = np.where(certain, CERTAIN, DEPENDS).astype(np.int8), least.copy()
    np.maximum.at(verdict, query, of_limb)
    return Doubts(limbs, offsets_of(query, len(least)), row, (of_limb,), (verdict,))
