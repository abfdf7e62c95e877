"""Runs a plan: its chunks on an executor, trials of a sample of cases, and the summary."""

import json
import time
from collections import defaultdict
from collections.abc import Callable
from concurrent.futures import BrokenExecutor, Executor
from dataclasses import dataclass
from functools import partial
from itertools import count
from pathlib import Path
from typing import Any

import numpy as np

from cylcollide.crosscheck.cases.case import RAYS_SCHEMA, Case, write_cases
from cylcollide.crosscheck.cases.trials import Trial, trials
from cylcollide.crosscheck.compare.disagreements import VERDICTS, Cause
from cylcollide.crosscheck.generate.bullets import BULLET_FAMILIES
from cylcollide.crosscheck.records import JsonObject, write_json
from cylcollide.crosscheck.run.chunk import compute_chunk
from cylcollide.crosscheck.run.chunk_store import ChunkStore, UnfinishedError, run_chunks
from cylcollide.crosscheck.run.plan import Plan, PosesPlan, stamp
from cylcollide.crosscheck.run.tally import Tally, findings, sample
from cylcollide.process.files import write_columns

SCHEMA = 3
"""Version of ``summary.json``: raised if a field changes its meaning or is removed."""


Proof = tuple[Case, list[Trial]]
"""One case and its trials."""


@dataclass(frozen=True)
class FinishedRun:
    """A finished run."""

    plan: Plan
    summary: JsonObject
    tally: Tally
    proofs: list[Proof]

    @property
    def unproved(self) -> int:
        """Verdicts of this library that exact arithmetic does not confirm."""
        return wrong_count(self.summary["families"][-1]) - int(self.summary["families"][-1]["proved"])


def wrong_count(row: JsonObject) -> int:
    """Number of segments in a row of the summary with a wrong verdict or limb."""
    return sum(int(row[kind.field]) for kind in VERDICTS)


def run_plan(
    plan: Plan,
    executor: Executor | None = None,
    folder: Path | None = None,
    warn: Callable[[str], None] = print,
    progress: Callable[[str, int, int], None] | None = None,
) -> FinishedRun:
    """Run a plan; finished chunks are kept in ``folder / "chunks"``, if a folder is given, and used again.

    ``progress`` is called with a task, the number of finished parts, and the total; the others as for `run_chunks`.
    """
    began = time.perf_counter()
    report = progress or (lambda _what, _done, _of: None)
    engine, versions = plan.engine()
    keys, done, poses = plan.keys, count(1), plan.poses if isinstance(plan, PosesPlan) else None
    store = None if folder is None else ChunkStore(folder / "chunks", stamp(plan, engine, versions))
    work = partial(compute_chunk, plan)
    chunks = run_chunks(keys, work, executor, store, warn, lambda _: report("chunks", next(done), len(keys)))
    tally = Tally(chunks)
    limbs = zip(poses.limb_names, poses.radius.tolist(), strict=True) if poses else ()
    proofs = _prove(plan, tally, executor, report) if plan.finds_causes else []
    tried: dict[Cause, list[list[Trial]]] = defaultdict(list)
    for case, run in proofs:
        tried[case.cause_code].append(run)
    summary = {
        "schema": SCHEMA,
        "run": plan.name,
        "engine": engine,
        "seed": plan.seed,
        "asked": plan.rays,
        "not_tried": list(plan.not_tried),
        "rays": tally.total("rays"),
        "seconds": round(time.perf_counter() - began, 3),
        "versions": versions,
        "motions": list(dict.fromkeys(poses.motion)) if poses else [],
        "poses": len(poses.motion) if poses else 0,
        "limbs": [{"name": name, "radius": radius} for name, radius in limbs],
        "unexplained": tally.unexplained(),
        "findings": list(findings(tally)),
        "families": tally.rows(),
        "causes": tally.cause_rows(tried),
        "setups": tally.setup_rows(),
        "grazes": tally.graze_rows(),
        "calls": tally.call_rows(),
        "engines": [],
        "scoreboard": [],
        "distances": {},
        "calibrations": tally.calibrations,
    }
    return FinishedRun(plan, summary, tally, proofs)


def write_numbers(result: FinishedRun, folder: Path) -> None:
    """Write ``summary.json``, and ``rays.npz`` of a sweep over poses or ``cases.json`` of families."""
    write_json(folder / "summary.json", result.summary)
    if isinstance(result.plan, PosesPlan):
        write_columns(folder / "rays.npz", wrong_bullets(result, result.plan))
        return
    unexplained = [case for case in result.tally.cases if case.cause_code == Cause.UNEXPLAINED]
    every = {case.place: case for case in [*unexplained, *(case for case, _ in result.proofs)]}
    write_cases(folder / "cases.json", [every[place] for place in sorted(every)])


def wrong_bullets(result: FinishedRun, plan: PosesPlan) -> dict[str, Any]:
    """Every wrong verdict, every pose, and what identifies the run: the arrays of ``rays.npz``."""
    tally, summary, poses = result.tally, result.summary, plan.poses
    of_verdict = np.isin(tally.column("kind"), VERDICTS)
    codes = {name: tally.column(name)[of_verdict].astype(np.int32) for name in ("family", "kind")}
    sides = [f"{what}_{side}" for what in ("limb", "fraction", "position", "normal") for side in ("true", "engine")]
    return {
        "schema": np.array(RAYS_SCHEMA),
        **{name: np.array(summary[name]) for name in ("engine", "seed", "rays")},
        "versions": np.array(json.dumps(summary["versions"], sort_keys=True)),
        "families": np.array(BULLET_FAMILIES),
        "kinds": np.array([kind.label for kind in VERDICTS]),
        "pose_motion": np.array(poses.motion),
        "pose_time": poses.time,
        "pose_p1": poses.p1,
        "pose_p2": poses.p2,
        "limb_radius": poses.radius,
        "limb_names": np.array(poses.limb_names),
        **codes,
        "depth": tally.column("depth")[of_verdict],
        **{name: tally.column(name) for name in ("ray", "pose", "start", "end", *sides, "clearance", "proved")},
    }


def _prove(plan: Plan, tally: Tally, executor: Executor | None, report: Callable[[str, int, int], None]) -> list[Proof]:
    cases = [case for some in sample(tally.cases, plan.tried).values() for case in some]
    prove, proofs = partial(trials, engine_of=plan.engine_of), []
    try:
        for case, run in zip(cases, (map if executor is None else executor.map)(prove, cases), strict=True):
            proofs.append((case, run))
            report("interventions", len(proofs), len(cases))
    except BrokenExecutor as error:
        raise UnfinishedError(
            f"a worker was lost during the interventions ({error}); all chunks are finished and kept: run the same "
            "command again to go on"
        ) from error
    return proofs
