"""What a query for all limbs answers: `Chords`. Heavy fields are computed when first asked for."""

from collections.abc import Iterator
from functools import cached_property
from typing import Any

import numpy as np

from cylcollide._types import NO_LIMB, POLICY_HIT, Face, Float64Array, Int8Array, Int32Array, Int64Array
from cylcollide.query.limb_fields import LimbFields, Surface, distances, gather, ray_lengths
from cylcollide.query.loops import surface as surface_loops
from cylcollide.query.loops.columns import ChordRows, ray_of_each, take_rays_of_chords
from cylcollide.query.loops.inputs import RayBatch
from cylcollide.query.loops.judge import FlightRows
from cylcollide.query.request import LabelledLimbs, take_rays
from cylcollide.query.row_choice import chosen_rows
from cylcollide.runtime.memory import frozen, read_only

NOT_READ = np.empty(0)
"""Stands for lengths that are not read."""


class Chords(LimbFields):
    """Every limb that each ray crosses, sorted along the ray, in compressed rows; arrays that cannot be written.

    The chords of ray i are rows `offsets[i]:offsets[i + 1]`; all other columns have one entry a chord. Lengths are in
    the unit of the input, fractions are parameters of the ray. A chord that begins at the start of the ray or ends at
    its end has the face INSIDE and a zero normal there.

    `chords[i]` has the chords of ray i alone, and so has a slice, a mask or an array of rays, each as `Chords` whose
    rays are numbered anew; iteration goes from ray to ray. `len` counts chords.
    """

    def __init__(self, batch: RayBatch, limbs: LabelledLimbs, rows: ChordRows) -> None:
        self._batch, self._state, self._rows, self._chords = batch, limbs, rows, rows.chords

    @property
    def _limbs(self) -> LabelledLimbs:
        return self._state

    def __len__(self) -> int:
        return len(self._chords.limb)

    def __repr__(self) -> str:
        return f"Chords({len(self)} chords of {len(self._rows.undecided)} rays, {self.rechecked} rechecked)"

    def __getitem__(self, rays: Any) -> "Chords":
        """The chords of the rays that an index, a slice, a mask or an array of indices chooses."""
        chosen = chosen_rows(rays, len(self._rows.undecided), "chords")
        return Chords(take_rays(self._batch, chosen), self._state, take_rays_of_chords(self._rows, chosen))

    def __iter__(self) -> Iterator["Chords"]:
        """The chords of one ray after another."""
        return (self[i : i + 1] for i in range(len(self._rows.undecided)))

    def flight(self, needs_length: bool) -> FlightRows:
        """The chords and what is known of their limbs, as a policy reads them; lengths only if it needs them."""
        rows, chords, limbs = self._rows, self._chords, self._state
        return FlightRows(
            rows.offsets,
            chords.limb,
            np.ascontiguousarray(rows.fraction),
            chords.entry,
            chords.exit,
            ray_lengths(self._batch.rays) if needs_length else NOT_READ,
            limbs.labels.hit_group,
            limbs.kernel_rows.character,
        )

    def entry_distances(self, chord: Int64Array) -> Float64Array:
        """Distance to the entry of one chord of each ray, inf for the chord -1; (rays,)."""
        return distances(gather(self._rows.fraction, chord, np.inf), ray_lengths(self._batch.rays))

    def entry_surface(self, chord: Int64Array) -> Surface:
        """Position and normal at the entry of one chord of each ray, NaN for the chord -1; (rays, 3) each."""
        rows, chords, batch = self._rows, self._chords, self._batch._replace(policy=POLICY_HIT)
        limb, face = gather(chords.limb, chord, NO_LIMB), gather(chords.entry_face, chord, int(Face.NONE))
        fraction, exact = gather(rows.fraction, chord, np.inf), np.flatnonzero(gather(rows.exact_hit, chord, False))
        return self._computed(batch, limb, fraction, face, exact, chords.entry[chord[exact]], False)

    def _computed(
        self,
        batch: RayBatch,
        limb: Int32Array,
        fraction: Float64Array,
        face: Int8Array,
        exact: Int64Array,
        ends: Float64Array,
        leaving: bool,
    ) -> Surface:
        """Positions and normals at these ends; of `exact` rows from double-doubles `ends`, a row each."""
        table = self._state.kernel_rows
        position, normal = surface_loops.surface(batch, table, limb, fraction, face, leaving)
        if len(exact):
            surface_loops.write_exactly(batch, table, exact, limb[exact], ends, face[exact], position, normal)
        return frozen(position), frozen(normal)

    @property
    def rechecked(self) -> int:
        """How many rays needed exact arithmetic."""
        return int(np.count_nonzero(self._rows.undecided))

    @cached_property
    def offsets(self) -> Int64Array:
        """Where the chords of each ray begin, and the last end; int64 (rays + 1,)."""
        return read_only(self._rows.offsets)

    @cached_property
    def ray(self) -> Int64Array:
        """Row of the ray; int64, one a chord."""
        return frozen(ray_of_each(self._rows.offsets))

    @property
    def _row(self) -> Int32Array:
        return self._chords.limb

    @cached_property
    def entry_fraction(self) -> Float64Array:
        """Parameter at which the ray enters the limb, 0 if it starts there; one a chord."""
        return read_only(self._rows.fraction)

    @cached_property
    def exit_fraction(self) -> Float64Array:
        """Parameter at which the ray leaves the limb or ends in it; one a chord."""
        return frozen(self._chords.exit[:, 0])

    @cached_property
    def entry_face(self) -> Int8Array:
        """`Face` the ray enters by, INSIDE if it starts in the limb; int8, one a chord."""
        return read_only(self._chords.entry_face)

    @cached_property
    def exit_face(self) -> Int8Array:
        """`Face` the ray leaves by, INSIDE if it ends in the limb; int8, one a chord."""
        return read_only(self._chords.exit_face)

    @cached_property
    def _length(self) -> Float64Array:
        """Length of one unit of fraction; one a chord."""
        return ray_lengths(self._batch.rays)[self.ray]

    @cached_property
    def thickness(self) -> Float64Array:
        """Length of the chord; one a chord."""
        return frozen(self._chords.extent * self._length)

    @cached_property
    def entry_distance(self) -> Float64Array:
        """Distance from the start of the ray to the entry; one a chord."""
        return distances(self.entry_fraction, self._length)

    @cached_property
    def exit_distance(self) -> Float64Array:
        """Distance from the start of the ray to the exit; one a chord."""
        return distances(self.exit_fraction, self._length)

    @cached_property
    def _ray_of_each(self) -> RayBatch:
        """The ray of each chord; its entries are those of rays that start outside, whatever the query's policy."""
        return take_rays(self._batch, self.ray)._replace(policy=POLICY_HIT)

    @cached_property
    def _surface(self) -> Surface:
        rows, chords, batch = self._rows, self._chords, self._ray_of_each
        fraction, exact = np.ascontiguousarray(rows.fraction), np.flatnonzero(rows.exact_hit)
        return self._computed(batch, chords.limb, fraction, chords.entry_face, exact, chords.entry[exact], False)

    @cached_property
    def _exits(self) -> Surface:
        rows, chords, batch = self._rows, self._chords, self._ray_of_each
        fraction, exact = np.ascontiguousarray(chords.exit[:, 0]), np.flatnonzero(rows.exact_chord)
        return self._computed(batch, chords.limb, fraction, chords.exit_face, exact, chords.exit[exact], True)

    @property
    def entry_position(self) -> Float64Array:
        """Point where the ray enters the limb, or starts in it; (chords, 3)."""
        return self._surface[0]

    @property
    def entry_normal(self) -> Float64Array:
        """Unit outward normal at the entry, zero for INSIDE; (chords, 3)."""
        return self._surface[1]

    @property
    def exit_position(self) -> Float64Array:
        """Point where the ray leaves the limb or ends in it; (chords, 3)."""
        return self._exits[0]

    @property
    def exit_normal(self) -> Float64Array:
        """Unit outward normal at the exit, zero if the ray ends in the limb; (chords, 3)."""
        return self._exits[1]
