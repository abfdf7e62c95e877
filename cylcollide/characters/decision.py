"""The decision of a policy about one ray, step by step."""

from dataclasses import dataclass
from typing import Literal, NamedTuple, TypeAlias

from cylcollide._types import Reason

Kind: TypeAlias = Literal["first_surface", "most_important", "longest_chord", "penetration"]
KINDS: tuple[Kind, ...] = ("first_surface", "most_important", "longest_chord", "penetration")
"""By their codes in `query.loops.judge`."""

PENETRATION = "penetration"
"""The kind of policy under which energy is lost on the way."""


class Step(NamedTuple):
    """One limb that the ray crosses, and what becomes of it."""

    limb: int  # row
    limb_name: str
    character: int  # -1: nobody's
    hit_group: int
    entry_fraction: float
    exit_fraction: float
    thickness: float
    energy_in: float
    energy_out: float
    damage: float
    reason: Reason
    ruling: int  # the step by whose group energy is lost: this one, or the first of those that it overlaps


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
    """Why a ray is judged as it is; `print` it."""

    ray: int
    kind: str
    """The policy."""
    energy: float
    """At the start."""
    damage: float
    energy_left: float
    counted: int | None
    """The step by which the ray is judged, None if nothing counts."""
    steps: tuple[Step, ...]
    """Every limb crossed, in the order of the flight."""

    def __str__(self) -> str:
        crossed = f"{len(self.steps)} limb{'s' * (len(self.steps) != 1)} crossed"
        verdict = "no hit" if self.counted is None else f"judged by {_name(self.steps[self.counted])}"
        whole = f"damage {self.damage:g}, energy left {self.energy_left:g}"
        head = f"ray {self.ray}, {self.kind}, energy {self.energy:g}: {crossed}, {verdict}, {whole}"
        return "\n".join([head, *(f"  {k + 1}. {self._line(step, k)}" for k, step in enumerate(self.steps))])

    def _line(self, step: Step, k: int) -> str:
        whose = f"of character {step.character}" if step.character >= 0 else "of nobody"
        where = f"from {step.entry_fraction:.6g} to {step.exit_fraction:.6g}, {step.thickness:.6g} thick"
        text = f"{_name(step)} {whose}, hit group {step.hit_group}, {where}: {WORDS[step.reason]}"
        if step.ruling != k and step.reason in (Reason.PASSED_THROUGH, Reason.STOPPED):
            group = self.steps[step.ruling].hit_group
            text += f" beyond what is counted before, as hit group {group}, that of step {step.ruling + 1}"
        if step.energy_out != step.energy_in or step.damage:
            text += f"; energy {step.energy_in:g} → {step.energy_out:g}, damage {step.damage:g}"
        return text


def _name(step: Step) -> str:
    return step.limb_name or f"limb {step.limb}"
