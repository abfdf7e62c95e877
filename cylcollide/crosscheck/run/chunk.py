"""One chunk from its key to its result: draw, cast on both sides, compare, explain, prove, keep a selection.

The result depends only on the plan, the key and the versions.
"""

from collections.abc import Sequence
from dataclasses import asdict, dataclass

import numpy as np

from cylcollide._types import Float64Array, Int32Array, Int64Array
from cylcollide.crosscheck.cases.case import Case, case_at, explained
from cylcollide.crosscheck.causes.calibration import calibrated_setup, calibrations
from cylcollide.crosscheck.causes.compare_scene import compare
from cylcollide.crosscheck.compare.comparison import Cast, Comparison, build
from cylcollide.crosscheck.compare.disagreements import VERDICTS, Cause, Disagreements, Kind
from cylcollide.crosscheck.engine import EngineOf
from cylcollide.crosscheck.generate.bullets import BULLET_FAMILIES, PosedScene
from cylcollide.crosscheck.generate.families import ChunkKey
from cylcollide.crosscheck.generate.shots import ShotScene
from cylcollide.crosscheck.records import JsonObject, plain
from cylcollide.crosscheck.run.chunk_store import Arrays, Chunk
from cylcollide.crosscheck.run.plan import Plan

SAMPLED, WORST = 2, 2
"""Cases kept in a chunk for every kind and cause: the first ones, and those of the largest amount."""
WORST_BULLETS = 10
"""Cases kept in a chunk for every kind of disagreement at posed bodies: those of the largest amount."""
WORST_KINDS = (Kind.PHANTOM, Kind.MISSED, Kind.WRONG_LIMB, Kind.EARLY, Kind.LATE, Kind.POSITION)
"""The kinds whose amount is a length, in the order in which they take turns."""


def compute_chunk(plan: Plan, key: ChunkKey) -> Chunk:
    """Compute one chunk of a plan."""
    parts = [cast_scene(scene, plan.engine_of, explain=plan.finds_causes) for scene in plan.draw(key)]
    # The key, scene and row identify the segment; its depth is the intended one.
    every = [
        {
            **{name: getattr(part.found, name) for name in Disagreements.__dataclass_fields__},
            "scene": np.full(len(part.found.row), number),
            "depth": part.depth,
            "family": _families(key, part.scene)[1][part.found.row],
        }
        for number, part in enumerate(parts)
    ]
    columns = _joined(every) | _joined([_bullets(part) for part in parts if isinstance(part.scene, PosedScene)])
    first = np.cumsum([0, *(len(part.found.row) for part in parts)])
    kept = _kept(columns, plan.finds_causes)
    cases: list[Case] = []
    for n, part in enumerate(parts):
        rows = (kept[columns["scene"][kept] == n] - first[n]).tolist()
        if rows:
            with plan.engine_of(part.scene.setup) as engine:
                build(engine, part.compared.truth)
                cases += [_case(plan, key, n, part, at, engine.cast_segments) for at in rows]
    named = {side: np.concatenate([getattr(part.compared, side).limb for part in parts]) for side in ("ours", "theirs")}
    most = max(len(part.scene.radius) for part in parts)
    by_limb = {side: np.bincount(limb[limb >= 0], minlength=most).tolist() for side, limb in named.items()}
    record = {
        "families": _counts(key, parts),
        "rechecked": sum(part.compared.ours.rechecked for part in parts),
        "limb_hits": by_limb["ours"],
        "limb_reported": by_limb["theirs"],
        "scenes": [part.about for part in parts] if plan.finds_causes else [],
        "cases": [case.record() for case in cases],
        "calibrations": list({repr(c): c for part in parts for c in part.calibrations}.values()),
    }
    return Chunk(columns, record)


@dataclass(frozen=True)
class SceneResult:
    """The result of one scene."""

    scene: ShotScene
    compared: Comparison
    found: Disagreements
    calibrations: list[JsonObject]

    @property
    def about(self) -> JsonObject:
        """Description of the scene, and the counts that shares refer to."""
        return {
            "setup": asdict(self.scene.setup),
            "radius": float(self.scene.radius.max()),
            "rays": len(self.scene.shots.start),
            "hits": int(self.compared.ours.hit.sum()),
            "as_lists": self.scene.as_lists,
        }

    @property
    def depth(self) -> Float64Array:
        """The intended depth of each disagreement; at posed bodies nan if neither answer is the target."""
        shot, row = self.scene.shots, self.found.row
        target = shot.target[row]
        named = (self.compared.ours.limb[row] == target) | (self.compared.theirs.limb[row] == target)
        return np.where(named | (not isinstance(self.scene, PosedScene)), shot.depth[row], np.nan)


