"""One chunk from its key to its result: draw, ask both sides, compare, explain, ask again, prove, keep what matters.

All of it depends on the key, the size and the versions alone.
"""

from collections.abc import Callable, Mapping, Sequence
from dataclasses import asdict, dataclass
from functools import partial
from typing import Any

import numpy as np

from cylcollide._types import BoolArray, Int64Array
from cylcollide.crosscheck.cases.case import BULLET, Case, ends, explained, plain, vector
from cylcollide.crosscheck.causes.calibration import Calibration
from cylcollide.crosscheck.causes.calibration_cache import calibrated_setup, calibration
from cylcollide.crosscheck.causes.classify import Compared, Findings
from cylcollide.crosscheck.causes.kinds_and_causes import Cause, Kind
from cylcollide.crosscheck.causes.retest import ask_again
from cylcollide.crosscheck.engine.pybullet_client import BulletClient
from cylcollide.crosscheck.engine.setup import Asked, EngineOf, NamedEngine, PlainEngine, Setup, as_record
from cylcollide.crosscheck.generate.families import ChunkKey, draw_chunk
from cylcollide.crosscheck.generate.families.shots import Scene
from cylcollide.crosscheck.judge.exact_truth import exact_first_limbs
from cylcollide.crosscheck.run.chunk_store import Chunk
from cylcollide.engines import EngineHits
from cylcollide.limbs.limbs import Limbs
from cylcollide.query.hits import RayHits
from cylcollide.world import HitWorld

SAMPLED, WORST = 2, 2
"""Cases kept in a chunk for every kind and cause: so many as they come, so many of the greatest amount."""

OF_VERDICT = (Kind.MISSED, Kind.PHANTOM, Kind.WRONG_LIMB)


@dataclass(frozen=True)
class Work:
    """Computes chunks; picklable."""

    sizes: Mapping[str, int]  # segments in a chunk of each family
    engine_of: EngineOf = BulletClient

    @property
    def blamed(self) -> dict[str, Any]:
        """The engine, as a case names it."""
        maker = self.engine_of
        if not isinstance(maker, PlainEngine | NamedEngine):
            return {"engine": BULLET}
        return {"engine": maker.name, "options": dict(maker.options)}

    def __call__(self, key: ChunkKey) -> Chunk:
        """Compute one chunk."""
        parts = [
            fire(scene, self.engine_of, partial(_case, self.blamed, key, number))
            for number, scene in enumerate(draw_chunk(key, self.sizes[key.family]))
        ]
        columns = {
            name: np.concatenate([getattr(part.findings, name) for part in parts])
            for name in ("row", "kind", "cause", "amount", "measured", "bound")
        }
        # With the key, scene and row say which segment it was; its depth is what the family meant it to have.
        columns["scene"] = np.repeat(np.arange(len(parts)), [len(part.findings.row) for part in parts])
        columns["depth"] = np.concatenate([part.scene.shots.depth[part.findings.row] for part in parts])
        limbs = max(len(part.scene.radius) for part in parts)
        record = {
            "rays": sum(len(part.scene.shots.start) for part in parts),
            "hits": sum(part.hits for part in parts),
            "rechecked": sum(part.rechecked for part in parts),
            "proved": sum(part.proved for part in parts),
            "limb_hits": _summed([part.limb_hits for part in parts], limbs),
            "limb_reported": _summed([part.limb_reported for part in parts], limbs),
            "scenes": [part.about for part in parts],
            "cases": [case.record() for case in chosen([case for part in parts for case in part.cases])],
            "calibrations": list({repr(c): c for part in parts for c in part.calibrations}.values()),
        }
        return Chunk(columns, record)


@dataclass(frozen=True)
class Fired:
    """What came of one scene."""

    scene: Scene
    findings: Findings
    hits: int
    rechecked: int
    proved: int
    limb_hits: Int64Array
    limb_reported: Int64Array
    cases: list[Case]
    calibrations: list[dict[str, Any]]

    @property
    def about(self) -> dict[str, Any]:
        """What the scene was, and how much of it there was: all that shares are taken of."""
        return {
            "setup": as_record(self.scene.setup),
            "radius": float(self.scene.radius.max()),
            "rays": len(self.scene.shots.start),
            "hits": self.hits,
            "as_lists": self.scene.as_lists,
        }


