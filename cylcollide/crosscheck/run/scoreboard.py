"""One scoreboard: every engine casts the same segments, and its proved errors are counted.

The segments are those of the families for any engine, all at cylinders. Each engine runs in its own process, so that
an engine that ends its process does not stop others.
"""

import math
import pickle
import time
from collections.abc import Callable, Mapping, Sequence
from concurrent.futures import BrokenExecutor, Executor, ThreadPoolExecutor
from contextlib import AbstractContextManager, suppress
from dataclasses import asdict, dataclass, field, replace
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any

import numpy as np

from cylcollide._types import Float64Array, Shape
from cylcollide.crosscheck.cases.case import Case
from cylcollide.crosscheck.compare.comparison import Comparison
from cylcollide.crosscheck.compare.disagreements import COUNTED_FIELDS, ERRORS, Figures, median_99_max
from cylcollide.crosscheck.compare.truth import Truth
from cylcollide.crosscheck.generate.families import OF_ANY_ENGINE, ChunkKey, draw_chunk
from cylcollide.crosscheck.records import JsonObject, one_line, plain
from cylcollide.crosscheck.run.engine_errors import EngineErrors
from cylcollide.crosscheck.run.tally import ALL, MM_PER_METRE
from cylcollide.crosscheck.workers import worker_processes
from cylcollide.engines import Engine, create, names, variants
from cylcollide.engines.own import OwnEngine

IN_MOTION = "humanoid"
SCORED_FAMILIES = (*OF_ANY_ENGINE, IN_MOTION)
"""The families for any engine."""
DEFAULT_RAYS = 2000 * len(SCORED_FAMILIES)

TIMED_RAYS, ROUNDS = 4000, 9
"""Bullets per call at the humanoid, and number of turns of an engine and this library, for the comparison of speeds."""

NONE: Figures = (math.nan, math.nan, math.nan)

Progress = Callable[[str, int, int], None]
"""Called with a task, the number of finished parts, and the total."""


@dataclass(frozen=True)
class Score:
    """The errors of one engine. With an `error` it did not finish: counts are 0, figures nan."""

    engine: str  # with its construction
    versions: dict[str, str]
    error: str  # one line why it could not run; "" if it ran
    rays: int = 0  # number of segments cast
    missed: int = 0  # this and other verdicts: proved by exact arithmetic, for segments that start outside
    phantom: int = 0
    wrong_limb: int = 0
    lost: int = 0  # no answer, or a hit that is only reported if the segment is cast alone
    distance_mm: Figures = NONE  # error along the ray of right hits at human scale: median, 99 %, largest
    normal_deg: Figures = NONE  # angle to the true normal
    inside: str = ""  # the results of segments that start inside, in words
    limits: tuple[str, ...] = ()  # its stated limits
    speed: float = math.nan  # rays per processor second relative to cylcollide, taking turns
    families: dict[str, int] = field(default_factory=dict)  # wrong verdicts and lost rays by family
    unproved: int = 0  # verdicts of this library that exact arithmetic does not confirm: its bugs
    cases: tuple[Case, ...] = ()  # the worst of every family and kind of error
    early: int = 0  # hits of the right limb with errors beyond the rounding of float64, at any scale
    late: int = 0
    normal: int = 0
    position: int = 0  # hits, right or wrong, whose position contradicts their fraction
    position_mm: Figures = NONE  # distance between the two
    moved: int = 0  # verdicts that are wrong only after the limbs were moved there

    def record(self) -> JsonObject:
        """The score as a JSON object: nan is null; the cases are in another file."""
        return {name: plain(value) for name, value in asdict(replace(self, cases=())).items() if name != "cases"}


def scoreboard(
    engines: Sequence[str],
    rays: int = DEFAULT_RAYS,
    seed: int = 0,
    progress: Progress | None = None,
    *,
    apart: bool = False,
) -> list[Score]:
    """Cast the same segments in engines and count the errors: equal seeds and rays give equal scores except speeds.

    ``engines`` are names from :func:`cylcollide.engines.names`, or "all"; each variant has a row. An engine that raises
    has its error in the row, as has one whose package is missing; if that one was named, this is an ImportError.
    ``rays``, at least 1, are distributed evenly over the families. ``apart``: each engine runs in its own process.
    """
    for name, value, least in (("rays", rays, 1), ("seed", seed, 0)):
        if value < least:
            raise ValueError(f"{name} must be at least {least}, got {value}")
    check_names(engines)
    wanted = dict.fromkeys(each for name in engines for each in (names() if name == ALL else (name,)))
    contenders: list[tuple[str, str, dict[str, Any], str]] = []
    for name in wanted:
        try:
            contenders += [(name, words, options, "") for words, options in variants(name).items()]
        except ImportError as missing:
            if name in engines:
                raise
            contenders.append((name, "", {}, one_line(missing)))
    report = progress or (lambda _what, _done, _of: None)
    scores = []
    for place, (name, words, options, error) in enumerate(contenders):
        report("engines", place, len(contenders))
        scores.append(Score(name, {}, error) if error else _scored(name, words, options, rays, seed, apart))
    report("engines", len(contenders), len(contenders))
    return scores