def cast_scene(scene: ShotScene, engine_of: EngineOf, *, explain: bool = True) -> SceneResult:
    """Cast every segment of a scene on both sides, and optionally assign causes to the disagreements."""
    known = calibrations(engine_of, scene) if explain else None
    compared, found = compare(scene, engine_of, known)
    setup = asdict(calibrated_setup(scene.setup))
    return SceneResult(
        scene, compared, found, [{"setup": setup, **plain(asdict(c))} for c in dict.fromkeys(known or ())]
    )


def _bullets(part: SceneResult) -> Arrays:
    """Every wrong verdict about a posed body, one per row, in the columns of ``rays.npz``."""
    scene, both, found = part.scene, part.compared, part.found
    assert isinstance(scene, PosedScene)
    mine = np.isin(found.kind, VERDICTS)
    rows = found.row[mine]
    table: Arrays = {"ray": scene.first_ray + rows, "pose": np.full(len(rows), scene.pose, dtype=np.int32)}
    table |= {"start": scene.shots.start[rows], "end": scene.shots.end[rows]}
    table |= {"clearance": both.clearance(rows), "proved": both.proved(found)[mine]}
    for side, hits in (("true", both.ours), ("engine", both.theirs)):
        table |= {
            f"limb_{side}": hits.limb[rows],
            f"fraction_{side}": np.where(hits.limb[rows] >= 0, hits.fraction[rows], np.nan),
            f"position_{side}": hits.position[rows],
            f"normal_{side}": hits.normal[rows],
        }
    return table


def _kept(columns: Arrays, with_causes: bool) -> Int64Array:
    """Rows of the disagreements that are kept as cases: some of every kind and cause, and all unexplained ones.

    Without causes these are the worst of the WORST_KINDS; an error of 0 does not count.
    """
    kind, cause, amount = columns["kind"], columns["cause"], columns["amount"]
    size = np.where(np.isfinite(amount), np.abs(amount), 0.0)
    wanted = with_causes | (np.isin(kind, WORST_KINDS) & ((amount != 0.0) | np.isin(kind, VERDICTS)))
    sampled, worst = (SAMPLED, WORST) if with_causes else (0, WORST_BULLETS)
    kept = set(np.flatnonzero(cause == Cause.UNEXPLAINED).tolist())
    groups = kind.astype(np.int64) * len(Cause) + cause
    for group in np.unique(groups[wanted]):
        mine = np.flatnonzero(wanted & (groups == group))
        # Stable: the first of equal sizes.
        kept |= {*mine[:sampled].tolist(), *mine[np.argsort(-size[mine], kind="stable")][:worst].tolist()}
    return np.array(sorted(kept), dtype=np.int64)


def _families(key: ChunkKey, scene: ShotScene) -> tuple[tuple[str, ...], Int32Array]:
    """The families in a scene, and the code of each segment into them, (n,)."""
    if isinstance(scene, PosedScene):
        return BULLET_FAMILIES, scene.shots.family
    return (key.family,), np.zeros(len(scene.shots.start), dtype=np.int32)


def _counts(key: ChunkKey, parts: Sequence[SceneResult]) -> list[JsonObject]:
    """Segments, true hits and proved verdicts of each family."""
    names = _families(key, parts[0].scene)[0]
    rows = [{"family": name, "rays": 0, "hits": 0, "proved": 0} for name in names]
    for part in parts:
        code, proved = _families(key, part.scene)[1], part.found.row[part.compared.proved(part.found)]
        for what, codes in {"rays": code, "hits": code[part.compared.ours.hit], "proved": code[proved]}.items():
            for row, count in zip(rows, np.bincount(codes, minlength=len(names)).tolist(), strict=True):
                row[what] += count
    return rows


def _case(plan: Plan, key: ChunkKey, number: int, part: SceneResult, at: int, cast: Cast) -> Case:
    """A disagreement of the chunk's ``number``-th scene, with the segments of its call on which it depends."""
    scene, both, found = part.scene, part.compared, part.found
    row = int(found.row[at])
    place: JsonObject = {"family": key.family, "chunk": key.number, "scene": number, "row": row}
    if isinstance(scene, PosedScene):
        family = BULLET_FAMILIES[scene.shots.family[row]]
        place = {"family": family, "chunk": 0, "scene": scene.pose, "row": scene.first_ray + row, "names": scene.names}
    return case_at(both, row, cast, seed=key.seed, **place, **explained(found, at), **plan.engine_fields)


def _joined(tables: Sequence[Arrays]) -> Arrays:
    return {name: np.concatenate([table[name] for table in tables]) for name in (tables[0] if tables else ())}
