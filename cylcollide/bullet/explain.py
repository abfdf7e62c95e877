"""Why PyBullet and a mirror answer one ray as they do: both answers by name, clearance, cause, and the least remedy."""

from __future__ import annotations

import json
from dataclasses import dataclass, field
from math import inf, nan
from os import PathLike
from pathlib import Path
from typing import Any

import numpy as np

from cylcollide._types import Float64Array, Shape
from cylcollide.bullet.client import BodyLink
from cylcollide.bullet.differences import (
    NO_NUMBER,
    TOLERANCE,
    box_turns,
    causes_of,
    differ,
    heights,
    is_unnumbered,
    margin_of,
    true_limbs,
)
from cylcollide.bullet.mirrored_limbs import MirroredLimbs
from cylcollide.bullet.tuples import MISS, RayTestResult
from cylcollide.exact.line import Triple
from cylcollide.limbs.distance import nearest_limb
from cylcollide.limbs.explain import Explanation, remarks_on_end
from cylcollide.process.files import write_text
from cylcollide.world import Snapshot

CAUSE_NAMES = {
    "within 1 mm": "termination tolerance",
    "edge": "rim rounding by the margin",
    "order": "termination tolerance",
    "inside": "inside-start policy",
    "end": "segment end",
    "open": "unexplained",
    TOLERANCE: "shape approximation",
    NO_NUMBER: "API limit",
}
"""The words of `docs/bullet.md`, and the causes of `docs/causes.md` that they belong to."""

NEAREST, FARTHEST, STEPS = 1e-6, 0.1, 60
"""Smallest and largest move of a ray that is tried, in metres, and the number of moves in each direction."""

ROOM = 0.01  # metres: limbs within this distance of the ray are saved

FORMAT = "cylcollide.bullet ray, 1"
"""Names the files that `RayExplanation.save` writes, with their version."""


@dataclass(frozen=True)
class Move:
    """A displacement of the ray after which both answers agree."""

    by: Triple  # what is added to both ends
    body_link: BodyLink  # what both hit there, -1 -1 for nothing

    @property
    def length(self) -> float:
        """Length of the displacement, in the unit of the client."""
        return float(np.linalg.norm(self.by))


@dataclass(frozen=True)
class RayExplanation:
    """Both answers to one segment, and why they differ, if they do. `print` it, or `save` it."""

    start: Triple
    end: Triple
    ours: RayTestResult
    """The mirror's answer, a tuple of PyBullet's form."""
    theirs: RayTestResult
    """PyBullet's answer."""
    names: dict[tuple[int, int], str]
    """Names of the bodies and links in both answers and in `move`."""
    limb: int
    """Index in `Mirror.limbs` of the limb of `clearance`: the one hit by PyBullet, else the one hit by the mirror, else
    the nearest one; -1 for planes, for wrapped shapes, and without limbs."""
    clearance: float
    """Growth of that limb or plane at which the segment just touches it, minus the depth for a hit; nan without one."""
    word: str
    """Why body or link differ, in a word of `docs/bullet.md`; empty if they do not."""
    move: Move | None
    """The smallest move found after which both agree, at most a hundredth too long; None if none was found."""
    why: Explanation | None
    """The explanation of that limb by `Limbs.explain_segment`."""
    _case: dict[str, Any] = field(repr=False, compare=False)
    """What `save` writes."""

    @property
    def differs(self) -> bool:
        """Whether body or link differ."""
        return differ(self.ours, self.theirs)

    @property
    def cause(self) -> str:
        """The cause as `docs/causes.md` calls it; empty if body and link are the same."""
        return CAUSE_NAMES[self.word] if self.word else ""

    def _name(self, body_link: tuple[int, int]) -> str:
        """Body and link by name, "nothing" for a miss."""
        return self.names.get(body_link, "nothing")

    def _hit_name(self, answer: RayTestResult) -> str:
        """The name of the body and link that an answer hits."""
        return "a solid without a body number" if is_unnumbered(answer) else self._name(answer[:2])

    def __str__(self) -> str:
        lines = [f"{self.start} -> {self.end}: " + ("the answers differ" if self.differs else "both agree")]
        for side, answer in (("mirror", self.ours), ("PyBullet", self.theirs)):
            at = f", fraction {answer[2]:.9g}" if answer != MISS else ""
            lines.append(f"  {side:<10} {self._hit_name(answer)}{at}")
        lines.append(f"  clearance  {self.clearance:.6g}" + (f" of limb {self.limb}" if self.limb >= 0 else ""))
        if self.why is not None:
            lines.append(f"  {self.why.shape.name.lower():<10} {'hit' if self.why.hit else 'miss'}, {self.why.reason}")
        if self.differs:
            lines.append(f"  cause      {self.word}: {self.cause}")
            moved = self.move
            how = "none that was tried" if moved is None else f"{moved.length:.3g} by {_short(moved.by)}"
            both = "" if moved is None else f", then both hit {self._name(moved.body_link)}"
            lines.append(f"  move       {how}{both}")
        return "\n".join(lines + ([] if self.ours[0] >= 0 else [f"  {line}" for line in remarks_on_end(self.end)]))

    def save(self, path: str | PathLike[str]) -> None:
        """Write the segment, both answers and nearby shapes as JSON, for `cylcollide replay`.

        ValueError if either answer is a mesh or another shape that is neither limb nor plane: files cannot hold it.
        """
        if self._case["ours"] is None or self._case["theirs"] is None:
            raise ValueError(f"save: expected limbs and planes, got {self._hit_name(self.theirs)}, which no file holds")
        write_text(Path(path), json.dumps(self._case, indent=1, allow_nan=False))