def check_names(engines: Sequence[str]) -> None:
    """Raise ValueError, naming the known engines, for an unknown name; no engine's package is imported."""
    known = names()
    unknown = [name for name in engines if name not in (ALL, *known)]
    if unknown:
        raise ValueError(f"no engine {unknown[0]!r}; known engines: {', '.join(known)}, or {ALL}")


def _scored(name: str, words: str, options: Mapping[str, Any], rays: int, seed: int, apart: bool) -> Score:
    """The score of one engine; if its process ends, the score that it left for this case."""
    built = f", {words}" if words else ""
    workers: AbstractContextManager[Executor] = worker_processes(1) if apart else ThreadPoolExecutor(1)
    with TemporaryDirectory() as folder, workers as worker:
        left = Path(folder, "score")
        _leave(Score(name + built, {}, ""), SCORED_FAMILIES[0], left)
        try:
            return worker.submit(_run, left, name, built, options, rays, seed).result()
        except BrokenExecutor:
            score: Score = pickle.loads(left.read_bytes())
            return score


# What an engine's process does ---------------------------------------------------------------------------------------


def _leave(score: Score, what: str, left: Path) -> None:
    """Write the score for the case that the process ends in a part of the run."""
    left.write_bytes(pickle.dumps(replace(score, error=f"{what}: it ended its process")))


def _run(left: Path, name: str, built: str, options: Mapping[str, Any], rays: int, seed: int) -> Score:
    """Run all families with one engine, which may lose one segment out of many thousands.

    Any exception of the engine is its error and ends its run.
    """
    score, what, engine = Score(name + built, {}, ""), SCORED_FAMILIES[0], None
    try:
        engine = create(name, **options)
        able = engine.capabilities
        score = Score(engine.name + built, dict(engine.versions), "", limits=tuple(able.cannot()))
        if able.lacks([Shape.CYLINDER]):
            return replace(score, error="it holds no cylinders, and all families are about cylinders")
        if not able.rays:
            return replace(score, error="it casts no rays")
        errors = EngineErrors(name, options)
        for what in SCORED_FAMILIES:
            _leave(score, what, left)
            _add_family(errors, engine, ChunkKey(what, seed, 0), math.ceil(rays / len(SCORED_FAMILIES)))
        what = "speed"
        _leave(score, what, left)
        return _summed(score, errors, _speed(engine, seed))
    except (KeyboardInterrupt, SystemExit):
        raise
    except BaseException as error:  # a panic of a Rust engine is not an Exception
        return replace(score, error=f"{what}: {one_line(error, named=True)}")
    finally:
        if engine is not None:
            with suppress(Exception):  # an engine that failed may fail again
                engine.close()


def _summed(score: Score, errors: EngineErrors, speed: float) -> Score:
    """The score with the errors of all families."""
    wrong, off = errors.wrong, errors.off
    fields = (*COUNTED_FIELDS, "unproved", "moved", *(kind.field for kind in ERRORS))
    counts: dict[str, Any] = {name: sum(row[name] for row in wrong.values()) for name in fields}
    return replace(
        score,
        rays=errors.rays,
        **counts,
        distance_mm=_figures(off["distance"], MM_PER_METRE),
        normal_deg=_figures(off["normal"], math.degrees(1.0)),
        position_mm=_figures(off["position"], MM_PER_METRE),
        inside=errors.inside,
        speed=speed,
        families={family: sum(row[count] for count in COUNTED_FIELDS) for family, row in wrong.items()},
        cases=tuple(case for _, case in errors.worst.values()),
    )


def _figures(parts: list[Float64Array], unit: float) -> Figures:
    return median_99_max(unit * np.concatenate([*parts, np.empty(0)]))


def _add_family(errors: EngineErrors, engine: Engine, key: ChunkKey, rays: int) -> None:
    """Add the errors of one family."""
    scenes = draw_chunk(key, rays)
    for number, scene in enumerate(scenes):
        if not len(scene.shots.start):
            continue
        truth = Truth(scene)
        still = Comparison.of(engine, truth)
        errors.add(key, number, still, engine.cast_segments)
        if key.family == IN_MOTION and number:
            # The same limbs at two poses: they are cast again after a move from one to the other.
            moved = truth.moved_from(scenes[number - 1].p1, scenes[number - 1].p2)
            errors.add_moved(key, number, still, Comparison.of(engine, moved), engine.cast_segments)


def _speed(engine: Engine, seed: int) -> float:
    """Rays per processor second over those of this library, in turns with the same bullets at the humanoid."""
    scene = draw_chunk(ChunkKey(IN_MOTION, seed, 1), 4 * TIMED_RAYS)[0]
    limbs, start, end = Truth(scene).limbs, scene.shots.start, scene.shots.end

    def seconds(engine: Engine) -> float:
        # Processor time, which other programs on the machine hardly affect.
        began = time.process_time()
        engine.cast_segments(start, end)
        return time.process_time() - began

    with OwnEngine() as own:
        for each in (own, engine):
            each.build(limbs)
            each.cast_segments(start, end)  # first calls may compile
        return float(np.median([seconds(own) / seconds(engine) for _ in range(ROUNDS)]))
