"""One chunk from its key to its result: draw, cast on both sides, compare, explain, prove, keep what matters.

All of it depends on the plan, the key and the versions alone.
"""

from collections.abc import Mapping, Sequence
from dataclasses import asdict, dataclass
from typing import Any

import numpy as np

from cylcollide._types import BoolArray, Int32Array, Int64Array
from cylcollide.crosscheck.cases.case import Case, called, case_of, explained
from cylcollide.crosscheck.causes.calibration import Calibration, calibrated_setup, calibration
from cylcollide.crosscheck.causes.cause import Cause
from cylcollide.crosscheck.causes.classify import compare
from cylcollide.crosscheck.engine.setup import EngineOf, Setup
from cylcollide.crosscheck.generate.bullets import BULLET_FAMILIES
from cylcollide.crosscheck.generate.families import ChunkKey
from cylcollide.crosscheck.generate.poses import PosedScene
from cylcollide.crosscheck.generate.shots import ShotScene
from cylcollide.crosscheck.judge.comparison import Comparison
from cylcollide.crosscheck.judge.disagreements import VERDICTS, Disagreements, Kind
from cylcollide.crosscheck.records import plain
from cylcollide.crosscheck.run.chunk_store import Arrays, Chunk
from cylcollide.crosscheck.run.plan import Plan

SAMPLED, WORST = 2, 2
"""Cases kept in a chunk for every kind and cause: so many as they come, so many of the greatest amount."""
WORST_BULLETS = 10
"""Cases kept in a chunk for every kind of disagreement at posed bodies: those of the greatest amount."""


def compute_chunk(plan: Plan, key: ChunkKey) -> Chunk:
    """Compute one chunk of a plan."""
    parts = [fire(scene, plan.engine_of, explain=plan.finds_causes) for scene in plan.draw(key)]
    columns = {
        name: np.concatenate([getattr(part.found, name) for part in parts])
        for name in Disagreements.__dataclass_fields__
    }
    # With the key, scene and row say which segment it was; its depth is what the family meant it to have.
    columns["scene"] = np.repeat(np.arange(len(parts)), [len(part.found.row) for part in parts])
    columns["depth"] = np.concatenate([part.depth for part in parts])
    columns["family"] = np.concatenate([_families(key, part.scene)[1][part.found.row] for part in parts])
    columns |= _joined([part.bullets() for part in parts if isinstance(part.scene, PosedScene)])
    limbs = max(len(part.scene.radius) for part in parts)
    cases = [
        _case(plan, key, number, part, at) for number, part in enumerate(parts) for at in part.kept(plan.finds_causes)
    ]
    record = {
        "families": _counts(key, parts),
        "rechecked": sum(part.compared.ours.rechecked for part in parts),
        "limb_hits": _summed([_by_limb(part.compared.ours.limb, part) for part in parts], limbs),
        "limb_reported": _summed([_by_limb(part.compared.theirs.limb, part) for part in parts], limbs),
        "scenes": [part.about for part in parts] if plan.finds_causes else [],
        "cases": [case.record() for case in (chosen(cases) if plan.finds_causes else worst_of_kinds(cases))],
        "calibrations": list({repr(c): c for part in parts for c in part.calibrations}.values()),
    }
    return Chunk(columns, record)


@dataclass(frozen=True)
class Fired:
    """What came of one scene."""

    scene: ShotScene
    compared: Comparison
    found: Disagreements
    proved: BoolArray  # of the disagreements: verdicts that exact arithmetic confirms
    calibrations: list[dict[str, Any]]

    @property
    def about(self) -> dict[str, Any]:
        """What the scene was, and how much of it there was: all that shares are taken of."""
        return {
            "setup": asdict(self.scene.setup),
            "radius": float(self.scene.radius.max()),
            "rays": len(self.scene.shots.start),
            "hits": int(self.compared.ours.hit.sum()),
            "as_lists": self.scene.as_lists,
        }

    @property
    def depth(self) -> Any:
        """The depth that was meant, of each disagreement; at posed bodies nan if neither answer is the target."""
        shot, row = self.scene.shots, self.found.row
        if not isinstance(self.scene, PosedScene):
            return shot.depth[row]
        target = shot.target[row]
        named = (self.compared.ours.limb[row] == target) | (self.compared.theirs.limb[row] == target)
        return np.where(named, shot.depth[row], np.nan)

    def bullets(self) -> Arrays:
        """Every wrong verdict about a posed body, one a row, as ``rays.npz`` has it."""
        scene, both, mine = self.scene, self.compared, np.isin(self.found.kind, VERDICTS)
        assert isinstance(scene, PosedScene)
        rows = self.found.row[mine]
        table: Arrays = {
            "ray": scene.first_ray + rows,
            "pose": np.full(len(rows), scene.pose, dtype=np.int32),
            "start": scene.shots.start[rows],
            "end": scene.shots.end[rows],
            "clearance": both.clearance(rows),
            "proved": self.proved[mine],
        }
        for side, hits in (("true", both.ours), ("engine", both.theirs)):
            table |= {
                f"limb_{side}": hits.limb[rows],
                f"fraction_{side}": np.where(hits.limb[rows] >= 0, hits.fraction[rows], np.nan),
                f"position_{side}": hits.position[rows],
                f"normal_{side}": hits.normal[rows],
            }
        return table

    def kept(self, with_causes: bool) -> list[int]:
        """Rows of the disagreements that are kept as cases: those that need attention, and some of every kind."""
        found, groups = self.found, self.found.kind.astype(np.int64) * len(Cause) + self.found.cause
        size = np.abs(np.nan_to_num(found.amount))
        if not with_causes:
            return [row for kind in WORST_KINDS for row in _first(found.kind == kind, -size, WORST_BULLETS)]
        of_verdict = np.isin(found.kind, VERDICTS)
        kept = set(np.flatnonzero((found.cause == Cause.UNEXPLAINED) | (of_verdict & ~self.proved)).tolist())
        for group in np.unique(groups):
            mine = groups == group
            kept |= {*np.flatnonzero(mine)[:SAMPLED].tolist(), *_first(mine, -size, WORST)}
        return sorted(kept)


