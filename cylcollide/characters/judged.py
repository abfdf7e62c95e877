"""What a policy makes of shots: `Judged`, a row a ray, and `Impacts`, the trace of its decisions, a row a chord."""

from functools import cached_property
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from cylcollide._types import NO_LIMB, BoolArray, Float64Array, Int8Array, Int32Array, Int64Array, Reason
from cylcollide.characters.decision import PENETRATION, Decision, Step
from cylcollide.query.limb_fields import LimbFields, Surface, gather
from cylcollide.query.loops.judge import ImpactColumns, ShotColumns
from cylcollide.query.ray_chords import Chords
from cylcollide.query.request import LabelledLimbs
from cylcollide.runtime.memory import frozen, read_only


class Impacts:
    """Every limb that each ray crosses, in the order of the flight, and what the policy makes of it.

    The impacts of ray i are rows `offsets[i]:offsets[i + 1]`; all other columns have one entry an impact. No array can
    be written.
    """

    def __init__(self, chords: Chords, columns: ImpactColumns) -> None:
        self.chords = chords
        """The same rows as `Chords`, with places, normals and names."""
        self._columns = columns

    def __len__(self) -> int:
        return len(self.chords)

    def __repr__(self) -> str:
        return f"Impacts({len(self)} impacts of {len(self.offsets) - 1} rays)"

    @property
    def offsets(self) -> Int64Array:
        """Where the impacts of each ray begin, and the last end; int64 (rays + 1,)."""
        return self.chords.offsets

    @property
    def ray(self) -> Int64Array:
        """Row of the ray; int64."""
        return self.chords.ray

    @property
    def limb(self) -> Int32Array:
        """Row of the limb; int32."""
        return self.chords.limb

    @property
    def character(self) -> Int32Array:
        """Character of the limb, -1 for a limb of nobody; int32."""
        return self.chords.character

    @property
    def rig_limb(self) -> Int32Array:
        """Index of the limb in the character's rig, -1 for a bare limb; int32."""
        return self.chords.rig_limb

    @property
    def limb_name(self) -> NDArray[np.object_]:
        """Name of the limb; objects."""
        return self.chords.limb_name

    @property
    def hit_group(self) -> Int32Array:
        """Hit group of the limb; int32."""
        return self.chords.hit_group

    @property
    def entry_fraction(self) -> Float64Array:
        """Parameter at which the ray enters the limb, 0 if it starts there."""
        return self.chords.entry_fraction

    @property
    def exit_fraction(self) -> Float64Array:
        """Parameter at which the ray leaves the limb or ends in it."""
        return self.chords.exit_fraction

    @property
    def thickness(self) -> Float64Array:
        """Length of the chord."""
        return self.chords.thickness

    @property
    def energy_in(self) -> Float64Array:
        """Energy at the entry."""
        return read_only(self._columns.energy_in)

    @property
    def energy_out(self) -> Float64Array:
        """Energy at the exit, 0 where the shot ends."""
        return read_only(self._columns.energy_out)

    @property
    def damage(self) -> Float64Array:
        """Damage that is done."""
        return read_only(self._columns.damage)

    @property
    def reason(self) -> Int8Array:
        """`Reason` why the impact counts, or does not; int8."""
        return read_only(self._columns.reason)

    def step(self, row: int, begin: int, kind: str) -> Step:
        """One impact of a decision, whose first is in row `begin`."""
        ruling = self._columns.union_first.item(row) - begin if kind == PENETRATION else row - begin
        entry, leave = self.entry_fraction.item(row), self.exit_fraction.item(row)
        limb, name = self.limb.item(row), self.limb_name[row]
        labels = (self.character.item(row), self.hit_group.item(row))
        energies = (self._columns.energy_in.item(row), self._columns.energy_out.item(row))
        damage, reason = self._columns.damage.item(row), Reason(self._columns.reason.item(row))
        return Step(limb, name, *labels, entry, leave, self.thickness.item(row), *energies, damage, reason, ruling)


class VictimTotals(NamedTuple):
    """What shots did to characters, a row a shot and character; in the order of shots, then of characters."""

    shot: Int64Array
    character: Int32Array
    rays: Int64Array  # how many did damage, or were counted
    damage: Float64Array


class ShotTotals(NamedTuple):
    """Sums over the rays of each shot, a row a shot id, in ascending order."""

    shot: Int64Array
    rays: Int64Array  # pellets
    hits: Int64Array  # pellets that hit
    damage: Float64Array
    energy_left: Float64Array
    victims: VictimTotals


