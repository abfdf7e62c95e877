"""The outcome of shots under a policy: `Judged`, a row per ray; `Impacts`, a row per chord; `Decision`, in words."""

from __future__ import annotations

from dataclasses import dataclass, fields
from functools import cached_property
from os import PathLike
from typing import TYPE_CHECKING, Any, ClassVar, NamedTuple

import numpy as np
from numpy.typing import NDArray

from cylcollide import validate
from cylcollide._types import NO_CHARACTER, NO_LIMB, Float64Array, Int8Array, Int32Array, Int64Array, Reason
from cylcollide.characters import judged_shot
from cylcollide.characters.policy_checks import KINDS
from cylcollide.process.files import Columns
from cylcollide.query.chords import Chords
from cylcollide.query.labels import NO_STATIC
from cylcollide.query.loops.columns import chords_of_rays, take_rays_of_chords
from cylcollide.query.loops.judge import ImpactColumns, ShotColumns
from cylcollide.query.record import of_arrays
from cylcollide.query.request import batch_rows
from cylcollide.query.result import Computed, Field, read_from_file
from cylcollide.query.results import HitFields, gather

if TYPE_CHECKING:
    from matplotlib.figure import Figure

PENETRATION = "penetration"
"""The kind of policy under which shots lose energy along chords."""


@dataclass(frozen=True)
class Step:
    """One limb that the ray crosses, and its treatment by the policy."""

    limb: int  # row
    limb_name: str
    character: int  # -1: none
    hit_group: int
    entry_fraction: float
    exit_fraction: float
    thickness: float
    energy_in: float
    energy_out: float
    damage: float
    reason: Reason
    static: int  # handle, -1: none
    ruling: int  # the step whose group gives the loss: this one, or the first of those it overlaps


STEP_COLUMNS = tuple(field.name for field in fields(Step) if field.name not in ("reason", "ruling"))
"""The fields of a step that are columns of `Impacts`."""

WORDS = {
    Reason.COUNTED: "counts",
    Reason.NOT_FIRST: "does not count: another is entered first",
    Reason.LESS_IMPORTANT: "does not count: a limb of the same character is more important, or as important and first",
    Reason.SHORTER: "does not count: a chord of the same character is longer, or as long and first",
    Reason.PASSED_THROUGH: "is passed through",
    Reason.STOPPED: "stops the shot",
    Reason.SPENT_BEFORE: "is not reached: the energy is spent",
    Reason.OVERLAPPED: "takes nothing: all of it lies in limbs of the same character that are entered before",
}


@dataclass(frozen=True)
class Decision:
    """The reasons for the outcome of one ray; `print` it."""

    ray: int
    kind: str
    """The kind of policy."""
    energy: float
    """Energy at the start."""
    damage: float
    energy_left: float
    counted: int | None
    """The index of the step that counts, None if none counts."""
    steps: tuple[Step, ...]
    """Every limb crossed, in the order of the flight."""

    def __str__(self) -> str:
        crossed = f"{len(self.steps)} limb{'s' * (len(self.steps) != 1)} crossed"
        verdict = "no hit" if self.counted is None else f"judged by {_name(self.steps[self.counted])}"
        whole = f"damage {self.damage:g}, energy left {self.energy_left:g}"
        head = f"ray {self.ray}, {self.kind}, energy {self.energy:g}: {crossed}, {verdict}, {whole}"
        return "\n".join([head, *(f"  {k + 1}. {self._line(step, k)}" for k, step in enumerate(self.steps))])

    def _line(self, step: Step, k: int) -> str:
        owner = f"static {step.static}" if step.static >= 0 else "nobody"
        owner = f"character {step.character}" if step.character >= 0 else owner
        extent = f"from {step.entry_fraction:.6g} to {step.exit_fraction:.6g}, {step.thickness:.6g} thick"
        text = f"{_name(step)} of {owner}, hit group {step.hit_group}, {extent}: {WORDS[step.reason]}"
        if step.ruling != k and step.reason in (Reason.PASSED_THROUGH, Reason.STOPPED):
            group = self.steps[step.ruling].hit_group
            text += f" beyond what is counted before, as hit group {group}, that of step {step.ruling + 1}"
        if step.energy_out != step.energy_in or step.damage:
            text += f"; energy {step.energy_in:g} -> {step.energy_out:g}, damage {step.damage:g}"
        return text


def _name(step: Step) -> str:
    return step.limb_name or f"limb {step.limb}"


