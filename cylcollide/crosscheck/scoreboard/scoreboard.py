"""One scoreboard: every engine is asked the same segments, and what it gets wrong is counted where it is proved.

The segments are those of the families that any engine can be asked; all of them are about cylinders. All engines take
turns at each scene, so that what they are compared with, the truth, is computed and proved once.
"""

import math
import time
from collections.abc import Callable, Mapping, Sequence
from contextlib import suppress
from dataclasses import asdict, dataclass, field, replace
from functools import partial
from typing import Any

import numpy as np

from cylcollide._types import Float64Array, Shape
from cylcollide.crosscheck.cases.case import Case
from cylcollide.crosscheck.compare.comparison import engine_answers
from cylcollide.crosscheck.compare.disagreements import ERRORS, Figures, median_99_max
from cylcollide.crosscheck.compare.truth import Truth
from cylcollide.crosscheck.generate.families import OF_ANY_ENGINE, ChunkKey, draw_chunk
from cylcollide.crosscheck.generate.shots import ShotScene
from cylcollide.crosscheck.records import JsonObject, one_line, plain
from cylcollide.crosscheck.scoreboard.engine_errors import COUNTED, EngineErrors
from cylcollide.engines import Engine, create, names, variants
from cylcollide.engines.own import OwnEngine

ASKED = (*OF_ANY_ENGINE, "humanoid")
"""The families that any engine can be asked."""
IN_MOTION = "humanoid"
DEFAULT_RAYS = 2000 * len(ASKED)
ALL = "all"

TIMED_RAYS, ROUNDS = 4000, 9
"""Bullets a call at the humanoid, and how often the engines take turns, to compare speeds."""

MM_PER_METRE = 1000.0
NONE: Figures = (math.nan, math.nan, math.nan)

Progress = Callable[[str, int, int], None]
"""Told what is being done, how much of it is done, and how much there is."""
Watch = Callable[[str, str], None]
"""Told before an engine is asked: its label and what is asked of it."""


@dataclass(frozen=True)
class Score:
    """What one engine got wrong. With an `error` it could not be asked to the end: counts are 0, figures nan."""

    engine: str  # with its construction
    versions: dict[str, str]
    error: str  # one line why it could not run; "" if it ran
    rays: int = 0  # segments it was asked
    missed: int = 0  # all verdicts: proved by exact arithmetic, and about segments that start outside
    phantom: int = 0
    wrong_limb: int = 0
    lost: int = 0  # no answer at all, or a hit that comes only if the segment is asked alone
    distance_mm: Figures = NONE  # error along the ray of right hits at people's scale: median, 99 %, greatest
    normal_deg: Figures = NONE  # angle to the true normal
    inside: str = ""  # what segments that start inside did, in words
    limits: tuple[str, ...] = ()  # what it says it cannot do
    speed: float = math.nan  # rays per processor second relative to cylcollide, taking turns
    families: dict[str, int] = field(default_factory=dict)  # wrong verdicts and lost rays by family
    unproved: int = 0  # verdicts where exact arithmetic does not confirm this library: its bugs
    cases: tuple[Case, ...] = ()  # the worst of every family and way to be wrong
    early: int = 0  # hits of the right limb that are off beyond the rounding of float64, at any scale
    late: int = 0
    normal: int = 0
    position: int = 0  # hits, right or wrong, whose position is not where their fraction leads
    position_mm: Figures = NONE  # between the two
    moved: int = 0  # verdicts that are wrong only after the limbs were moved there

    def record(self) -> JsonObject:
        """As JSON has it: nan is null; the cases have a file of their own."""
        return {name: plain(value) for name, value in asdict(replace(self, cases=())).items() if name != "cases"}


class _Contender:
    """An engine that is being asked, until it fails."""

    def __init__(
        self, name: str, words: str = "", options: Mapping[str, Any] | None = None, watch: Watch | None = None
    ) -> None:
        self.name, self.words, self.options, self.watch = name, words, options or {}, watch
        self.errors = EngineErrors(name, self.options)
        self.engine: Engine | None = None
        self.versions: dict[str, str] = {}
        self.limits: tuple[str, ...] = ()
        self.speeds: list[float] = []
        self.error = ""
        # Words set variants of one engine apart. It goes by the name until the engine tells its own.
        self.place = self.label = f"{name}, {words}" if words else name

    def attempt(self, what: str, work: Callable[[Engine], object]) -> None:
        """Let the engine work; whatever it raises is its error, and it is asked no more."""
        if self.error:
            return
        if self.watch is not None:
            self.watch(self.place, what)
        try:
            work(self.engine or self._opened())
        except (KeyboardInterrupt, SystemExit):
            raise
        except BaseException as error:  # a panic of a Rust engine is no Exception
            self.error = f"{what}: {one_line(error, named=True)}"
            self.close()

    def _opened(self) -> Engine:
        engine = self.engine = create(self.name, **self.options)
        self.label = f"{engine.name}, {self.words}" if self.words else engine.name
        self.versions, self.limits = dict(engine.versions), tuple(engine.capabilities.cannot())
        if engine.capabilities.lacks([Shape.CYLINDER]):
            raise ValueError(f"{self.label} holds no cylinders, and all families are about cylinders")
        return engine

    def close(self) -> None:
        """Close the engine; one that failed may fail at that too."""
        if self.engine is not None:
            with suppress(Exception):
                self.engine.close()
            self.engine = None

    def score(self) -> Score:
        """What came of it."""
        if self.error:
            return Score(self.label, self.versions, self.error, limits=self.limits)
        wrong, off = self.errors.wrong, self.errors.off
        names = (*COUNTED, "unproved", "moved", *(kind.field for kind in ERRORS))
        return Score(
            self.label,
            self.versions,
            "",
            rays=self.errors.rays,
            **{name: sum(row[name] for row in wrong.values()) for name in names},
            distance_mm=_figures(off["distance"], MM_PER_METRE),
            normal_deg=_figures(off["normal"], math.degrees(1.0)),
            position_mm=_figures(off["position"], MM_PER_METRE),
            inside=self.errors.inside,
            limits=self.limits,
            speed=float(np.median(self.speeds)),
            families={family: sum(row[name] for name in COUNTED) for family, row in wrong.items()},
            cases=tuple(case for _, case in self.errors.worst.values()),
        )