WORST_KINDS = (Kind.PHANTOM, Kind.MISSED, Kind.WRONG_LIMB, Kind.EARLY, Kind.LATE, Kind.POSITION)
"""Every way to be wrong whose size is a length, in the order in which the kinds take their turns."""


def worst_of_kinds(cases: Sequence[Case], most: int = WORST_BULLETS) -> list[Case]:
    """The worst cases of each of the WORST_KINDS, worst first; equal ones by their place, unknown amounts last."""

    def rank(case: Case) -> tuple[float, tuple[Any, ...]]:
        return (1.0 if case.amount is None else -abs(case.amount)), case.place

    kinds = [sorted((case for case in cases if case.kind_code == kind), key=rank) for kind in WORST_KINDS]
    # An error of 0 is none.
    return [case for mine in kinds for case in mine[:most] if case.amount != 0.0 or case.kind_code in VERDICTS]


def fire(scene: ShotScene, engine_of: EngineOf, *, explain: bool = True) -> Fired:
    """Cast every segment of a scene on both sides, explain what differs if wanted, and settle the verdicts."""
    known = [calibration(engine_of, scene.setup, r, h) for r, h in _sizes(scene)] if explain else None
    compared, found = compare(scene, engine_of, known)
    measurements = [measured(scene.setup, one) for one in dict.fromkeys(known or ())]
    return Fired(scene, compared, found, compared.proved(found), measurements)


def measured(setup: Setup, known: Calibration) -> dict[str, Any]:
    """A calibration as JSON has it: what is infinite is null."""
    return {"setup": asdict(calibrated_setup(setup)), **plain(asdict(known))}


def chosen(cases: list[Case]) -> list[Case]:
    """Of a chunk's scenes: all unexplained, and some of every kind and cause."""
    kept: dict[tuple[Any, ...], Case] = {}
    groups: dict[tuple[str, str], list[Case]] = {}
    for case in cases:
        groups.setdefault((case.kind, case.cause), []).append(case)
    for (_, cause), group in groups.items():
        worst = sorted(group, key=lambda case: -abs(case.amount or 0.0))
        some = group if cause == Cause.UNEXPLAINED.label else [*group[:SAMPLED], *worst[:WORST]]
        kept |= {case.place: case for case in some}
    return [kept[place] for place in sorted(kept)]


def _sizes(scene: ShotScene) -> list[tuple[float, float]]:
    half = 0.5 * np.linalg.norm(scene.p2 - scene.p1, axis=1)
    return list(zip(scene.radius.tolist(), half.tolist(), strict=True))


def _first(mine: BoolArray, order: Any, count: int) -> list[int]:
    """The first rows of some in an order, (k,); equal ones as they come."""
    rows = np.flatnonzero(mine)
    first: list[int] = rows[np.argsort(order[rows], kind="stable")][:count].tolist()
    return first


def _families(key: ChunkKey, scene: ShotScene) -> tuple[tuple[str, ...], Int32Array]:
    """The families in a scene, and the code of each segment into them, (n,)."""
    if isinstance(scene, PosedScene):
        return BULLET_FAMILIES, scene.family
    return (key.family,), np.zeros(len(scene.shots.start), dtype=np.int32)


def _counts(key: ChunkKey, parts: Sequence[Fired]) -> list[dict[str, Any]]:
    """Segments, true hits and proved verdicts of each family."""
    names = _families(key, parts[0].scene)[0]
    counts: list[dict[str, Any]] = [{"family": name, "rays": 0, "hits": 0, "proved": 0} for name in names]
    for part in parts:
        codes = _families(key, part.scene)[1]
        for what, of in (
            ("rays", codes),
            ("hits", codes[part.compared.ours.hit]),
            ("proved", codes[part.found.row[part.proved]]),
        ):
            for row, count in zip(counts, np.bincount(of, minlength=len(names)).tolist(), strict=True):
                row[what] += count
    return counts


def _case(plan: Plan, key: ChunkKey, number: int, part: Fired, at: int) -> Case:
    scene, row = part.scene, int(part.found.row[at])
    place: Mapping[str, Any] = {"family": key.family, "chunk": key.number, "scene": number, "row": row}
    if isinstance(scene, PosedScene):
        family = BULLET_FAMILIES[scene.family[row]]
        place = {"family": family, "chunk": 0, "scene": scene.pose, "row": scene.first_ray + row, "names": scene.names}
    answers = part.compared.ours, part.compared.theirs
    told = explained(part.found, at)
    # A hit that came back when its segment was cast alone was lost by its place in the call.
    by_place = told["cause"] == Cause.API_LIMIT.label and told["bound"] is None and told["kind"] != Kind.LOST.label
    call = called(scene, row, 0, row + 1) if by_place else {}
    return case_of(scene, row, *answers, seed=key.seed, **place, **told, **plan.blamed, **call)


def _joined(tables: Sequence[Arrays]) -> Arrays:
    return {name: np.concatenate([table[name] for table in tables]) for name in (tables[0] if tables else ())}


def _by_limb(limb: Int32Array, part: Fired) -> Int64Array:
    return np.bincount(limb[limb >= 0], minlength=len(part.scene.radius))


def _summed(parts: list[Int64Array], width: int) -> list[int]:
    total = np.zeros(width, dtype=np.int64)
    for part in parts:
        total[: len(part)] += part
    return total.tolist()