def explain_ray(mirror: MirroredLimbs, start: Float64Array, end: Float64Array) -> RayExplanation:
    """The explanation of one segment, start and end (3,)."""
    starts, ends = start[None], end[None]
    (ours,), (theirs,) = mirror.rayTestBatch(starts, ends), mirror._client.ray_hits(starts, ends)
    differs = differ(ours, theirs)
    move = _least_move(mirror, start, end, theirs if theirs[0] >= 0 else ours) if differs else None
    limb, clearance, why = _clearance(mirror, start, end, BodyLink(*(theirs if theirs[0] >= 0 else ours)[:2]))
    body_links = {BodyLink(*ours[:2]), BodyLink(*theirs[:2])} | ({move.body_link} if move else set())
    return RayExplanation(
        _triple(start),
        _triple(end),
        ours,
        theirs,
        {link: mirror._client.link_name(link) for link in body_links if link.body >= 0},
        limb,
        clearance,
        causes_of(mirror, starts, ends, [ours], [theirs])[0] if differs else "",
        move,
        why,
        _case(mirror, start, end, ours, theirs),
    )


def _least_move(mirror: MirroredLimbs, start: Float64Array, end: Float64Array, hit: RayTestResult) -> Move | None:
    """The smallest move across the ray or along it after which both answers have the same body and link."""
    along = _unit(end - start, np.array([1.0, 0.0, 0.0]))
    normal = np.array(hit[4])
    across = _unit(normal - normal @ along * along, np.cross(along, np.eye(3)[np.argmin(np.abs(along))]))
    ways = np.array([across, -across, np.cross(along, across), np.cross(across, along), -along, along])
    reach = np.geomspace(NEAREST, FARTHEST, STEPS)
    found = _first_agreement(mirror, start, end, (reach[:, None, None] * ways).reshape(-1, 3))
    if found is None:
        return None
    length = found.length
    finer = np.linspace(length * (NEAREST / FARTHEST) ** (1.0 / (STEPS - 1)), length, STEPS)
    return _first_agreement(mirror, start, end, finer[:, None] * (np.array(found.by) / length))


def _first_agreement(mirror: MirroredLimbs, start: Float64Array, end: Float64Array, moves: Float64Array) -> Move | None:
    """The first of moves (n, 3) after which both agree."""
    starts, ends = start + moves, end + moves
    answers = zip(mirror.rayTestBatch(starts, ends), mirror._client.ray_hits(starts, ends), strict=True)
    for by, (ours, theirs) in zip(moves, answers, strict=True):
        if not differ(ours, theirs):
            return Move(_triple(by), BodyLink(*ours[:2]))
    return None


