"""The engine that a case blames, and all others that are installed, asked the same question."""

from concurrent.futures import BrokenExecutor
from dataclasses import dataclass
from math import degrees

import numpy as np

from cylcollide.crosscheck.cases.case import BULLET, Case
from cylcollide.crosscheck.cases.recast import EngineAnswer, Live
from cylcollide.crosscheck.engine.pybullet_client import BulletClient
from cylcollide.crosscheck.engine.setup import EngineOf, NamedEngine, Setup
from cylcollide.crosscheck.judge.comparison import angle
from cylcollide.crosscheck.records import one_line
from cylcollide.crosscheck.workers import worker_processes
from cylcollide.engines import Engine, registry
from cylcollide.engines._bullet_bodies import CONSTRUCTIONS

OWN = "cylcollide"


@dataclass(frozen=True)
class Witness:
    """What one engine says, beside the truth."""

    engine: str
    version: str
    answer: EngineAnswer | None  # None: the engine gave none
    right: bool  # names the same limb, or none
    error: float | None  # metres along the segment, early < 0; None where limbs differ or one side misses
    normal_off: float | None  # degrees; None where one side tells no normal


def blamed(case: Case) -> EngineOf:
    """Return the maker of the engine that a case names.

    Raises
    ------
    ValueError
        If there is no engine of that name, or it has no such options.
    ImportError
        If it is not installed; the message names the extra.
    """
    if case.engine == BULLET:
        return BulletClient
    maker = NamedEngine(case.engine, tuple(sorted(case.options.items())))
    try:
        with maker(Setup()):
            return maker
    except TypeError as wrong:
        raise ValueError(f"options: expected those of {case.engine}, got {case.options} ({wrong})") from wrong


def witnesses(case: Case, live: Live) -> tuple[list[Witness], dict[str, str]]:
    """Ask every engine at hand; the blamed one stands first, with its answer of before.

    Each other engine is asked in another process: MuJoCo, for one, ends the process that asks about a
    segment without length.

    Returns
    -------
    list of Witness
        The blamed engine as the case builds it, PyBullet in its other ways to build, then the other engines.
    dict
        Why an engine could not be asked, by name.
    """
    with blamed(case)(case.built) as engine:
        first = _witness(engine_title(case, engine.name), _version(engine), live.theirs, case, live)
    found, absent = [first], {}
    for construction in CONSTRUCTIONS:
        setup = Setup(construction=construction)
        if not (case.engine == BULLET and setup == case.built):
            with BulletClient(setup) as client:
                title = f"{client.name}, {'default' if setup.is_default else construction}"
                found.append(_witness(title, _version(client), _answer(client, case), case, live))
    others = [name for name in registry.names() if name not in (OWN, BULLET, case.engine)]
    for name, answer in answers_apart(others, case).items():
        if isinstance(answer, str):
            absent[name] = answer
        else:
            found.append(_witness(*answer, case, live))
    return found, absent


NamedAnswer = tuple[str, str, EngineAnswer]
"""An engine's name and version, and its answer."""


def answers_apart(names: list[str], case: Case) -> dict[str, NamedAnswer | str]:
    """Ask engines in another process, a new one after an engine that ends it; a string says why there is no answer."""
    found: dict[str, NamedAnswer | str] = {}
    while left := [name for name in names if name not in found]:
        with worker_processes(1) as apart:
            try:
                for name in left:
                    found[name] = apart.submit(_asked, name, case).result()
            except BrokenExecutor:
                found[name] = "it ends the process that asks it this"
    return found


def _asked(name: str, case: Case) -> NamedAnswer | str:
    try:
        with registry.create(name) as engine:
            return engine.name, _version(engine), _answer(engine, case)
    except (ImportError, ValueError, RuntimeError) as error:
        return one_line(error)


def _answer(engine: Engine, case: Case) -> EngineAnswer:
    engine.build(case.limbs)
    return EngineAnswer.row(engine.cast_segments(np.array([case.start]), np.array([case.end])), 0)


def _version(engine: Engine) -> str:
    return next(iter(engine.versions.values()), "")


def engine_title(case: Case, name: str | None = None) -> str:
    """The engine that a case blames, by this name, with all that is not its default."""
    settings = [] if case.built.is_default else [case.built.label]
    return ", ".join([name or case.engine, *settings, *(f"{option} {value}" for option, value in case.options.items())])


def _witness(title: str, version: str, answer: EngineAnswer | None, case: Case, live: Live) -> Witness:
    true = live.ours
    right = answer is not None and answer.limb == true.limb
    error = off = None
    if answer is not None and right and answer.fraction is not None and true.fraction is not None:
        error = (answer.fraction - true.fraction) * case.length
        if answer.normal is not None and true.normal is not None and any(true.normal):
            off = degrees(float(angle(np.array([true.normal]), np.array([answer.normal]))[0]))
    return Witness(title, version, answer, right, error, off)