class Impacts(Chords):
    """Every limb that each ray crosses, in the order of the flight, and its treatment by the policy.

    The impacts of ray i are rows `offsets[i]:offsets[i + 1]`; all other columns have one entry per impact. Arrays are
    read-only. `impacts[i]` has those of ray i, as `chords[i]`.
    """

    fields: ClassVar[tuple[str, ...]] = (*Chords.fields, "energy_in", "energy_out", "damage", "reason")

    energy_in = Field[Float64Array]("Energy at the entry.")
    energy_out = Field[Float64Array]("Energy at the exit, 0 where the shot ends.")
    damage = Field[Float64Array]("Damage that is done.")
    reason = Field[Int8Array]("`Reason` why the impact counts, or does not; int8.")

    def __init__(self, chords: Chords, columns: ImpactColumns) -> None:
        self._batch, self._limbs, self._rows, self._row = chords._batch, chords._limbs, chords._rows, chords._row
        self._impacts, self._sample_times, self._present = columns, chords._sample_times, chords._present
        self._columns = {**chords._columns, **columns._asdict()}

    def _take(self, rows: Int64Array) -> Impacts:
        _, taken = chords_of_rays(self._rows.offsets, rows)
        columns = ImpactColumns._make(column[taken] for column in self._impacts)
        first = columns.union_first - (taken - np.arange(len(taken)))  # row numbers shift with their rows
        chords = Chords(batch_rows(self._batch, rows), self._limbs, take_rays_of_chords(self._rows, rows))
        return Impacts(chords, columns._replace(union_first=first))

    def _summary(self) -> str:
        return f"Impacts({len(self)} impacts of {self._count} rays)"

    @property
    def chords(self) -> Chords:
        """The same rows as `Chords`."""
        known = {name: column for name, column in self._columns.items() if name not in ImpactColumns._fields}
        chords: Chords = Chords.__new__(Chords) if hasattr(self, "_rows") else read_from_file(Chords, known)
        vars(chords).update({**vars(self), "_columns": known})
        return chords

    def _step(self, row: int, begin: int, kind: str) -> Step:
        """The impact of a row as a step of the decision whose first row is `begin`."""
        ruling = self._impacts.union_first.item(row) if kind == PENETRATION else row
        values = {name: getattr(self, name).item(row) for name in STEP_COLUMNS}
        return Step(**values, reason=Reason(self.reason.item(row)), ruling=ruling - begin)


@of_arrays
class VictimTotals(NamedTuple):
    """The damage of shots to characters, a row for each pair, by shot, then by character (-1: limbs without one)."""

    shot: Int64Array
    character: Int32Array
    rays: Int64Array  # number of rays that hit the character, with or without damage
    damage: Float64Array


@of_arrays
class ShotTotals(NamedTuple):
    """Sums over the rays of each shot, a row per shot id, in ascending order."""

    shot: Int64Array
    rays: Int64Array  # pellets
    hits: Int64Array  # pellets that hit more than statics
    damage: Float64Array
    energy_left: Float64Array
    victims: VictimTotals