def _clearance(
    mirror: MirroredLimbs, start: Float64Array, end: Float64Array, body_link: BodyLink
) -> tuple[int, float, Explanation | None]:
    """The limb (-1: a plane) of a link nearest to a segment, its clearance and explanation; of all links for a miss."""
    state = mirror._state
    limbs = state.world.limbs
    if body_link.body < 0:
        crossed = state.world.chords_segments(start[None], end[None], inside="hit").limb
        near = nearest_limb(limbs._table, np.flatnonzero(limbs.mask != 0), start, end) if not len(crossed) else None
        rows = crossed[:1].tolist() if len(crossed) else [near.limb] if near else []
    else:
        rows = [i for i, of_limb in enumerate(mirror.limb_places) if of_limb == body_link]
    why = min(
        (limbs.explain_segment(start, end, limb=row) for row in rows), key=lambda one: one.clearance, default=None
    )
    apart = [
        min(abs(a), abs(b)) * (1.0 if min(a, b) > 0.0 or max(a, b) < 0.0 else -1.0) - mirror.tolerance
        for of_sheet, (a, b) in heights(mirror, start, end)
        if body_link in (of_sheet, BodyLink(-1, -1))
    ]
    least = float(min(apart, default=inf)) + 0.0
    if why is not None and why.clearance <= least:
        return why.limb, why.clearance, why
    return -1, least if apart else nan, None


def _case(
    mirror: MirroredLimbs, start: Float64Array, end: Float64Array, ours: RayTestResult, theirs: RayTestResult
) -> dict[str, Any]:
    """The segment, the limbs near it and all planes as JSON values; answers are indices into `names`."""
    state, limbs = mirror._state, true_limbs(mirror)
    body_links = state.links
    around = Snapshot._of(limbs.inflated(ROOM + mirror.tolerance)).chords_segments(start[None], end[None]).limb.tolist()
    chosen = [i for i in range(len(limbs)) if i in around or body_links[i] in (ours[:2], theirs[:2])]
    turns, listed = box_turns(limbs), [body_links[i] for i in chosen] + body_links[len(limbs) :]
    return {
        "format": FORMAT,
        "start": start.tolist(),
        "end": end.tolist(),
        "inside": mirror.inside,
        "tolerance": mirror.tolerance,
        "limbs": [
            {
                "shape": Shape(int(limbs.kind[i])).name.lower(),
                "p1": limbs.p1[i].tolist(),
                "p2": limbs.p2[i].tolist(),
                "radius": float(limbs.radius[i]),
                "half_extents": limbs.half_extents[i].tolist(),
                "turn": turns[i].tolist(),
                "margin": margin_of(mirror._client, limbs, i, body_links[i]),
            }
            for i in chosen
        ],
        "planes": [{"point": sheet.point, "normal": sheet.normal} for sheet in state.sheets],
        "names": [mirror._client.link_name(link) for link in listed],
        "ours": _index(listed, ours),
        "theirs": _index(listed, theirs),
    }


def _index(body_links: list[BodyLink], answer: RayTestResult) -> int | None:
    """Index of an answer's link among the links, -1 for a miss, None if it is not listed."""
    body_link = BodyLink(*answer[:2])
    return -1 if answer == MISS else body_links.index(body_link) if body_link in body_links else None


def _triple(vector: Float64Array) -> Triple:
    x, y, z = vector.tolist()
    return x, y, z


def _unit(vector: Float64Array, otherwise: Float64Array) -> Float64Array:
    """The unit vector of `vector`, or of `otherwise` if `vector` is zero."""
    length = np.linalg.norm(vector)
    return np.asarray(vector / length if length > 0.0 else otherwise / np.linalg.norm(otherwise))


def _short(vector: Triple) -> str:
    return f"({', '.join(f'{x:.3g}' for x in vector)})"
