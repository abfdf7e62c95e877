"""Thick rays against a mirror's shapes: limbs grow as in a world, and planes become slabs."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import replace
from functools import cached_property

import numpy as np
from numpy.typing import ArrayLike

from cylcollide._types import BoolArray, Float64Array, Int64Array
from cylcollide.bullet.client import Client
from cylcollide.bullet.merge_hits import MirrorState, RayTest, compare_exactly, limb_error
from cylcollide.bullet.mirror_hits import MirrorHits
from cylcollide.bullet.plane import Sheet, sheet_hits
from cylcollide.bullet.sheet_loops import SheetColumns
from cylcollide.process.files import Columns
from cylcollide.query.near_requests import as_radii


class ThickHits(MirrorHits):
    """As `MirrorHits`, but each limb or plane stands for all points within the ray's radius of it.

    `position` is the point of the shape nearest to the ray's centre, `normal` the direction from there to the centre.
    Exits and thickness are those of the grown shape: a plane is a slab.
    """

    _compared = 0

    @property
    def rechecked(self) -> int:
        """Number of decisions by exact arithmetic: among the limbs, and between a plane and another shape."""
        return super().rechecked + self._compared

    def _add_sheets(self, fraction: Float64Array) -> Float64Array:
        """Replace hits by earlier hits of sheets; undecided rows are resolved exactly, and ties by the lower rank."""
        rays, first, shape = self._rays, fraction.copy(), self._shape.astype(np.int32)
        error = limb_error(self._state, rays)
        for k, slab, rows in self._slabs(np.arange(len(first))):
            found = sheet_hits(slab, rays.starts[rows], rays.ends[rows], rays.inside)
            is_before, are_both = found.fraction < first[rows], (found.fraction < np.inf) & (first[rows] < np.inf)
            with np.errstate(invalid="ignore"):
                is_close = np.abs(found.fraction - first[rows]) <= found.error + error[rows]
            for i in np.flatnonzero(are_both & is_close).tolist():
                is_before[i] = self._is_before(int(rows[i]), self._limbs + k, int(shape[rows[i]]))
            own = rows[is_before]
            shape[own], first[own], error[own] = self._limbs + k, found.fraction[is_before], found.error[is_before]
        self._shape = shape
        return first

    def _slabs(self, rows: Int64Array, hit: bool = False) -> Iterator[tuple[int, Sheet, Int64Array]]:
        """Each sheet that the mask includes, grown by each radius, and the `rows` of this radius, or hits of them."""
        radius = self._rays.radius[rows]
        for thick in np.unique(radius).tolist():
            for k in np.flatnonzero(self._state.sheet_table.group & np.uint32(self._rays.mask)).tolist():
                sheet = self._state.sheets[k]
                own = rows[(radius == thick) & ((self._shape[rows] == self._limbs + k) | (not hit))]
                yield k, replace(sheet, half_thickness=sheet.half_thickness + thick), own

    def _is_before(self, row: int, one: int, other: int) -> bool:
        """Whether a ray hits one shape before another, exactly; in a tie the lower rank counts."""
        state, sheets = self._state, self._state.sheets
        if min(one, other) >= self._limbs and sheets[one - self._limbs] == sheets[other - self._limbs]:
            return one < other
        self._compared += 1
        return compare_exactly(state, self._rays, row, one, other) < 0

    def _surface(self) -> Columns:
        rays, (position, normal) = self._rays, self._of_limbs._new_surface()
        for k, slab, rows in self._slabs(np.arange(len(self)), hit=True):
            found = sheet_hits(slab, rays.starts[rows], rays.ends[rows], rays.inside)
            position[rows], normal[rows] = self._places(k, found, rays.radius[rows]), found.normal
        return {"position": position, "normal": normal}

    def _places(self, k: int, found: SheetColumns, radius: Float64Array) -> Float64Array:
        """Points of a sheet nearest to ray centres; centres without a normal are within the radius, or in the sheet."""
        sheet, unit = self._state.sheets[k], self._state.sheet_table.unit[k]
        height = np.einsum("ni,i->n", found.position - sheet.point, unit)  # unlike @, the same bits for any n
        beyond = height - np.clip(height, -sheet.half_thickness, sheet.half_thickness)
        on_surface = (found.normal != 0.0).any(axis=1)[:, None]
        return found.position - np.where(on_surface, radius[:, None] * found.normal, beyond[:, None] * unit)

    @cached_property
    def _ways_back(self) -> list[tuple[int, Int64Array, SheetColumns, BoolArray]]:
        """Each sheet, the rows that hit it, their exits as hits of reversed segments, and whether starts are inside."""
        rays, found = self._rays, []
        for k, slab, rows in self._slabs(np.flatnonzero(rays.radius > 0.0), hit=True):
            starts, ends = rays.starts[rows], rays.ends[rows]
            started = sheet_hits(slab, starts, ends, "hit").fraction == 0.0
            found.append((k, rows, sheet_hits(slab, ends, starts, "hit"), started))
        return found

    def _exits(self) -> Columns:
        columns, fraction = super()._exits(), self.fraction
        length = np.linalg.norm(self._rays.ends - self._rays.starts, axis=1)
        for _, rows, back, started in self._ways_back:
            leaving = np.maximum(1.0 - back.fraction, fraction[rows])
            if self._rays.inside == "exit":
                leaving = np.where(started, fraction[rows], leaving)
            columns["exit_fraction"][rows] = leaving
            columns["thickness"][rows] = (leaving - np.where(started, 0.0, fraction[rows])) * length[rows]
        return columns

    def _exit_surface(self) -> Columns:
        columns = super()._exit_surface()
        for k, rows, back, _ in self._ways_back:
            columns["exit_position"][rows] = self._places(k, back, self._rays.radius[rows])
            columns["exit_normal"][rows] = back.normal
        return columns


def cast(state: MirrorState, rays: RayTest, radius: ArrayLike, client: Client) -> MirrorHits:
    """The first shape along each ray; `radius`: one, or one per ray.

    ValueError for bad radii, and for thick rays among shapes that only Bullet's own rays decide about.
    """
    thick = as_radii(radius, "radius", len(rays.starts))
    if not thick.any():
        return MirrorHits(state, rays)
    if rays.cores:
        raise ValueError(
            "radius: expected 0 with inside='bullet', as PyBullet has no thick rays; choose another policy"
        )
    if state.wrapped.body_links:
        body, link = state.wrapped.body_links[0]
        raise ValueError(
            f"radius: expected 0, as Bullet's own rays, without thickness, decide about {client.body_name(body)}, "
            f"link {link}; leave such shapes out by Mirror(mesh='skip')"
        )
    return ThickHits(state, rays._replace(radius=thick))