def _figures(parts: list[Float64Array], unit: float) -> Figures:
    return median_99_max(unit * np.concatenate([*parts, np.empty(0)]))


def scoreboard(
    engines: Sequence[str],
    rays: int = DEFAULT_RAYS,
    seed: int = 0,
    progress: Progress | None = None,
    watch: Watch | None = None,
    dead: Mapping[str, str] | None = None,
) -> list[Score]:
    """Ask engines the same segments and count what each gets wrong: equal seeds and rays give equal scores but speeds.

    Parameters
    ----------
    engines
        Names as :func:`cylcollide.engines.names` lists them, in the order wanted; "all" for all. An engine that comes
        in several variants, as PyBullet's constructions, has a row for each; one that raises a row that says so. So
        has, where all were asked for, one whose package is missing; of one that was named this is an ImportError.
    rays
        Segments that each engine is asked, dealt out evenly to the families; at least 1.
    progress, watch
        Told what is being done; told before an engine is asked what, so that one that ends the process is known.
    dead
        Engines not to be asked, as `watch` was given them, and the error that each is to have.
    """
    for name, value, least in (("rays", rays, 1), ("seed", seed, 0)):
        if value < least:
            raise ValueError(f"{name} must be at least {least}, got {value}")
    found = _contenders(engines, watch, dead or {})
    report = progress or (lambda _what, _done, _of: None)
    try:
        for place, family in enumerate(ASKED):
            report("families", place, len(ASKED))
            key = ChunkKey(family, seed, 0)
            scenes = draw_chunk(key, math.ceil(rays / len(ASKED)))
            for number, scene in enumerate(scenes):
                # The same limbs at two poses: the engine is asked, too, after it has moved them from one to the other.
                before = scenes[number - 1] if family == IN_MOTION and number else None
                _ask(found, key, number, scene, before)
        report("families", len(ASKED), len(ASKED))
        _race(found, seed, report)
    finally:
        for contender in found:
            contender.close()
    return [contender.score() for contender in found]


def check_names(engines: Sequence[str]) -> None:
    """Raise ValueError, naming the known, if one of the names is no engine's; no engine's package is imported."""
    known = names()
    unknown = [name for name in engines if name not in (ALL, *known)]
    if unknown:
        raise ValueError(f"no engine {unknown[0]!r}; known engines: {', '.join(known)}, or {ALL}")


def _contenders(engines: Sequence[str], watch: Watch | None, dead: Mapping[str, str]) -> list[_Contender]:
    check_names(engines)
    wanted = dict.fromkeys(each for name in engines for each in (names() if name == ALL else (name,)))
    found: list[_Contender] = []
    for name in wanted:
        try:
            found += [_Contender(name, words, options, watch=watch) for words, options in variants(name).items()]
        except ImportError as missing:
            if name in engines:
                raise
            found.append(_Contender(name))
            found[-1].error = one_line(missing)
    for contender in found:
        contender.error = dead.get(contender.place, contender.error)
    return found


def _ask(found: Sequence[_Contender], key: ChunkKey, number: int, scene: ShotScene, before: ShotScene | None) -> None:
    if not len(scene.shots.start):
        return
    truth = Truth(scene)

    def compare(errors: EngineErrors, engine: Engine) -> None:
        still = engine_answers(engine, truth)
        errors.add(key, number, truth, still, engine.cast_segments)
        if before is not None:
            moved = truth.moved_from(before.p1, before.p2)
            errors.add_moved(key, number, still, moved, engine_answers(engine, moved), engine.cast_segments)

    for contender in found:
        contender.attempt(key.family, partial(compare, contender.errors))


def _race(found: Sequence[_Contender], seed: int, report: Progress) -> None:
    """Let the engines take turns with the same bullets at the humanoid, each after this library."""
    scene = draw_chunk(ChunkKey("humanoid", seed, 1), 4 * TIMED_RAYS)[0]
    limbs, start, end = Truth(scene).limbs, scene.shots.start, scene.shots.end
    with OwnEngine() as own:

        def warmed(engine: Engine) -> None:
            engine.build(limbs)
            engine.cast_segments(start, end)

        def timed(speeds: list[float], engine: Engine) -> None:
            ours = _seconds(lambda: own.cast_segments(start, end))
            speeds.append(ours / _seconds(lambda: engine.cast_segments(start, end)))

        warmed(own)
        for contender in found:
            contender.attempt("speed", warmed)
        for turn in range(ROUNDS):
            report("speed", turn, ROUNDS)
            for contender in found:
                contender.attempt("speed", partial(timed, contender.speeds))
    report("speed", ROUNDS, ROUNDS)


def _seconds(work: Callable[[], object]) -> float:
    """Processor time, which other programs on the machine do not lengthen much."""
    began = time.process_time()
    work()
    return time.process_time() - began