def fire(scene: Scene, engine_of: EngineOf, case: Callable[[Scene, Compared, Findings, int], Case]) -> Fired:
    """Ask both sides about every segment of a scene and explain what differs."""
    limbs = Limbs.cylinders(scene.p1, scene.p2, scene.radius)
    shot = scene.shots
    ours = HitWorld(limbs).cast_segments(shot.start, shot.end)
    calibrations = [calibration(engine_of, scene.setup, r, h) for r, h in _sizes(scene)]
    with engine_of(scene.setup) as engine:
        engine.build(limbs)
        theirs, answered = _asked(engine, scene)
        compared = Compared(scene, ours, theirs, answered, calibrations)
        findings = ask_again(compared.findings(), compared, engine, engine_of)
    proved = _proved(findings, compared, limbs)
    m = len(limbs)
    return Fired(
        scene,
        findings,
        int(ours.hit.sum()),
        ours.rechecked,
        int(proved.sum()),
        np.bincount(ours.limb[ours.hit], minlength=m),
        np.bincount(theirs.limb[theirs.limb >= 0], minlength=m),
        [case(scene, compared, findings, row) for row in _kept(findings, proved)],
        [measured(scene.setup, known) for known in dict.fromkeys(calibrations)],
    )


def measured(setup: Setup, known: Calibration) -> dict[str, Any]:
    """A calibration as JSON has it: what is infinite is null."""
    numbers = {name: plain(value) if isinstance(value, float) else value for name, value in asdict(known).items()}
    return {"setup": as_record(calibrated_setup(setup)), **numbers}


def _sizes(scene: Scene) -> list[tuple[float, float]]:
    half = 0.5 * np.linalg.norm(scene.p2 - scene.p1, axis=1)
    return list(zip(scene.radius.tolist(), half.tolist(), strict=True))


def _asked(engine: Asked, scene: Scene) -> tuple[EngineHits, BoolArray]:
    """The engine's answers, and which segments got one."""
    shot, n = scene.shots, len(scene.shots.start)
    if not (scene.whole_batch and isinstance(engine, BulletClient)):
        return engine.cast_segments(shot.start, shot.end), np.ones(n, dtype=np.bool_)
    starts, finish = (shot.start.tolist(), shot.end.tolist()) if scene.as_lists else (shot.start, shot.end)
    try:
        answers: Sequence[Any] = engine.cast_batch(starts, finish)
    except Exception:  # PyBullet's own error class: the call is refused, which is an answer too
        answers = ()
    return engine.as_hits(answers, n), np.arange(n) < len(answers)


def _proved(findings: Findings, compared: Compared, limbs: Limbs) -> BoolArray:
    """Whether exact arithmetic over all limbs confirms this library's verdict, for the rows where verdicts differ."""
    proved = np.zeros(len(findings.row), dtype=np.bool_)
    of_verdict = np.flatnonzero(np.isin(findings.kind, OF_VERDICT))
    rows, shot = findings.row[of_verdict], compared.scene.shots
    first = exact_first_limbs(shot.start[rows], shot.end[rows], limbs.p1, limbs.p2, limbs.radius)
    proved[of_verdict] = first == compared.ours.limb[rows]
    return proved


def _kept(findings: Findings, proved: BoolArray) -> list[int]:
    """Rows of the findings that are kept as cases: unexplained, unproved, and some of every kind and cause."""
    of_verdict = np.isin(findings.kind, OF_VERDICT)
    kept = set(np.flatnonzero((findings.cause == Cause.UNEXPLAINED) | (of_verdict & ~proved)).tolist())
    groups = findings.kind.astype(np.int64) * len(Cause) + findings.cause
    for group in np.unique(groups):
        rows = np.flatnonzero(groups == group)
        worst = rows[np.argsort(-np.abs(np.nan_to_num(findings.amount[rows])), kind="stable")]
        kept |= {*rows[:SAMPLED].tolist(), *worst[:WORST].tolist()}
    return sorted(kept)


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


def _case(
    blamed: dict[str, Any], key: ChunkKey, number: int, scene: Scene, compared: Compared, found: Findings, at: int
) -> Case:
    row = int(found.row[at])
    return Case(
        family=key.family,
        seed=key.seed,
        chunk=key.number,
        scene=number,
        row=row,
        **explained(found, at),
        setup=as_record(scene.setup),
        **ends(scene),
        start=tuple(scene.shots.start[row].tolist()),
        end=tuple(scene.shots.end[row].tolist()),
        **_told("true", compared.ours, row),
        **_told("engine", compared.theirs, row),
        **blamed,
    )


def _told(side: str, hits: RayHits | EngineHits, row: int) -> dict[str, Any]:
    """One side's answer to a segment as a case holds it."""
    return {
        f"limb_{side}": int(hits.limb[row]),
        f"fraction_{side}": plain(hits.fraction[row]),
        f"normal_{side}": vector(hits.normal[row]),
    }


def _summed(parts: list[Int64Array], width: int) -> list[int]:
    total = np.zeros(width, dtype=np.int64)
    for part in parts:
        total[: len(part)] += part
    return total.tolist()