class Judged(LimbFields):
    """The limb that each ray is judged by, row by row; arrays that cannot be written.

    Beside what is below, `character`, `limb_name`, `hit_group`, `bone`, `rig_limb`, `local_position` and
    `local_normal` are those of that limb, as in `RayHits`. Penetration is judged by the limb that is entered first;
    `damage` is the sum over all impacts.
    """

    def __init__(
        self,
        limbs: LabelledLimbs,
        impacts: Impacts,
        columns: ShotColumns,
        energy: Float64Array,
        shot: Int64Array | None,
        kind: str,
    ) -> None:
        self.impacts = impacts
        """The trace: every limb crossed, and why it counts or does not."""
        self._state, self._columns, self._energy, self._shot, self._kind = limbs, columns, energy, shot, kind

    @property
    def _limbs(self) -> LabelledLimbs:
        return self._state

    def __len__(self) -> int:
        return len(self._columns.chord)

    def __repr__(self) -> str:
        return f"Judged({len(self)} rays by {self._kind}, {np.count_nonzero(self.hit)} hits)"

    @cached_property
    def hit(self) -> BoolArray:
        """Whether any limb counts; bool (n,)."""
        return frozen(self._columns.chord >= 0)

    @cached_property
    def _row(self) -> Int32Array:
        return gather(self.impacts.chords._row, self._columns.chord, NO_LIMB)

    @cached_property
    def shot(self) -> Int64Array:
        """Id of the shot that each ray belongs to, its row if none was given; int64 (n,)."""
        return frozen(np.arange(len(self))) if self._shot is None else read_only(self._shot)

    @property
    def damage(self) -> Float64Array:
        """Damage done, summed over impacts in the order of the flight; (n,)."""
        return read_only(self._columns.damage)

    @property
    def energy_left(self) -> Float64Array:
        """Energy at the end of the flight, 0 for a shot that ends in a limb; (n,)."""
        return read_only(self._columns.energy_left)

    @cached_property
    def distance(self) -> Float64Array:
        """Distance from the start to the entry of the limb, inf for none; (n,)."""
        return self.impacts.chords.entry_distances(self._columns.chord)

    @cached_property
    def _surface(self) -> Surface:
        return self.impacts.chords.entry_surface(self._columns.chord)

    @property
    def position(self) -> Float64Array:
        """Where the ray enters the limb, or starts in it, NaN for none; (n, 3)."""
        return self._surface[0]

    @property
    def normal(self) -> Float64Array:
        """Unit outward normal there, zero if the ray starts in the limb, NaN for none; (n, 3)."""
        return self._surface[1]

    def by_shot(self) -> ShotTotals:
        """The pellets of each shot together: how many there are, how many hit, what they did in all and to whom."""
        shots, of_ray = np.unique(self.shot, return_inverse=True)
        n, impacts = len(shots), self.impacts
        did = np.flatnonzero((impacts.damage > 0.0) | np.isin(np.arange(len(impacts)), self._columns.chord))
        ray, character = impacts.ray[did], impacts.character[did].astype(np.int64)
        pairs, pair = np.unique((of_ray[ray] << 32) + (character + 2**31), return_inverse=True)
        once = np.unique(pair * len(self) + ray) // max(len(self), 1)  # a ray counts once a character
        victims = VictimTotals(
            shots[pairs >> 32],
            ((pairs & (2**32 - 1)) - 2**31).astype(np.int32),
            np.bincount(once, minlength=len(pairs)),
            _sums(pair, impacts.damage[did], len(pairs)),
        )
        return ShotTotals(
            shots,
            np.bincount(of_ray, minlength=n),
            np.bincount(of_ray[self.hit], minlength=n),
            _sums(of_ray, self.damage, n),
            _sums(of_ray, self.energy_left, n),
            victims,
        )

    def explain(self, ray: int) -> Decision:
        """The decision about one ray, step by step; `print` it."""
        row = range(len(self))[ray]
        begin, end = self.impacts.offsets[row : row + 2].tolist()
        steps = tuple(self.impacts.step(j, begin, self._kind) for j in range(begin, end))
        energy, chord = self._energy.item(row if len(self._energy) > 1 else 0), self._columns.chord.item(row)
        damage, left = self._columns.damage.item(row), self._columns.energy_left.item(row)
        return Decision(row, self._kind, energy, damage, left, chord - begin if chord >= 0 else None, steps)


def _sums(rows: Int64Array, values: Float64Array, n: int) -> Float64Array:
    """Sums (n,) of the values of each row, added in their order."""
    return np.bincount(rows, values, n).astype(np.float64, copy=False)
