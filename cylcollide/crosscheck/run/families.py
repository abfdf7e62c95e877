"""A run by families: chunks over an executor, trials of a sample, and the folder that holds it all."""

import hashlib
import json
import math
import multiprocessing
import platform
import time
from collections.abc import Callable, Iterator, Sequence
from concurrent.futures import BrokenExecutor, Executor, ProcessPoolExecutor
from contextlib import contextmanager
from dataclasses import asdict, dataclass
from importlib.metadata import version
from pathlib import Path
from typing import Any

import numpy as np

from cylcollide import __version__
from cylcollide.crosscheck.cases.case import Case, write_cases
from cylcollide.crosscheck.cases.interventions.outcome import Asker
from cylcollide.crosscheck.cases.interventions.trials import Trial, trials
from cylcollide.crosscheck.causes.engine_summary import diagnose
from cylcollide.crosscheck.causes.kinds_and_causes import Cause, Kind
from cylcollide.crosscheck.engine.pybullet_client import BulletClient
from cylcollide.crosscheck.engine.setup import EngineOf, Setup
from cylcollide.crosscheck.generate.families import FAMILIES, OF_PYBULLET_ONLY, WHOLE_BATCHES, ChunkKey, batch_limits
from cylcollide.crosscheck.run.breakdowns import call_rows, graze_rows, setup_rows
from cylcollide.crosscheck.run.chunk import Work
from cylcollide.crosscheck.run.chunk_store import ChunkStore, UnfinishedError, run_chunks
from cylcollide.crosscheck.run.tally import SCHEMA, Tally, sample, write_summary

CHUNK = 6000
"""Segments a chunk: a fraction of a second, so that little is lost when a sweep stops."""
LAYOUT = 3
"""Of the chunks: raised when their columns or records change."""
TRIED = 40
"""Cases of every cause on which the interventions are run."""


