"""Why a logged shot was judged as it was: the decision in words, and the ray with the limb that it hit or missed."""

from os import PathLike
from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np

from cylcollide.characters.judged import Judged
from cylcollide.characters.judged_shot import ends_of
from cylcollide.history.miss_explanation import MissExplanation
from cylcollide.history.pose_history import PoseHistory
from cylcollide.limbs.explain import Explanation
from cylcollide.shotlog.states import Receiver, Values
from cylcollide.world.hit_world import HitWorld, world_in

if TYPE_CHECKING:
    from matplotlib.figure import Figure


class ShotExplanation(NamedTuple):
    """Why a shot was judged as it was; `print` it, or `plot` it."""

    judged: Judged
    """The shot judged again, one row."""
    why: Explanation | MissExplanation | None
    """How the ray hits the limb that counts, or misses all; None for thick rays, and if nothing can be hit."""

    def __str__(self) -> str:
        decision = str(self.judged.explain(0)).partition(", ")[2]
        return decision if self.why is None else f"{decision}\n{self.why}"

    def plot(self, path: str | PathLike[str] | None = None) -> "Figure":
        """The figure of `judged.plot(0)`, written to a file if a path is given, and its errors."""
        return self.judged.plot(0, path)


def explanation_of(judged: Judged, receiver: Receiver, call: Values, row: int) -> ShotExplanation:
    """Why a shot was judged as it was: `row` of a call on `receiver`; `judged`: the shot judged again."""
    is_past = isinstance(receiver, PoseHistory)
    if (is_past and judged.tick[0] < 0) or of_row(call["radius"], row) > 0.0:
        return ShotExplanation(judged, None)
    time = float(judged.time[0]) if is_past else 0.0
    history = receiver
    if not isinstance(history, PoseHistory):  # a history of one tick, at time 0
        history = PoseHistory(history if isinstance(history, HitWorld) else world_in(HitWorld, history))
        history.record(0.0)
    limbs = history.limbs_at(time)
    start, end = ends_of(judged, 0, limbs)
    if judged.hit[0]:
        return ShotExplanation(judged, limbs.explain_segment(start, end, limb=int(judged.limb[0])))
    filters: Any = {"mask": of_row(call["mask"], row), "ignore_character": of_row(call["ignored"], row)}
    if is_past and call["protected"]:
        filters["protected_since"] = dict(zip(*(column.tolist() for column in call["protected"]), strict=True))
    return ShotExplanation(judged, history.explain_miss(start, end, time, **filters))


def of_row(value: Any, row: int) -> Any:
    """The entry of a row in a column, or in a number for all rows."""
    array = None if value is None else np.asarray(value).reshape(-1)
    return None if array is None else array.item(row if len(array) > 1 else 0)