class Judged(HitFields):
    """The limb that counts for each ray, row by row. Arrays are read-only.

    `limb`, `character`, `position` and so on are those of that limb, as in `RayHits`; the position
    is that of the entry. For penetration, the limb that is entered first counts, and `damage` is
    the sum over all impacts. An index, a slice, a mask or an array of indices selects rays, as
    `Judged`.
    """

    fields: ClassVar[tuple[str, ...]] = (
        *("shot", "hit", "distance", "position", "normal", "limb", "limb_name", "hit_group", "character"),
        *("static", "bone", "rig_limb", "local_position", "local_normal", "damage", "energy_left", "victim"),
    )

    damage = Field[Float64Array]("Damage done, summed over impacts in the order of the flight; (n,).")
    energy_left = Field[Float64Array]("Energy at the end of the flight, 0 for a shot that ends in a limb; (n,).")
    victim = Field[Int32Array](
        "The first character on the way whose limb counts or is passed through, or -1; int32 (n,).", "_victims"
    )
    shot = Field[Int64Array](
        "Id of the shot that each ray belongs to, its row if none was given; int64 (n,).", "_own_shots"
    )

    def __init__(
        self, impacts: Impacts, shots: ShotColumns, energy: Float64Array, shot: Int64Array | None, kinds: Int64Array
    ) -> None:
        self.impacts = impacts
        """Every limb that the rays cross, and the reason why it counts or does not."""
        self._limbs, self._row = impacts._limbs, gather(impacts._row, shots.chord, NO_LIMB)
        self._shots, self._energy, self._kinds = shots, energy, kinds
        self._columns = shots._asdict() if shot is None else {**shots._asdict(), "shot": shot}
        self._sample_times, self._present = impacts._sample_times, impacts._present

    def _take(self, rows: Int64Array) -> Judged:
        impacts, energy = self.impacts[rows], self._energy[rows] if len(self._energy) > 1 else self._energy
        kinds = self._kinds[rows] if len(self._kinds) > 1 else self._kinds
        columns, begins = ShotColumns._make(column[rows] for column in self._shots), impacts.offsets[:-1]
        chord = np.where(columns.chord >= 0, columns.chord - self.impacts.offsets[rows] + begins, columns.chord)
        return Judged(impacts, columns._replace(chord=chord), energy, self.shot[rows], kinds)

    def _summary(self) -> str:
        kinds = ", ".join(KINDS[kind] for kind in np.unique(self._kinds).tolist()) or "no policy"
        return f"Judged({len(self)} rays by {kinds}, {np.count_nonzero(self.hit)} hits)"

    def _reshaped(self, shape: tuple[int, ...]) -> None:
        """Set the shape of the query, here and on the impacts, which results from files do not have."""
        for one in (self, vars(self).get("impacts", self)):
            one._query_shape = shape

    def _own_shots(self) -> Columns:
        return {"shot": np.arange(len(self))}

    @cached_property
    def _reached(self) -> Int64Array:
        """The rows of the impacts that the shots reach, without statics, ascending."""
        reason, static = self.impacts.reason, self.impacts.static
        reached = np.isin(reason, judged_shot.COUNT)
        return np.flatnonzero(reached & (static == NO_STATIC))

    def _victims(self) -> Columns:
        impacts, victim = self.impacts, np.full(len(self), NO_CHARACTER, np.int32)
        rows = self._reached[impacts.character[self._reached] != NO_CHARACTER][::-1]  # the first is written last
        victim[impacts.ray[rows]] = impacts.character[rows]
        return {"victim": victim}

    @Computed
    def distance(self) -> Float64Array:
        """Distance from the start to the entry of the limb, inf for none; (n,)."""
        return self.impacts._entry_distances(self._shots.chord)

    def _surface_columns(self) -> Columns:
        position, normal = self.impacts._entry_surface(self._shots.chord)
        return {"position": position, "normal": normal}

    def _trace(self) -> dict[str, tuple[NDArray[Any], ...]]:
        """The arrays of the result, by their meaning. They hold no state of a world."""
        impacts, shots = self.impacts, self._shots
        chords, own = impacts._rows.chords, impacts._impacts
        return {
            "verdict": (shots.chord,),
            "limb": (self.limb,),
            "face": (chords.entry_face, chords.exit_face),
            "order": (impacts.offsets, impacts.limb, own.reason),
            "numbers": (
                chords.fraction, chords.exit[:, 0], chords.extent, own.energy_in, own.energy_out, own.damage,
                shots.damage, shots.energy_left,
            ),
        }  # fmt: skip

    def by_shot(self) -> ShotTotals:
        """Sums over the pellets of each shot: number, hits and damage, and damage to each character.

        Hits and victims exclude statics, damage includes them.
        """
        shots, of_ray = np.unique(self.shot, return_inverse=True)
        n, impacts = len(shots), self.impacts
        ray, character = impacts.ray[self._reached], impacts.character[self._reached].astype(np.int64)
        pairs, pair = np.unique((of_ray[ray] << 32) + (character + 2**31), return_inverse=True)
        once = np.unique(pair * len(self) + ray) // max(len(self), 1)  # a ray counts once per character
        victims = VictimTotals(
            shots[pairs >> 32],
            ((pairs & (2**32 - 1)) - 2**31).astype(np.int32),
            np.bincount(once, minlength=len(pairs)),
            _sums(pair, impacts.damage[self._reached], len(pairs)),
        )
        return ShotTotals(
            shots,
            np.bincount(of_ray, minlength=n),
            np.bincount(of_ray[np.unique(ray)], minlength=n),
            _sums(of_ray, self.damage, n),
            _sums(of_ray, self.energy_left, n),
            victims,
        )

    def explain(self, ray: int) -> Decision:
        """The decision about one ray, step by step; `print` it."""
        row = self._row_of(ray)
        begin, end = self.impacts.offsets[row : row + 2].tolist()
        energy, code = (column.item(row if len(column) > 1 else 0) for column in (self._energy, self._kinds))
        kind, damage, left = KINDS[int(code)], self.damage.item(row), self.energy_left.item(row)
        steps, chord = tuple(self.impacts._step(j, begin, kind) for j in range(begin, end)), self._shots.chord.item(row)
        return Decision(row, kind, energy, damage, left, chord - begin if chord >= 0 else None, steps)

    def _row_of(self, ray: int) -> int:
        """The row of a ray; a negative one counts from the end."""
        if validate.is_integer(ray) and -len(self) <= int(ray) < len(self):
            return range(len(self))[ray]
        n = len(self)
        raise IndexError(f"ray: expected {validate.span(-n, n - 1)}, got {validate.shown(ray)}; {n} rays were judged")

    def plot(self, ray: int, path: str | PathLike[str] | None = None, *, unit: str = "m") -> Figure:
        """A figure of one ray, along it and from above: limbs that count green, the gap of a miss red.

        It is written to a file if a path is given; `unit` labels the axes. Raises IndexError if
        there is no such ray, ValueError if its time was not kept (`on_old="miss"`), ImportError
        without matplotlib (extra `plot`).
        """
        return judged_shot.figure_of(self, self._row_of(ray), path, unit)


def _sums(rows: Int64Array, values: Float64Array, n: int) -> Float64Array:
    """Sums (n,) of the values of each row, added in order."""
    return np.bincount(rows, values, n).astype(np.float64, copy=False)