@dataclass(frozen=True)
class Plan:
    """What is to be run: equal plans on equal versions give equal results."""

    families: tuple[str, ...]
    rays: int
    seed: int
    engine_of: EngineOf = BulletClient
    tried: int = TRIED  # cases of every cause on which the interventions are run

    def __post_init__(self) -> None:
        """Check the numbers and names.

        Raises
        ------
        ValueError
            For an unknown family, one that needs PyBullet's settings asked of another engine, or a bad number.
        """
        for name, value, least in (("rays", self.rays, 1), ("seed", self.seed, 0)):
            if value < least:
                raise ValueError(f"{name} must be at least {least}, got {value}")
        unknown = [family for family in self.families if family not in FAMILIES]
        if unknown:
            raise ValueError(f"expected families out of all, {', '.join(FAMILIES)}, got {unknown[0]!r}")
        if self.engine_of is not BulletClient and (only := OF_PYBULLET_ONLY.intersection(self.families)):
            raise ValueError(f"expected families that any engine can be asked, got {sorted(only)[0]!r} (PyBullet only)")
        if not self.keys:
            raise ValueError(
                f"rays: expected at least {batch_limits.LEAST:,}, half a call of {self.families[0]}, got {self.rays:,}"
            )

    def size_of(self, family: str) -> int:
        """Segments in a chunk of one of the families; 0 if it is not tried, since its share is too small for it."""
        chunks = self._chunks(family)
        return math.ceil(self._each(family) / chunks) if chunks else 0

    @property
    def sizes(self) -> dict[str, int]:
        """The same for all families."""
        return {family: self.size_of(family) for family in self.families}

    @property
    def not_tried(self) -> list[dict[str, Any]]:
        """Families of calls that cannot be made as small as an even share, and the ``rays`` that would do for them."""
        rays = batch_limits.LEAST * len(self.families)
        return [{"family": family, "rays": rays} for family, size in self.sizes.items() if not size]

    @property
    def keys(self) -> list[ChunkKey]:
        """The chunks, family by family."""
        return [
            ChunkKey(family, self.seed, number)
            for family in FAMILIES
            if family in self.families
            for number in range(self._chunks(family))
        ]

    def _each(self, family: str) -> int:
        """Segments of a family: an even share, which those of whole calls round to calls, and the others fill up."""
        whole = batch_limits.fitting(self.rays // len(self.families))
        if family in WHOLE_BATCHES:
            return whole
        drawn = [family for family in self.families if family not in WHOLE_BATCHES]
        return max(1, (self.rays - whole * (len(self.families) - len(drawn))) // len(drawn))

    def _chunks(self, family: str) -> int:
        if family in WHOLE_BATCHES:
            return min(1, self._each(family))
        return max(1, round(self._each(family) / CHUNK))

    def engine(self) -> tuple[str, dict[str, str]]:
        """Name of the engine, and the versions of all that takes part."""
        with self.engine_of(Setup()) as probe:
            name, own = probe.name, probe.versions
        packages = {package: version(package) for package in ("numpy", "numba")}
        return name, {"cylcollide": __version__, **own, **packages, "python": platform.python_version()}


@dataclass(frozen=True)
class Proof:
    """One case and its trials."""

    case: Case
    trials: list[Trial]


@dataclass(frozen=True)
class Prove:
    """Runs the trials of a case; picklable."""

    engine_of: EngineOf

    def __call__(self, case: Case) -> Proof:
        """Run them."""
        return Proof(case, trials(case, Asker(self.engine_of)))


@dataclass(frozen=True)
class FamiliesResult:
    """A finished run."""

    summary: dict[str, Any]
    tally: Tally
    proofs: list[Proof]

    @property
    def unproved(self) -> int:
        """Verdicts of this library that exact arithmetic does not confirm."""
        row = self.summary["families"][-1]
        return int(row["missed"] + row["phantom"] + row["wrong_limb"] - row["proved"])


def run_families(
    plan: Plan,
    executor: Executor | None = None,
    folder: Path | None = None,
    tell: Callable[[str], None] = print,
    progress: Callable[[str, int, int], None] | None = None,
) -> FamiliesResult:
    """Run a plan; finished chunks are kept in ``folder / "chunks"`` and used again.

    Parameters
    ----------
    plan
        What to run.
    executor
        Any of ``concurrent.futures``; None works in this thread.
    folder
        Where chunks are kept; None keeps none.
    tell
        Given a line about every kept chunk that cannot be used.
    progress
        Told what is being done, how much of it is done, and how much there is.

    Raises
    ------
    cylcollide.crosscheck.run.chunk_store.UnfinishedError
        If a worker was lost; what was finished is kept.
    """
    began = time.perf_counter()
    report = progress or (lambda _what, _done, _of: None)
    engine, versions = plan.engine()
    keys, done = plan.keys, 0

    def finished(_: ChunkKey) -> None:
        nonlocal done
        done += 1
        report("chunks", done, len(keys))

    store = None if folder is None else ChunkStore(folder / "chunks", _stamp(plan, engine, versions))
    found = run_chunks(keys, Work(plan.sizes, plan.engine_of), executor, store, tell, finished)
    tally = Tally(found)
    proofs = _prove(plan, tally, executor, report)
    tried: dict[Cause, list[list[Trial]]] = {}
    for proof in proofs:
        tried.setdefault(proof.case.cause_code, []).append(proof.trials)
    summary = {
        "schema": SCHEMA,
        "run": "families",
        "engine": engine,
        "seed": plan.seed,
        "asked": plan.rays,
        "not_tried": plan.not_tried,
        "rays": tally.total("rays"),
        "seconds": round(time.perf_counter() - began, 3),
        "versions": versions,
        "unexplained": tally.unexplained(),
        "findings": [asdict(finding) for finding in _findings(tally)],
        "families": tally.rows(),
        "causes": tally.cause_rows(tried),
        "setups": setup_rows(tally),
        "grazes": graze_rows(tally),
        "calls": call_rows(tally),
        "scoreboard": [],
        "calibrations": tally.calibrations,
    }
    return FamiliesResult(summary, tally, proofs)


def write_families(result: FamiliesResult, folder: Path) -> None:
    """Write ``summary.json`` and ``cases.json``."""
    write_summary(folder / "summary.json", result.summary)
    unexplained = [case for case in result.tally.cases if case.cause_code == Cause.UNEXPLAINED]
    every = {case.place: case for case in [*unexplained, *(proof.case for proof in result.proofs)]}
    write_cases(folder / "cases.json", [every[place] for place in sorted(every)])


@contextmanager
def local_processes(jobs: int) -> Iterator[Executor | None]:
    """Worker processes of this machine; None, for this thread, if one job is enough."""
    if jobs == 1:
        yield None
        return
    # Spawned, not forked: a fork copies the threads' locks of a process that already runs numba and PyBullet.
    with ProcessPoolExecutor(jobs, mp_context=multiprocessing.get_context("spawn")) as pool:
        yield pool


def _prove(plan: Plan, tally: Tally, executor: Executor | None, report: Callable[[str, int, int], None]) -> list[Proof]:
    cases = [case for some in sample(tally.cases, plan.tried).values() for case in some]
    prove = Prove(plan.engine_of)
    proofs = []
    try:
        for proof in map(prove, cases) if executor is None else executor.map(prove, cases):
            proofs.append(proof)
            report("interventions", len(proofs), len(cases))
    except BrokenExecutor as error:
        raise UnfinishedError(
            f"a worker was lost during the interventions ({error}); all chunks are finished and kept: run the same "
            "command again to go on"
        ) from error
    return proofs


def _findings(tally: Tally) -> Sequence[Any]:
    hits, reported = [0] * 15, [0] * 15
    for key, chunk in tally.chunks.items():
        if key.family == "humanoid":
            hits = [a + b for a, b in zip(hits, chunk.record["limb_hits"], strict=True)]
            reported = [a + b for a, b in zip(reported, chunk.record["limb_reported"], strict=True)]
    # A hit that came back has no bound; one of a limb thinner than its margin has the limb's size.
    came_back = np.isnan(tally.column("bound")) & (tally.column("cause") == Cause.API_LIMIT)
    lost = int((came_back & (tally.column("kind") != Kind.LOST)).sum())
    return diagnose(tally.calibrations, hits, reported, lost)


def _stamp(plan: Plan, engine: str, versions: dict[str, str]) -> dict[str, Any]:
    maker = hashlib.sha256(repr(plan.engine_of).encode()).hexdigest()[:16]
    what = {"schema": SCHEMA, "layout": LAYOUT, "sizes": plan.sizes}
    stamp = {**what, "engine": engine, "versions": versions, "maker": maker}
    return dict(json.loads(json.dumps(stamp)))
